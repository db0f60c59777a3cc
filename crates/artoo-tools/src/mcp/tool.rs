//! A tool of an MCP server.

use std::path::PathBuf;
use std::sync::Arc;

use artoo_proto::{CallStatus, EffectClass, ToolClass, ToolSpec, escape};
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Map, Value};
use tokio::time::timeout;

use crate::effects::{CallEffects, NetworkUse};
use crate::input::{self, InputProblem};
use crate::mcp::manifest::ServerManifest;
use crate::mcp::schema;
use crate::mcp::server::{Offered, Server};
use crate::paths;
use crate::record::Record;
use crate::tool::{CAUTION, Call, Job, Machine, Question, Request, Running, Tool, UserContext, done};

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
struct RemoteCall {
    server: Arc<Server>,
    manifest: Arc<ServerManifest>,
    name: String,
    input: Map<String, Value>,
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
        let effects = CallEffects {
            lines: vec![format!("sends this input to the server {server}, which may do anything with it")],
            ..CallEffects::new(class, paths, NetworkUse::Possible)
        };
        let question = self.needs_approval(class, user, secret).map(|reason| {
            let shown = format!("{server}.{} {text}", self.name);
            let program = &self.manifest.program;
            Question { text: format!("{shown} {}", program.display()), files: Vec::new(), shown, reason, details: Vec::new() }
        });
        let (server, manifest) = (Arc::clone(&self.server), Arc::clone(&self.manifest));
        let job = Box::new(RemoteCall { server, manifest, name: self.name.clone(), input });
        Ok(Request { target: escape::shorten(&text, TARGET_MAX_CHARS), effects, question, job })
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

    /// Why a call needs approval, if it does. `secret`: why its files do.
    fn needs_approval(&self, class: EffectClass, user: &UserContext<'_>, secret: Option<String>) -> Option<String> {
        let is_granted = self.manifest.granted.contains(&self.name);
        let caution = || (class != EffectClass::ReadOnly && user.confirm).then_some(CAUTION);
        let not_granted = "nothing proves what a server's tool does, and its manifest does not grant it";
        secret.or_else(|| if is_granted { caution() } else { Some(not_granted) }.map(str::to_owned))
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
    fn run(self: Box<Self>, call: Call) -> Running {
        Box::pin(async move {
            let time = self.manifest.timeout.min(call.deadline.left());
            let answer = timeout(time, self.server.call(&self.name, self.input.clone())).await;
            let record = match answer {
                Err(_) => Record::timed_out(format!("the server {} gave no answer in time", self.manifest.name)),
                Ok(Err(reason)) => Record::hindered(format!("the server {}: {reason}", self.manifest.name)),
                Ok(Ok(result)) => record(&self.manifest.name, &result),
            };
            Ok(done(record.class(call.effects.class)))
        })
    }
}

fn record(server: &str, result: &CallToolResult) -> Record {
    let mut lines: Vec<String> = result.content.iter().map(shown).collect();
    if lines.is_empty() {
        lines.extend(result.structured_content.as_ref().map(Value::to_string));
    }
    lines.push(format!("[{server}: this is the server's word; what it changed is not recorded]"));
    let status = if result.is_error == Some(true) { CallStatus::Failed } else { CallStatus::Ok };
    Record { status, ..Record::read(lines.join("\n")) }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the protocol's own kinds of content grow")]
fn shown(content: &ContentBlock) -> String {
    match content {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(_) => "[an image, not shown]".to_owned(),
        ContentBlock::Audio(_) => "[a sound, not shown]".to_owned(),
        _ => "[something that is no text, not shown]".to_owned(),
    }
}
