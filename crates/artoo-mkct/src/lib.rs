//! Signed, decaying, explainable memory for agents that act: what worked, what failed, and for how long that counts.
//!
//! *Is*: a memory in a folder ([`Memory`]) with four layers (Megrams, Knowledge, Common sense, Thinking), whose answers
//! cost the same however long the history.
//! *Is not*: a vector store, a server, a language model's client. It knows tasks and tools by name only.
//!
//! The root has what most programs need. The rest is in the modules: [`memory`] (options, errors and reports of
//! [`Memory`]), [`advice`] (what a query returns), [`rules`], [`record`] (records, tags, frames), [`engine`] (what
//! [`Engine`], the memory in RAM without clock, thread or disk, reports), [`journal`] (the append-only file),
//! [`export`], [`clock`] and [`disk`].
//!
//! Every change is a [`record::Frame`]. A write is *accepted* when [`Memory::write`] returned (every later query sees
//! it), *acknowledged* and *synced* when its [`memory::Receipt`] says so (it survives the death of this process, the
//! loss of power). Times are Unix milliseconds; a function that needs the present time takes it as its last argument.
//!
//! The engine alone, e.g. for tests or for a memory that is never stored:
//!
//! ```
//! use artoo_mkct::{Action, Engine, NewMegram, RecallQuery, State, Tag};
//!
//! let mut memory = Engine::new();
//! let now_ms = 1_772_000_000_000;
//! let (intent, tools) = ("Count the PDF files in Documents", ["glob".to_owned()]);
//! let event = NewMegram::new(Tag::approach(intent, &tools), State::Accept, "12 files, checked").intent(intent);
//! let frame = memory.write(event, now_ms)?; // the change, to be stored in a journal
//!
//! let query = RecallQuery::new(intent).tools(&tools);
//! let recall = memory.recall(&query, now_ms);
//! assert_eq!(recall.advice[0].potentials.action, Action::Exploit);
//! assert_eq!(Engine::as_of([frame], now_ms).recall(&query, now_ms), recall);
//! # Ok::<(), artoo_mkct::record::WriteError>(())
//! ```

pub mod advice;
pub mod clock;
pub mod disk;
pub mod engine;
pub mod export;
pub mod journal;
#[cfg(feature = "leveldb")]
pub mod leveldb;
pub mod memory;
pub mod record;
pub mod rules;

pub use advice::recall::RecallQuery;
pub use engine::{handle::Engine, potential::Action};
pub use memory::error::Durability;
pub use memory::{handle::Memory, options::Options};
pub use record::{megram::NewMegram, quantization::State, tag::Tag};

/// Runs the code examples of README.md as documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
