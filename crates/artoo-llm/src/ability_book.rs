//! Results of endpoint probes, stored in a file and valid for thirty days.

use std::io;
use std::path::PathBuf;

use crate::abilities::Abilities;
use crate::remote::{RemoteConfig, shown_url};
use crate::whole_file::Book;

/// Time in seconds for which a probe's result is used: servers are updated, and models replaced under their names.
#[doc(alias = "limit")]
const FRESH_FOR_S: i64 = 30 * 24 * 60 * 60;

/// Maximum number of probe results stored; the oldest is removed first.
const ENTRIES_MAX: usize = 64;

/// Probe results by endpoint and model, stored in a JSON file.
#[derive(Debug)]
pub struct AbilityBook(Book<Abilities>);

impl AbilityBook {
    /// Reads the file; a missing or unreadable one counts as empty, since probes can be repeated.
    #[must_use]
    pub fn open(path: impl Into<PathBuf>) -> Self {
        Self(Book::open(path.into()))
    }

    /// The stored result for an endpoint and model; `None` if there is none, it is thirty days old, or it is dated
    /// after `now_s` (seconds since 1970).
    #[must_use]
    pub fn fresh(&self, config: &RemoteConfig, now_s: i64) -> Option<&Abilities> {
        let age = |found: &Abilities| now_s.saturating_sub(found.found_at_s);
        self.0.entries.get(&key(config)).filter(|found| (0..FRESH_FOR_S).contains(&age(found)))
    }

    /// Adds the result of a probe to the file, which is replaced atomically; an earlier result of the same model is
    /// overwritten.
    ///
    /// # Errors
    /// If the file can't be written.
    pub fn remember(&mut self, config: &RemoteConfig, found: Abilities) -> io::Result<()> {
        self.0.entries.insert(key(config), found);
        self.0.save(ENTRIES_MAX, |found| found.found_at_s)
    }
}

/// The key under which the file stores an endpoint and model: protocol, URL without user and query, and model name.
fn key(config: &RemoteConfig) -> String {
    let base = shown_url(&config.base_url);
    format!("{} {} {}", config.protocol.name(), base.trim_end_matches('/'), config.model)
}

/// Tests of storing and reading probe results.
#[cfg(test)]
mod tests {
    use super::{AbilityBook, ENTRIES_MAX, FRESH_FOR_S};
    use crate::abilities::{Abilities, ProbeResult};
    use crate::structured::{Dialect, ReplyFormat, ToolCalls};
    use crate::{Protocol, RemoteConfig};

    /// Sample abilities that a probe found at this time, in seconds since 1970.
    fn found(found_at_s: i64) -> Abilities {
        let dialect = Dialect {
            completion_tokens_field: true,
            stream: false,
            stream_usage: false,
            ..Dialect::full(ReplyFormat::JsonObject)
        };
        let formats =
            vec![(ReplyFormat::JsonSchema, ProbeResult::Refused), (ReplyFormat::JsonObject, ProbeResult::Passed)];
        let tool_calls = Some(ProbeResult::Passed);
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

    /// A sample client configuration for this endpoint URL.
    fn config(url: &str) -> RemoteConfig {
        RemoteConfig::new(Protocol::Chat, url, "m")
    }

    /// A stored probe result is found for the same endpoint until it is thirty days old; the file doesn't contain the
    /// URL's query.
    #[test]
    fn probe_is_stored_per_endpoint_until_stale() {
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
        let told = found(1_000).summary(1_000 + 3 * 86_400);
        assert!(told.contains("JSON schema refused") && told.contains("found 3 days ago"), "{told}");
    }

    /// A file written before tool calls were probed can still be read.
    #[test]
    fn probe_without_tool_calls_is_still_read() {
        let mut old = serde_json::to_value(found(1_000)).unwrap();
        old.as_object_mut().unwrap().remove("tool_calls");
        old["dialect"].as_object_mut().unwrap().remove("tool_calls");
        let read: Abilities = serde_json::from_value(old).unwrap();
        assert_eq!((read.tool_calls, read.dialect.tool_calls), (None, ToolCalls::Off));
    }

    /// A damaged file of probe results counts as empty, and only the newest results are kept.
    #[test]
    fn damaged_ability_book_counts_as_empty() {
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
