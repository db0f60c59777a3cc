//! Answers everyday requests about files and text without a language model, or declines them.
//!
//! *Is*: a semantic parser. A request becomes tokens, the tokens become meanings from a lexicon, a chart joins the
//! meanings by their types, and what explains **every** word becomes a typed [`algebra::Query`]. The query is rendered
//! back to English, lowered to one typed tool call, and has a second, independent meaning ([`eval`]) that checks what
//! the tool answered.
//! *Is not*: a pile of patterns, or an I/O layer. It reads no clock, and reads files only through the [`FileSystem`]
//! that is passed in. A word that the parser can't explain, or a second way to read the request, makes it abstain.
//!
//! ```
//! use artoo_proto::{Environment, Now, Timestamp};
//! let environment = Environment {
//!     cwd: "/home/ada/notes".into(),
//!     home: "/home/ada".into(),
//!     workspace: "/home/ada/artoo_workspace".into(),
//!     os: "linux".into(),
//!     utc_offset_s: 0,
//! };
//! let now = Now { wall: Timestamp::parse("2024-05-15T12:00:00Z").unwrap(), uptime_ms: 0 };
//! let disk = artoo_reflex::testing::MemoryFileSystem::default();
//! let parsed = artoo_reflex::parse("how many PDFs are in ~/Downloads?", &[], &environment, now, &disk).unwrap();
//! assert_eq!(
//!     parsed.reading,
//!     "count the files in the folder /home/ada/Downloads, subfolders included, hidden files included, ending in .pdf"
//! );
//! assert!(artoo_reflex::parse("shred the PDFs in ~/Downloads", &[], &environment, now, &disk).is_err());
//! ```

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a part of this crate handles the operators, conditions and words it names, and refuses or keeps every other"
)]

pub mod algebra;
mod calendar;
mod concept;
pub mod coverage;
mod english;
mod ensure;
pub mod eval;
mod kinds;
mod lex;
mod lexicon;
pub mod lower;
mod parse;
mod perform;
mod place;
mod repository;
mod respond;
mod settings;
mod suggest;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod texts;

pub use coverage::Ledger;
pub use english::{english, english_act, english_steps};
pub use eval::{FileSystem, Verification, verify};
pub use parse::{Parsed, ReadClause, clauses, parse};
pub use perform::perform;
pub use respond::{respond, respond_in_full};
