//! `search`: asks a search engine, or fetches a page as text.
//!
//! A query is sent without approval only if it is in the user's own words and the user chose the engine; a page is fetched
//! without approval only if the user or a search result named it. All else is shown in full and needs approval.

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
