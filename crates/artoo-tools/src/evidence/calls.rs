//! Which call put out what: one line a call, so that a person can find an item by the id under which it is cited.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use artoo_proto::{EvidenceId, KeptOutput, TaskId, Timestamp};
use serde::{Deserialize, Serialize};

use super::{EvidenceProblem, EvidenceStore};

/// Longest list read; older calls are swept long before.
const LIST_MAX_BYTES: u64 = 64 * 1024 * 1024;

/// A call whose output is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptCall {
    /// When it ended.
    pub at: Timestamp,
    /// Whose it was.
    pub task_id: TaskId,
    /// Under which it is cited.
    pub evidence_id: EvidenceId,
    /// Which tool.
    pub tool: String,
    /// What it put out.
    pub kept: Vec<KeptOutput>,
}

impl EvidenceStore {
    /// The calls whose output was kept, oldest first. A line that can't be read is passed over.
    ///
    /// # Errors
    /// [`EvidenceProblem::Io`] when the list can't be read.
    pub fn calls(&self) -> Result<Vec<KeptCall>, EvidenceProblem> {
        let path = self.list();
        let mut bytes = Vec::new();
        match File::open(&path).and_then(|file| file.take(LIST_MAX_BYTES).read_to_end(&mut bytes)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(EvidenceProblem::Io { path, source }),
            Ok(_) => {}
        }
        Ok(bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect())
    }

    /// Notes a call. One write of one line, so that two processes do not tear each other's.
    pub(crate) fn note(&self, call: &KeptCall) -> io::Result<()> {
        let mut line = serde_json::to_vec(call)?;
        line.push(b'\n');
        Self::append(&self.list(), &line)
    }

    pub(super) fn list(&self) -> PathBuf {
        self.folder.join("calls.jsonl")
    }
}
