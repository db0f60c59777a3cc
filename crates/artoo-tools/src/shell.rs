//! `shell`: a command line. Proven ones run at once and without a shell; the others only as a person allowed them.

mod spelled;
mod tool;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use artoo_proto::{CallStatus, EffectClass, Environment, FileChange, escape};
use rustix::fs::{Access, access};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::blocked::{self, Named};
use crate::config::ToolConfig;
use crate::consent;
use crate::fence::Fence;
use crate::guard::{self, Effects, ExitOne, Proof};
use crate::input::{self, InputProblem};
use crate::limit::Limit;
use crate::paths::{PATH_MAX_BYTES, PathProblem};
use crate::process::{self, Ended, Invocation};
use crate::protect::Protected;
use crate::record::Record;
use crate::tool::Job;
use crate::{nearby, network, open, paths, secret};

use spelled::Spelled;
pub(crate) use tool::Shell;

/// Longest command taken at all; the system itself ends near this.
const COMMAND_MAX_CHARS: usize = 32_768;

/// What helps a command that the fence kept from something.
const REMEDY: &str =
    "name the path in the command or in \"writes\", or ask for \"network\"; a person is shown it and decides";

/// Why a command that asks nobody was kept from something.
const BEYOND_PROOF: &str = "it ran without a question, which lets it make only the new names it was proven to make";

/// Places one command may ask to change besides those it names; a person reads each of them.
const WRITES_MAX: usize = 16;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    command: String,
    #[serde(default)]
    network: bool,
    #[serde(default)]
    writes: Vec<String>,
}

/// A command with what the guard says of it.
#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) text: String,
    pub(crate) proof: Proof,
    /// Paths it seems to name: all of them for a proven command, best effort for another.
    pub(crate) paths: Vec<PathBuf>,
    /// What it names, however it is spelled.
    pub(crate) named: Named,
    /// What it would touch, in words, for a command that must be asked about.
    pub(crate) effects: Vec<String>,
    /// Folders and files it asks to change although it does not name them.
    writes: Vec<PathBuf>,
    /// Whether it may reach the network once a person has allowed it.
    pub(crate) network: bool,
    /// Whether it asked for the network by its input and not by its words.
    asks_network: bool,
}

/// Why a command is not even asked about.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandProblem {
    #[error(transparent)]
    Input(#[from] InputProblem),
    #[error("writes: {0}")]
    Writes(#[from] PathProblem),
    #[error("the command is empty")]
    Empty,
    #[error("the command holds invisible or control characters, so what is shown would not be what runs")]
    Hostile,
}

impl Command {
    /// Reads an input and classifies the command; nothing is run.
    pub(crate) fn parse(config: &ToolConfig, protected: &Protected, value: &Value) -> Result<Self, CommandProblem> {
        let Wire { command, network: asks_network, writes } = input::parse(value)?;
        input::check_count("writes", writes.len(), WRITES_MAX)?;
        input::check_length("command", &command, COMMAND_MAX_CHARS)?;
        if command.trim().is_empty() {
            return Err(CommandProblem::Empty);
        }
        if escape::visible(&command) != command {
            return Err(CommandProblem::Hostile);
        }
        let mut named = blocked::named(config, &command);
        let proof = guard::classify(config, protected, &command);
        let (paths, patterns) = match &proof {
            Proof::Proven(proven) => (proven.effects.paths(), Vec::new()),
            Proof::Unproven { .. } => {
                let Spelled { paths, folders } = Spelled::of(&config.environment, &command);
                (paths, folders)
            }
        };
        let asked = writes.iter().map(|path| paths::absolute(&config.environment, path));
        let mut writes = asked.collect::<Result<Vec<_>, _>>()?;
        // A pattern is named as such: a no to it is none to the rest of its folder.
        named.places.extend(writes.iter().filter(|path| !named.places.contains(path)).cloned().collect::<Vec<_>>());
        writes.extend(patterns);
        let network = asks_network || network::is_named(&command);
        let effects = match &proof {
            Proof::Proven(proven) => proven.effects.in_words(),
            Proof::Unproven { .. } => {
                let mut effects = effects(&paths, &writes, protected);
                let cwd = PathBuf::from(&config.environment.cwd);
                effects.extend(protected.exposed(paths.iter().chain(&writes).chain([&cwd])));
                effects
            }
        };
        Ok(Self { text: command, proof, paths, named, effects, writes, network, asks_network })
    }

    /// Every path it names or asks for.
    pub(crate) fn touched(&self) -> Vec<PathBuf> {
        [self.paths.as_slice(), &self.writes].concat()
    }

    /// The bytes a consent is for: the command, and what it asks for beyond its words.
    pub(crate) fn consent_text(&self) -> String {
        let writes = self.writes.iter().map(|path| format!("\n[may change everything in {}]", paths::line(path)));
        let network = self.asks_network.then(|| "\n[may reach the network]".to_owned());
        std::iter::once(self.text.clone()).chain(writes).chain(network).collect()
    }

    /// What the kernel lets it do: a proven one what it was proven to do, another what was shown to a person.
    pub(crate) fn fence(&self, config: &ToolConfig, protected: &Protected) -> Fence {
        match &self.proof {
            Proof::Proven(proven) => {
                let Effects { opened, created, .. } = &proven.effects;
                let left_out = proven.effects.left_out().iter().map(|path| paths::real(path)).collect();
                Fence { left_out, ..Fence::of_creating(config, protected, opened, created) }
            }
            Proof::Unproven { .. } => Fence::of_allowed(config, protected, &self.touched(), self.network),
        }
    }

    /// Where it may change something: what it names, and the workspace unless the names are proven to be all.
    pub(crate) fn may_change(&self, environment: &Environment) -> Vec<PathBuf> {
        let workspace = match &self.proof {
            Proof::Proven(_) => None,
            Proof::Unproven { .. } => Some(PathBuf::from(&environment.workspace)),
        };
        self.touched().into_iter().chain(workspace).collect()
    }

    /// What would run: the program itself, or a shell over exactly the bytes that are shown.
    pub(crate) fn invocation(&self, config: &ToolConfig) -> Option<Invocation> {
        if let Proof::Proven(proven) = &self.proof {
            return Some(proven.invocation.clone());
        }
        let (program, name, mut arguments): (_, _, Vec<OsString>) = match process::find_program(config, "bash") {
            Some(bash) => (bash, "bash", vec!["--noprofile".into(), "--norc".into()]),
            None => (process::find_program(config, "sh")?, "sh", Vec::new()),
        };
        arguments.extend(["-c".into(), OsString::from(&self.text)]);
        Some(Invocation { program, name: name.into(), arguments, environment: Vec::new() })
    }
}

/// What an unproven command would touch, in words: what it names, no more.
fn effects(named: &[PathBuf], writes: &[PathBuf], protected: &Protected) -> Vec<String> {
    let mut effects = vec!["runs a command whose effects are not proven".to_owned()];
    for path in writes {
        effects.extend(protected.refusal(path));
        effects.push(format!("may change everything in {}", paths::line(path)));
    }
    for path in named {
        effects.extend(protected.refusal(path));
        let Ok(found) = fs::symlink_metadata(path) else { continue };
        let kind = open::kind_name(found.file_type());
        let size = if found.is_file() { format!(" of {} bytes", found.len()) } else { String::new() };
        effects.push(format!("may change {} ({kind}{size})", paths::line(path)));
    }
    effects
}

/// Digests of the regular files a command names, taken before and after it.
///
/// Best effort: it sees what the command line spells, not what a program opens on its own, nothing below a folder,
/// and no file above the digest's cap.
pub(crate) fn digests(paths: &[PathBuf], limit: &Limit) -> BTreeMap<PathBuf, Option<String>> {
    let digest = |path: &PathBuf| match fs::symlink_metadata(path) {
        Err(_) => Some(None),
        Ok(found) => consent::content(path, &found, limit).map(Some),
    };
    paths.iter().filter_map(|path| digest(path).map(|digest| (path.clone(), digest))).collect()
}

/// What differs between two takings.
pub(crate) fn changes(
    before: &BTreeMap<PathBuf, Option<String>>,
    after: &BTreeMap<PathBuf, Option<String>>,
) -> Vec<FileChange> {
    let changed = before.iter().filter_map(|(path, before)| {
        let after = after.get(path)?;
        (before != after).then(|| FileChange { path: paths::line(path), before: before.clone(), after: after.clone() })
    });
    changed.collect()
}

/// The record of a command that was run.
pub(crate) fn record(command: &Command, mut ended: Ended, changed: Vec<FileChange>, max_chars: usize) -> Record {
    let (class, measures, exit_one, left_out) = match &command.proof {
        Proof::Proven(proven) => {
            let Effects { measures, exit_one, .. } = proven.effects;
            (proven.class, measures, exit_one, proven.effects.left_out())
        }
        Proof::Unproven { .. } => (EffectClass::Unproven, true, None, [].as_slice()),
    };
    let mut record = Record { changed, measures, ..Record::of_program(&mut ended, max_chars).class(class) };
    if ended.timed_out.is_some() {
        return record;
    }
    let is_answer = ended.exit_code == Some(1) && exit_one == Some(ExitOne::Answer) && ended.stderr.total() == 0;
    let succeeded = ended.exit_code == Some(0) || is_answer;
    let is_part = !succeeded && only_misses(&ended, left_out, max_chars);
    if let Some(told) = secret::left_out(left_out) {
        record.text.push_str(&format!("\n[{told}; name a file to be asked about it]"));
    }
    // What was proven to change nothing else and tried to is told in any case: its output may claim that it did.
    let (is_told, remedy) = if class == EffectClass::Unproven { (!succeeded, REMEDY) } else { (true, BEYOND_PROOF) };
    if let Some(held) = ended.kept().filter(|_| is_told) {
        record.text.push_str(&format!("\n[{held}; {remedy}]"));
    }
    let hindrance = if succeeded || is_part { None } else { hindrance(command, &ended) };
    Record {
        status: match (succeeded, is_part) {
            (true, _) => CallStatus::Ok,
            (false, true) => CallStatus::Cut,
            (false, false) => CallStatus::Failed,
        },
        truncated: is_part || record.truncated,
        environmental: is_part || hindrance.is_some(),
        alternatives: hindrance.map(|missing| missing.alternatives).unwrap_or_default(),
        ..record
    }
}

/// Whether all it complains of is that it could not read what was left out.
fn only_misses(ended: &Ended, left_out: &[PathBuf], max_chars: usize) -> bool {
    let (complaints, is_cut) = ended.stderr.text(max_chars);
    let names: Vec<_> = left_out.iter().filter_map(|path| path.file_name()?.to_str()).collect();
    let is_miss = |line: &str| line.contains("ermission denied") && names.iter().any(|name| line.contains(name));
    !is_cut && !complaints.is_empty() && complaints.lines().all(is_miss)
}

/// The record of a program that could not even be started.
pub(crate) fn not_started(command: &Command, invocation: &Invocation, cwd: &str, error: &io::Error) -> Record {
    let program = paths::line(&invocation.program);
    let reason = format!("{program}: {error}");
    let record = if !Path::new(cwd).is_dir() {
        Record::hindered(format!("the working folder is gone: {}", paths::line(Path::new(cwd))))
    } else if error.kind() == io::ErrorKind::NotFound {
        Record { exit_code: Some(127), ..Record::hindered(reason) }
    } else if error.kind() == io::ErrorKind::PermissionDenied {
        Record { exit_code: Some(126), ..Record::hindered(reason) }
    } else {
        Record::unusable(reason)
    };
    Record { measures: false, ..record.class(command.class()) }
}

/// A fact about the machine that explains a failure.
struct Hindrance {
    alternatives: Vec<String>,
}

/// Looks for one that can be checked again: a named path that is missing or may not be read, a program that is not
/// there. Words in an error message decide nothing.
fn hindrance(command: &Command, ended: &Ended) -> Option<Hindrance> {
    if matches!(ended.exit_code, Some(126 | 127)) {
        return Some(Hindrance { alternatives: Vec::new() });
    }
    // A path-like word of an unproven command may be no path at all, so only what is spelled as one counts.
    let is_proven = matches!(command.proof, Proof::Proven(_));
    let named = command.paths.iter().filter(|path| is_proven || is_spelled(path, &command.text));
    for path in named {
        match fs::metadata(path) {
            Err(_) => return Some(Hindrance { alternatives: nearby::alternatives(path) }),
            Ok(_) if access(path, Access::READ_OK).is_err() => return Some(Hindrance { alternatives: Vec::new() }),
            Ok(_) => {}
        }
    }
    None
}

fn is_spelled(path: &Path, command: &str) -> bool {
    path.to_str().is_some_and(|path| command.contains(path))
}

/// The schema a model sees.
pub(crate) fn schema() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["command"],
        "properties": {
            "command": {"type": "string", "minLength": 1, "maxLength": COMMAND_MAX_CHARS,
                "description": "pipelines, lists and loops of known read-only programs run at once; all else needs a yes"},
            "network": {"type": "boolean", "description": "true if it must reach the network; asks a person"},
            "writes": {"type": "array", "maxItems": WRITES_MAX, "items": {"type": "string", "minLength": 1, "maxLength": PATH_MAX_BYTES},
                "description": "folders or files it must change and does not name; the workspace is always writable"}
        }
    })
}
