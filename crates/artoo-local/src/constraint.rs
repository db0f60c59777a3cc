//! Constrains a reply to a schema while it is written: computes which tokens may come next, and which must.

use std::sync::Arc;

use llguidance::api::TopLevelGrammar;
use llguidance::earley::SlicedBiasComputer;
use llguidance::{Matcher, ParserFactory};
use serde_json::Value;
use toktrie::{InferenceCapabilities, TokenId};

use crate::bounds;
use crate::vocabulary::Vocabulary;

/// Creates the constraint of each reply, for the vocabulary of one model.
pub(crate) struct Constraints {
    factory: ParserFactory,
}

/// The state of one reply under its schema: it knows which tokens may come next.
pub(crate) struct Constraint {
    matcher: Matcher,
}

impl Constraints {
    /// Prepares constraints for the vocabulary of a model.
    pub(crate) fn new(vocabulary: &Arc<Vocabulary>) -> Result<Self, String> {
        let tokens: toktrie::TokEnv = Arc::clone(vocabulary) as _;
        let abilities = InferenceCapabilities { ff_tokens: true, ..InferenceCapabilities::default() };
        let mut factory = ParserFactory::new(&tokens, abilities, &SlicedBiasComputer::json_slices())
            .map_err(|error| error.to_string())?;
        factory.quiet();
        factory.limits_mut().verbose_errors = false;
        Ok(Self { factory })
    }

    /// Creates the constraint of a reply to a schema; an error if the schema is not supported.
    pub(crate) fn of(&self, schema: &Value) -> Result<Constraint, String> {
        let grammar = TopLevelGrammar::from_json_schema(bounds::constrained(schema));
        let matcher = Matcher::new(self.factory.create_parser(grammar));
        matcher.get_error().map_or(Ok(Constraint { matcher }), Err)
    }
}

impl Constraint {
    /// Whether the reply written so far is complete under its schema.
    pub(crate) fn is_complete(&self) -> bool {
        self.matcher.is_stopped() && self.matcher.stop_reason().is_ok()
    }

    /// The tokens that must come next whatever the model would choose; the constraint counts them as written.
    pub(crate) fn forced(&mut self) -> Result<Vec<i32>, String> {
        let tokens = self.matcher.consume_ff_tokens();
        self.matcher.get_error().map_or(Ok(()), Err)?;
        Ok(tokens.into_iter().filter_map(|token| i32::try_from(token).ok()).collect())
    }

    /// The most likely token among those that may come next; `None` if no token may.
    pub(crate) fn choose(&mut self, logits: &[f32]) -> Result<Option<i32>, String> {
        // Usually the model's own choice is allowed, and checking one token is cheaper than computing the whole mask.
        if let Some(token) = likeliest(logits, |_| true)
            && self.matcher.validate_tokens(&[id(token)]).map_err(|error| error.to_string())? == 1
        {
            return Ok(Some(token));
        }
        let allowed = self.matcher.compute_mask_or_eos().map_err(|error| error.to_string())?;
        Ok(likeliest(logits, |token| allowed.is_allowed(id(token))))
    }

    /// Tells the constraint that this token was written.
    pub(crate) fn take(&mut self, token: i32) -> Result<(), String> {
        self.matcher.consume_token(id(token)).map_err(|error| error.to_string())
    }
}

/// The most likely token among those that `counts` accepts; of equally likely ones the first, as in llama.cpp. `None`
/// if it accepts none.
pub(crate) fn likeliest(logits: &[f32], counts: impl Fn(i32) -> bool) -> Option<i32> {
    let mut best: Option<(i32, f32)> = None;
    for (token, logit) in (0..).zip(logits) {
        // `counts` is called only for tokens that would win, so the mask is read for few of them.
        if best.is_none_or(|(_, most)| *logit > most) && !logit.is_nan() && counts(token) {
            best = Some((token, *logit));
        }
    }
    best.map(|(token, _)| token)
}

/// The id of a token in the type of the constraint library.
fn id(token: i32) -> TokenId {
    TokenId::try_from(token).unwrap_or(TokenId::MAX)
}

/// Tests of choosing the most likely token.
#[cfg(test)]
mod tests {
    use super::likeliest;

    /// Of the allowed tokens the one with the highest logit is chosen, the first if several are equal.
    #[test]
    fn most_likely_allowed_token_is_chosen() {
        let check = |logits: &[f32], odd: bool, expected| {
            assert_eq!(likeliest(logits, |token| !odd || token % 2 == 1), expected, "{logits:?}");
        };
        check(&[1.0, 3.0, 2.0], false, Some(1));
        check(&[9.0, 3.0, 8.0, 4.0], true, Some(3));
        check(&[5.0, 5.0], false, Some(0));
        check(&[f32::NAN, -1.0], false, Some(1));
        check(&[f32::NEG_INFINITY], false, Some(0));
        check(&[f32::NAN], false, None);
        check(&[1.0], true, None);
        check(&[], false, None);
    }
}
