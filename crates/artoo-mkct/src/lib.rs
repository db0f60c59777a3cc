//! Signed, decaying, explainable memory for agents that act: what worked, what failed, and for how long that counts.
//!
//! *Is*: an engine in RAM ([`Engine`]) over a pyramid of four layers (Megrams, Knowledge, Common sense, Thinking),
//! whose answers cost the same however long the history, and an append-only file ([`Journal`]) that keeps it.
//! *Is not*: a vector store, a server, a language model's client. It reads no clock and starts no thread; it knows
//! nothing of tasks and tools but their names.
//!
//! Every change is a [`Frame`]. A write is *accepted* when the engine applied it and returned its frame,
//! *acknowledged* when [`Journal::append`] returned (it survives the death of this process), *synced* when
//! [`Journal::sync`] returned (it survives the loss of power). Opening is replaying.
//!
//! ```
//! use artoo_mkct::{Action, Engine, Journal, NewMegram, RecallQuery, State, intent_tag, via_tag};
//!
//! let folder = tempfile::tempdir()?;
//! let (mut journal, frames, _) = Journal::open(folder.path().join("memory.journal"))?;
//! let mut memory = Engine::new();
//! for frame in &frames {
//!     memory.apply(frame)?;
//! }
//!
//! let now_ms = 1_772_000_000_000;
//! let (intent, tools) = ("Count the PDF files in Documents", ["glob".to_owned()]);
//! let event = NewMegram::new(intent_tag(intent), via_tag(&tools), State::Accept, "12 files, checked");
//! let frame = memory.write(now_ms, event)?; // accepted
//! journal.append(&[frame])?; // acknowledged
//! journal.sync()?; // synced
//!
//! let recall = memory.recall(&RecallQuery { intent, tools: &tools, targets: &[], limit: 10 }, now_ms);
//! assert_eq!(recall.advice[0].potentials.action, Action::Exploit);
//! assert_eq!(recall.advice[0].entity, "via:glob");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod aggregate;
mod engine;
mod error;
mod frame;
mod hash;
mod journal;
mod key;
mod level;
mod megram;
mod potential;
mod promotion;
mod quantization;
mod recall;
mod slug;
mod sop;
mod sweep;
mod tag;
mod why;

pub use engine::{Engine, MAX_DISTINCT_DECAYS, Stats};
pub use error::{ApplyError, ForgetError, InvalidMegram, PromoteError, TextField, WriteError};
pub use frame::{DeletionReason, Frame, MAX_IDS_PER_FRAME, Watermark};
pub use journal::{
    FORMAT_VERSION, FrameProblem, Journal, JournalError, JournalStep, MAX_FRAME_BYTES, Offset, OpenReport,
};
pub use key::{escape, level_key, recall_key, record_key, tag_key, unescape};
pub use level::Level;
pub use megram::{
    FailureClass, InvalidMegramId, MAX_CONTENT_BYTES, MAX_DECAY, Megram, MegramId, NewMegram, Provenance,
};
pub use potential::{ATTENTION_THRESHOLD, Action, DECISION_THRESHOLD, Potentials};
pub use promotion::{
    Evidence, MAX_EVIDENCE, MAX_EVIDENCE_PER_TASK, MIN_DISTINCT_TASKS, PROMOTE_ATTENTION, PROMOTE_DECISION, Promotion,
    PromotionTicket, RuleKind,
};
pub use quantization::{DEMOTED_DECAY, FEEDBACK_MAGNITUDE, Quantum, RULE_MAGNITUDE, State, quantize};
pub use recall::{
    ANY_ENTITY, Advice, Cap, MAX_NAMED_MEGRAMS, MAX_QUERIED_NAMES, MAX_RECALL_ENTRIES, MAX_RECALL_SOPS, Recall,
    RecallQuery, Scope,
};
pub use slug::slug;
pub use sop::SopRecord;
pub use sweep::{Clocks, FADED_ATTENTION, MAX_CLOCK_DISAGREEMENT_MS, MAX_SWEEP_SHARE, SweepReport, SweepSkipped};
pub use tag::{ENV_LOCAL, MAX_TAG_BYTES, intent_tag, path_tag, tool_tag, tools_of, via_tag};
pub use why::Contribution;

#[cfg(test)]
mod tests;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
