//! A tool of an MCP server.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use artoo_proto::{EffectClass, ToolClass, ToolSpec, escape};
use serde_json::{Map, Value};
use tokio::time::timeout;

use crate::fence::Fence;
use crate::input;
use crate::limit::Limit;
use crate::mcp::manifest::ServerManifest;
use crate::mcp::schema;
use crate::mcp::server::Server;
use crate::mcp::session::{Offered, Session};
use crate::process::{Ended, Verdict, capture};
use crate::record::Record;
use crate::tool::{Call, Held, Machine, Request, Tool, UserContext, spec};
use crate::transaction::{ConfiguredCall, End, Work};
use crate::{paths, texts};

/// Place of a server's tools in the order in which tools are tried: after the user's own tools, before shell commands.
const PRIORITY: u8 = 5;

/// Longest name of a server's tool, in characters.
const NAME_MAX_CHARS: usize = 64;

/// Longest description of a server's tool, in characters: it is in every prompt, and not trusted.
const DESCRIPTION_MAX_CHARS: usize = 300;

/// Longest target of a server tool's call, in characters.
const TARGET_MAX_CHARS: usize = 500;

/// Longest input of a server tool's call as JSON, in characters; a question shows all of it.
const INPUT_MAX_CHARS: usize = 16_000;

/// A tool of an MCP server, with the name, description and schema under which models see it.
#[derive(Debug)]
pub(super) struct Remote {
    server: Arc<Server>,
    manifest: Arc<ServerManifest>,
    /// The name on the server.
    name: String,
    description: String,
    schema: Value,
}

/// A call of an MCP server's tool, with its input.
#[derive(Debug)]
struct RemoteCall {
    server: Arc<Server>,
    manifest: Arc<ServerManifest>,
    name: String,
    input: Map<String, Value>,
}

impl Remote {
    /// The tool; an error if its name or its schema can't be shown to a model.
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
        let server = &self.manifest.name;
        let description = format!("[as the server {server} says:] {}", self.description);
        spec(&format!("{server}.{}", self.name), ToolClass::Shell, PRIORITY, &description, self.schema.clone())
    }

    fn read(&self, machine: &Machine, user: &UserContext<'_>, value: &Value) -> Result<Request, Box<Record>> {
        let manifest = &self.manifest;
        let is_reading = manifest.read_only.contains(&self.name);
        // A server's own hints are ignored.
        let class = if is_reading { EffectClass::ReadOnly } else { EffectClass::Unproven };
        let (input, text) = self.checked(value).map_err(|record| record.of_class(class))?;
        let mut paths = Vec::new();
        collect_paths(machine, &Value::Object(input.clone()), &mut paths);
        let is_granted = manifest.granted.contains(&self.name);
        let sends = if is_granted {
            (!is_reading && user.confirm).then_some(texts::CAUTION)
        } else {
            Some("what it is given may leave this machine")
        };
        let server = manifest.name.clone();
        let call = ConfiguredCall {
            target: escape::shorten(&text, TARGET_MAX_CHARS),
            shown: format!("{server}.{} {text}", self.name),
            line: format!("sends this input to the server {server}"),
            class,
            network: manifest.network,
            is_granted,
            reason: sends.filter(|_| manifest.network).map(str::to_owned),
            executable: manifest.program.clone(),
            paths,
            time: manifest.timeout,
            work: Arc::new(RemoteCall {
                server: Arc::clone(&self.server),
                manifest: Arc::clone(manifest),
                name: self.name.clone(),
                input,
            }),
        };
        let record = move |ended: io::Result<Ended>, machine: &Machine, _: &Limit| match ended {
            Ok(mut ended) => {
                let record = Record::of_program(&mut ended, machine.config.output_max_chars);
                let text = format!("{}\n[as the server {server} says]", record.text);
                Record { exit_code: None, text, ..record }
            }
            Err(error) => Record::hindered(format!("the server {server}: {error}")),
        };
        call.request(machine, Box::new(record))
    }
}

impl Remote {
    /// The input of a call as fields and as JSON, if it fits the tool's schema; otherwise the record that refuses it.
    fn checked(&self, value: &Value) -> Result<(Map<String, Value>, String), Box<Record>> {
        let input: Map<String, Value> = input::parse(value)?;
        let text = Value::Object(input.clone()).to_string();
        input::check_length("input", &text, INPUT_MAX_CHARS)?;
        input::check_visible("the input", &text, "is sent")?;
        match schema::misfit(&self.schema, &input) {
            Some(misfit) => Err(input::unfit(misfit)),
            None => Ok((input, text)),
        }
    }
}

/// Adds each text in an input that is spelled as an absolute path, one below `~`, or a `file://` URL.
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
                Ok(mut session) => session.call(&self.name, input, false).await,
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
