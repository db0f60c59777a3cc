//! Entries of the audit log: events of the bus, shortened and redacted, and the auditor's own notes.

use artoo_bus::Observed;
use artoo_proto::{AuditReport, TaskId, Timestamp, ToolCall, ToolRequest};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::finding::Finding;
use crate::sanitize::sanitized;

/// Maximum length of a text stored in one field of a log entry, in characters. A tool's output is cut to 4,000 for the
/// model; half of that is enough to recognise it.
#[doc(alias = "limit")]
pub const TEXT_MAX_CHARS: usize = 2_000;

/// Maximum length of a text in one field, in characters, if the log entry would otherwise be too long.
const TEXT_TIGHT_CHARS: usize = 120;

/// Maximum length of an event in a log entry, in bytes, without number and hashes, so that ordinary tools can read a
/// line.
pub const EVENT_MAX_BYTES: usize = 64 * 1024;

/// Estimated bytes of a log line besides its event: for number, time and hashes.
const USUAL_EXTRA_BYTES: usize = 256;

/// One entry of the audit log.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditEvent {
    /// When the entry was recorded.
    pub at: Timestamp,
    /// The event or note that was recorded.
    pub record: Record,
    /// What the rules found wrong with the event.
    pub findings: Vec<Finding>,
}

/// The content of a log entry: an event seen on the bus, or a note of the auditor.
#[derive(Debug, Clone, PartialEq)]
pub enum Record {
    /// An event of the bus.
    Seen {
        /// The event's position on the tap (event stream), which starts at 0 with every process.
        tap: u64,
        /// The event's fields as JSON, shortened and redacted.
        fields: SafeFields,
    },
    /// A note of the auditor.
    Note(Note),
}

/// The fields of a JSON object that is safe to store: secrets redacted, texts and lists shortened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SafeFields(Vec<u8>);

/// A note of the auditor about its log, or about something that did not pass the bus.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Note {
    /// A process opened the log.
    LogOpened {
        /// Number of lines in the log when it was opened.
        lines: u64,
    },
    /// This file continues a full one.
    SegmentStarted {
        /// Name of the full log file that this file continues.
        follows: String,
        /// Number of lines in the full file.
        lines: u64,
    },
    /// The chain of hashes was broken; the damaged file was renamed.
    SetAside {
        /// The new name of the damaged file.
        file: String,
        /// The first damaged line.
        line: u64,
        /// What is wrong with that line.
        problem: String,
    },
    /// The last line was incomplete and was removed.
    TornTail {
        /// Number of bytes of the incomplete line that were removed.
        bytes: u64,
    },
    /// The log is shorter than it once was, or another file is in its place.
    CutShort {
        /// Number of lines that the log once had, at least.
        expected: u64,
        /// Number of lines that the log has.
        found: u64,
        /// When the log still had those lines; `None` in logs of 0.1.0.
        whole_at: Option<Timestamp>,
    },
    /// The folder has files of earlier runs, but had no log: it was deleted with its statistics.
    LogMissing {
        /// Name of a file or folder that only a run with a log leaves.
        trace: String,
    },
    /// The user said that missing lines need not be reported any more.
    GapAccepted {
        /// [`crate::Gap::id`] of each accepted gap.
        gaps: Vec<String>,
    },
    /// Events could not be written.
    WriteLost {
        /// Number of events that could not be written.
        missing: u64,
        /// Error of the first failed write.
        problem: String,
    },
    /// The statistics of earlier runs could not be used; the file was renamed.
    StatsSetAside {
        /// What is wrong with the statistics file.
        problem: String,
        /// Whether the file was damaged; false if another version of artoo wrote it.
        #[serde(default)]
        is_damaged: bool,
    },
    /// A report was made; its counts start again from zero.
    Report {
        /// The report that was made.
        report: AuditReport,
    },
    /// The user undid a task's changes.
    Undone {
        /// Id of the undone task, or of the undo that was itself undone.
        entry: String,
        /// The id of this undo in the undo journal.
        by: Option<String>,
        /// Number of paths that the undo restored.
        brought_back: u64,
        /// Number of paths that the undo did not restore.
        left: u64,
    },
    /// A task that another process began is resumed; what it did before is in the lines of that process.
    Resumed {
        /// The task.
        task_id: TaskId,
        /// Number of its events that were replayed.
        events: u64,
    },
    /// A tool call outside the bus begins, such as that of `artoo try`.
    CallStarted {
        /// The task under which the call's evidence and changes are stored.
        task_id: TaskId,
        /// The tool and its input.
        request: ToolRequest,
    },
    /// The user was asked to approve a tool call outside the bus.
    CallAsked {
        /// The task of the call.
        task_id: TaskId,
        /// What the call would change or reach.
        effects: Vec<String>,
        /// Whether the user approved the call.
        is_approved: bool,
    },
    /// A tool call outside the bus ended.
    CallEnded {
        /// The task of the call.
        task_id: TaskId,
        /// The record of the call.
        call: Box<ToolCall>,
    },
    /// A finding that belongs to no single event.
    Found,
    /// The bus was closed and every event was written.
    LogClosed {
        /// Number of events this process wrote.
        events: u64,
        /// Number of events lost because the tap was full.
        missing: u64,
    },
}

impl Note {
    /// Whether the note contains a command or its output, in which secrets must be redacted before it is stored.
    fn is_about_call(&self) -> bool {
        matches!(self, Self::CallStarted { .. } | Self::CallAsked { .. } | Self::CallEnded { .. })
    }

    /// Whether the note says that log lines before it may be missing, although the chain of hashes is intact.
    pub(crate) fn is_gap(&self) -> bool {
        matches!(
            self,
            Self::SetAside { .. }
                | Self::CutShort { .. }
                | Self::LogMissing { .. }
                | Self::StatsSetAside { is_damaged: true, .. }
        )
    }
}

impl AuditEvent {
    /// The log entry for an event of the bus with the findings about it.
    #[must_use]
    pub fn seen(observed: &Observed, findings: Vec<Finding>) -> Self {
        let record = Record::Seen { tap: observed.n, fields: SafeFields::of(&observed.event) };
        Self { at: observed.at, record, findings }
    }

    /// The log entry for a note of the auditor.
    #[must_use]
    pub fn note(at: Timestamp, note: Note) -> Self {
        Self { at, record: Record::Note(note), findings: Vec::new() }
    }

    /// Estimated length of the entry as a line of the log, in bytes; the same small number for every note.
    pub(crate) fn bytes(&self) -> usize {
        match &self.record {
            Record::Seen { fields, .. } => fields.0.len() + USUAL_EXTRA_BYTES,
            Record::Note(_) => USUAL_EXTRA_BYTES,
        }
    }

    /// Appends the entry to `out` as the fields of a JSON object, without the braces.
    pub(crate) fn write(&self, out: &mut Vec<u8>) -> Result<(), serde_json::Error> {
        out.extend_from_slice(b"\"at\":");
        serde_json::to_writer(&mut *out, &self.at)?;
        match &self.record {
            Record::Seen { tap, fields } => {
                out.extend_from_slice(b",\"tap\":");
                serde_json::to_writer(&mut *out, tap)?;
                out.push(b',');
                out.extend_from_slice(inside(&fields.0));
            }
            Record::Note(note) if note.is_about_call() => {
                out.push(b',');
                out.extend_from_slice(inside(&SafeFields::of(note).0));
            }
            Record::Note(note) => {
                out.push(b',');
                out.extend_from_slice(inside(&serde_json::to_vec(note)?));
            }
        }
        if !self.findings.is_empty() {
            out.extend_from_slice(b",\"findings\":");
            serde_json::to_writer(out, &self.findings)?;
        }
        Ok(())
    }
}

impl SafeFields {
    /// Redacts and shortens an event or a note so that it takes at most [`EVENT_MAX_BYTES`]. If shorter texts are not
    /// enough, only the fields that identify it and its length are stored.
    fn of(event: &impl Serialize) -> Self {
        for max_chars in [TEXT_MAX_CHARS, TEXT_TIGHT_CHARS] {
            if let Some(text) = sanitized(event, max_chars, EVENT_MAX_BYTES) {
                return Self(text);
            }
        }
        let whole = serde_json::to_value(event).unwrap_or_default();
        let message = whole.get("envelope");
        let kind = message.and_then(|envelope| envelope.get("message")?.get("type"));
        let named = |name| whole.get(name).or_else(|| message?.get(name));
        let named = ["event", "task_id", "seq", "id", "from", "causation_id"].map(|name| (name, named(name)));
        let left_out_bytes = json!(whole.to_string().len());
        let fields = named.into_iter().chain([("type", kind), ("left_out_bytes", Some(&left_out_bytes))]);
        let left: Map<String, Value> =
            fields.filter_map(|(name, value)| Some((name.to_owned(), value?.clone()))).collect();
        Self(sanitized(&left, TEXT_TIGHT_CHARS, EVENT_MAX_BYTES).unwrap_or_default())
    }
}

/// The JSON text between an object's braces; empty if there are none.
fn inside(object: &[u8]) -> &[u8] {
    object.strip_prefix(b"{").and_then(|fields| fields.strip_suffix(b"}")).unwrap_or_default()
}

#[cfg(test)]
mod tests;
