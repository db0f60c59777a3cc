//! The record of a call: what a tool reports, and its short form for models and users.

use std::io;
use std::time::Duration;

use artoo_proto::{Approval, CallStatus, EffectClass, FileChange, KeptOutput, ToolCall, ToolOrder, escape};

use crate::process::Ended;
use crate::undo::RecordedChanges;

/// What a tool reports of one call: status, text, evidence and changes.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    pub(crate) status: CallStatus,
    pub(crate) class: EffectClass,
    pub(crate) measures: bool,
    pub(crate) exit_code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) text: String,
    /// Length of the whole output in bytes; `None` if `text` is the whole output.
    pub(crate) output_bytes: Option<u64>,
    /// Whether `text` is only a part of the output.
    pub(crate) truncated: bool,
    pub(crate) environmental: bool,
    pub(crate) changed: Vec<FileChange>,
    /// Whether `changed` is complete.
    pub(crate) changes_known: bool,
    pub(crate) incidental: Vec<String>,
    pub(crate) alternatives: Vec<String>,
    /// The output of a program in the evidence store.
    pub(crate) kept: Vec<KeptOutput>,
}

impl Record {
    /// A record of a call with this status and text.
    fn new(status: CallStatus, text: impl Into<String>) -> Self {
        Self {
            status,
            class: EffectClass::ReadOnly,
            measures: true,
            exit_code: None,
            signal: None,
            text: text.into(),
            output_bytes: None,
            truncated: false,
            environmental: false,
            changed: Vec::new(),
            changes_known: false,
            incidental: Vec::new(),
            alternatives: Vec::new(),
            kept: Vec::new(),
        }
    }

    /// The record of a successful call with this text as its output.
    pub(crate) fn read(text: impl Into<String>) -> Self {
        Self::new(CallStatus::Ok, text)
    }

    /// The record of a call that fails because its request is not valid, such as a wrong field.
    pub(crate) fn unusable(reason: impl Into<String>) -> Self {
        Self { measures: false, ..Self::new(CallStatus::Failed, reason) }
    }

    /// The record of a call that fails because of the environment, such as a missing file or a full disk.
    pub(crate) fn hindered(reason: impl Into<String>) -> Self {
        Self { environmental: true, ..Self::new(CallStatus::Failed, reason) }
    }

    /// The record of a call that is denied under Law 1 without running.
    pub(crate) fn denied(reason: &str) -> Self {
        Self { measures: false, ..Self::new(CallStatus::Denied, format!("[LAW1] {reason}")) }
    }

    /// The record of a call that was stopped at the deadline.
    pub(crate) fn timed_out(reason: impl Into<String>) -> Self {
        Self { environmental: true, ..Self::new(CallStatus::TimedOut, reason) }
    }

    /// The record of a call whose answer is incomplete, with the reason, such as a time limit.
    pub(crate) fn cut(text: impl Into<String>) -> Self {
        Self { environmental: true, truncated: true, ..Self::new(CallStatus::Cut, text) }
    }

    /// The record of a program that has ended, with at most `max_chars` of its output and the reason of a failure:
    /// successful if its exit code is 0, timed out if it was ended at its time limit.
    pub(crate) fn of_program(ended: &mut Ended, max_chars: usize) -> Self {
        let kept = ended.keep();
        let (mut text, is_cut) = ended.text(max_chars);
        if let Some(after) = ended.timed_out {
            let line = if text.is_empty() { "" } else { "\n" };
            let text = format!("{text}{line}[timed out after {} ms and was ended]", after.as_millis());
            let (signal, output_bytes) = (ended.signal, Some(ended.total()));
            return Self { signal, output_bytes, truncated: true, kept, ..Self::timed_out(text) };
        }
        if let Some(signal) = ended.signal {
            text.push_str(&format!("\n[ended by signal {signal}]"));
        }
        if let Some(kept) = ended.kept() {
            text.push_str(&format!("\n[{kept}]"));
        }
        Self {
            exit_code: ended.exit_code,
            signal: ended.signal,
            output_bytes: Some(ended.total()),
            truncated: is_cut,
            kept,
            ..Self::new(if ended.exit_code == Some(0) { CallStatus::Ok } else { CallStatus::Failed }, text)
        }
    }

    /// The same record with this effect class, for a request whose input could not be read.
    pub(crate) fn of_class(mut self: Box<Self>, class: EffectClass) -> Box<Self> {
        self.class = class;
        self
    }

    /// The same record with this effect class.
    pub(crate) fn class(self, class: EffectClass) -> Self {
        Self { class, ..self }
    }

    /// Adds the changes that the undo journal found, or a note to the text if it failed. `is_held`: the sandbox allowed
    /// no other changes.
    pub(crate) fn with_changes(mut self, changes: io::Result<RecordedChanges>, is_held: bool) -> Self {
        match changes {
            Ok(changes) => {
                self.changes_known = is_held && changes.is_whole;
                let is_new = |change: &FileChange| !changes.changed.iter().any(|known| known.path == change.path);
                let others: Vec<FileChange> = self.changed.into_iter().filter(is_new).collect();
                self.changed = [changes.changed, others].concat();
            }
            // The journal entry stays open, and an undo compares the files again.
            Err(error) => self.text.push_str(&format!("\n[what it changed is not yet noted for undo: {error}]")),
        }
        self
    }

    /// The same record with suggestions for a missing name.
    pub(crate) fn alternatives(self, alternatives: Vec<String>) -> Self {
        Self { alternatives, ..self }
    }

    /// Turns the record into the call that is sent as evidence, with its text shortened to `max_chars` characters.
    pub(crate) fn into_call(
        self,
        order: &ToolOrder,
        target: String,
        approval: Option<Approval>,
        elapsed: Duration,
        max_chars: usize,
    ) -> ToolCall {
        let text_bytes = u64::try_from(self.text.len()).unwrap_or(u64::MAX);
        let (output, cut_here) = escape::head_tail(&self.text, max_chars);
        ToolCall {
            tool: order.request.tool.clone(),
            input: order.request.input.clone(),
            target,
            status: self.status,
            class: self.class,
            measures: self.measures,
            exit_code: self.exit_code,
            signal: self.signal,
            output,
            output_bytes: self.output_bytes.unwrap_or(text_bytes),
            truncated: self.truncated || cut_here,
            evidence_id: order.evidence_id.clone(),
            elapsed_ms: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
            environmental: self.environmental,
            changed: self.changed,
            changes_known: self.changes_known,
            incidental: self.incidental,
            alternatives: self.alternatives,
            leave: approval,
            kept: self.kept,
        }
    }
}
