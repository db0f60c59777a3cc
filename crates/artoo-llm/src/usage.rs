//! What calls cost: counts from the endpoint, estimates where it gives none, and a running sum that includes failures.

use std::sync::atomic::{AtomicU64, Ordering};

use artoo_proto::{ModelRequest, Prompt, Usage};

pub use crate::wire::draft::Counts;

/// Characters to one token where the endpoint counts nothing: the usual rule of thumb for English text.
const CHARS_PER_TOKEN: usize = 4;

/// Characters to one token at the most, over a whole prompt: English prose, which packs best, stays below.
const CHARS_PER_TOKEN_MOST: usize = 6;

/// Tokens in `text`, estimated, rounded up.
#[must_use]
pub fn estimated_tokens(text: &str) -> u64 {
    tokens_of(text.chars().count())
}

/// Tokens in so many characters, estimated, rounded up.
#[must_use]
pub fn tokens_of(chars: usize) -> u64 {
    u64::try_from(chars.div_ceil(CHARS_PER_TOKEN)).unwrap_or(u64::MAX)
}

/// Tokens that a request sends, estimated; what a call is held to a budget and a context with before it is made.
#[must_use]
pub fn prompt_tokens(request: &ModelRequest) -> u64 {
    tokens_of(sent_chars(request))
}

/// The same where the schema is written already.
pub(crate) fn tokens_of_prompt(prompt: &Prompt, schema_text: &str) -> u64 {
    tokens_of(chars_of(prompt, schema_text))
}

/// Tokens that so many characters have at the least.
#[must_use]
pub fn least_tokens(chars: usize) -> u64 {
    u64::try_from(chars / CHARS_PER_TOKEN_MOST).unwrap_or(u64::MAX)
}

/// Everything a request sends as text: the schema as it is, of which the prompt holds a shorter form, since some
/// endpoints count the schema that comes beside the prompt.
#[must_use]
pub fn sent_chars(request: &ModelRequest) -> usize {
    chars_of(&request.prompt, &request.schema.to_string())
}

fn chars_of(prompt: &Prompt, schema_text: &str) -> usize {
    [&prompt.system, &prompt.user, schema_text].iter().map(|text| text.chars().count()).sum()
}

/// One answered call: the endpoint's counts where there are any, field by field, else an estimate.
#[must_use]
pub fn of_call(counts: Counts, prompt_tokens: u64, written_chars: usize) -> Usage {
    Usage {
        model_calls: 1,
        prompt_tokens: counts.prompt.unwrap_or(prompt_tokens),
        completion_tokens: counts.completion.unwrap_or_else(|| tokens_of(written_chars)),
    }
}

/// A running sum of one client, also of answers that could not be used and of requests that were refused.
#[derive(Debug, Default)]
pub struct Meter {
    requests: AtomicU64,
    answers: AtomicU64,
    prompt_tokens: AtomicU64,
    cached_tokens: AtomicU64,
    completion_tokens: AtomicU64,
}

/// What a [`Meter`] has counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    /// HTTP requests sent, retries included.
    pub requests: u64,
    /// Answers received in full or in part; each was paid for.
    pub answers: u64,
    /// Tokens sent with those.
    pub prompt_tokens: u64,
    /// Of these, tokens that the endpoint took from its cache.
    pub cached_tokens: u64,
    /// Tokens received with those.
    pub completion_tokens: u64,
}

impl Meter {
    /// The sum so far.
    #[must_use]
    pub fn spent(&self) -> Spent {
        Spent {
            requests: self.requests.load(Ordering::Relaxed),
            answers: self.answers.load(Ordering::Relaxed),
            prompt_tokens: self.prompt_tokens.load(Ordering::Relaxed),
            cached_tokens: self.cached_tokens.load(Ordering::Relaxed),
            completion_tokens: self.completion_tokens.load(Ordering::Relaxed),
        }
    }

    pub(crate) fn request_sent(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn answered(&self, usage: Usage, cached: u64) {
        self.answers.fetch_add(u64::from(usage.model_calls), Ordering::Relaxed);
        self.prompt_tokens.fetch_add(usage.prompt_tokens, Ordering::Relaxed);
        self.cached_tokens.fetch_add(cached, Ordering::Relaxed);
        self.completion_tokens.fetch_add(usage.completion_tokens, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use artoo_proto::Usage;

    use super::{Counts, estimated_tokens, of_call};

    #[test]
    fn counts_come_from_the_endpoint_or_are_estimated_field_by_field() {
        let check = |prompt: Option<u64>, completion: Option<u64>, prompt_tokens: u64, completion_tokens: u64| {
            let expected = Usage { model_calls: 1, prompt_tokens, completion_tokens };
            assert_eq!(of_call(Counts { prompt, completion, ..Counts::default() }, 2, 5), expected);
        };
        check(Some(70), Some(30), 70, 30);
        check(Some(70), None, 70, 2);
        check(None, None, 2, 2);
        assert_eq!(estimated_tokens("äöüßa"), 2);
    }
}
