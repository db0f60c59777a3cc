//! The lexicon: phrases and their meanings, read once from `lexicon.toml`.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use serde::Deserialize;

use crate::concept::Concept;

const SOURCE: &str = include_str!("lexicon.toml");

/// A slip of the fingers is only looked for in words of this length; shorter ones have too many neighbours.
const MIN_CHARS_FOR_A_SLIP: usize = 5;

/// One meaning of a phrase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// A concept of the grammar.
    Concept(Concept),
    /// A kind of file. `Adjective` needs a noun after it.
    FileType { index: usize, form: TypeForm },
}

/// How a word for a kind of file is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TypeForm {
    Adjective,
    Singular,
    Plural,
}

/// A kind of file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileType {
    pub(crate) name: String,
    pub(crate) extensions: Vec<String>,
    #[serde(default)]
    pub(crate) adjectives: Vec<String>,
    #[serde(default)]
    pub(crate) singular: Vec<String>,
    #[serde(default)]
    pub(crate) plural: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    entry: Vec<Entry>,
    #[serde(rename = "type")]
    types: Vec<FileType>,
    opaque: Vec<Words>,
    vague: Vec<Words>,
    file_name: Vec<Words>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    concept: Concept,
    phrases: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    words: Vec<String>,
}

/// Phrases with their meanings.
pub(crate) struct Lexicon {
    phrases: HashMap<String, Vec<Meaning>>,
    words: HashSet<String>,
    correctable: Vec<String>,
    acts: Vec<String>,
    opaque: HashSet<String>,
    vague: HashSet<String>,
    file_names: HashSet<String>,
    pub(crate) types: Vec<FileType>,
    pub(crate) longest: usize,
}

/// The lexicon of this crate.
pub(crate) fn lexicon() -> &'static Lexicon {
    static LEXICON: LazyLock<Lexicon> = LazyLock::new(Lexicon::read);
    &LEXICON
}

impl Lexicon {
    #[expect(clippy::expect_used, reason = "the file is part of this crate, and every test reads it")]
    fn read() -> Self {
        let document: Document = toml::from_str(SOURCE).expect("lexicon.toml is well-formed");
        let mut phrases: HashMap<String, Vec<Meaning>> = HashMap::new();
        let mut add = |pattern: &str, meaning: &Meaning| {
            for phrase in expand(pattern) {
                let meanings = phrases.entry(phrase).or_default();
                if !meanings.contains(meaning) {
                    meanings.push(meaning.clone());
                }
            }
        };
        for entry in &document.entry {
            for pattern in &entry.phrases {
                add(pattern, &Meaning::Concept(entry.concept.clone()));
            }
        }
        for (index, kind) in document.types.iter().enumerate() {
            let forms = [
                (&kind.adjectives, TypeForm::Adjective),
                (&kind.singular, TypeForm::Singular),
                (&kind.plural, TypeForm::Plural),
            ];
            for (words, form) in forms {
                for word in words {
                    add(word, &Meaning::FileType { index, form });
                }
            }
        }
        Self::index(phrases, document)
    }

    fn index(phrases: HashMap<String, Vec<Meaning>>, document: Document) -> Self {
        let is_act = |meanings: &Vec<Meaning>| meanings.contains(&Meaning::Concept(Concept::Act));
        let does = |meanings: &Vec<Meaning>| meanings.iter().any(|m| matches!(m, Meaning::Concept(Concept::Do(_))));
        let words_of = |phrase: &str| phrase.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let words: HashSet<String> = phrases.keys().flat_map(|phrase| words_of(phrase)).collect();
        let refused = phrases.iter().filter(|(_, m)| is_act(m)).flat_map(|(phrase, _)| words_of(phrase));
        // Of "create a copy of" the verb alone.
        let done =
            phrases.iter().filter(|(_, m)| does(m)).filter_map(|(phrase, _)| words_of(phrase).into_iter().next());
        let acts: HashSet<String> = refused.chain(done).collect();
        let mut correctable: Vec<String> = words
            .iter()
            .filter(|word| word.chars().count() >= MIN_CHARS_FOR_A_SLIP && !acts.contains(*word))
            .cloned()
            .collect();
        correctable.sort();
        Self {
            longest: phrases.keys().map(|phrase| phrase.split(' ').count()).max().unwrap_or(1),
            opaque: document.opaque.into_iter().flat_map(|list| list.words).collect(),
            vague: document.vague.into_iter().flat_map(|list| list.words).collect(),
            file_names: document.file_name.into_iter().flat_map(|list| list.words).collect(),
            acts: acts.into_iter().collect(),
            types: document.types,
            phrases,
            words,
            correctable,
        }
    }

    /// The meanings of a phrase (folded words, one space between), empty if it is none.
    pub(crate) fn meanings(&self, phrase: &str) -> &[Meaning] {
        self.phrases.get(phrase).map_or(&[], Vec::as_slice)
    }

    /// Whether the word occurs in any phrase.
    pub(crate) fn knows(&self, word: &str) -> bool {
        self.words.contains(word)
    }

    /// Whether the word, unquoted, is never a name or a text.
    pub(crate) fn is_vague(&self, word: &str) -> bool {
        self.vague.contains(word)
    }

    /// Whether the word is the usual name of a file without an extension.
    pub(crate) fn is_file_name(&self, word: &str) -> bool {
        self.file_names.contains(word)
    }

    /// Whether the word can be a verb that changes the machine.
    pub(crate) fn acts(&self, word: &str) -> bool {
        self.meanings(word).contains(&Meaning::Concept(Concept::Act))
    }

    /// The one word this unknown word is a slip of: one letter added, lost, changed or two swapped, never the first.
    ///
    /// None where there are several, where the word is good English of its own, or where a verb that acts is near.
    pub(crate) fn slip_of(&self, word: &str) -> Option<&str> {
        if word.chars().count() < MIN_CHARS_FOR_A_SLIP
            || !word.chars().all(|c| c.is_ascii_lowercase())
            || self.opaque.contains(word)
            || self.acts.iter().any(|act| one_slip_apart(word, act))
        {
            return None;
        }
        let mut near = self
            .correctable
            .iter()
            .filter(|known| known.chars().next() == word.chars().next() && one_slip_apart(word, known));
        match (near.next(), near.next()) {
            (Some(only), None) => Some(only),
            _ => None,
        }
    }

    /// Every phrase with its meanings, for tests that walk the lexicon.
    #[cfg(test)]
    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, &[Meaning])> {
        self.phrases.iter().map(|(phrase, meanings)| (phrase.as_str(), meanings.as_slice()))
    }
}

/// Writes out `{a|b|}` in every combination.
pub(crate) fn expand(pattern: &str) -> Vec<String> {
    let mut done = Vec::new();
    let mut open = vec![pattern.to_owned()];
    while let Some(next) = open.pop() {
        let parts = next.split_once('{').and_then(|(head, rest)| {
            let (choices, tail) = rest.split_once('}')?;
            Some((head.to_owned(), choices.to_owned(), tail.to_owned()))
        });
        match parts {
            None => done.push(next.split_whitespace().collect::<Vec<_>>().join(" ")),
            Some((head, choices, tail)) => {
                open.extend(choices.split('|').map(|choice| format!("{head}{choice}{tail}")));
            }
        }
    }
    done
}

/// Whether two words differ by one insertion, loss, change, or swap of neighbours.
pub(crate) fn one_slip_apart(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let head = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let tail = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
    let tail = tail.min(a.len() - head).min(b.len() - head);
    match (a.get(head..a.len() - tail), b.get(head..b.len() - tail)) {
        (Some([] | [_]), Some([_])) | (Some([_]), Some([])) => true,
        (Some([x, y]), Some([p, q])) => x == q && y == p,
        _ => false,
    }
}
