//! `shell`: a command line, run as a transaction: the user is asked about its changes before they are made.

mod check;
mod git;
mod pipeline;
mod record;

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use artoo_proto::{EffectClass, ToolClass, ToolSpec};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::command_line::{self, CommandLine};
use crate::config::ToolConfig;
use crate::effects::{CallEffects, NetworkUse, UndoMethod};
use crate::fence::Reach;
use crate::limit::Limit;
use crate::paths::PATH_MAX_BYTES;
use crate::process::{self, Ended, Invocation};
use crate::protect::{FoundSecrets, Protected};
use crate::record::Record;
use crate::risk;
use crate::tool::{Machine, Question, Request, Tool, UserContext, spec};
use crate::transaction::{Names, Program};
use crate::{input, texts};

pub use check::Assessor;

/// Longest command in characters; near the limit of the system.
const COMMAND_MAX_CHARS: usize = 32_768;

/// Maximum number of paths in `writes`, the folders a command asks to change; the user reads each of them.
const WRITES_MAX: usize = 16;

/// Programs, such as `ls`, that print no content of files, so that a command of only these needs no approval for
/// folders not searched for secrets.
const READING_NO_FILES: [&str; 32] = [
    "ls", "pwd", "cd", "date", "uname", "id", "whoami", "groups", "echo", "printf", "true", "false", "test", "[", "df",
    "du", "free", "ps", "uptime", "hostname", "which", "type", "command", "sleep", "stat", "mkdir", "rmdir", "touch",
    "chmod", "nproc", "arch", "tty",
];

/// The tool `shell`, which runs command lines and pipelines.
#[derive(Debug)]
pub(crate) struct Shell;

/// The input of `shell` as JSON.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    command: Option<String>,
    /// Programs with their arguments; used by recipes, while models write a command.
    pipeline: Option<Vec<Vec<String>>>,
    #[serde(default)]
    network: bool,
    #[serde(default)]
    writes: Vec<String>,
}

/// The facts about a shell command that are needed to judge its result once it has ended.
#[derive(Debug)]
struct Command {
    /// The path of the program that is started.
    program: PathBuf,
    /// The simple commands.
    commands: Vec<Vec<String>>,
    /// The paths that the command names.
    paths: Vec<PathBuf>,
    /// Files that the command may not read, since they may hold secrets.
    left_out: Vec<PathBuf>,
}

impl Shell {
    /// The tool `shell`, if this machine has a shell.
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
        read(machine, input).map_err(|record| record.of_class(EffectClass::Unproven))
    }
}

/// Parses the input of `shell`, and returns the request of a transaction; the error is the record of an invalid or
/// refused command.
fn read(machine: &Machine, input: &Value) -> Result<Request, Box<Record>> {
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
    let folders = writes.collect::<Result<Vec<_>, _>>()?;
    let line = command_line::read(config, &command);
    let assessment = risk::assess(&command, &line);
    if let Some(reason) = assessment.refused {
        return Err(input::denied(&reason));
    }
    let mut found = protected.secrets(&config.environment, &line.names, &line.folders);
    if found.names_git_folder && !git::is_run(&line.commands) {
        found.named.extend(found.git_settings.clone());
        found.files.append(&mut found.git_settings);
    }
    let reason = git::shown(&line, protected).or_else(|| not_searched(&line, &found));
    let reason = reason.or_else(|| asks_network.then(|| texts::ASKS_NETWORK.to_owned()));
    let names = Names { secrets: secrets(protected, &line.names, found.named), hosts: line.hosts, paths: line.names };
    let left_out = found.files;
    let effects = CallEffects {
        hosts: names.hosts.clone(),
        commands: line.commands.clone(),
        undo: UndoMethod::Commit,
        lines: assessment.risks,
        ..CallEffects::new(EffectClass::Unproven, names.paths.clone(), NetworkUse::of_sandbox(asks_network))
    };
    let question = reason.map(|reason| Question {
        text: format!("{command}\0{asks_network}"),
        files: names.paths.clone(),
        shown: command.clone(),
        reason,
        details: Vec::new(),
    });
    let work =
        invocation(pipeline.as_deref(), &command, config).ok_or_else(|| input::unfit("no shell is installed"))?;
    let ran = Command {
        program: work.program.clone(),
        commands: line.commands,
        paths: names.paths.clone(),
        left_out: left_out.clone(),
    };
    let program = Program {
        work: Arc::new(work),
        shown: command.clone(),
        names,
        folders,
        left_out,
        reach: Reach::of_network(asks_network),
        is_granted: false,
        caution: None,
        time: config.call_timeout,
        workspace: None,
    };
    let record = move |ended: io::Result<Ended>, machine: &Machine, _: &Limit| ran.ended(machine, ended);
    let job = program.job(false, Box::new(record));
    Ok(Request { target: command.trim().to_owned(), effects, question, job })
}

/// The invocation of a pipeline's programs, or of a shell with the command exactly as it was shown; `None` if no shell
/// is installed.
fn invocation(pipeline: Option<&[Vec<String>]>, command: &str, config: &ToolConfig) -> Option<Invocation> {
    if let Some(pipeline) = pipeline {
        return pipeline::invocation(pipeline, config);
    }
    let mut shell = pipeline::shell(config)?;
    shell.arguments.extend(["-c".into(), command.into()]);
    Some(shell)
}

/// The paths with secrets that a command names or was found to read, each once.
fn secrets(protected: &Protected, names: &[PathBuf], found: Vec<PathBuf>) -> Vec<PathBuf> {
    let kept = names.iter().filter_map(|name| protected.readable_place(name));
    let secrets: BTreeSet<PathBuf> = found.into_iter().chain(kept).collect();
    secrets.into_iter().collect()
}

/// Why a command that names no secret needs approval: it may read files that were not searched for secrets. `None` if
/// it does not.
fn not_searched(line: &CommandLine, found: &FoundSecrets) -> Option<String> {
    let reads_cwd = line.names.is_empty() && line.folders.len() <= 1;
    let is_reader =
        |words: &Vec<String>| !words.first().is_some_and(|program| READING_NO_FILES.contains(&program.as_str()));
    let is_missed = found.misses_named || (reads_cwd && found.misses_cwd);
    (is_missed && line.commands.iter().any(is_reader)).then(|| texts::NOT_SEARCHED.to_owned())
}

/// The JSON schema of `shell`'s input.
fn schema() -> Value {
    input::schema(
        &["command"],
        json!({
            "command": {"type": "string", "minLength": 1, "maxLength": COMMAND_MAX_CHARS,
                "description": "a command for bash, with pipelines, lists and loops"},
            "network": {"type": "boolean", "description": "true if it needs the network; needs approval"},
            "writes": {"type": "array", "maxItems": WRITES_MAX, "items": {"type": "string", "minLength": 1, "maxLength": PATH_MAX_BYTES},
                "description": "folders outside the home folder that it must change"}
        }),
    )
}

/// Tests which commands need approval because they may read files that were not searched for secrets.
#[cfg(test)]
mod tests {
    use super::not_searched;
    use crate::command_line::CommandLine;
    use crate::protect::FoundSecrets;

    /// A command needs approval for unsearched folders only if its programs read file contents there.
    #[test]
    fn only_commands_that_read_unsearched_files_ask() {
        let asks = |command: &str, name: Option<&str>, misses_named, misses_cwd| {
            let words = command.split(' ').map(str::to_owned).collect();
            let names = name.into_iter().map(Into::into).collect();
            let line =
                CommandLine { names, commands: vec![words], folders: vec!["/h".into()], ..CommandLine::default() };
            not_searched(&line, &FoundSecrets { misses_named, misses_cwd, ..FoundSecrets::default() }).is_some()
        };
        assert!(asks("grep -r x .", Some("/h"), true, true));
        assert!(asks("rg x", None, false, true));
        assert!(!asks("cat a.txt", Some("/h/a.txt"), false, true));
        assert!(!asks("rg x", None, false, false));
        assert!(!asks("date", None, false, true));
        assert!(!asks("ls -la .", Some("/h"), true, true));
    }
}
