//! Runs a shell command in its sandbox, and records its output and the files that it changed.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use artoo_proto::{CallStatus, EffectClass, Environment, FileChange};
use rustix::fs::{Access, access};

use super::{Command, Digests};
use crate::consent;
use crate::effects::NetworkUse;
use crate::fence::Fence;
use crate::guard::{Effects, ExitOne, Proof};
use crate::limit::Limit;
use crate::process::Ended;
use crate::record::Record;
use crate::tool::{Call, Job, Machine, Running, done};
use crate::undo::Act;
use crate::{nearby, paths, secret};

/// What to do if the sandbox denied an approved command something.
const REMEDY: &str =
    "name the path in the command or in \"writes\", or ask for \"network\"; a person is shown it and decides";

/// Why the sandbox denied a proven command something.
const BEYOND_PROOF: &str = "it ran without a question, which lets it make only the new names it was proven to make";

impl Job for Command {
    fn prepare(&mut self, machine: &Machine, act: &Act, limit: &Limit) {
        if !self.is_read_only() {
            self.made_workspace = make_workspace(&machine.config.environment);
            self.before = if act.sees_all() { Digests::new() } else { digests(&self.paths, limit) };
        }
    }

    fn run(self: Box<Self>, call: Call) -> Running {
        let config = &call.machine.config;
        let Some(invocation) = self.invocation(config) else {
            let record = Record::hindered("no shell is installed").class(EffectClass::Unproven);
            return Box::pin(async { Ok(done(record)) });
        };
        let (program, cwd) = (invocation.program.clone(), config.environment.cwd.clone());
        // The workspace exists now, so that the sandbox can grant it.
        let (fence, time, made_workspace) = (self.fence(&call), call.deadline.left(), self.made_workspace.clone());
        let record = move |ended: io::Result<Ended>, machine: &Machine, limit: &Limit| match ended {
            Err(error) => self.not_started(&program, &cwd, &error),
            Ok(ended) => {
                let changed = changes(&self.before, &digests(self.before.keys(), limit));
                self.record(ended, changed, machine.config.output_max_chars)
            }
        };
        Box::pin(async move { Ok(call.run(invocation, fence, time, made_workspace, record).await) })
    }
}

/// Creates the workspace if it is missing, so that it counts as no change of the command. A command that needs it
/// reports an error if it can't be created.
fn make_workspace(environment: &Environment) -> Option<PathBuf> {
    let workspace = PathBuf::from(&environment.workspace);
    let is_missing = !workspace.exists();
    (is_missing && fs::create_dir_all(&workspace).is_ok()).then(|| paths::real(&workspace))
}

/// Digests of the regular files at these paths. Folders and files too large to hash are left out.
fn digests<'a>(paths: impl IntoIterator<Item = &'a PathBuf>, limit: &Limit) -> Digests {
    let digest = |path: &PathBuf| match fs::symlink_metadata(path) {
        Err(_) => Some(None),
        Ok(found) => consent::content(path, &found, limit).map(Some),
    };
    paths.into_iter().filter_map(|path| digest(path).map(|digest| (path.clone(), digest))).collect()
}

fn changes(before: &Digests, after: &BTreeMap<PathBuf, Option<String>>) -> Vec<FileChange> {
    let changed = before.iter().filter_map(|(path, before)| {
        let after = after.get(path)?;
        (before != after).then(|| FileChange { path: paths::line(path), before: before.clone(), after: after.clone() })
    });
    changed.collect()
}

impl Command {
    /// The sandbox: a proven command may do what is proven, another what the user was shown.
    fn fence(&self, call: &Call) -> Fence {
        let (config, protected) = (&call.machine.config, &call.machine.protected);
        match &self.proof {
            Proof::Proven(proven) => {
                let Effects { opened, created, .. } = &proven.effects;
                let left_out = proven.effects.left_out().iter().map(|path| paths::real(path)).collect();
                Fence { left_out, ..Fence::of_creating(config, protected, opened, created) }
            }
            Proof::Unproven { .. } => {
                let network = call.effects.network == NetworkUse::Possible;
                Fence::of_allowed(config, protected, &call.effects.paths, network)
            }
        }
    }

    /// The record of a command that ran.
    fn record(&self, mut ended: Ended, changed: Vec<FileChange>, max_chars: usize) -> Record {
        let (measures, exit_one, left_out) = match &self.proof {
            Proof::Proven(proven) => {
                let Effects { measures, exit_one, .. } = proven.effects;
                (measures, exit_one, proven.effects.left_out())
            }
            Proof::Unproven { .. } => (true, None, [].as_slice()),
        };
        let class = self.class();
        let mut record = Record { changed, measures, ..Record::of_program(&mut ended, max_chars).class(class) };
        if ended.timed_out.is_some() {
            return record;
        }
        let is_answer = ended.exit_code == Some(1) && exit_one == Some(ExitOne::Answer) && ended.stderr.total() == 0;
        let succeeded = ended.exit_code == Some(0) || is_answer;
        let is_part = !succeeded && only_misses(&ended, left_out, max_chars);
        if let Some(left_out) = secret::left_out(left_out) {
            record.text.push_str(&format!("\n[{left_out}; name a file to be asked about it]"));
        }
        // A proven command that was denied something is always reported: its output may claim that it succeeded.
        let (is_reported, remedy) =
            if class == EffectClass::Unproven { (!succeeded, REMEDY) } else { (true, BEYOND_PROOF) };
        if let Some(denied) = ended.kept().filter(|_| is_reported) {
            record.text.push_str(&format!("\n[{denied}; {remedy}]"));
        }
        let alternatives = if succeeded || is_part { None } else { self.environmental_cause(&ended) };
        Record {
            status: match (succeeded, is_part) {
                (true, _) => CallStatus::Ok,
                (false, true) => CallStatus::Cut,
                (false, false) => CallStatus::Failed,
            },
            truncated: is_part || record.truncated,
            environmental: is_part || alternatives.is_some(),
            alternatives: alternatives.unwrap_or_default(),
            ..record
        }
    }

    /// The record of a program that could not be started.
    fn not_started(&self, program: &Path, cwd: &str, error: &io::Error) -> Record {
        let reason = format!("{}: {error}", paths::line(program));
        let record = if !Path::new(cwd).is_dir() {
            Record::hindered(format!("the working folder is gone: {}", paths::line(Path::new(cwd))))
        } else if error.kind() == io::ErrorKind::NotFound {
            Record { exit_code: Some(127), ..Record::hindered(reason) }
        } else if error.kind() == io::ErrorKind::PermissionDenied {
            Record { exit_code: Some(126), ..Record::hindered(reason) }
        } else {
            Record::unusable(reason)
        };
        Record { measures: false, ..record.class(self.class()) }
    }

    /// Whether the environment explains a failure: a missing program, or a path that is missing or can't be read. Gives
    /// similar existing paths. Error messages are not considered.
    fn environmental_cause(&self, ended: &Ended) -> Option<Vec<String>> {
        if matches!(ended.exit_code, Some(126 | 127)) {
            return Some(Vec::new());
        }
        // A word of a command that is not proven may be no path, so only absolute paths in its text count.
        let is_proven = matches!(self.proof, Proof::Proven(_));
        self.paths.iter().filter(|path| is_proven || self.spells(path)).find_map(|path| match fs::metadata(path) {
            Err(_) => Some(nearby::alternatives(path)),
            Ok(_) => access(path, Access::READ_OK).is_err().then(Vec::new),
        })
    }
}

/// Whether every error of a program is that it could not read the files left out.
fn only_misses(ended: &Ended, left_out: &[PathBuf], max_chars: usize) -> bool {
    let (errors, is_cut) = ended.stderr.text(max_chars);
    let names: Vec<_> = left_out.iter().filter_map(|path| path.file_name()?.to_str()).collect();
    let is_miss = |line: &str| line.contains("ermission denied") && names.iter().any(|name| line.contains(name));
    !is_cut && !errors.is_empty() && errors.lines().all(is_miss)
}
