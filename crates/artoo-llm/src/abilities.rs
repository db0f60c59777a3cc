//! What an endpoint can do with one model, found out by asking it, and the file in which that is remembered.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::remote::RemoteConfig;
use crate::structured::{Dialect, ReplyFormat};
use crate::whole_file;

/// Servers are updated and models replaced under their names; what was found counts this long.
const FRESH_FOR_S: i64 = 30 * 24 * 60 * 60;

/// Endpoints remembered; the oldest goes first.
const ENTRIES_MAX: usize = 64;

/// What became of one way of asking for JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Held {
    /// The answer had the shape though the prompt asked for something else.
    Kept,
    /// It was taken and made no difference.
    Ignored,
    /// It was refused.
    Refused,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Abilities {
    /// How to speak to it.
    pub dialect: Dialect,
    /// Each way of asking for JSON that was tried, strongest first.
    pub formats: Vec<(ReplyFormat, Held)>,
    /// What became of its own way of calling tools; `None`: not tried.
    #[serde(default)]
    pub tool_calls: Option<Held>,
    /// Tokens of context, where it tells.
    pub context_tokens: Option<u64>,
    /// Calls it works on at once, where it tells.
    pub parallel: Option<usize>,
    /// Whether it wrote reasoning that it kept apart.
    pub reasoning: bool,
    /// When, in seconds since 1970.
    pub found_at_s: i64,
}

impl Abilities {
    /// In one line.
    #[must_use]
    pub fn told(&self, now_s: i64) -> String {
        let word = |format: ReplyFormat| match format {
            ReplyFormat::JsonSchema => "JSON schema",
            ReplyFormat::StrictSchema => "strict JSON schema",
            ReplyFormat::JsonObject => "JSON object",
            ReplyFormat::ForcedTool => "forced tool call",
            ReplyFormat::PromptOnly => "prompt alone",
        };
        let became = |held: Held| match held {
            Held::Kept => "kept",
            Held::Ignored => "ignored",
            Held::Refused => "refused",
        };
        let tried = self.formats.iter().map(|(format, held)| format!("{} {}", word(*format), became(*held)));
        let mut parts = vec![format!("asked by {}", word(self.dialect.format))];
        parts.extend(tried);
        parts.extend(self.tool_calls.map(|held| format!("tool calls {}", became(held))));
        parts.extend(self.context_tokens.map(|tokens| format!("context {tokens} tokens")));
        parts.extend(self.parallel.map(|calls| format!("{calls} at once")));
        parts.extend(self.reasoning.then(|| "reasons apart".to_owned()));
        let days = now_s.saturating_sub(self.found_at_s) / (24 * 60 * 60);
        format!("{} (found {days} days ago)", parts.join(", "))
    }
}

/// What was found, by endpoint and model.
#[derive(Debug)]
pub struct AbilityBook {
    path: PathBuf,
    entries: BTreeMap<String, Abilities>,
}

impl AbilityBook {
    /// Reads the file. One that is not there, or can't be read, is an empty book: it is found out again.
    #[must_use]
    pub fn open(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        let entries = whole_file::read(&path);
        Self { path, entries }
    }

    /// What is known of an endpoint and model, unless it is too long ago.
    #[must_use]
    pub fn fresh(&self, config: &RemoteConfig, now_s: i64) -> Option<&Abilities> {
        let age = |found: &Abilities| now_s.saturating_sub(found.found_at_s);
        self.entries.get(&key(config)).filter(|found| (0..FRESH_FOR_S).contains(&age(found)))
    }

    /// Remembers; the file is replaced in one step.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn remember(&mut self, config: &RemoteConfig, found: Abilities) -> io::Result<()> {
        self.entries.insert(key(config), found);
        whole_file::keep_newest(&mut self.entries, ENTRIES_MAX, |found| found.found_at_s);
        whole_file::write(&self.path, &self.entries)
    }
}

/// Protocol, address without user and query, model: nothing of it is secret.
fn key(config: &RemoteConfig) -> String {
    let base = crate::shown_url(&config.base_url);
    format!("{} {} {}", config.protocol.name(), base.trim_end_matches('/'), config.model)
}

#[cfg(test)]
mod tests {
    use super::{Abilities, AbilityBook, ENTRIES_MAX, FRESH_FOR_S, Held};
    use crate::structured::{Dialect, ReplyFormat, ToolCalls};
    use crate::{Protocol, RemoteConfig};

    fn found(found_at_s: i64) -> Abilities {
        let dialect = Dialect {
            completion_tokens_field: true,
            stream: false,
            stream_usage: false,
            ..Dialect::full(ReplyFormat::JsonObject)
        };
        let formats = vec![(ReplyFormat::JsonSchema, Held::Refused), (ReplyFormat::JsonObject, Held::Kept)];
        let tool_calls = Some(Held::Kept);
        Abilities {
            dialect,
            formats,
            tool_calls,
            context_tokens: Some(8192),
            parallel: Some(2),
            reasoning: false,
            found_at_s,
        }
    }

    fn config(url: &str) -> RemoteConfig {
        RemoteConfig::new(Protocol::Chat, url, "m")
    }

    #[test]
    fn what_was_found_is_remembered_for_its_time_and_for_its_endpoint() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("endpoints.json");
        let mut book = AbilityBook::open(&path);
        book.remember(&config("http://a/v1/?token=canary"), found(1_000)).unwrap();
        assert!(!std::fs::read_to_string(&path).unwrap().contains("canary"));
        let again = AbilityBook::open(&path);
        assert_eq!(again.fresh(&config("http://a/v1"), 1_001), Some(&found(1_000)));
        assert_eq!(again.fresh(&config("http://a/v1"), 1_000 + FRESH_FOR_S), None);
        assert_eq!(again.fresh(&config("http://a/v1"), 999), None);
        assert_eq!(again.fresh(&config("http://b/v1"), 1_001), None);
        let told = found(1_000).told(1_000 + 3 * 86_400);
        assert!(told.contains("JSON schema refused") && told.contains("found 3 days ago"), "{told}");
    }

    #[test]
    fn what_was_found_before_tool_calls_were_asked_about_is_still_known() {
        let mut old = serde_json::to_value(found(1_000)).unwrap();
        old.as_object_mut().unwrap().remove("tool_calls");
        old["dialect"].as_object_mut().unwrap().remove("tool_calls");
        let read: Abilities = serde_json::from_value(old).unwrap();
        assert_eq!((read.tool_calls, read.dialect.tool_calls), (None, ToolCalls::Off));
    }

    #[test]
    fn a_damaged_file_is_an_empty_book_and_a_long_one_loses_its_oldest() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("endpoints.json");
        std::fs::write(&path, "{\"a\": 7").unwrap();
        let mut book = AbilityBook::open(&path);
        for n in 0..=ENTRIES_MAX {
            book.remember(&config(&format!("http://h{n}")), found(i64::try_from(n).unwrap())).unwrap();
        }
        assert_eq!(book.fresh(&config("http://h0"), 100), None);
        assert!(book.fresh(&config("http://h1"), 100).is_some());
    }
}
