//! One line of the audit log: what was seen, shortened and redacted, or the auditor's own note.

use std::io;

use artoo_bus::{Observed, TapEvent};
use artoo_proto::{AuditReport, Timestamp};
use serde::Serialize;
use serde_json::json;

use crate::abridge;
use crate::finding::Finding;

/// Longest text kept of any one field, in characters: a tool's output is already cut to 4,000 for the model, and half
/// of that is enough to recognise it; the whole is in the input log, where one is kept.
pub const TEXT_MAX_CHARS: usize = 2_000;

/// Longest text kept of a field where the event as a whole is too long.
const TEXT_TIGHT_CHARS: usize = 120;

/// Longest event in bytes, before its place in the chain is added: a line stays readable by ordinary tools.
pub const EVENT_MAX_BYTES: usize = 64 * 1024;

/// What a line holds beside its event: its place in the chain.
const USUAL_EXTRA_BYTES: usize = 256;

/// What the auditor appends to its log for one thing it saw or did.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditEvent {
    /// When.
    pub at: Timestamp,
    /// What.
    pub record: Record,
    /// What looked wrong about it.
    pub findings: Vec<Finding>,
}

/// Seen on the tap, or noted by the auditor itself.
#[derive(Debug, Clone, PartialEq)]
pub enum Record {
    /// An event of the tap.
    Seen {
        /// Its position on the tap; starts at 0 with every process.
        tap: u64,
        /// The event's own fields, `event` among them, shortened and redacted.
        fields: SafeFields,
    },
    /// The auditor's own.
    Note(Note),
}

/// An event's fields as they may be kept: an object in JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SafeFields(Vec<u8>);

/// What the auditor says about its own work.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Note {
    /// A process opened the log.
    LogOpened {
        /// Lines that stood in it.
        lines: u64,
    },
    /// This file goes on where a full one ended.
    SegmentStarted {
        /// The full file's name.
        follows: String,
        /// Lines in it.
        lines: u64,
    },
    /// The log's chain was broken; the file was kept under another name.
    SetAside {
        /// Its new name.
        file: String,
        /// The first line that does not fit.
        line: u64,
        /// What is wrong with it.
        problem: String,
    },
    /// The last line had no end and was cut off.
    TornTail {
        /// How many bytes went.
        bytes: u64,
    },
    /// The log ends before a line that was once written.
    CutShort {
        /// Lines it once had, at least.
        expected: u64,
        /// Lines it has.
        found: u64,
    },
    /// Events that could not be written.
    WriteLost {
        /// How many.
        missing: u64,
        /// What the system said.
        problem: String,
    },
    /// The statistics of earlier runs could not be used.
    StatsSetAside {
        /// What is wrong with them.
        problem: String,
    },
    /// A report was made and the window starts anew.
    Report {
        /// The report.
        report: AuditReport,
    },
    /// The person had a task's changes brought back.
    Undone {
        /// The task, or the undo that was itself undone.
        entry: String,
        /// The undo's own entry in the undo journal.
        by: Option<String>,
        /// Paths brought back.
        brought_back: u64,
        /// Paths left as they are.
        left: u64,
    },
    /// Something found that belongs to no single event.
    Found,
    /// The bus is closed and everything seen is written.
    LogClosed {
        /// Events written by this process.
        events: u64,
        /// Events of the tap that are missing.
        missing: u64,
    },
}

impl AuditEvent {
    /// The event for something seen on the tap.
    #[must_use]
    pub fn seen(observed: &Observed, findings: Vec<Finding>) -> Self {
        let record = Record::Seen { tap: observed.n, fields: SafeFields::of(&observed.event) };
        Self { at: observed.at, record, findings }
    }

    /// The event for a note.
    #[must_use]
    pub fn note(at: Timestamp, note: Note) -> Self {
        Self { at, record: Record::Note(note), findings: Vec::new() }
    }

    /// About as many bytes as it will take.
    pub(crate) fn bytes(&self) -> usize {
        match &self.record {
            Record::Seen { fields, .. } => fields.0.len() + USUAL_EXTRA_BYTES,
            Record::Note(_) => USUAL_EXTRA_BYTES,
        }
    }

    /// Writes the event as the fields of a JSON object, without the braces around them.
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
    /// Secrets out, long texts short, never longer than [`EVENT_MAX_BYTES`].
    fn of(event: &TapEvent) -> Self {
        for max_chars in [TEXT_MAX_CHARS, TEXT_TIGHT_CHARS] {
            if let Some(text) = abridge::object(event, max_chars, EVENT_MAX_BYTES) {
                return Self(text);
            }
        }
        let mut left = json!({ "event": event_name(event), "left_out_bytes": json_length(event) });
        if let (TapEvent::Message { envelope }, Some(fields)) = (event, left.as_object_mut()) {
            fields.insert("seq".to_owned(), json!(envelope.seq));
            fields.insert("id".to_owned(), json!(envelope.id));
            fields.insert("type".to_owned(), json!(envelope.message.kind()));
            fields.insert("from".to_owned(), json!(envelope.from));
            fields.insert("causation_id".to_owned(), json!(envelope.causation_id));
        }
        Self(left.to_string().into_bytes())
    }
}

/// What stands between an object's braces.
fn inside(object: &[u8]) -> &[u8] {
    object.strip_prefix(b"{").and_then(|fields| fields.strip_suffix(b"}")).unwrap_or_default()
}

/// Bytes that a value takes as JSON, counted without being kept.
fn json_length(value: &impl Serialize) -> usize {
    struct Counter(usize);
    impl io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut counter = Counter(0);
    serde_json::to_writer(&mut counter, value).map_or(usize::MAX, |()| counter.0)
}

fn event_name(event: &TapEvent) -> &'static str {
    match event {
        TapEvent::Message { .. } => "message",
        TapEvent::Refused { .. } => "refused",
        TapEvent::Dropped { .. } => "dropped",
        TapEvent::EffectStarted(_) => "effect_started",
        TapEvent::EffectFinished(_) => "effect_finished",
        TapEvent::Panicked { .. } => "panicked",
        TapEvent::Ignored { .. } => "ignored",
        TapEvent::Gap { .. } => "gap",
    }
}

#[cfg(test)]
mod tests;
