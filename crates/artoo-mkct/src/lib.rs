//! Signed, decaying, explainable memory for agents that act: what worked, what failed, and for how long that counts.
//!
//! *Is*: a memory in a folder ([`Memory`]) over a pyramid of four layers (Megrams, Knowledge, Common sense, Thinking),
//! whose answers cost the same however long the history. Its two halves stand alone: an engine in RAM without clock,
//! thread or disk ([`Engine`]), and an append-only file ([`Journal`]) that keeps what it did.
//! *Is not*: a vector store, a server, a language model's client. It knows nothing of tasks and tools but their names.
//!
//! Every change is a [`Frame`]. A write is *accepted* when [`Memory::write`] returned (every later query sees it),
//! *acknowledged* and *synced* when its [`Receipt`] says so (it survives the death of this process, the loss of power).
//!
//! The engine alone, e.g. for tests or a memory that nobody keeps:
//!
//! ```
//! use artoo_mkct::{Action, Engine, NewMegram, RecallQuery, State, intent_tag, via_tag};
//!
//! let mut memory = Engine::new();
//! let now_ms = 1_772_000_000_000;
//! let (intent, tools) = ("Count the PDF files in Documents", ["glob".to_owned()]);
//! let event = NewMegram::new(intent_tag(intent), via_tag(&tools), State::Accept, "12 files, checked");
//! let frame = memory.write(now_ms, event)?; // what a journal would keep
//!
//! let recall = memory.recall(&RecallQuery { intent, tools: &tools, targets: &[], limit: 10 }, now_ms);
//! assert_eq!(recall.advice[0].potentials.action, Action::Exploit);
//! assert_eq!(Engine::as_of(now_ms, [frame]).recall(&RecallQuery { intent, tools: &tools, targets: &[], limit: 10 }, now_ms), recall);
//! # Ok::<(), artoo_mkct::WriteError>(())
//! ```

mod aggregate;
mod crossing;
pub mod disk;
mod dissonance;
mod engine;
mod error;
mod evidence;
mod export;
mod forecast;
mod frame;
mod hash;
mod history;
mod id;
mod journal;
mod key;
mod level;
mod megram;
mod potential;
mod promotion;
mod quantization;
mod recall;
mod service;
mod slug;
mod sop;
mod store;
mod sweep;
mod tag;
mod why;

pub use engine::{Engine, InvalidState, MAX_DISTINCT_DECAYS, Stats};
pub use error::{ApplyError, ForgetError, InvalidMegram, PromoteError, TextField, WriteError};
pub use evidence::{MAX_EVIDENCE, MAX_EVIDENCE_PER_SOURCE, MAX_EVIDENCE_PER_TASK, MIN_DISTINCT_TASKS};
pub use export::{EXPORT_VERSION, ExportError, ImportError, ImportReport};
pub use forecast::Forecast;
pub use frame::{DeletionReason, Frame, MAX_IDS_PER_FRAME, Watermark};
pub use id::{InvalidMegramId, MegramId};
pub use journal::repair::{Damage, DamagedRange};
pub use journal::{
    FORMAT_VERSION, FrameProblem, Journal, JournalError, JournalStep, MAX_FRAME_BYTES, Offset, OpenReport, ReadError,
    RecordSource,
};
pub use key::{escape, level_key, recall_key, record_key, tag_key, unescape};
pub use level::Level;
pub use megram::{FailureClass, MAX_CONTENT_BYTES, MAX_DECAY, Megram, MegramHead, NewMegram, Provenance};
pub use potential::{ATTENTION_THRESHOLD, Action, DECISION_THRESHOLD, Potentials};
pub use promotion::{Evidence, PROMOTE_ATTENTION, PROMOTE_DECISION, Promotion, PromotionTicket, RuleKind};
pub use quantization::{DEMOTED_DECAY, FEEDBACK_MAGNITUDE, Quantum, RULE_MAGNITUDE, State, quantize};
pub use recall::{
    ANY_ENTITY, Advice, Cap, MAX_NAMED_MEGRAMS, MAX_QUERIED_NAMES, MAX_RECALL_ENTRIES, MAX_RECALL_SOPS, Recall,
    RecallQuery, Scope,
};
pub use service::{
    Accepted, Clock, DISTIL_TIMEOUT, DREAM_EVERY, DREAM_SETTLE, Distiller, Dream, DreamTimes, ForgetFailed, Hindsight,
    IndexStatus, KEEP_DELETED_DAYS, MAX_QUEUED_BYTES, MaintenanceError, Memory, MemoryStats, NotKept, OnDamage,
    OpenError, OpenSummary, Options, Promise, QueueStats, Receipt, RefusedWrite, SNAPSHOT_TAIL_BYTES, SystemClock,
    TakenIn, Verified, inspect,
};
pub use slug::slug;
pub use sop::SopRecord;
#[cfg(feature = "leveldb")]
pub use store::LevelDbStore;
pub use store::{Change, IndexChoice, MemoryStore, OpenStore, Store, StoreError, Visit};
pub use sweep::{Clocks, FADED_ATTENTION, MAX_CLOCK_DISAGREEMENT_MS, MAX_SWEEP_SHARE, SweepReport, SweepSkipped};
pub use tag::{ENV_LOCAL, MAX_TAG_BYTES, intent_tag, path_tag, tool_tag, tools_of, via_tag};
pub use why::Contribution;

#[cfg(test)]
mod tests;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
