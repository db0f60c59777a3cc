//! `shell`: a command line, run as a transaction: what it would change is asked about before it is changed.

mod check;
mod run;

use std::path::PathBuf;

use artoo_proto::{EffectClass, ToolClass, ToolSpec};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::command_line::{self, CommandLine};
use crate::config::ToolConfig;
use crate::effects::{CallEffects, NetworkUse, UndoMethod};
use crate::input::{self, InputProblem};
use crate::paths::PATH_MAX_BYTES;
use crate::process;
use crate::record::Record;
use crate::risk;
use crate::tool::{Machine, Question, Request, Tool, UserContext, spec};

pub use check::{Classification, CommandGuard};

/// Longest command in characters; near the limit of the system.
const COMMAND_MAX_CHARS: usize = 32_768;

/// Maximum number of paths in `writes`; the user reads each of them.
const WRITES_MAX: usize = 16;

#[derive(Debug)]
pub(crate) struct Shell;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    command: String,
    #[serde(default)]
    network: bool,
    #[serde(default)]
    writes: Vec<String>,
}

/// A valid command.
#[derive(Debug)]
struct Command {
    text: String,
    line: CommandLine,
    /// Folders that it may change besides the home, the working folder and the workspace.
    folders: Vec<PathBuf>,
    /// Places that it names and that hold secrets, which the user is asked about.
    secrets: Vec<PathBuf>,
    /// Whether it asks for the network.
    network: bool,
    /// Files that it may not read, since they may hold secrets.
    left_out: Vec<PathBuf>,
}

impl Shell {
    /// The tool, if a shell is installed.
    pub(crate) fn detect(config: &ToolConfig) -> Option<Self> {
        ["bash", "sh"].iter().any(|name| process::find_program(config, name).is_some()).then_some(Self)
    }
}

impl Tool for Shell {
    fn spec(&self) -> ToolSpec {
        let description = "run a command; what it changes, but for new files in the workspace, is asked about";
        spec("shell", ToolClass::Shell, 6, description, schema())
    }

    fn read(&self, machine: &Machine, _: &UserContext<'_>, input: &Value) -> Result<Request, Box<Record>> {
        read(machine, input).map_err(|problem| problem.record(EffectClass::Unproven))
    }
}

fn read(machine: &Machine, input: &Value) -> Result<Request, InputProblem> {
    let Machine { config, protected, .. } = machine;
    let Wire { command, network: asks_network, writes } = input::parse(input)?;
    input::check_count("writes", writes.len(), WRITES_MAX)?;
    input::check_length("command", &command, COMMAND_MAX_CHARS)?;
    if command.trim().is_empty() {
        return Err(input::unfit("the command is empty"));
    }
    input::check_visible("the command", &command, "runs")?;
    let writes = writes.iter().map(|path| input::path(&config.environment, "writes", path));
    let folders = writes.collect::<Result<Vec<_>, _>>()?;
    let line = command_line::read(config, &command);
    let assessment = risk::assess(&line);
    if let Some(reason) = assessment.refusal {
        return Err(InputProblem::Denied(reason));
    }
    let mut secrets = Vec::new();
    let mut reasons = Vec::new();
    for (path, reason) in line.names.iter().filter_map(|path| Some((path, protected.question(path)?))) {
        secrets.push(path.clone());
        reasons.push(reason);
    }
    if asks_network {
        reasons.push("it asks for the network".to_owned());
    }
    let command = Command { text: command, line, folders, secrets, network: asks_network, left_out: Vec::new() };
    let network = if asks_network { NetworkUse::Possible } else { NetworkUse::Blocked };
    let effects = CallEffects {
        hosts: command.line.hosts.clone(),
        commands: command.line.commands.clone(),
        is_destructive: false,
        undo: UndoMethod::Commit,
        lines: reasons.clone(),
        ..CallEffects::new(EffectClass::Unproven, command.line.names.clone(), network)
    };
    let question = reasons.first().cloned().map(|reason| Question {
        text: format!("{}\0{asks_network}", command.text),
        files: command.secrets.clone(),
        shown: command.text.clone(),
        reason,
        details: reasons,
    });
    let target = command.text.trim().to_owned();
    Ok(Request { target, effects, question, job: Box::new(command) })
}

/// The schema for models.
fn schema() -> Value {
    input::schema(
        &["command"],
        json!({
            "command": {"type": "string", "minLength": 1, "maxLength": COMMAND_MAX_CHARS,
                "description": "a command for bash, with pipelines, lists and loops"},
            "network": {"type": "boolean", "description": "true if it must reach the network; asks a person"},
            "writes": {"type": "array", "maxItems": WRITES_MAX, "items": {"type": "string", "minLength": 1, "maxLength": PATH_MAX_BYTES},
                "description": "folders outside the home folder that it must change"}
        }),
    )
}
