//! `search`: asks a search engine, or fetches a page as text.
//!
//! What goes out is decided here: a question unasked only in the person's own words and to an engine they chose, a
//! page unasked only where the person or an engine's answer named it; everything else is shown whole and asked about.

mod challenge;
mod charset;
mod client;
mod config;
mod engine;
mod hosts;
mod html;
mod input;
mod page;
mod search;
mod tool;
mod words;

pub use config::{Engine, EngineProblem, WebConfig};
pub(crate) use tool::Search;
