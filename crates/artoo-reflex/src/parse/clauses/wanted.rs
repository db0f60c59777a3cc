//! Finds the clauses of a request that ask for a written text, such as a poem, and for nothing else.

use super::{first, phrase};
use crate::lex::Token;

/// Whether a clause asks for a text alone: it opens with a verb that makes a text, names a kind of text unless the verb
/// needs none, and names neither a place for the text nor a fact or another act.
pub(super) fn asks_for_words(opens: &[Token]) -> bool {
    let Some(verb) = phrase("text verbs", opens, 0) else { return false };
    let rest = opens.get(verb..).unwrap_or_default();
    let kind = first("text kinds", rest);
    let is_about = phrase("text verbs alone", opens, 0).is_some();
    let is_in_kind = |at: usize| kind.as_ref().is_some_and(|kind| kind.contains(&at));
    let is_other = |at: usize| !is_in_kind(at) && phrase("no text", rest, at).is_some();
    let names_a_place = |at: usize| {
        let next = rest.get(at + 1).map(|token| token.raw.as_str()).unwrap_or_default();
        phrase("text places", rest, at).is_some() && next.contains(['.', '/', '~', '"', '\'', '“'])
    };
    (kind.is_some() || is_about) && !(0..rest.len()).any(|at| is_other(at) || names_a_place(at))
}
