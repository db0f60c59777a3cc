//! From what a tool found to the evidence that stays: one place where records are cut to size.

use std::io;
use std::time::Duration;

use artoo_proto::{Approval, CallStatus, EffectClass, FileChange, KeptOutput, ToolCall, ToolOrder, escape};

use crate::process::Ended;
use crate::undo::Account;

/// What a tool reports, before it is cut to size and given its place.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    pub(crate) status: CallStatus,
    pub(crate) class: EffectClass,
    pub(crate) measures: bool,
    pub(crate) exit_code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) text: String,
    /// Bytes before anything was left out; `None` when `text` is all there was.
    pub(crate) output_bytes: Option<u64>,
    /// Whether `text` already leaves something out.
    pub(crate) truncated: bool,
    pub(crate) environmental: bool,
    pub(crate) changed: Vec<FileChange>,
    /// Whether `changed` is all it changed.
    pub(crate) changes_known: bool,
    pub(crate) alternatives: Vec<String>,
    /// What a program put out, in the evidence store.
    pub(crate) kept: Vec<KeptOutput>,
}

/// What is known of a call besides what its tool reports.
#[derive(Debug, Default)]
pub(crate) struct Noted {
    pub(crate) target: String,
    /// With whose leave it ran.
    pub(crate) leave: Option<Approval>,
}

impl Record {
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
            alternatives: Vec::new(),
            kept: Vec::new(),
        }
    }

    /// It read something and this is it.
    pub(crate) fn read(text: impl Into<String>) -> Self {
        Self::new(CallStatus::Ok, text)
    }

    /// The request itself makes no sense; nothing was measured.
    pub(crate) fn unusable(reason: impl Into<String>) -> Self {
        Self { measures: false, ..Self::new(CallStatus::Failed, reason) }
    }

    /// The machine stood in the way: something is missing, unreadable, full.
    pub(crate) fn hindered(reason: impl Into<String>) -> Self {
        Self { environmental: true, ..Self::new(CallStatus::Failed, reason) }
    }

    /// Law 1: it was refused and nothing ran.
    pub(crate) fn denied(reason: &str) -> Self {
        Self { measures: false, ..Self::new(CallStatus::Denied, format!("[LAW1] {reason}")) }
    }

    /// The time was up before anything could be said.
    pub(crate) fn timed_out(reason: impl Into<String>) -> Self {
        Self { environmental: true, ..Self::new(CallStatus::TimedOut, reason) }
    }

    /// A part of the answer, and why it is not the whole.
    pub(crate) fn cut(text: impl Into<String>) -> Self {
        Self { environmental: true, truncated: true, ..Self::new(CallStatus::Cut, text) }
    }

    /// How a program ended, when its exit code alone says whether it succeeded.
    pub(crate) fn of_program(ended: &mut Ended, max_chars: usize) -> Self {
        let kept = ended.keep();
        if let Some(timed_out) = ended.problem(max_chars) {
            return Self { kept, ..timed_out };
        }
        let (mut text, is_cut) = ended.text(max_chars);
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

    pub(crate) fn class(self, class: EffectClass) -> Self {
        Self { class, ..self }
    }

    /// With what the undo journal had to say at the end of a command; `is_held`: it could change nothing but what the
    /// journal may look at.
    pub(crate) fn noted(mut self, noted: io::Result<Account>, is_held: bool) -> Self {
        match noted {
            Ok(account) => {
                self.changes_known = is_held && account.is_whole;
                let is_new = |change: &FileChange| !account.changed.iter().any(|known| known.path == change.path);
                let others: Vec<FileChange> = self.changed.into_iter().filter(is_new).collect();
                self.changed = [account.changed, others].concat();
            }
            // The journal still holds it as begun, and an undo looks again.
            Err(error) => self.text.push_str(&format!("\n[what it changed is not yet noted for undo: {error}]")),
        }
        self
    }

    pub(crate) fn alternatives(self, alternatives: Vec<String>) -> Self {
        Self { alternatives, ..self }
    }

    /// The record as evidence of this call.
    pub(crate) fn into_call(self, context: &ToolOrder, noted: Noted, elapsed: Duration, max_chars: usize) -> ToolCall {
        let text_bytes = u64::try_from(self.text.len()).unwrap_or(u64::MAX);
        let (output, cut_here) = escape::head_tail(&self.text, max_chars);
        ToolCall {
            tool: context.request.tool.clone(),
            input: context.request.input.clone(),
            target: noted.target,
            status: self.status,
            class: self.class,
            measures: self.measures,
            exit_code: self.exit_code,
            signal: self.signal,
            output,
            output_bytes: self.output_bytes.unwrap_or(text_bytes),
            truncated: self.truncated || cut_here,
            evidence_id: context.evidence_id.clone(),
            elapsed_ms: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
            environmental: self.environmental,
            changed: self.changed,
            changes_known: self.changes_known,
            alternatives: self.alternatives,
            leave: noted.leave,
            kept: self.kept,
        }
    }
}
