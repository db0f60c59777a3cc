//! A server's tool as the registry knows it.

use std::path::PathBuf;
use std::sync::Arc;

use artoo_proto::{CallStatus, EffectClass, ToolClass, ToolSpec, escape};
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Map, Value};
use tokio::time::timeout;

use crate::input::{self, InputProblem};
use crate::mcp::manifest::ServerManifest;
use crate::mcp::schema;
use crate::mcp::server::{Offered, Server};
use crate::paths;
use crate::record::Record;
use crate::tool::{Call, Job, Machine, Question, Running, Said, Tool, unusable};

/// Tried after the person's own tools and before a command of a model's own.
const PRIORITY: u8 = 5;

/// Longest name and description of a server's tool.
const NAME_MAX_CHARS: usize = 64;

/// Longest description: it stands in every prompt, and a stranger wrote it.
const DESCRIPTION_MAX_CHARS: usize = 300;

/// Longest input, as JSON; it is shown whole when it is asked about.
const INPUT_MAX_CHARS: usize = 16_000;

/// The tool.
#[derive(Debug)]
pub(super) struct Remote {
    server: Arc<Server>,
    manifest: Arc<ServerManifest>,
    /// As the server calls it.
    name: String,
    description: String,
    schema: Value,
}

/// A call of one.
struct RemoteCall {
    server: Arc<Server>,
    manifest: Arc<ServerManifest>,
    name: String,
    input: Map<String, Value>,
    paths: Vec<PathBuf>,
    /// Why a person is asked before one of them is read.
    secret: Option<String>,
}

/// Why a call can't be made.
#[derive(Debug, thiserror::Error)]
enum RemoteProblem {
    #[error(transparent)]
    Input(#[from] InputProblem),
    #[error("{0}")]
    Misfit(String),
    #[error("the input holds invisible or control characters, so what is shown would not be what is sent")]
    Hostile,
}

impl Remote {
    /// The tool, if its name and schema can stand in a prompt.
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

    fn read(&self, machine: &Machine, value: &Value) -> Result<Box<dyn Job>, Box<Record>> {
        let class = class(&self.manifest, &self.name);
        let problem = |problem: RemoteProblem| Box::new(unusable(&problem).class(class));
        let input: Map<String, Value> = input::parse(value).map_err(|error| problem(error.into()))?;
        let text = Value::Object(input.clone()).to_string();
        input::check_length("input", &text, INPUT_MAX_CHARS).map_err(|error| problem(error.into()))?;
        if escape::visible(&text) != text {
            return Err(Box::new(Record::denied(&RemoteProblem::Hostile.to_string()).class(class)));
        }
        if let Some(misfit) = schema::misfit(&self.schema, &input) {
            return Err(problem(RemoteProblem::Misfit(misfit)));
        }
        let mut paths = Vec::new();
        collect_paths(machine, &Value::Object(input.clone()), &mut paths);
        if let Some(reason) = paths.iter().find_map(|path| machine.protected.refusal(path)) {
            return Err(Box::new(Record::denied(&reason).class(class)));
        }
        let (server, manifest) = (Arc::clone(&self.server), Arc::clone(&self.manifest));
        let secret = paths.iter().find_map(|path| machine.protected.secret(path));
        Ok(Box::new(RemoteCall { server, manifest, name: self.name.clone(), input, paths, secret }))
    }
}

/// What the person says of it; a server's own hints say nothing.
fn class(manifest: &ServerManifest, tool: &str) -> EffectClass {
    if manifest.read_only.iter().any(|name| name == tool) { EffectClass::ReadOnly } else { EffectClass::Unproven }
}

/// Every text of an input that is spelled as a path.
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

impl RemoteCall {
    fn shown(&self) -> String {
        format!("{}.{} {}", self.manifest.name, self.name, Value::Object(self.input.clone()))
    }
}

impl Job for RemoteCall {
    fn target(&self) -> String {
        escape::shorten(&Value::Object(self.input.clone()).to_string(), 500)
    }

    fn paths(&self) -> Vec<PathBuf> {
        self.paths.clone()
    }

    fn class(&self) -> EffectClass {
        class(&self.manifest, &self.name)
    }

    fn question(&self, _: &Machine, said: &Said<'_>) -> Option<Question> {
        let is_granted = self.manifest.granted.contains(&self.name);
        let reason = match (is_granted, self.class()) {
            _ if self.secret.is_some() => self.secret.as_deref().unwrap_or_default(),
            (true, EffectClass::ReadOnly) => return None,
            (true, EffectClass::Creating | EffectClass::Unproven) if !said.confirm => return None,
            (true, EffectClass::Creating | EffectClass::Unproven) => crate::tool::CAUTION,
            (false, _) => "nothing proves what a server's tool does, and its manifest does not grant it",
        };
        let text = self.shown();
        Some(Question {
            shown: text.clone(),
            text,
            program: self.manifest.program.clone(),
            files: Vec::new(),
            effects: vec![format!(
                "sends this input to the server {}, which may do anything with it",
                self.manifest.name
            )],
            reason: reason.to_owned(),
        })
    }

    fn run(self: Box<Self>, call: Call) -> Running {
        Box::pin(async move {
            let time = self.manifest.timeout.min(call.watch.left());
            let class = self.class();
            let answer = timeout(time, self.server.call(&self.name, self.input.clone())).await;
            Ok(match answer {
                Err(_) => Record::timed_out(format!("the server {} gave no answer in time", self.manifest.name)),
                Ok(Err(reason)) => Record::hindered(format!("the server {}: {reason}", self.manifest.name)),
                Ok(Ok(result)) => record(&self.manifest.name, &result),
            }
            .class(class))
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
