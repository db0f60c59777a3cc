//! One line of the audit log: what was seen, shortened and redacted, or the auditor's own note.

use std::borrow::Cow;
use std::io;

use artoo_bus::{Observed, TapEvent};
use artoo_proto::escape::{is_plain, shorten, visible};
use artoo_proto::{AuditReport, Timestamp};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::finding::Finding;
use crate::redact::{REDACTED, is_secret_name, redact};

/// Longest text kept of any one field, in characters: a tool's output is already cut to 4,000 for the model, and half
/// of that is enough to recognise it; the whole is in the input log, where one is kept.
pub const TEXT_MAX_CHARS: usize = 2_000;

/// Longest text kept of a field where the event as a whole is too long.
const TEXT_TIGHT_CHARS: usize = 120;

/// Entries kept of a list: four times the subtasks a plan may have.
const LIST_MAX_ENTRIES: usize = 128;

/// Longest event in bytes, before its place in the chain is added: a line stays readable by ordinary tools.
pub const EVENT_MAX_BYTES: usize = 64 * 1024;

/// What the auditor appends to its log for one thing it saw or did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AuditEvent {
    /// When.
    pub at: Timestamp,
    /// What.
    #[serde(flatten)]
    pub record: Record,
    /// What looked wrong about it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

/// Seen on the tap, or noted by the auditor itself.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Record {
    /// An event of the tap.
    Seen {
        /// Its position on the tap; starts at 0 with every process.
        tap: u64,
        /// The event's own fields, `event` among them, shortened and redacted.
        #[serde(flatten)]
        fields: Map<String, Value>,
    },
    /// The auditor's own.
    Note(Note),
}

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
        let record = Record::Seen { tap: observed.n, fields: fields(&observed.event) };
        Self { at: observed.at, record, findings }
    }

    /// The event for a note.
    #[must_use]
    pub fn note(at: Timestamp, note: Note) -> Self {
        Self { at, record: Record::Note(note), findings: Vec::new() }
    }
}

/// The event's fields as JSON, secrets out, long texts short, never longer than [`EVENT_MAX_BYTES`].
fn fields(event: &TapEvent) -> Map<String, Value> {
    let name = event_name(event);
    let whole = || serde_json::to_value(event).unwrap_or_else(|error| json!({ "unreadable": error.to_string() }));
    for max_chars in [TEXT_MAX_CHARS, TEXT_TIGHT_CHARS] {
        let mut whole = whole();
        abridge(&mut whole, max_chars);
        if let Value::Object(mut fields) = whole
            && json_length(&fields) <= EVENT_MAX_BYTES
        {
            fields.insert("event".to_owned(), json!(name));
            return fields;
        }
    }
    let mut fields = Map::new();
    fields.insert("event".to_owned(), json!(name));
    fields.insert("left_out_bytes".to_owned(), json!(json_length(&whole())));
    if let TapEvent::Message { envelope } = event {
        fields.insert("seq".to_owned(), json!(envelope.seq));
        fields.insert("id".to_owned(), json!(envelope.id));
        fields.insert("type".to_owned(), json!(envelope.message.kind()));
        fields.insert("from".to_owned(), json!(envelope.from));
        fields.insert("causation_id".to_owned(), json!(envelope.causation_id));
    }
    fields
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

/// Every text redacted, escaped and shortened, and every list bounded. What is fine as it is stays where it is.
fn abridge(value: &mut Value, max_chars: usize) {
    match value {
        Value::String(text) => make_safe(text, max_chars),
        Value::Array(entries) => {
            let more = entries.len().saturating_sub(LIST_MAX_ENTRIES);
            entries.truncate(LIST_MAX_ENTRIES);
            entries.iter_mut().for_each(|entry| abridge(entry, max_chars));
            if more > 0 {
                entries.push(Value::String(format!("… [{more} more entries]")));
            }
        }
        Value::Object(fields) => {
            for (name, value) in fields.iter_mut() {
                if is_secret_name(name) && value.is_string() {
                    *value = json!(REDACTED);
                } else {
                    abridge(value, max_chars);
                }
            }
            if fields.keys().any(|name| safe_text(name, max_chars).is_some()) {
                let named = |(name, value): (String, Value)| (safe_text(&name, max_chars).unwrap_or(name), value);
                *fields = std::mem::take(fields).into_iter().map(named).collect();
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn make_safe(text: &mut String, max_chars: usize) {
    if let Some(safe) = safe_text(text, max_chars) {
        *text = safe;
    }
}

/// The text as it may be kept; `None` where it may be kept as it is.
fn safe_text(text: &str, max_chars: usize) -> Option<String> {
    let redacted = redact(text);
    let is_unchanged = matches!(redacted, Cow::Borrowed(_)) && is_plain(text) && text.len() <= max_chars;
    (!is_unchanged).then(|| shorten(&visible(&redacted), max_chars))
}

#[cfg(test)]
mod tests;
