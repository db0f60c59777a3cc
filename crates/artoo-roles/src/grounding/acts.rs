//! Requests for a change: which verb asks for it, and which file the user named for the result.

use super::names::tokens;
use super::words::{
    CJK_ACTS, CJK_QUESTIONS, DESTINATIONS, DETERMINERS, FOREIGN_ACTS, INFORMATION, NOT_FOREIGN, NOUNISH_ACTS, OBJECTS,
    PARTICLES, PLACING_ACTS, POLITE, PREPOSITIONS, QUESTIONS, STRONG_ACTS, WEAK_ACTS,
};
use super::{bare_words, has_extension, looks_like_path, mentions_machine, trim, unquoted};

/// Number of words after a verb that are searched for its object and destination: one clause of ordinary length.
const REACH: usize = 16;

/// Whether a request asks for a change of something on the machine.
#[must_use]
pub fn asks_for_change(request: &str) -> bool {
    if !mentions_machine(request) {
        return false;
    }
    let lower = request.to_lowercase();
    asks_in_another_language(&lower) || acts(&lower).any(|_| true) || asks_by_phrase(&lower)
}

/// The file names that a request gives for its result, as in `create x.txt` or `save it to x.txt`; sorted, without
/// duplicates.
///
/// The names are lowercase and without a leading `~/` or `./`, so that they can be compared with the end of a full
/// path.
#[must_use]
pub fn named_destinations(request: &str) -> Vec<String> {
    let lower = request.to_lowercase();
    let mut names: Vec<String> = acts(&lower).flat_map(|act| act.destinations).collect();
    names.sort();
    names.dedup();
    names
}

/// A verb that asks for a change, with the file names given for its result.
struct Act {
    destinations: Vec<String>,
}

/// Every verb at the start of a clause that asks for a change, in order.
fn acts(lower: &str) -> impl Iterator<Item = Act> + '_ {
    let tokens = tokens(lower);
    let mut opening = true;
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let word = trim(token);
        let clause = clause(tokens.get(at + 1..).unwrap_or_default());
        if opening && !ends_clause(token) && is_act(word, clause) {
            found.push(Act { destinations: destinations(word, clause) });
        }
        opening = ends_clause(token)
            || matches!(word, "and" | "then" | "")
            || (opening && (POLITE.has(word) || word == "don't"));
    }
    found.into_iter()
}

/// Whether a word ends with punctuation that ends a clause.
fn ends_clause(token: &str) -> bool {
    token.ends_with([',', ';', '.', ':', '!', '?'])
}

/// The words up to the end of the sentence, at most `REACH` of them.
fn clause<'a, 'b>(rest: &'a [&'b str]) -> &'a [&'b str] {
    let end = rest.iter().position(|token| token.ends_with(['.', ';', '!', '?'])).map_or(rest.len(), |end| end + 1);
    rest.get(..end.min(REACH)).unwrap_or_default()
}

/// Whether a word, followed by `clause`, is a verb that asks for a change.
fn is_act(word: &str, clause: &[&str]) -> bool {
    if STRONG_ACTS.has(word) {
        return true;
    }
    if NOUNISH_ACTS.has(word) {
        let mut next = clause.iter().skip_while(|token| PARTICLES.has(trim(token)));
        return next.next().is_some_and(|token| DETERMINERS.has(trim(token)) || looks_like_path(token));
    }
    WEAK_ACTS.has(word) && (makes_a_thing(clause) || reaches_a_place(word, clause))
}

/// Whether the direct object after a verb is a file, folder or path: `create a folder`, `extract x.zip`.
fn makes_a_thing(clause: &[&str]) -> bool {
    let object = clause.iter().take_while(|token| !PREPOSITIONS.has(trim(token)));
    for (at, token) in object.enumerate() {
        if looks_like_path(token) {
            return true;
        }
        if OBJECTS.has(trim(token)) {
            let next = clause.get(at + 1).map(|next| trim(next)).unwrap_or_default();
            return !INFORMATION.has(next);
        }
        if ends_clause(token) {
            return false;
        }
    }
    false
}

/// Whether a clause names a path or folder as the destination: `a report to ~/r.md`, `it into my documents`.
fn reaches_a_place(verb: &str, clause: &[&str]) -> bool {
    for (at, token) in clause.iter().enumerate() {
        let word = trim(token);
        if DESTINATIONS.has(word) && place_after(clause, at).is_some() {
            return true;
        }
        if word == "of" {
            // In "a list of the functions in main.rs", `in` names the source, so only a destination word counts from
            // here on.
            let after = clause.iter().enumerate().skip(at);
            return after
                .into_iter()
                .any(|(at, token)| DESTINATIONS.has(trim(token)) && place_after(clause, at).is_some());
        }
        if matches!(word, "in" | "inside" | "on") && PLACING_ACTS.has(verb) && place_after(clause, at).is_some() {
            return true;
        }
    }
    false
}

/// The path, file or folder after the preposition at index `at`, with at most three other words between; `None` if
/// there is none.
fn place_after<'a>(clause: &[&'a str], at: usize) -> Option<&'a str> {
    let near = clause.iter().enumerate().skip(at + 1).take(4);
    for (index, token) in near {
        if looks_like_path(token) {
            return Some(token);
        }
        let word = trim(token);
        if OBJECTS.has(word) {
            let next = clause.get(index + 1).map(|next| trim(next)).unwrap_or_default();
            return (!INFORMATION.has(next)).then_some(token);
        }
        if PREPOSITIONS.has(word) || ends_clause(token) {
            return None;
        }
    }
    None
}

/// The file names in a clause that its verb creates, or that follow a destination word such as `to` or `called`.
fn destinations(verb: &str, clause: &[&str]) -> Vec<String> {
    let makes = matches!(verb, "create" | "make" | "write" | "generate" | "touch" | "produce" | "build");
    let own = clause.iter().take_while(|token| !PREPOSITIONS.has(trim(token))).copied();
    let own: Vec<&str> = if makes { own.collect() } else { Vec::new() };
    let named = clause.iter().enumerate().filter(|(_, token)| DESTINATIONS.has(trim(token)));
    let placed = named.filter_map(|(at, _)| place_after(clause, at));
    own.into_iter().chain(placed).filter_map(file_name).collect()
}

/// The path in a word without a leading `~/` or `./`; `None` unless it ends with a file extension.
fn file_name(token: &str) -> Option<String> {
    let token = unquoted(token).trim_end_matches('.');
    let name = token.rsplit('/').next().unwrap_or(token);
    let path = token.strip_prefix("~/").or_else(|| token.strip_prefix("./")).unwrap_or(token);
    (looks_like_path(token) && has_extension(name)).then(|| path.to_owned())
}

/// Whether a request asks for a change by a phrase such as "get rid of" or "should contain", not by its first verb.
fn asks_by_phrase(lower: &str) -> bool {
    /// Phrases that ask for a change.
    const PHRASES: [&str; 8] = [
        "get rid of",
        "throw away",
        "throw out",
        "should contain",
        "should say",
        "must contain",
        "needs to contain",
        "back up ",
    ];
    let question = bare_words(lower).find(|word| !POLITE.has(word)).is_some_and(|word| QUESTIONS.has(word));
    !question && (PHRASES.iter().any(|phrase| lower.contains(phrase)) || wants_a_new_thing(lower))
}

/// Whether a request asks for a new file or folder without a verb: "I need a folder called x", "a new file named y
/// please".
fn wants_a_new_thing(lower: &str) -> bool {
    let tokens: Vec<&str> = lower.split_whitespace().collect();
    tokens.iter().enumerate().any(|(at, token)| {
        let before = at.checked_sub(1).and_then(|at| tokens.get(at)).map(|token| trim(token)).unwrap_or_default();
        let next = tokens.get(at + 1).map(|token| trim(token)).unwrap_or_default();
        OBJECTS.has(trim(token)) && before == "new" && matches!(next, "called" | "named" | "with" | "in")
            || OBJECTS.has(trim(token)) && matches!(before, "a" | "another") && matches!(next, "called" | "named")
    })
}

/// Whether a lowercase request asks for a change in a language other than English.
fn asks_in_another_language(lower: &str) -> bool {
    let foreign = |word: &str| {
        FOREIGN_ACTS.iter().any(|act| word.starts_with(act)) && !NOT_FOREIGN.iter().any(|own| word.starts_with(own))
    };
    let question = bare_words(lower).next().is_some_and(|word| QUESTIONS.has(word));
    let cjk = CJK_ACTS.iter().any(|act| lower.contains(act)) && !CJK_QUESTIONS.iter().any(|mark| lower.contains(mark));
    cjk || (!question && bare_words(lower).any(foreign))
}
