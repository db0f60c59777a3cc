//! The dictionary ("lexicon") of phrases and their meanings, compiled from `lexicon.toml` by the build script.

use std::cmp::Ordering;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::concept::Concept;

#[cfg(test)]
mod expand;
#[cfg(test)]
mod tests;

/// The compiled phrases: lines `phrase<TAB>number of its meanings in the table`, sorted by phrase.
const PHRASES: &str = include_str!(concat!(env!("OUT_DIR"), "/phrases.txt"));

/// The compiled words: lines `word<TAB>flags`, sorted by word; the build script says what the flags mean.
const WORDS: &str = include_str!(concat!(env!("OUT_DIR"), "/words.txt"));

/// The meanings that the numbers in [`PHRASES`] refer to, and the kinds of files, as JSON.
const TABLES: &str = include_str!(concat!(env!("OUT_DIR"), "/tables.json"));

/// Minimum length of a word that is checked for a typo; shorter ones are similar to too many other words.
const MIN_CHARS_FOR_A_TYPO: usize = 5;

/// One meaning of a phrase: a kind of file or another concept.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Meaning {
    /// A concept of the grammar.
    Concept(Concept),
    /// A kind of file, by its index in the table. A word of the form `Adjective` needs a noun after it.
    FileType { index: usize, form: TypeForm },
}

/// How a word for a kind of file is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TypeForm {
    /// A word that needs a noun after it, such as "python" in "python files".
    Adjective,
    /// A noun in the singular, such as "photo".
    Singular,
    /// A noun in the plural, such as "photos".
    Plural,
}

/// A kind of file.
#[derive(Deserialize)]
pub(crate) struct FileType {
    pub(crate) name: String,
    /// The extensions of such files, without dots.
    pub(crate) extensions: Vec<String>,
}

/// The dictionary of all phrases with their meanings, and the kinds of files.
#[derive(Deserialize)]
pub(crate) struct Lexicon {
    meanings: Vec<Vec<Meaning>>,
    pub(crate) types: Vec<FileType>,
    /// The number of words of the longest phrase.
    pub(crate) longest: usize,
}

/// The dictionary of this crate, loaded once.
#[expect(clippy::expect_used, reason = "the tables are part of this crate, and every test reads them")]
pub(crate) fn lexicon() -> &'static Lexicon {
    static LEXICON: LazyLock<Lexicon> =
        LazyLock::new(|| serde_json::from_str(TABLES).expect("every concept of lexicon.toml is one of the grammar"));
    &LEXICON
}

/// The value of `key` in sorted lines `key<TAB>value`; `None` if there is no such line.
fn lookup(lines: &'static str, key: &str) -> Option<&'static str> {
    let mut left = lines;
    while !left.is_empty() {
        let start =
            left.as_bytes().get(..left.len() / 2)?.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let (before, rest) = left.split_at(start);
        let (line, after) = rest.split_once('\n')?;
        let (found, value) = line.split_once('\t')?;
        left = match found.cmp(key) {
            Ordering::Equal => return Some(value),
            Ordering::Less => after,
            Ordering::Greater => before,
        };
    }
    None
}

/// Whether a word has this flag in the table of words.
fn is(word: &str, flag: char) -> bool {
    lookup(WORDS, word).is_some_and(|flags| flags.contains(flag))
}

impl Lexicon {
    /// The meanings of a phrase (lowercase words separated by one space); empty if the dictionary doesn't have it.
    pub(crate) fn meanings(&self, phrase: &str) -> &[Meaning] {
        self.numbered(lookup(PHRASES, phrase)).unwrap_or_default()
    }

    /// The meanings with this number in the table; `None` if there are none.
    fn numbered(&self, number: Option<&str>) -> Option<&[Meaning]> {
        self.meanings.get(number?.parse::<usize>().ok()?).map(Vec::as_slice)
    }

    /// Whether a word occurs in any phrase of the dictionary.
    pub(crate) fn knows(&self, word: &str) -> bool {
        is(word, 'k')
    }

    /// Whether the word is too vague to be a name or a text when unquoted.
    pub(crate) fn is_vague(&self, word: &str) -> bool {
        is(word, 'v')
    }

    /// Whether the word is the usual name of a file without an extension.
    pub(crate) fn is_file_name(&self, word: &str) -> bool {
        is(word, 'f')
    }

    /// Whether a word can be a verb that changes the machine, such as "install".
    pub(crate) fn acts(&self, word: &str) -> bool {
        self.meanings(word).contains(&Meaning::Concept(Concept::Act))
    }

    /// The only known word that differs from this unknown word by a typo: a letter added, lost, changed or two swapped,
    /// but never the first letter.
    ///
    /// `None` if there are several such words, if the word is proper English, or if one of them is a verb for a change.
    pub(crate) fn correction_of(&self, word: &str) -> Option<&str> {
        if word.chars().count() < MIN_CHARS_FOR_A_TYPO || !word.chars().all(|c| c.is_ascii_lowercase()) {
            return None;
        }
        let slipped: Vec<&str> =
            self.near(word).into_iter().filter(|(slips, _)| *slips == 1).map(|(_, known)| known).collect();
        if slipped.iter().any(|known| is(known, 'a')) {
            return None;
        }
        let is_near =
            |known: &&str| known.chars().count() >= MIN_CHARS_FOR_A_TYPO && known.chars().next() == word.chars().next();
        let mut near = slipped.into_iter().filter(is_near);
        match (near.next(), near.next()) {
            (Some(only), None) => Some(only),
            _ => None,
        }
    }

    /// The known words that a word may be mistyped from, with the number of typing errors, the fewest first; none for a
    /// proper English word.
    pub(crate) fn near(&self, word: &str) -> Vec<(usize, &'static str)> {
        let lines = if is(word, 'o') { "" } else { WORDS }.lines();
        let known = lines.filter_map(|line| line.split_once('\t').filter(|(_, is)| is.contains('k')));
        let mut near: Vec<_> = known.filter_map(|(known, _)| Some((slips(word, known)?, known))).collect();
        near.sort_by_key(|(slips, known)| (*slips, known.chars().next() != word.chars().next()));
        near
    }

    /// Every phrase with its meanings, for tests that check the whole lexicon.
    #[cfg(test)]
    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, &[Meaning])> {
        PHRASES.lines().filter_map(|line| {
            let (phrase, number) = line.split_once('\t')?;
            Some((phrase, self.numbered(Some(number))?))
        })
    }
}

/// Maximum number of typing errors between a word and the word that was meant.
const MAX_SLIPS: usize = 2;

/// The number of letters added, lost, changed or swapped between a word and a known one; `None` if they are too many.
pub(crate) fn slips(word: &str, known: &str) -> Option<usize> {
    // A slip changes the length by one letter at most, and the set of letters by two: most words need no comparison.
    let letters = |word: &str| word.bytes().fold(0_u32, |set, byte| set | 1_u32 << (byte % 32));
    let differing = (letters(word) ^ letters(known)).count_ones() as usize;
    let is_far = word.len().abs_diff(known.len()) > MAX_SLIPS || differing > 2 * MAX_SLIPS;
    if is_far && word.is_ascii() && known.is_ascii() {
        return None;
    }
    let slips = strsim::osa_distance(word, known);
    (slips <= MAX_SLIPS && slips * 2 < word.chars().count()).then_some(slips)
}
