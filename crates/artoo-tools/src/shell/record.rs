//! The record of a shell command that ran.

use std::io;
use std::path::{Path, PathBuf};

use artoo_proto::CallStatus;
use artoo_proto::redact::redact;
use rustix::fs::{Access, access};

use super::Command;
use crate::process::Ended;
use crate::record::Record;
use crate::tool::Machine;
use crate::{paths, secret, suggest};

/// What a model should do if the sandbox denied a command something, added to the record.
const REMEDY: &str = "name a folder outside the home in \"writes\", or ask for \"network\"; the user decides";

/// Programs, such as `grep`, whose exit code 1 is an answer and not a failure, if they print no error.
const ANSWERING: &str = "grep egrep fgrep zgrep rg ag ack diff cmp test [ [[ pgrep pidof which command type lsof jq awk \
    systemctl git";

/// Programs, such as `echo`, that use only their arguments: their output measures nothing on the machine.
const ECHOING: &str = "echo printf true false : seq yes expr bc dc basename dirname sleep";

impl Command {
    /// The record of a shell command that has ended, or of the error why it could not be started.
    pub(super) fn ended(&self, machine: &Machine, ended: io::Result<Ended>) -> Record {
        let cwd = &machine.config.environment.cwd;
        match ended {
            Err(error) => not_started(&self.program, cwd, &error),
            Ok(ended) => self.record(Path::new(cwd), ended, machine.config.output_max_chars),
        }
    }

    /// The record of a shell command that has ended, by itself or at its time limit, from its output and exit code.
    fn record(&self, cwd: &Path, mut ended: Ended, max_chars: usize) -> Record {
        let measures = self.commands.is_empty() || self.programs().any(|name| !is_listed(ECHOING, name));
        let mut record = Record { measures, ..Record::of_program(&mut ended, max_chars) };
        record.text = without_passwords(record.text, self.programs().any(|name| name == "git"));
        if ended.timed_out.is_some() {
            return record;
        }
        let is_answering = self.programs().last().is_some_and(|name| is_listed(ANSWERING, name));
        // 123 is that of `xargs` where a program that it ran ended with 1.
        let is_no = matches!(ended.exit_code, Some(1 | 123));
        let is_answer = is_no && is_answering && ended.stderr.total() == 0;
        let succeeded = ended.exit_code == Some(0) || is_answer;
        let missed = self.missed(&ended, max_chars);
        let is_part = !succeeded && missed.1;
        if let Some(left_out) = secret::left_out(&missed.0) {
            record.text.push_str(&format!("\n[{left_out}; name a file to be asked about it]"));
        }
        if let Some(denied) = ended.kept() {
            record.text.push_str(&format!("\n[{denied}; {REMEDY}]"));
        }
        let alternatives = if succeeded || is_part { None } else { self.environmental_cause(cwd, &ended) };
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

    /// The names of the command's programs without their folders, in order.
    fn programs(&self) -> impl Iterator<Item = &str> {
        let first = self.commands.iter().filter_map(|words| words.first());
        first.filter_map(|program| Path::new(program).file_name()?.to_str())
    }

    /// Files hidden from the command that its "permission denied" errors name, and whether all of its errors are such.
    fn missed(&self, ended: &Ended, max_chars: usize) -> (Vec<PathBuf>, bool) {
        if self.left_out.is_empty() || ended.stderr.total() == 0 {
            return (Vec::new(), false);
        }
        let (errors, is_cut) = ended.stderr.text(max_chars);
        let denied: Vec<&str> = errors.lines().filter(|line| line.contains("ermission denied")).collect();
        let name = |path: &Path| path.file_name().and_then(|name| name.to_str()).map(str::to_owned);
        let is_named = |path: &&PathBuf| name(path).is_some_and(|name| denied.iter().any(|line| line.contains(&name)));
        let missed: Vec<PathBuf> = self.left_out.iter().filter(is_named).cloned().collect();
        let is_all = !is_cut && !missed.is_empty() && denied.len() == errors.lines().count();
        (missed, is_all)
    }

    /// Similar existing paths, maybe none, if the environment explains a failure: a missing program, or a path that is
    /// missing or can't be read; `None` if it does not. Error messages are not considered.
    fn environmental_cause(&self, cwd: &Path, ended: &Ended) -> Option<Vec<String>> {
        if matches!(ended.exit_code, Some(126 | 127)) {
            return Some(Vec::new());
        }
        let is_path = |word: &&String| !word.starts_with('-') && word.contains(['.', '/']);
        let words = self.commands.iter().flat_map(|words| words.iter().skip(1)).filter(is_path);
        let missing = words.map(|word| cwd.join(word)).find(|path| path.symlink_metadata().is_err());
        let alternatives = missing.map(|path| suggest::alternatives(&path));
        let is_closed = |path: &&PathBuf| path.exists() && access(*path, Access::READ_OK).is_err();
        alternatives.or_else(|| self.paths.iter().find(is_closed).map(|_| Vec::new()))
    }
}

/// The text without passwords in URLs, such as those in the settings of a repository; of git's own output also without
/// other secrets in lines with a URL.
fn without_passwords(text: String, is_of_git: bool) -> String {
    if !text.contains("://") {
        return text;
    }
    let is_shown = |line: &str| if is_of_git { !line.contains("://") } else { !has_password(line) };
    let line = |line: &str| if is_shown(line) { line.to_owned() } else { redact(line).into_owned() };
    text.split_inclusive('\n').map(line).collect()
}

/// Whether a URL in the line has a user with a password before its host.
fn has_password(line: &str) -> bool {
    let authorities = line
        .split("://")
        .skip(1)
        .filter_map(|rest| rest.split(|c: char| c.is_whitespace() || "/?#\"'<>".contains(c)).next());
    authorities.filter_map(|authority| authority.rsplit_once('@')).any(|(user, _)| user.contains(':'))
}

/// The record of a program that could not be started, with the reason.
fn not_started(program: &Path, cwd: &str, error: &io::Error) -> Record {
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
    Record { measures: false, ..record }
}

/// Whether the name is in a list separated by blanks.
fn is_listed(list: &str, name: &str) -> bool {
    list.split_whitespace().any(|listed| listed == name)
}
