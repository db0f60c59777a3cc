//! The words that intents are compared by: whole for sameness, reduced to stems and synonyms for likeness.

use std::{
    collections::{BTreeSet, HashMap},
    sync::LazyLock,
};

use unicode_normalization::char::is_combining_mark;
use unicode_segmentation::UnicodeSegmentation;

use crate::record::slug::{cleaned, is_unspaced, normalize};

/// Most words of an intent that are compared with other intents.
const MAX_COMPARED_WORDS: usize = 64;

/// Marks around a word that do not change an intent.
const PUNCTUATION: &[char] =
    &['.', ',', ';', ':', '!', '?', '"', '\'', '“', '”', '„', '«', '»', '。', '、', '，', '！', '？', '…'];

/// The lines of `words.txt`, each a kind and words: by kind and stem, the stem of the line's first word.
///
/// Kinds: articles (whole words, also of politeness), empty (words without a meaning of their own), same (words that
/// mean the same), opposite (two words, in both orders).
static LEXICON: LazyLock<HashMap<(&str, String), String>> = LazyLock::new(|| {
    let mut lexicon: HashMap<(&str, String), String> = HashMap::new();
    for (kind, words) in include_str!("words.txt").lines().filter_map(|line| line.split_once(' ')) {
        let stems: Vec<String> = words.split_whitespace().map(stem).collect();
        let group = |stem: &String| lexicon.get(&("same", stem.clone())).unwrap_or(stem).clone();
        let keys: Vec<String> = match (kind, stems.as_slice()) {
            ("articles", _) => words.split_whitespace().map(str::to_owned).collect(),
            ("opposite", [a, b]) => vec![format!("{} {}", group(a), group(b)), format!("{} {}", group(b), group(a))],
            _ => stems.clone(),
        };
        for key in keys {
            lexicon.entry((kind, key)).or_insert_with(|| stems.first().cloned().unwrap_or_default());
        }
    }
    lexicon
});

/// The stem of the first word of the line that has a word or stem; `None` if no line of this kind has it.
fn known(kind: &'static str, word: &str) -> Option<&'static String> {
    LEXICON.get(&(kind, word.to_owned()))
}

/// All words of an intent in their order, lowercase, without articles and politeness: intents with equal words are the
/// same. Numbers, paths and signs count.
pub(crate) fn sequence(intent: &str) -> String {
    let text = normalize(intent);
    let words = text.split_whitespace().map(|word| word.trim_matches(PUNCTUATION));
    let kept: Vec<&str> = words.filter(|word| !word.is_empty() && known("articles", word).is_none()).collect();
    kept.join(" ")
}

/// The terms of a text in their order, without duplicates, to compare intents by: synonyms of stems; in scripts without
/// spaces, pairs of adjacent characters. Numbers and paths are left out, but not the ending of a file's name.
pub(crate) fn terms(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    let mut run = String::new();
    // A slug joins words by `_`, which UAX #29 counts as part of a word.
    let text = normalize(&text.replace('_', " "));
    for word in text.split_whitespace().map(without_path).flat_map(str::unicode_words).flat_map(|word| word.split('.'))
    {
        let word = cleaned(word);
        if word.chars().all(|c| is_unspaced(c) || is_combining_mark(c)) {
            run.push_str(&word);
        } else {
            flush(&mut run, &mut terms);
            let counts = |stem: &String| !word.chars().all(char::is_numeric) && known("empty", stem).is_none();
            terms.extend(Some(stem(&word)).filter(counts));
        }
    }
    flush(&mut run, &mut terms);
    let mut seen = BTreeSet::new();
    let group = |stem: String| known("same", &stem).cloned().unwrap_or(stem);
    terms.into_iter().map(group).filter(|term| seen.insert(term.clone())).take(MAX_COMPARED_WORDS).collect()
}

/// Whether terms of one intent mean the opposite of terms of the other, and not the same as well.
pub(crate) fn are_opposite(one: &BTreeSet<String>, other: &BTreeSet<String>) -> bool {
    let (mine, theirs) = (one - other, other - one);
    mine.iter().any(|a| theirs.iter().any(|b| known("opposite", &format!("{a} {b}")).is_some()))
}

/// A word of a request; for a path, the ending of the file's name alone.
fn without_path(word: &str) -> &str {
    if !word.contains(['/', '\\']) && !word.starts_with('~') {
        return word;
    }
    let name = word.rsplit(['/', '\\']).next().unwrap_or_default().trim_end_matches(PUNCTUATION);
    name.rsplit_once('.').map_or("", |(_, ending)| ending)
}

/// Moves the adjacent character pairs of `run` (text in a script without spaces) to the terms; `run` is empty then.
fn flush(run: &mut String, terms: &mut Vec<String>) {
    let chars: Vec<char> = run.drain(..).take(MAX_COMPARED_WORDS).collect();
    match chars.as_slice() {
        [] => {}
        [only] => terms.push(only.to_string()),
        several => terms.extend(several.windows(2).map(String::from_iter)),
    }
}

/// The first letters of a word: six of a Latin word after one common ending is cut off, two of a Korean word, four of
/// others; the same for all languages of an alphabet.
fn stem(word: &str) -> String {
    let of = |first, last| word.chars().next().is_some_and(|c| (first..=last).contains(&c));
    let latin = of('\0', '\u{24f}');
    let letters = if latin { 6 } else { 4 };
    let letters = if of('\u{ac00}', '\u{d7a3}') { 2 } else { letters };
    let endings = ["ing", "ies", "ed", "es", "en", "er", "s", "e", "n", "y"].iter().filter(|_| latin);
    let bases = endings.filter_map(|ending| word.strip_suffix(ending));
    let base = bases.filter(|base| base.chars().count() >= 3).take(1).last().unwrap_or(word);
    base.chars().take(letters).collect()
}
