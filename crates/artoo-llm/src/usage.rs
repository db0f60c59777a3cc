//! Token counts of model calls: those that an endpoint reports, and estimates.

use artoo_proto::{ModelRequest, Prompt, Usage};

/// Characters per token assumed in estimates: the usual rule of thumb for English text.
const CHARS_PER_TOKEN: usize = 4;

/// The most characters per token that a whole prompt can have, for the least estimate; English prose stays below.
const CHARS_PER_TOKEN_MOST: usize = 6;

/// Token counts reported by an endpoint.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Prompt tokens, those from a cache included; `None` if not reported.
    pub prompt: Option<u64>,
    /// Completion tokens, reasoning included; `None` if not reported.
    pub completion: Option<u64>,
    /// Prompt tokens read from a cache of the endpoint.
    pub cached: Option<u64>,
    /// Prompt tokens written into the cache, if they have a price of their own.
    pub written: Option<u64>,
}

/// Estimated number of tokens of a text, rounded up.
#[must_use]
pub fn estimated_tokens(text: &str) -> u64 {
    tokens_of(text.chars().count())
}

/// Estimated number of tokens of a text with this many characters, rounded up.
#[must_use]
pub fn tokens_of(chars: usize) -> u64 {
    u64::try_from(chars.div_ceil(CHARS_PER_TOKEN)).unwrap_or(u64::MAX)
}

/// Estimated number of tokens that a request sends, compared with budget and context before the call.
#[must_use]
pub fn prompt_tokens(request: &ModelRequest) -> u64 {
    tokens_of_prompt(&request.prompt, &request.schema.to_string())
}

/// Estimated number of tokens of a prompt and a schema. The whole schema counts, since some endpoints count it in
/// addition to the shorter form in the prompt.
pub(crate) fn tokens_of_prompt(prompt: &Prompt, schema_text: &str) -> u64 {
    tokens_of([&prompt.system, &prompt.user, schema_text].iter().map(|text| text.chars().count()).sum())
}

/// Estimate of the fewest tokens that a text with this many characters can have: one for six characters, rounded down.
#[must_use]
pub fn least_tokens(chars: usize) -> u64 {
    u64::try_from(chars / CHARS_PER_TOKEN_MOST).unwrap_or(u64::MAX)
}

/// Usage of one call: the endpoint's counts, or estimates for those that it doesn't report.
#[must_use]
pub fn of_call(counts: Counts, prompt_tokens: u64, written_chars: usize) -> Usage {
    Usage {
        model_calls: 1,
        prompt_tokens: counts.prompt.unwrap_or(prompt_tokens),
        completion_tokens: counts.completion.unwrap_or_else(|| tokens_of(written_chars)),
    }
}

/// Tests of token counts.
#[cfg(test)]
mod tests {
    use artoo_proto::Usage;

    use super::{Counts, estimated_tokens, of_call};

    /// Token counts that an endpoint does not report are estimated.
    #[test]
    fn missing_token_counts_are_estimated() {
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
