//! Files and folders that a request describes by words of their names: "the meeting notes" is `meeting notes.txt`.

use std::ops::Range;

use artoo_proto::escape;

use super::item::Context;
use super::located::{entries, typed};
use super::pattern::is_word;
use crate::eval::{Entry, EntryKind};
use crate::lex::{Class, Token};

/// Maximum number of words that describe one entry, without the article before them.
const MAX_WORDS: usize = 4;

/// Maximum number of descriptions of a request that are tried; each is parsed in full.
const MAX_TRIED: usize = 6;

/// What a noun after the words of a name says of the entry.
const NOUNS: [(&str, &str); 9] = [
    ("file files document text", ""),
    ("folder directory project", "/"),
    ("repo repository", "/"),
    ("log logfile", "log txt out"),
    ("script program", "sh py pl rb js"),
    ("list notes note", "txt md"),
    ("picture photo image pic screenshot", "jpg jpeg png gif webp"),
    ("song track", "mp3 flac ogg wav"),
    ("table spreadsheet sheet data", "csv tsv xlsx json"),
];

/// The bytes of a request that describe the only entry they can mean, each with how the entry is written in a request;
/// the longest first.
pub(super) fn described(context: &Context<'_>, tokens: &[Token]) -> Vec<(Range<usize>, String)> {
    let Some(entries) = entries(context) else { return Vec::new() };
    let mut found = Vec::new();
    for length in (1..=MAX_WORDS).rev() {
        for (at, words) in tokens.windows(length).enumerate() {
            let before = at.checked_sub(1).and_then(|at| tokens.get(at));
            let is_named =
                before.is_some_and(|token| ["the", "my", "our"].iter().any(|word| is_word(Some(token), word)));
            let Some(entry) = meant(context, &entries, words, is_named) else { continue };
            let (Some(first), Some(last)) = (before.filter(|_| is_named).or(words.first()), words.last()) else {
                continue;
            };
            // A quote in a name would end the name and make a request of the rest.
            let is_safe = |path: &&str| escape::one_line(path) == **path && !path.contains('"');
            let Some(path) = entry.path.to_str().filter(is_safe) else { continue };
            let path = typed(context, path);
            let span = first.span.start..last.span.end;
            // "the shopping list" is not described by "the shopping" as well.
            let is_part = |(longer, _): &(Range<usize>, String)| {
                longer.start <= span.start && span.end <= longer.end && *longer != span
            };
            if found.iter().any(is_part) {
                continue;
            }
            if entry.kind == EntryKind::Folder {
                found.push((span.clone(), format!("the folder \"{path}\"")));
                found.push((span, format!("the files in the folder \"{path}\"")));
            } else {
                found.push((span, format!("the file \"{path}\"")));
            }
        }
    }
    found.truncate(MAX_TRIED);
    found
}

/// The only entry that words can mean: one is a word of its name and each other one too, or of a folder above it, but
/// the last may say what kind of thing it is. Of several, the one whose name has no other words is meant.
fn meant<'a>(context: &Context<'_>, entries: &'a [Entry], words: &[Token], is_named: bool) -> Option<&'a Entry> {
    let said: Vec<&str> = words.iter().map(|token| token.folded.trim_end_matches("'s")).collect();
    let (last, others) = said.split_last()?;
    let is_plain = |token: &Token| matches!(token.class, Class::Word | Class::Number(_));
    // A single word that nothing marks as a name may be anything, and a single letter is an article.
    let is_letter = |word: &&str| word.chars().count() == 1 && word.chars().all(char::is_alphabetic);
    if said.iter().any(is_letter) || !words.iter().all(is_plain) || (others.is_empty() && !is_named) {
        return None;
    }
    let nouns = NOUNS.iter().find(|(nouns, _)| nouns.split(' ').any(|noun| noun == *last));
    let fits = |entry: &&Entry| {
        let (name, ending) = name_of(entry);
        let has = |word: &&str| name.iter().any(|known| known == word);
        let is_kind = || match nouns {
            Some((_, "/")) => entry.kind == EntryKind::Folder,
            Some((_, "")) => entry.kind == EntryKind::File,
            Some((_, endings)) => entry.kind == EntryKind::File && endings.split(' ').any(|known| known == ending),
            None => false,
        };
        let above = folders_above(context, entry);
        let is_above = |word: &&str| above.iter().any(|known| known == word);
        said.iter().any(&has)
            && others.iter().all(|word| has(word) || is_above(word))
            && (has(last) || (others.iter().any(has) && is_kind()))
    };
    let found: Vec<&Entry> = entries.iter().filter(fits).collect();
    let is_whole = |entry: &&&Entry| name_of(entry).0.iter().all(|word| said.contains(&word.as_str()));
    let mut whole = found.iter().filter(is_whole);
    match (found.as_slice(), whole.next(), whole.next()) {
        ([only], ..) | (_, Some(only), None) => Some(only),
        _ => None,
    }
}

/// The words of the names of the folders above an entry, up to the current folder, in lower case.
fn folders_above(context: &Context<'_>, entry: &Entry) -> Vec<String> {
    let folder = entry.path.parent().and_then(|folder| folder.strip_prefix(&context.environment.cwd).ok());
    let path = folder.map(|folder| folder.to_string_lossy().to_lowercase()).unwrap_or_default();
    path.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// The words of an entry's name, and its ending; a hidden entry has no words.
fn name_of(entry: &Entry) -> (Vec<String>, String) {
    let name = String::from_utf8_lossy(entry.name_bytes()).to_lowercase();
    let (stem, ending) = match name.rsplit_once('.') {
        Some((stem, ending)) if entry.kind != EntryKind::Folder => (stem.to_owned(), ending.to_owned()),
        _ => (name.clone(), String::new()),
    };
    let words = stem.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    (if name.starts_with('.') { Vec::new() } else { words.map(str::to_owned).collect() }, ending)
}
