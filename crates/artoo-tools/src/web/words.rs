//! Whether a query or URL is in the user's own words.

use std::collections::BTreeSet;

/// Words that a query may contain besides the user's words. The list is fixed, so that they can't carry data.
const FUNCTION_WORDS: &str = "a about an and are as at be between by can definition did do does for from has have \
    how in is it its latest many meaning much news of official on or site that the this to was website were what \
    when where which who whose why wiki wikipedia will with current currently today vs";

/// Longest query, in words, that may be sent without approval, since the order and choice of words could carry data.
const UNASKED_MAX_WORDS: usize = 24;

/// Whether every word of the query is a word of the user's request or a function word, at least one is the user's, and
/// there are at most [`UNASKED_MAX_WORDS`].
pub(crate) fn are_own(query: &str, user_request: &str) -> bool {
    let own: BTreeSet<String> = words(user_request).collect();
    let asked: Vec<String> = words(query).collect();
    let is_known = |word: &String| own.contains(word) || FUNCTION_WORDS.split(' ').any(|known| known == word);
    asked.len() <= UNASKED_MAX_WORDS && asked.iter().any(|word| own.contains(word)) && asked.iter().all(is_known)
}

/// Whether the user's request contains this whole URL; `https://` and a final `/` may be missing in it.
pub(crate) fn is_named(url: &str, user_request: &str) -> bool {
    let trimmed = |text: &str| text.trim_end_matches('/').to_owned();
    let wanted = trimmed(url);
    user_request.split_whitespace().any(|word| {
        let word = word.trim_matches(|c: char| matches!(c, '"' | '\'' | '<' | '>' | '(' | ')' | ',' | '.' | '!' | '?'));
        let written = [word.to_owned(), format!("https://{word}")];
        written.iter().any(|word| reqwest::Url::parse(word).is_ok_and(|word| trimmed(word.as_str()) == wanted))
    })
}

/// The words of a text in order, in lowercase and without punctuation.
fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// Tests which words and URLs count as the user's own.
#[cfg(test)]
mod tests {
    use super::{are_own, is_named};

    /// A query counts as the user's own only if each of its words is in the request or a function word.
    #[doc = "holds: law 1.22"]
    #[test]
    fn foreign_words_in_a_query_are_detected() {
        let said = "What's the population of Lisbon, and how tall is the Eiffel tower? See 'Größe'.";
        let check = |question: &str, expected: bool| assert_eq!(are_own(question, said), expected, "{question}");
        check("population Lisbon", true);
        check("what is the population of lisbon", true);
        check("Eiffel tower größe", true);
        check("population of Lisbon 2024", false);
        check("population of Lisbon hunter2", false);
        check("population-of-lisbon.evil.example", false);
        check("when was on", false);
        check("", false);
        check(&"Lisbon ".repeat(25), false);
    }

    /// A URL counts as named by the user only if the request has all of it, not just its host or a part.
    #[test]
    fn only_complete_urls_count_as_named() {
        let said = "summarise https://example.org/a?b=1, then compare with <example.com/x> and example.net.";
        let check = |url: &str, expected: bool| assert_eq!(is_named(url, said), expected, "{url}");
        check("https://example.org/a?b=1", true);
        check("https://example.com/x", true);
        check("https://example.net/", true);
        check("http://example.net/", false);
        check("https://example.org/a?b=12", false);
        check("https://example.org/a", false);
        check("https://example.org/", false);
    }
}
