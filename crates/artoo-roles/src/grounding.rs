//! Word-table rules that decide what a request is about and what a text claims. They reject a model's reply or restrict
//! a judge's evidence; facts decide whether a request is fulfilled.
//!
//! A claim of a change needs a tool call that made it. The rules prefer to miss a case over a false alarm.

mod names;
#[cfg(test)]
mod tests;
pub(crate) mod words;

pub(crate) use names::tokens;
use words::{CLAIMS, COMPOSITIONS, DEEDS, DEICTIC, INDEFINITE, OBJECTS, POLITE, QUANTIFIERS, QUESTIONS};

/// Whether a text mentions files, folders or paths.
#[must_use]
pub fn mentions_machine(text: &str) -> bool {
    let lower = text.to_lowercase();
    bare_words(&lower).any(|word| OBJECTS.has(word)) || lower.split_whitespace().any(looks_like_path)
}

/// Whether a request is about the files of this machine, not about files in general.
///
/// "What is a symlink?" and "a poem about files" can be answered without tools; "what is the largest file" can't.
#[must_use]
pub fn is_about_this_machine(request: &str) -> bool {
    if !mentions_machine(request) {
        return false;
    }
    let lower = request.to_lowercase();
    let concrete = bare_words(&lower).any(|word| DEICTIC.has(word)) || lower.split_whitespace().any(looks_like_path);
    concrete || !is_general(&lower)
}

/// Whether the first word of a part of a request, after words of politeness, is in the table of question words.
#[must_use]
pub fn is_question(part: &str) -> bool {
    let lower = part.to_lowercase();
    bare_words(&lower).find(|word| !POLITE.has(word)).is_some_and(|word| QUESTIONS.has(word))
}

/// Whether an output claims that something on the machine was changed: in the first person, or at the start of a
/// sentence.
#[must_use]
pub fn claims_change(output: &str) -> bool {
    mentions_machine(output) && claims(output, |word| CLAIMS.has(word), true)
}

/// Whether an output claims, in the first person, an action that needs a tool, such as "I deleted".
#[must_use]
pub fn claims_deed(output: &str) -> bool {
    claims(output, |word| DEEDS.has(word), false)
}

/// Whether a claim is about all, none or how many of something, which a truncated output can't prove.
#[must_use]
pub fn needs_whole_output(claim: &str) -> bool {
    let lower = claim.to_lowercase();
    bare_words(&lower).any(|word| QUANTIFIERS.has(word))
}

/// Whether an output contains a claiming word within a few words after "I", "we" or "successfully" or, if `may_open`,
/// after "been" or at the start of a sentence.
fn claims(output: &str, is_claim: impl Fn(&str) -> bool, may_open: bool) -> bool {
    let lower = output.to_lowercase();
    let tokens: Vec<&str> = lower.split_whitespace().collect();
    let mut since_speaker = usize::MAX;
    let mut opening = may_open;
    for (at, token) in tokens.iter().enumerate() {
        let word = trim(token);
        // "Created 2024-05-01" and "created on Monday" state a date; they don't claim that something was just created.
        let next = tokens.get(at + 1).map(|next| trim(next)).unwrap_or_default();
        let is_fact = matches!(next, "on" | "at" | "by") || next.starts_with(|c: char| c.is_ascii_digit());
        if is_claim(word) && ((opening && !is_fact) || since_speaker <= 3) {
            return true;
        }
        since_speaker = match word {
            "i" | "i've" | "i’ve" | "we" | "we've" | "we’ve" | "successfully" => 0,
            "been" if may_open => 0,
            _ => since_speaker.saturating_add(1),
        };
        opening = may_open
            && (token.ends_with(['.', '!', ':', ';'])
                || (opening && matches!(word, "file" | "the" | "and" | "a" | "new" | "")));
    }
    false
}

/// Whether a lowercase request is a general question ("what is a …", "how do …") or asks for a text such as a poem.
fn is_general(lower: &str) -> bool {
    let words: Vec<&str> = bare_words(lower).filter(|word| !POLITE.has(word)).take(3).collect();
    let word = |at: usize| words.get(at).copied().unwrap_or_default();
    match word(0) {
        "explain" | "define" | "describe" | "why" => true,
        "how" => matches!(word(1), "do" | "does" | "can" | "should") || lower.contains("how to "),
        "what" | "what's" | "difference" => {
            INDEFINITE.has(word(2)) || INDEFINITE.has(word(1)) || lower.contains("difference between")
        }
        _ => bare_words(lower).any(|word| COMPOSITIONS.has(word)),
    }
}

/// The words of a text without punctuation around them.
fn bare_words(lower: &str) -> impl Iterator<Item = &str> {
    lower.split_whitespace().map(trim)
}

/// A word without punctuation at its ends.
fn trim(token: &str) -> &str {
    token.trim_matches(|c: char| !c.is_alphanumeric())
}

/// A word without quotes, brackets and sentence punctuation at its ends, except dots and slashes.
fn unquoted(token: &str) -> &str {
    token.trim_matches(|c: char| matches!(c, '"' | '\'' | '`' | ',' | ';' | ':' | '(' | ')' | '!' | '?'))
}

/// Whether a word looks like a path (`/a/b`, `./x`, `~/x`) or a file name with an extension (`notes.txt`). URLs do not.
fn looks_like_path(token: &str) -> bool {
    let token = unquoted(token);
    if token.starts_with("http://") || token.starts_with("https://") {
        return false;
    }
    if token.starts_with('~') || token.starts_with("./") || (token.starts_with('/') && token.len() > 1) {
        return true;
    }
    has_extension(token.trim_end_matches('.'))
}

/// Whether a word ends with a file extension: a dot and up to five letters and digits, at least one of them a letter.
fn has_extension(token: &str) -> bool {
    token.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty()
            && stem.chars().any(char::is_alphabetic)
            && (1..=5).contains(&extension.chars().count())
            && extension.chars().all(|c| c.is_ascii_alphanumeric())
            && extension.chars().any(|c| c.is_ascii_alphabetic())
            && !matches!(token, "e.g" | "i.e" | "a.m" | "p.m")
    })
}
