//! Finds words of a clause that a proposed reading of it ignores.

use serde_json::Value;

use super::clauses::{after_lead, is_noun, lists, phrase};
use super::steps::{begins_a_step, begins_anew, begins_unknown, joins};
use crate::lex::{Class, Token, lex};

/// The first words of a clause that none of the proposed checks accounts for: another act, or a restriction such as
/// "except".
pub(crate) fn unsaid(words: &str, checks: &[Value]) -> Option<String> {
    let tokens = lex(words);
    let mut texts = Vec::new();
    checks.iter().for_each(|check| add_texts(check, &mut texts));
    let kinds: Vec<&str> = checks.iter().filter_map(|check| check.get("kind")?.as_str()).collect();
    let is_said = |range: &[Token]| {
        // "named deploy" is said by the path ~/bin/deploy.
        let said = |token: &Token| texts.iter().any(|known| known.folded.rsplit('/').next() == Some(&token.folded));
        !range.is_empty() && range.iter().all(said)
    };
    let has_paths = checks.iter().any(|check| check.get("paths").is_some());
    for (at, token) in tokens.iter().enumerate() {
        let found = |list: &str| {
            let end = phrase(list, &tokens, at).filter(|_| token.class == Class::Word)?;
            tokens.get(at..end).filter(|run| !is_said(run))
        };
        let is_order = at.checked_sub(1).is_some_and(|before| phrase("sorted order", &tokens, before).is_some());
        let is_noun = is_noun(&tokens, at) || is_order;
        let asks = kinds.iter().any(|kind| matches!(*kind, "measured" | "ran")) && is_asked(&tokens, at);
        let excepts = has_paths || kinds.contains(&"unchanged");
        let denies = kinds.iter().any(|kind| matches!(*kind, "unchanged" | "mode_set"));
        // A new name, text or value stands instead of the old one.
        let replaces = kinds.iter().any(|kind| matches!(*kind, "renamed" | "edited"));
        let wanted = phrase("unwanted", &tokens, at).is_some();
        let left = found("conditions")
            .filter(|_| !asks)
            .filter(|run| !(replaces && run.iter().all(|token| token.folded == "instead")))
            .or_else(|| found("exceptions").filter(|_| !excepts))
            .or_else(|| found("negations").filter(|_| !denies && !wanted))
            .or_else(|| found("sends").filter(|_| !is_noun))
            .or_else(|| other_act(&tokens, at, &kinds).filter(|run| !is_said(run)));
        if let Some(run) = left {
            return words.get(run.first()?.span.start..run.last()?.span.end).map(str::to_owned);
        }
    }
    None
}

/// The first word of a clause that asks for something or restricts it; `None` if the clause can be confirmed as
/// background.
pub(crate) fn owed(words: &str) -> Option<String> {
    let tokens = lex(words);
    let opens = after_lead(&tokens, 0);
    let at = (0..tokens.len()).find(|at| {
        let found = |list: &str| phrase(list, &tokens, *at).is_some();
        let is_question = tokens.get(*at).is_some_and(|token| token.class == Class::Stop && token.raw == "?");
        is_question
            || ["owed", "exceptions"].into_iter().any(found)
            || (found("conditions") && !found("asides"))
            || (found("sends") && !is_noun(&tokens, *at))
            || (*at == opens && (found("negations") || begins_unknown(&tokens, *at)))
            || other_act(&tokens, *at, &[]).is_some()
    })?;
    tokens.get(at).and_then(|token| words.get(token.span.clone())).map(str::to_owned)
}

/// Adds the tokens of all texts in a JSON check, its kind left out.
fn add_texts(value: &Value, tokens: &mut Vec<Token>) {
    match value {
        Value::String(text) => tokens.extend(lex(text)),
        Value::Array(all) => all.iter().for_each(|value| add_texts(value, tokens)),
        Value::Object(fields) => {
            fields.iter().filter(|(name, _)| *name != "kind").for_each(|(_, value)| add_texts(value, tokens));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Whether "if" or "when" at a position begins a question, as in "tell me if".
fn is_asked(tokens: &[Token], at: usize) -> bool {
    at.checked_sub(1).is_none_or(|before| phrase("asked", tokens, before).is_some())
}

/// The verb that begins an act at a position, unless a check of one of these kinds means it.
fn other_act<'a>(tokens: &'a [Token], at: usize, kinds: &[&str]) -> Option<&'a [Token]> {
    let begins = at == 0 || begins_anew(tokens, at);
    if !begins && !tokens.get(at.saturating_sub(1)).is_some_and(joins) {
        return None;
    }
    let verb = after_lead(tokens, at);
    // A word before a colon names what follows it.
    if tokens.get(verb + 1).is_some_and(|token| token.raw == ":") {
        return None;
    }
    let means = |kind: &&str| phrase(&format!("as {kind}"), tokens, verb).is_some();
    let is_act = lists("as ").any(|list| phrase(list, tokens, verb).is_some());
    let is_question = !is_act && begins_a_step(tokens, verb) && phrase("verbs", tokens, verb).is_none();
    let is_meant = kinds.iter().any(means) || (is_question && kinds.contains(&"measured"));
    let is_verb = is_act || (at > 0 && begins);
    tokens.get(verb..verb + 1).filter(|run| is_verb && !is_meant && run.iter().all(|token| token.class == Class::Word))
}
