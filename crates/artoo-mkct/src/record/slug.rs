//! Slugs: short stable keys of intents in any script.

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};
use unicode_segmentation::UnicodeSegmentation;

use crate::record::hash::fnv1a;

/// Number of an intent's first words that make up its slug.
const SLUG_WORDS: usize = 3;

/// Number of characters in a slug, if its script is written without spaces.
const UNSPACED_SLUG_CHARS: usize = 12;

/// Most characters of a word in a slug or comparison; the rest of a longer word is ignored.
const MAX_WORD_CHARS: usize = 32;

/// Most characters of an intent that are read; the rest is ignored.
const MAX_INTENT_CHARS: usize = 4_096;

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

/// The first `MAX_INTENT_CHARS` characters of a text, lowercase and in NFKC.
pub(super) fn normalize(text: &str) -> String {
    let head: String = text.trim_start().chars().take(MAX_INTENT_CHARS).nfkc().collect();
    head.to_lowercase().nfkc().collect()
}

/// A word without punctuation, cut to [`MAX_WORD_CHARS`] characters.
pub(super) fn cleaned(word: &str) -> String {
    word.chars().filter(|c| is_word_char(*c)).take(MAX_WORD_CHARS).collect()
}

/// Whether a slug without the rest of its intent is all there was: fewer words than a slug has.
pub(crate) fn is_whole(slug: &str) -> bool {
    let unspaced = slug.chars().any(is_unspaced);
    if unspaced { slug.chars().count() < UNSPACED_SLUG_CHARS } else { slug.split('_').count() < SLUG_WORDS }
}

/// Whether a character is a letter, digit or combining mark.
fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || is_combining_mark(c)
}

/// Whether a character belongs to a script written without spaces.
pub(super) fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}'            // Thai, Lao
        | '\u{1000}'..='\u{109f}'          // Myanmar
        | '\u{1780}'..='\u{17ff}'          // Khmer
        | '\u{2e80}'..='\u{2fdf}' | '\u{3005}' | '\u{3007}'
        | '\u{3041}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{1b000}'..='\u{1b16f}' | '\u{20000}'..='\u{3ffff}')
}
