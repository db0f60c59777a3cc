//! `shell`: a command line. A command that is proven harmless runs at once, any other after the user approved it.

mod check;
mod pipeline;
mod run;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use artoo_proto::{EffectClass, ToolClass, ToolSpec};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::command_line::{self, CommandLine, Paths};
use crate::config::ToolConfig;
use crate::effects::{CallEffects, NetworkUse, UndoMethod};
use crate::guard::{self, CommandClass, Proof};
use crate::input::{self, InputProblem};
use crate::paths::PATH_MAX_BYTES;
use crate::process::{self, Invocation};
use crate::protect::Protected;
use crate::record::Record;
use crate::tool::{CAUTION, Machine, Question, Request, Tool, UserContext, spec};
use crate::{network, open, paths, secret};

pub use check::{Classification, CommandGuard};

/// Longest command in characters; near the limit of the system.
const COMMAND_MAX_CHARS: usize = 32_768;

/// Maximum number of paths in `writes`; the user reads each of them.
const WRITES_MAX: usize = 16;

/// Why a proven command that creates files needs approval on a machine without a sandbox.
const NO_SANDBOX: &str = "nothing on this machine holds a running command, and this one is not read-only";

/// Why a proven command needs approval on a machine without a sandbox, if some files are to be left out.
const NO_SANDBOX_READING: &str = "nothing on this machine holds a running command, which would otherwise have";

#[derive(Debug)]
pub(crate) struct Shell;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    command: Option<String>,
    /// Programs with their arguments; code writes them, models write a command.
    pipeline: Option<Vec<Vec<String>>>,
    #[serde(default)]
    network: bool,
    #[serde(default)]
    writes: Vec<String>,
}

/// A valid command.
#[derive(Debug)]
struct Command {
    text: String,
    /// The programs, if it was not given as text.
    pipeline: Option<Vec<Vec<String>>>,
    proof: Proof,
    /// Paths that it names: all of them for a proven command, best effort for another.
    paths: Vec<PathBuf>,
    /// Files and folders that it may change without naming them: those in `writes`, and folders of its patterns.
    writes: Vec<PathBuf>,
    /// Digests of the files that it names, before it runs.
    before: Digests,
    /// The workspace, if it was created for this command.
    made_workspace: Option<PathBuf>,
}

/// Digests of files by path; `None` if there is no file.
type Digests = BTreeMap<PathBuf, Option<String>>;

impl Shell {
    /// The tool, if a shell is installed.
    pub(crate) fn detect(config: &ToolConfig) -> Option<Self> {
        ["bash", "sh"].iter().any(|name| process::find_program(config, name).is_some()).then_some(Self)
    }
}

impl Tool for Shell {
    fn spec(&self) -> ToolSpec {
        let description = "run a command; read-only ones at once, others after a yes";
        spec("shell", ToolClass::Shell, 6, description, schema())
    }

    fn read(&self, machine: &Machine, user: &UserContext<'_>, input: &Value) -> Result<Request, Box<Record>> {
        read(machine, user, input).map_err(|problem| problem.record(EffectClass::Unproven))
    }
}

fn read(machine: &Machine, user: &UserContext<'_>, input: &Value) -> Result<Request, InputProblem> {
    let Machine { config, protected, .. } = machine;
    let Wire { command, pipeline, network: asks_network, writes } = input::parse(input)?;
    let command = match (command, &pipeline) {
        (Some(command), None) => command,
        (None, Some(pipeline)) => pipeline::text(pipeline)?,
        _ => return Err(input::unfit("give either \"command\" or \"pipeline\", and not both")),
    };
    input::check_count("writes", writes.len(), WRITES_MAX)?;
    input::check_length("command", &command, COMMAND_MAX_CHARS)?;
    if command.trim().is_empty() {
        return Err(input::unfit("the command is empty"));
    }
    input::check_visible("the command", &command, "runs")?;
    let writes = writes.iter().map(|path| input::path(&config.environment, "writes", path));
    let writes = writes.collect::<Result<Vec<_>, _>>()?;
    let (command, line) = Command::new(config, protected, command, writes.clone());
    let command = Command { pipeline, ..command };
    // The folder of a pattern may change, but a denial covers the pattern alone.
    let names = [line.names, writes].concat();
    let is_proven = matches!(command.proof, Proof::Proven(_));
    let network = !is_proven && (asks_network || network::is_named(&command.text));
    let network = if network { NetworkUse::Possible } else { NetworkUse::Blocked };
    let effects = CallEffects {
        names,
        hosts: line.hosts,
        commands: line.commands,
        is_destructive: matches!(command.proof, Proof::Unproven { class: CommandClass::Irreversible, .. }),
        undo: UndoMethod::Snapshot(command.may_change(config)),
        lines: command.effect_lines(config, protected),
        ..CallEffects::new(command.class(), command.granted(), network)
    };
    let question = command.needs_approval(machine, user).map(|reason| {
        let shown = command.shown(asks_network);
        let program = command.invocation(config).map(|invocation| invocation.program);
        Question { text: format!("{shown}\0{program:?}"), files: effects.all_paths(), shown, reason }
    });
    let target = command.text.trim().to_owned();
    Ok(Request { target, effects, question, job: Box::new(command) })
}

impl Command {
    /// Classifies a command. `writes`: what it asks to change besides.
    fn new(config: &ToolConfig, protected: &Protected, text: String, mut writes: Vec<PathBuf>) -> (Self, CommandLine) {
        let line = command_line::read(config, &text);
        let proof = guard::classify(config, protected, &text);
        let Paths { paths, folders } = match &proof {
            Proof::Proven(proven) => Paths { paths: proven.effects.paths(), folders: Vec::new() },
            Proof::Unproven { .. } => line.paths(&config.environment),
        };
        writes.extend(folders);
        (Self { text, pipeline: None, proof, paths, writes, before: Digests::new(), made_workspace: None }, line)
    }

    fn class(&self) -> EffectClass {
        match &self.proof {
            Proof::Proven(proven) => proven.class,
            Proof::Unproven { .. } => EffectClass::Unproven,
        }
    }

    fn is_read_only(&self) -> bool {
        self.class() == EffectClass::ReadOnly
    }

    /// Every path that it names or asks for.
    fn granted(&self) -> Vec<PathBuf> {
        [self.paths.as_slice(), &self.writes].concat()
    }

    /// The paths that it may change; for a command that is not proven, with the workspace.
    fn may_change(&self, config: &ToolConfig) -> Vec<PathBuf> {
        let is_proven = matches!(self.proof, Proof::Proven(_));
        let workspace = (!is_proven).then(|| PathBuf::from(&config.environment.workspace));
        self.granted().into_iter().chain(workspace).collect()
    }

    /// Why it needs approval, if it does.
    fn needs_approval(&self, machine: &Machine, user: &UserContext<'_>) -> Option<String> {
        let proven = match &self.proof {
            Proof::Unproven { reason, .. } => return Some(reason.clone()),
            Proof::Proven(proven) => proven,
        };
        if self.is_read_only() {
            let left_out = secret::left_out(proven.effects.left_out()).filter(|_| !machine.fence().holds)?;
            return Some(format!("{NO_SANDBOX_READING} {left_out}"));
        }
        let caution = || user.confirm.then(|| CAUTION.to_owned());
        if machine.fence().holds { caution() } else { Some(NO_SANDBOX.to_owned()) }
    }

    /// The command with what it asks for besides.
    fn shown(&self, asks_network: bool) -> String {
        let writes = self.writes.iter().map(|path| format!("\n[may change everything in {}]", paths::line(path)));
        let network = asks_network.then(|| "\n[may reach the network]".to_owned());
        std::iter::once(self.text.clone()).chain(writes).chain(network).collect()
    }

    /// The effects for the user: those that are proven, or what the command names.
    fn effect_lines(&self, config: &ToolConfig, protected: &Protected) -> Vec<String> {
        if let Proof::Proven(proven) = &self.proof {
            return proven.effects.in_words();
        }
        let mut lines = vec!["runs a command whose effects are not proven".to_owned()];
        for path in &self.writes {
            lines.extend(protected.refusal(path));
            lines.push(format!("may change everything in {}", paths::line(path)));
        }
        for path in &self.paths {
            lines.extend(protected.refusal(path));
            let Ok(found) = fs::symlink_metadata(path) else { continue };
            let kind = open::kind_name(found.file_type());
            let size = if found.is_file() { format!(" of {} bytes", found.len()) } else { String::new() };
            lines.push(format!("may change {} ({kind}{size})", paths::line(path)));
        }
        let cwd = PathBuf::from(&config.environment.cwd);
        lines.extend(protected.exposed(self.paths.iter().chain(&self.writes).chain([&cwd])));
        lines
    }

    /// The program to run: of a proven command that program itself, else a shell with the bytes that were shown.
    fn invocation(&self, config: &ToolConfig) -> Option<Invocation> {
        if let Proof::Proven(proven) = &self.proof {
            return Some(proven.invocation.clone());
        }
        if let Some(pipeline) = &self.pipeline {
            return pipeline::invocation(pipeline, config);
        }
        let mut shell = pipeline::shell(config)?;
        shell.arguments.extend(["-c".into(), OsString::from(&self.text)]);
        Some(shell)
    }

    /// Whether a path is spelled in the command.
    fn spells(&self, path: &Path) -> bool {
        path.to_str().is_some_and(|path| self.text.contains(path))
    }
}

/// The schema for models.
fn schema() -> Value {
    input::schema(
        &["command"],
        json!({
            "command": {"type": "string", "minLength": 1, "maxLength": COMMAND_MAX_CHARS,
                "description": "pipelines, lists and loops of known read-only programs run at once; all else needs a yes"},
            "network": {"type": "boolean", "description": "true if it must reach the network; asks a person"},
            "writes": {"type": "array", "maxItems": WRITES_MAX, "items": {"type": "string", "minLength": 1, "maxLength": PATH_MAX_BYTES},
                "description": "folders or files it must change and does not name; the workspace is always writable"}
        }),
    )
}
