//! What calls cost: counts from the endpoint, estimates where it gives none, and a running sum that includes failures.

use artoo_proto::{ModelRequest, Prompt, Usage};

/// Characters to one token where the endpoint counts nothing: the usual rule of thumb for English text.
const CHARS_PER_TOKEN: usize = 4;

/// Characters to one token at the most, over a whole prompt: English prose, which packs best, stays below.
const CHARS_PER_TOKEN_MOST: usize = 6;

/// Tokens as the endpoint counted them, where it did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Tokens sent, those from a cache among them.
    pub prompt: Option<u64>,
    /// Tokens received, reasoning among them.
    pub completion: Option<u64>,
    /// Tokens sent that a cache of the endpoint held.
    pub cached: Option<u64>,
    /// Tokens sent that were put into it, where that has a price of its own.
    pub written: Option<u64>,
}

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
