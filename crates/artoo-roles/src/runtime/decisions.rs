//! The log of R7's decisions in a data folder, from which a profile can be calibrated.
//!
//! JSON lines: for each task a header with the profile, then the controller's calls and replies; and a line for each
//! result that the user called wrong. `artoo_ggs::LogHeader` and `artoo_ggs::LogEntry` define them.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use artoo_ggs::{LogHeader, Profile};
use artoo_proto::TaskId;
use serde_json::{Value, json};

/// Name of the log; the previous log has another suffix.
const NAME: &str = "decisions.jsonl";
/// Size of a log in bytes from which on the next entry begins a new one. Only the previous log is stored too, so both
/// take about twice this size at most.
const SIZE_MAX: u64 = 8 * 1024 * 1024;
/// Utility logged for a result that the user called wrong: −1.
const WRONG: f64 = -1.0;

/// The log of R7's decisions in a data folder, one JSON line each.
#[derive(Debug)]
pub(super) struct DecisionLog {
    path: PathBuf,
    /// The line that says which profile decided.
    header: Option<Value>,
}

impl DecisionLog {
    /// The log of decisions in this folder, for decisions under this profile. Nothing is written yet.
    pub(super) fn new(folder: &Path, profile: &Profile) -> Self {
        let header = serde_json::to_value(LogHeader::new(profile.clone())).ok();
        Self { path: folder.join(NAME), header }
    }

    /// Appends the header with the profile, then the decisions of an ended task.
    pub(super) fn add(&self, records: Vec<Value>) {
        self.append(self.header.iter().cloned().chain(records));
    }

    /// Appends that the user called the result of a task wrong.
    pub(super) fn add_wrong(&self, task: &TaskId) {
        self.append([json!({"judged": {"task": task, "utility": WRONG}})]);
    }

    /// Appends lines in one write, so that another process's lines don't come between them.
    fn append(&self, lines: impl IntoIterator<Item = Value>) {
        let text: String = lines.into_iter().map(|line| format!("{line}\n")).collect();
        let written = self.open().and_then(|mut file| file.write_all(text.as_bytes()));
        if let Err(error) = written {
            tracing::warn!("the decisions of a task can't be written to {}: {error}", self.path.display());
        }
    }

    /// Opens the log for appending, readable by the owner only; a log that is too large is renamed first, and a new one
    /// begins.
    fn open(&self) -> io::Result<File> {
        if fs::metadata(&self.path).is_ok_and(|metadata| metadata.len() >= SIZE_MAX) {
            fs::rename(&self.path, self.path.with_extension("before.jsonl"))?;
        }
        let mut options = File::options();
        options.create(true).append(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            options.mode(0o600);
        }
        options.open(&self.path)
    }
}

/// Tests of the log of decisions: its first line and its maximum size.
#[cfg(test)]
mod tests {
    use artoo_ggs::{LogHeader, Profile};
    use artoo_proto::TaskId;
    use serde_json::{Value, json};
    use uuid::Uuid;

    use super::{DecisionLog, NAME, SIZE_MAX};

    #[test]
    fn log_begins_with_profile_and_is_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let log = DecisionLog::new(folder.path(), &Profile::default());
        let read = || std::fs::read_to_string(folder.path().join(NAME)).unwrap();
        log.add(vec![json!({"event": 1}), json!({"event": 2})]);
        log.add_wrong(&TaskId::new("x", Uuid::from_u128(1)));
        let text = read();
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let header: LogHeader = serde_json::from_value(lines[0].clone()).unwrap();
        assert_eq!(header.into_profile(), Profile::default());
        assert_eq!((&lines[1], lines.len()), (&json!({"event": 1}), 4));
        assert_eq!(lines[3]["judged"]["utility"], json!(-1.0));
        std::fs::write(folder.path().join(NAME), vec![b' '; SIZE_MAX as usize]).unwrap();
        log.add(vec![json!({"event": 3})]);
        assert_eq!(read().lines().count(), 2);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
