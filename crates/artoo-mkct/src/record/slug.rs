//! Slugs: short stable keys of intents in any script, and the words that intents are compared by.

use std::collections::BTreeSet;

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};
use unicode_segmentation::UnicodeSegmentation;

use crate::record::hash::fnv1a;

/// Number of words in a slug.
const SLUG_WORDS: usize = 3;

/// Number of characters in a slug, if its script is written without spaces.
const UNSPACED_SLUG_CHARS: usize = 12;

/// Most characters of a word in a slug or comparison; the rest of a longer word is ignored.
const MAX_WORD_CHARS: usize = 32;

/// Most characters of an intent that are read; the rest is ignored.
const MAX_INTENT_CHARS: usize = 4_096;

/// Most words of an intent that are compared with other intents.
const MAX_COMPARED_WORDS: usize = 64;

/// The key of an intent: its first three words, lower case, joined by `_`.
///
/// Words as in UAX #29 over NFKC text, letters, digits and marks of any script. Where one of the three is in a script
/// written without spaces (Han, kana, Thai, Lao, Khmer, Myanmar), the first twelve letters or digits instead. Never
/// empty: an intent without a letter gets a hash.
#[must_use]
pub fn slug(intent: &str) -> String {
    let text = normalize(intent);
    let words: Vec<String> =
        text.unicode_words().map(cleaned).filter(|word| !word.is_empty()).take(SLUG_WORDS).collect();
    let slug = if words.iter().any(|word| word.chars().any(is_unspaced)) {
        text.chars().filter(|c| is_word_char(*c)).take(UNSPACED_SLUG_CHARS).collect()
    } else {
        words.join("_")
    };
    if slug.is_empty() { format!("x{:016x}", fnv1a(intent.as_bytes())) } else { slug }
}

/// The words of a text without duplicates, to compare intents by; in scripts without spaces, pairs of adjacent
/// characters.
pub(crate) fn words(text: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    let mut run = String::new();
    // A slug joins words by `_`, which UAX #29 counts as part of a word.
    for word in normalize(&text.replace('_', " ")).unicode_words().map(cleaned).filter(|word| !word.is_empty()) {
        if words.len() >= MAX_COMPARED_WORDS {
            break;
        }
        if word.chars().all(|c| is_unspaced(c) || is_combining_mark(c)) {
            run.push_str(&word);
        } else {
            flush(&mut run, &mut words);
            words.insert(word);
        }
    }
    flush(&mut run, &mut words);
    words
}

/// Moves the adjacent character pairs of `run` (text in a script without spaces) to the words; `run` is empty then.
fn flush(run: &mut String, words: &mut BTreeSet<String>) {
    let chars: Vec<char> = run.drain(..).collect();
    match chars.as_slice() {
        [] => {}
        [only] => drop(words.insert(only.to_string())),
        several => words.extend(several.windows(2).take(MAX_COMPARED_WORDS).map(String::from_iter)),
    }
}

/// The first `MAX_INTENT_CHARS` characters of a text, lowercase and in NFKC.
fn normalize(text: &str) -> String {
    let head: String = text.trim_start().chars().take(MAX_INTENT_CHARS).nfkc().collect();
    head.to_lowercase().nfkc().collect()
}

/// A word without punctuation, cut to [`MAX_WORD_CHARS`] characters.
fn cleaned(word: &str) -> String {
    word.chars().filter(|c| is_word_char(*c)).take(MAX_WORD_CHARS).collect()
}

/// Whether a character is a letter, digit or combining mark.
fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || is_combining_mark(c)
}

/// Whether a character belongs to a script written without spaces.
fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}'            // Thai, Lao
        | '\u{1000}'..='\u{109f}'          // Myanmar
        | '\u{1780}'..='\u{17ff}'          // Khmer
        | '\u{2e80}'..='\u{2fdf}' | '\u{3005}' | '\u{3007}'
        | '\u{3041}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{1b000}'..='\u{1b16f}' | '\u{20000}'..='\u{3ffff}')
}
