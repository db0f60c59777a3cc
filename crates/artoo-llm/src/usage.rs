//! What calls cost: counts from the endpoint, estimates where it gives none, and a running sum that includes failures.

use std::sync::atomic::{AtomicU64, Ordering};

use artoo_proto::{ModelRequest, Usage};
use serde_json::Value;

/// Characters to one token where the endpoint counts nothing: the usual rule of thumb for English text.
const CHARS_PER_TOKEN: usize = 4;

/// Tokens in `text`, estimated, rounded up.
#[must_use]
pub fn estimated_tokens(text: &str) -> u64 {
    u64::try_from(text.chars().count().div_ceil(CHARS_PER_TOKEN)).unwrap_or(u64::MAX)
}

/// Everything a request sends as text, for estimates.
pub(crate) fn prompt_text(request: &ModelRequest) -> String {
    format!("{}{}", request.prompt.system, request.prompt.user)
}

/// One answered call: the endpoint's `usage` object where it is usable, field by field, else an estimate.
#[must_use]
pub fn of_call(reported: Option<&Value>, prompt: &str, completion: &str) -> Usage {
    let count = |name: &str| reported.and_then(|usage| usage.get(name)).and_then(Value::as_u64);
    Usage {
        model_calls: 1,
        prompt_tokens: count("prompt_tokens").unwrap_or_else(|| estimated_tokens(prompt)),
        completion_tokens: count("completion_tokens").unwrap_or_else(|| estimated_tokens(completion)),
    }
}

/// A running sum of one client, also of answers that could not be used and of requests that were refused.
#[derive(Debug, Default)]
pub struct Meter {
    requests: AtomicU64,
    answers: AtomicU64,
    prompt_tokens: AtomicU64,
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
            completion_tokens: self.completion_tokens.load(Ordering::Relaxed),
        }
    }

    pub(crate) fn request_sent(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn answered(&self, usage: Usage) {
        self.answers.fetch_add(u64::from(usage.model_calls), Ordering::Relaxed);
        self.prompt_tokens.fetch_add(usage.prompt_tokens, Ordering::Relaxed);
        self.completion_tokens.fetch_add(usage.completion_tokens, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use artoo_proto::Usage;
    use serde_json::{Value, json};

    use super::of_call;

    #[test]
    fn counts_come_from_the_endpoint_or_are_estimated_field_by_field() {
        let check = |reported: Option<Value>, prompt_tokens: u64, completion_tokens: u64| {
            let expected = Usage { model_calls: 1, prompt_tokens, completion_tokens };
            assert_eq!(of_call(reported.as_ref(), "12345678", "äöüßa"), expected, "{reported:?}");
        };
        check(Some(json!({"prompt_tokens": 70, "completion_tokens": 30})), 70, 30);
        check(Some(json!({"prompt_tokens": 70})), 70, 2);
        check(Some(json!({"prompt_tokens": -1, "completion_tokens": "many"})), 2, 2);
        check(Some(json!(null)), 2, 2);
        check(None, 2, 2);
    }
}
