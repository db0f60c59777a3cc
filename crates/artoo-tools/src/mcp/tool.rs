//! A tool of an MCP server.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use artoo_proto::{EffectClass, ToolClass, ToolSpec, escape};
use serde_json::{Map, Value};
use tokio::time::timeout;

use crate::effects::{CallEffects, NetworkUse, UndoMethod};
use crate::fence::Fence;
use crate::input::{self, InputProblem};
use crate::limit::Limit;
use crate::mcp::manifest::ServerManifest;
use crate::mcp::schema;
use crate::mcp::server::Server;
use crate::mcp::session::{Offered, Session};
use crate::paths;
use crate::process::{Ended, Verdict, capture};
use crate::record::Record;
use crate::tool::{CAUTION, Call, Held, Job, Machine, Question, Request, Running, Tool, UserContext};
use crate::transaction::{End, Names, Program, Work};
use crate::undo::Act;

/// Tried after the user's own tools and before shell commands.
const PRIORITY: u8 = 5;

/// Longest name of a server's tool.
const NAME_MAX_CHARS: usize = 64;

/// Longest description: it is in every prompt, and not trusted.
const DESCRIPTION_MAX_CHARS: usize = 300;

/// Longest target of a call, in characters.
const TARGET_MAX_CHARS: usize = 500;

/// Longest input as JSON; a question shows it whole.
const INPUT_MAX_CHARS: usize = 16_000;

#[derive(Debug)]
pub(super) struct Remote {
    server: Arc<Server>,
    manifest: Arc<ServerManifest>,
    /// The name on the server.
    name: String,
    description: String,
    schema: Value,
}

/// A valid call.
#[derive(Debug)]
struct RemoteCall {
    server: Arc<Server>,
    manifest: Arc<ServerManifest>,
    name: String,
    input: Map<String, Value>,
    /// The call as a question shows it.
    shown: String,
    /// Paths in the input.
    paths: Vec<PathBuf>,
    /// Files that it may not read, since they may hold secrets.
    left_out: Vec<PathBuf>,
}

impl Remote {
    /// The tool, if its name and schema can be shown to a model.
    pub(super) fn new(server: &Arc<Server>, manifest: &Arc<ServerManifest>, offered: Offered) -> Result<Self, String> {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let name = offered.name;
        if name.is_empty() || name.len() > NAME_MAX_CHARS || !name.bytes().all(is_part) {
            return Err(format!("its tool {:?} has no usable name", escape::shorten(&escape::one_line(&name), 80)));
        }
        let schema = schema::harmless(&offered.schema).map_err(|reason| format!("its tool {name}: {reason}"))?;
        let description = escape::one_line(&escape::shorten(&offered.description, DESCRIPTION_MAX_CHARS));
        let (server, manifest) = (Arc::clone(server), Arc::clone(manifest));
        Ok(Self { server, manifest, name, description, schema })
    }
}

impl Tool for Remote {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: format!("{}.{}", self.manifest.name, self.name),
            description: format!("[as the server {} says:] {}", self.manifest.name, self.description),
            class: ToolClass::Shell,
            input_schema: self.schema.clone(),
            priority: PRIORITY,
        }
    }

    fn read(&self, machine: &Machine, user: &UserContext<'_>, value: &Value) -> Result<Request, Box<Record>> {
        let class = class(&self.manifest, &self.name);
        let (input, text) = self.checked(value).map_err(|problem| problem.record(class))?;
        let mut paths = Vec::new();
        collect_paths(machine, &Value::Object(input.clone()), &mut paths);
        if let Some(reason) = paths.iter().find_map(|path| machine.protected.refusal(path)) {
            return Err(Box::new(Record::denied(&reason).class(class)));
        }
        let secret = paths.iter().find_map(|path| machine.protected.secret(path));
        let server = &self.manifest.name;
        let network = if self.manifest.network { NetworkUse::Possible } else { NetworkUse::Blocked };
        let effects = CallEffects {
            undo: UndoMethod::Commit,
            lines: vec![format!("sends this input to the server {server}")],
            ..CallEffects::new(class, paths.clone(), network)
        };
        let shown = format!("{server}.{} {text}", self.name);
        let question = self.needs_approval(class, user, secret).map(|reason| {
            let program = &self.manifest.program;
            let text = format!("{shown} {}", program.display());
            Question { text, files: Vec::new(), shown: shown.clone(), reason, details: Vec::new() }
        });
        let (server, manifest) = (Arc::clone(&self.server), Arc::clone(&self.manifest));
        let call = RemoteCall { server, manifest, name: self.name.clone(), input, shown, paths, left_out: Vec::new() };
        Ok(Request { target: escape::shorten(&text, TARGET_MAX_CHARS), effects, question, job: Box::new(call) })
    }
}

impl Remote {
    /// A valid input, and the same as JSON.
    fn checked(&self, value: &Value) -> Result<(Map<String, Value>, String), InputProblem> {
        let input: Map<String, Value> = input::parse(value)?;
        let text = Value::Object(input.clone()).to_string();
        input::check_length("input", &text, INPUT_MAX_CHARS)?;
        input::check_visible("the input", &text, "is sent")?;
        match schema::misfit(&self.schema, &input) {
            Some(misfit) => Err(input::unfit(misfit)),
            None => Ok((input, text)),
        }
    }

    /// Why a call needs approval before it is made, if it does. `secret`: why its files do.
    fn needs_approval(&self, class: EffectClass, user: &UserContext<'_>, secret: Option<String>) -> Option<String> {
        let sends = if self.manifest.granted.contains(&self.name) {
            (class != EffectClass::ReadOnly && user.confirm).then_some(CAUTION)
        } else {
            Some("what it is given may leave this machine")
        };
        secret.or_else(|| sends.filter(|_| self.manifest.network).map(str::to_owned))
    }
}

/// The class by the manifest; a server's own hints are ignored.
fn class(manifest: &ServerManifest, tool: &str) -> EffectClass {
    if manifest.read_only.iter().any(|name| name == tool) { EffectClass::ReadOnly } else { EffectClass::Unproven }
}

/// Adds every text of an input that is spelled as a path.
fn collect_paths(machine: &Machine, value: &Value, found: &mut Vec<PathBuf>) {
    match value {
        Value::String(text) => {
            let text = text.strip_prefix("file://").unwrap_or(text);
            if text.starts_with(['/', '~']) {
                found.extend(paths::absolute(&machine.config.environment, text));
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_paths(machine, item, found)),
        Value::Object(fields) => fields.values().for_each(|field| collect_paths(machine, field, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

impl Job for RemoteCall {
    fn prepare(&mut self, machine: &Machine, _: &Act, _: &Limit) {
        if class(&self.manifest, &self.name) != EffectClass::ReadOnly {
            // Where it can't be made, the server tells.
            let _ = std::fs::create_dir_all(&machine.config.environment.workspace);
        }
        self.left_out = machine.protected.left_out(&machine.config.environment, &self.paths);
        self.left_out.retain(|file| !self.paths.contains(file));
    }

    fn run(self: Box<Self>, call: Call) -> Running {
        let manifest = Arc::clone(&self.manifest);
        let is_reading = class(&manifest, &self.name) == EffectClass::ReadOnly;
        let program = Program {
            shown: self.shown.clone(),
            names: Names { paths: self.paths.clone(), ..Names::default() },
            folders: Vec::new(),
            left_out: self.left_out.clone(),
            reach: manifest.reach(),
            is_granted: !is_reading && manifest.granted.contains(&self.name),
            caution: is_reading.then(|| "its manifest says that it changes nothing".to_owned()),
            time: manifest.timeout,
            work: Arc::new(*self),
        };
        let record = move |ended: io::Result<Ended>, machine: &Machine, _: &Limit| match ended {
            Ok(mut ended) => {
                let record = Record::of_program(&mut ended, machine.config.output_max_chars);
                let text = format!("{}\n[as the server {} says]", record.text, manifest.name);
                Record { exit_code: None, text, ..record }
            }
            Err(error) => Record::hindered(format!("the server {}: {error}", manifest.name)),
        };
        Box::pin(call.run(program, record))
    }
}

/// One call. A server that may change nothing stays for the next call; any other is started for this call alone.
impl Work for RemoteCall {
    fn run<'a>(&'a self, call: &'a Call, fence: Fence, held: Held, time: Duration) -> End<'a> {
        let time = time.min(call.deadline.left());
        let stays = fence.stops_at_denial || matches!(held, Held::Not);
        let ended = async move {
            let input = self.input.clone();
            if stays {
                return self.server.call(&self.name, input, fence, held).await;
            }
            match Session::begin(&call.machine, call.order(self.manifest.invocation(), fence, held)).await {
                Ok(session) => session.call(&self.name, input, false).await,
                Err(ended) => ended.map(|ended| *ended),
            }
        };
        Box::pin(async move {
            let config = &call.machine.config;
            let in_time = timeout(time, ended).await;
            let late = || Verdict::default().ended(capture(config), capture(config), Some(time), &config.limits);
            in_time.unwrap_or_else(|_| Ok(late()))
        })
    }
}
