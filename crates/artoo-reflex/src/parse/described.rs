//! Files and folders that a request describes by words of their names: "the meeting notes" is `meeting notes.txt`.

use std::ops::Range;
use std::path::Path;

use artoo_proto::escape;

use super::clauses::{after_lead, phrase};
use super::item::Context;
use super::located::{COPIES, entries, typed};
use super::pattern::is_word;
use crate::concept::Concept;
use crate::eval::text::file_holds;
use crate::eval::{Entry, EntryKind};
use crate::lex::{Class, Token, lex};
use crate::lexicon::{Meaning, lexicon};

/// Maximum number of words that describe one entry, without the article before them.
const MAX_WORDS: usize = 4;

/// Maximum number of descriptions of a request that are tried; each is parsed in full.
const MAX_TRIED: usize = 6;

/// Words inside a description that say nothing of a name: "the letter I wrote to the landlord".
const FILLERS: [&str; 11] = ["i", "wrote", "to", "the", "my", "for", "from", "in", "of", "about", "with"];

/// Nouns that name no particular file or folder when they stand alone, as in "the folder".
const GENERAL: [&str; 14] = [
    "file",
    "document",
    "folder",
    "directory",
    "number",
    "name",
    "size",
    "date",
    "time",
    "total",
    "result",
    "answer",
    "text",
    "line",
];

/// What a noun after the words of a name says of the entry.
const NOUNS: [(&str, &str); 10] = [
    ("file files document text thing one", ""),
    ("folder directory project", "/"),
    ("repo repository", "/"),
    ("log logfile", "log txt out"),
    ("script program", "sh py pl rb js"),
    ("list notes note", "txt md"),
    ("recipe letter essay poem paper article story report", "txt md tex pdf doc docx odt"),
    ("picture photo image pic screenshot", "jpg jpeg png gif webp"),
    ("song track", "mp3 flac ogg wav"),
    ("table spreadsheet sheet data", "csv tsv xlsx json"),
];

/// The bytes of a request that describe the only entry they can mean, each with how the entry is written in a request;
/// the longest first.
pub(super) fn described(context: &Context<'_>, tokens: &[Token]) -> Vec<(Range<usize>, String)> {
    // "empty the tmp folder" asks for a change, unlike "empty files".
    let is_change = phrase("empties", tokens, after_lead(tokens, 0)).is_some();
    let Some(entries) = entries(context).filter(|_| !is_change) else { return Vec::new() };
    let named: Vec<Named> = entries.into_iter().map(|entry| Named::of(context, entry)).collect();
    let mut found: Vec<(Range<usize>, String)> = both(context, &named, tokens);
    let several = sets(context, &named, tokens);
    for length in (1..=MAX_WORDS * 2).rev() {
        for (at, words) in tokens.windows(length).enumerate() {
            let before = at.checked_sub(1).and_then(|at| tokens.get(at));
            let is_named =
                before.is_some_and(|token| ["the", "my", "our"].iter().any(|word| is_word(Some(token), word)));
            // "in Letters" is the only folder of this name, wherever it is.
            let is_in = |token: &Token| ["in", "inside", "within", "under"].contains(&token.folded.as_str());
            let is_place =
                before.is_some_and(is_in) && words.iter().all(|token| token.raw.starts_with(char::is_uppercase));
            // "one of my letters" is no file called so.
            let is_many = |pair: &[Token]| {
                ["one", "any", "some", "each", "none", "all"].iter().any(|word| is_word(pair.first(), word))
                    && is_word(pair.last(), "of")
            };
            let is_one_of =
                tokens.get(at.saturating_sub(3)..at + length).is_some_and(|run| run.windows(2).any(is_many));
            let Some(entry) = meant(context, &named, words, is_named || is_place) else { continue };
            if is_one_of && entry.kind != EntryKind::Folder {
                continue;
            }
            let is_here = entry.path.parent() == Some(Path::new(&context.environment.cwd));
            if is_place && (entry.kind != EntryKind::Folder || is_here) {
                continue;
            }
            let (Some(first), Some(last)) = (before.filter(|_| is_named).or(words.first()), words.last()) else {
                continue;
            };
            let Some(path) = entry.path.to_str().filter(|path| is_safe(path)) else { continue };
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
                // "the Letters folder" is the folder itself.
                if !is_word(Some(last), "folder") && !is_word(Some(last), "directory") {
                    found.push((span, format!("the files in the folder \"{path}\"")));
                }
            } else {
                found.push((span, format!("the file \"{path}\"")));
            }
        }
    }
    found.truncate(MAX_TRIED.saturating_sub(several.len()));
    found.into_iter().chain(several).take(MAX_TRIED).collect()
}

/// The bytes of a request that mean all files with some words in their names, as "the old exams" or "the newest
/// lecture", and how these files are written in a request.
fn sets(context: &Context<'_>, named: &[Named], tokens: &[Token]) -> Vec<(Range<usize>, String)> {
    let mut found = Vec::new();
    // "how many orders" may ask for what is in the files.
    let counts = tokens.iter().any(|token| ["many", "much", "number", "count", "total"].contains(&&*token.folded));
    for length in (1..=MAX_WORDS).rev() {
        for (at, words) in tokens.windows(length).enumerate() {
            let before = at.checked_sub(1).and_then(|at| tokens.get(at));
            let follows =
                |list: &str| before.is_some_and(|token| phrase(list, std::slice::from_ref(token), 0).is_some());
            let (Some(first), Some(last)) = (words.first(), words.last()) else { continue };
            // "in Thesis" is the folder.
            let is_folder = |named: &Named| {
                named.entry.kind == EntryKind::Folder
                    && length == 1
                    && words.first().is_some_and(|word| named.words == [word.folded.clone()])
            };
            if named.iter().any(is_folder) {
                continue;
            }
            let is_one = follows("of one") && !last.folded.ends_with('s');
            // "notes" and "pictures" are more files than those called so.
            let is_general = length == 1
                && NOUNS.iter().flat_map(|(nouns, _)| nouns.split(' ')).any(|noun| is_same(noun, &last.folded));
            if is_general || !words.iter().all(is_strange) || !(is_one || last.folded.ends_with('s')) {
                continue;
            }
            let year = year_after(tokens, at + length);
            if counts && year.is_none() {
                continue;
            }
            let Some(files) = files_with(context, named, words, year) else { continue };
            let start = before.filter(|_| follows("those")).unwrap_or(first);
            let end = year.unwrap_or(last).span.end;
            found.push((start.span.start..end, format!("file{} {files}", if is_one { "" } else { "s" })));
        }
    }
    found
}

/// The year that files are told to be from by the words at a position, as "of the tax year 2023" or "are there for 2024".
fn year_after(tokens: &[Token], at: usize) -> Option<&Token> {
    let end = phrase("of a year", tokens, at)?;
    let is_year = |token: &&Token| token.raw.len() == 4 && token.raw.chars().all(|c| c.is_ascii_digit());
    tokens.get(end).filter(is_year)
}

/// Whether a word is none that the lexicon knows as a kind of file or another noun for what is listed, and no marker such
/// as "errors", which lines have.
fn is_strange(token: &Token) -> bool {
    let is_noun = |meaning: &Meaning| {
        matches!(meaning, Meaning::FileType { .. } | Meaning::Concept(Concept::Noun { .. } | Concept::Lines { .. }))
    };
    token.class == Class::Word
        && token.folded.len() > 2
        && !lexicon().meanings(&token.folded).iter().any(is_noun)
        && !FILLERS.contains(&token.folded.as_str())
        && phrase("markers", std::slice::from_ref(token), 0).is_none()
}

/// The files whose names have all these words, as a condition on names and the folder that they all lie in; with a year,
/// only files below a folder that has the year in its name. `None` if they are fewer than two, or the names have no text
/// in common that no other file there has.
fn files_with(context: &Context<'_>, named: &[Named], words: &[Token], year: Option<&Token>) -> Option<String> {
    // In "Genetics lectures" the first word is a folder above.
    let above = |word: &&Token| {
        named.iter().any(|named| named.entry.kind == EntryKind::Folder && named.words == [word.folded.clone()])
    };
    let folders = words.iter().take_while(above).count().min(words.len() - 1);
    let (folders, words) = words.split_at_checked(folders)?;
    let has = |named: &&Named| {
        let knows = |word: &Token| named.words.iter().any(|known| is_same(known, &word.folded));
        let is_in = |word: &Token| named.above.contains(&word.folded);
        let is_of_year = year.is_none_or(|year| named.above.contains(&year.folded));
        named.entry.kind == EntryKind::File && is_of_year && folders.iter().all(is_in) && words.iter().all(knows)
    };
    let files: Vec<&Named> = named.iter().filter(has).collect();
    let name = |named: &Named| String::from_utf8_lossy(named.entry.name_bytes()).into_owned();
    let (first, rest) = files.split_first().filter(|(_, rest)| !rest.is_empty())?;
    let said = words.iter().map(|token| token.folded.as_str()).collect::<Vec<_>>().join(" ");
    let folded = name(first).to_lowercase().replace(['_', '-', '.'], " ");
    let text = [Some(said.as_str()), said.strip_suffix('s')].into_iter().flatten().find_map(|said| {
        let at = folded.find(said)?;
        name(first).get(at..at + said.len()).map(str::to_owned)
    })?;
    let mut folder = first.entry.path.parent()?;
    while !rest.iter().all(|other| other.entry.path.starts_with(folder)) {
        folder = folder.parent()?;
    }
    let is_meant = |other: &&Named| {
        other.entry.kind == EntryKind::File && other.entry.path.starts_with(folder) && name(other).contains(&text)
    };
    let path = folder.to_str().filter(|path| is_safe(path) && is_safe(&text))?;
    let place = if path == context.environment.cwd {
        "here".to_owned()
    } else {
        format!("in the folder \"{}\"", typed(context, path))
    };
    (named.iter().filter(is_meant).count() == files.len()).then(|| format!("{place} with \"{text}\" in the name"))
}

/// The bytes of a request that mean two files by a word of both names, as "both contracts", and the paths of the two.
fn both(context: &Context<'_>, named: &[Named], tokens: &[Token]) -> Vec<(Range<usize>, String)> {
    let mut found = Vec::new();
    for (at, first) in tokens.iter().enumerate() {
        let Some(start) = phrase("both", tokens, at) else { continue };
        let Some((words, last)) = tokens.get(start).map(|word| {
            let is_noun = |token: &&Token| ["files", "documents"].contains(&token.folded.as_str());
            (word, tokens.get(start + 1).filter(is_noun).unwrap_or(word))
        }) else {
            continue;
        };
        let fits = |named: &&Named| {
            named.entry.kind == EntryKind::File
                && !named.is_copy()
                && named.words.iter().any(|known| is_same(known, &words.folded))
        };
        let paths = named.iter().filter(fits).map(|named| named.entry.path.to_str().filter(|path| is_safe(path)));
        if let Some([one, two]) = paths.collect::<Option<Vec<_>>>().as_deref() {
            let path = |path: &str| format!("\"{}\"", typed(context, path));
            found.push((first.span.start..last.span.end, format!("{} and {}", path(one), path(two))));
        }
    }
    found
}

/// Whether a path can stand in a request in quotes: a quote in a name would end the name and make a request of the rest.
pub(super) fn is_safe(path: &str) -> bool {
    escape::one_line(path) == path && !path.contains('"')
}

/// The only entry that words can mean: one is a word of its name and each other one too, or of a folder above it, but
/// the last may say what kind of thing it is. Of several, the one whose name has no other words is meant. If no entry
/// has the words, those before the last may be in the text of the file: "the pancake recipe" is recipe.txt.
fn meant<'a>(context: &Context<'_>, entries: &'a [Named], words: &[Token], is_named: bool) -> Option<&'a Entry> {
    let is_filler = |token: &&Token| FILLERS.contains(&token.folded.as_str());
    if !is_named && words.first().is_some_and(|token| is_filler(&token))
        || words.last().is_some_and(|token| is_filler(&token))
    {
        return None;
    }
    // "the config file in data" is data/config.json.
    let is_noun_inside = |at: usize| {
        (1..words.len() - 1).contains(&at)
            && words.get(at).is_some_and(|token| ["file", "document"].contains(&token.folded.as_str()))
    };
    let content = words.iter().enumerate().filter(|(at, token)| !is_filler(token) && !is_noun_inside(*at));
    let content = content.map(|(_, token)| token);
    // "img_2007" is two words of a name.
    let mut said: Vec<&str> = content.flat_map(|token| token.folded.trim_end_matches("'s").split('_')).collect();
    let is_noun = |word: &str| NOUNS.iter().any(|(nouns, _)| nouns.split(' ').any(|noun| noun == word));
    // "the recipe for lentil soup".
    let is_joint = |token: &Token| ["for", "about", "of", "from", "to"].contains(&token.folded.as_str());
    if words.get(1).is_some_and(is_joint) && said.first().is_some_and(|word| is_noun(word)) {
        said.rotate_left(1);
    }
    let (last, others) = said.split_last().filter(|_| said.len() <= MAX_WORDS)?;
    // "the site's README.md".
    let file = words.last().filter(|token| token.class == Class::FileName && others.len() == 1 && words.len() == 2);
    let is_file = |token: &Token| file.is_some_and(|file| std::ptr::eq(file, token));
    let is_plain = |token: &Token| matches!(token.class, Class::Word | Class::Number(_)) || is_file(token);
    // A single word that nothing marks as a name may be anything, and a single letter is an article; "the folder" is none
    // in particular, and "the number" no file of numbers.
    let is_general = others.is_empty() && GENERAL.contains(last);
    // "the copy in backup" is a copy of what is spoken of.
    let is_copy = said.first().is_some_and(|first| ["copy", "version"].contains(first));
    let is_letter = |word: &&str| word.chars().count() == 1 && word.chars().all(char::is_alphabetic);
    if is_general
        || is_copy
        || said.iter().any(is_letter)
        || phrase("made", words, 0).is_some_and(|end| end == words.len() || is_word(words.get(end), "of"))
        || !words.iter().all(is_plain)
        || (others.is_empty() && !is_named)
    {
        return None;
    }
    let mut held = words.iter().rev().skip(1).skip_while(|token| ["my", "the", "our"].contains(&token.folded.as_str()));
    let is_held = held.next().is_some_and(|token| token.folded == "in");
    let nouns = NOUNS.iter().find(|(nouns, _)| nouns.split(' ').any(|noun| noun == *last));
    let fits = |named: &&Named| {
        // "the news" is no "new page".
        let is_short = others.is_empty() && (named.words.len() > 1 || named.entry.kind == EntryKind::Folder);
        let is_name =
            |word: &&str| file.is_some() && String::from_utf8_lossy(named.entry.name_bytes()).to_lowercase() == **word;
        let has = |word: &&str| {
            is_name(word) || named.words.iter().any(|known| known == word || !is_short && is_same(known, word))
        };
        let is_above = |word: &&str| named.above.iter().any(|known| is_same(known, word));
        let is_file = named.entry.kind == EntryKind::File;
        let is_kind = || match nouns {
            // "phone numbers in my notes" are in the notes.
            _ if is_held => false,
            Some((_, "/")) => named.entry.kind == EntryKind::Folder,
            Some((_, "")) => is_file,
            Some((_, endings)) => is_file && endings.split(' ').any(|known| known == named.ending),
            None => is_file && *last == named.ending,
        };
        // "old files" are none in particular.
        said.iter().any(|word| has(word) && phrase("vague", &lex(word), 0).is_none())
            && others.iter().all(|word| has(word) || is_above(word))
            && (has(last) || (others.iter().any(has) && (is_kind() || is_file && is_above(last))))
    };
    let mut found: Vec<&Named> = entries.iter().filter(fits).collect();
    if found.is_empty() && is_named && !others.is_empty() {
        found = with_text(context, entries, others, last);
    }
    // A copy is not the one meant.
    if found.len() > 1 && found.iter().any(|named| !named.is_copy()) {
        found.retain(|named| !named.is_copy());
    }
    let is_whole = |named: &&&Named| named.words.iter().all(|word| said.iter().any(|said| is_same(word, said)));
    let mut whole = found.iter().filter(is_whole);
    match (found.as_slice(), whole.next(), whole.next()) {
        ([only], ..) | (_, Some(only), None) => Some(&only.entry),
        _ => None,
    }
}

/// The files called `name`, apart from the ending, whose text contains all other words of a description, in any letter
/// case.
fn with_text<'a>(context: &Context<'_>, entries: &'a [Named], others: &[&str], name: &str) -> Vec<&'a Named> {
    let fits = |named: &&Named| {
        let holds = |word: &&str| file_holds(&named.entry.path, word.as_bytes(), true, context.fs) == Some(true);
        let is_name = named.entry.kind == EntryKind::File && named.words.iter().all(|word| is_same(word, name));
        is_name && !named.words.is_empty() && others.iter().all(|word| word.len() > 3 && holds(word))
    };
    entries.iter().filter(fits).collect()
}

/// The endings of the files that a noun such as "spreadsheet" or "pdf" means.
pub(super) fn kind_of(word: &str) -> Option<Vec<String>> {
    let table = NOUNS.iter().find(|(nouns, _)| nouns.split(' ').any(|noun| is_same(noun, word)));
    let ends = table.map(|(_, endings)| endings.split(' ').map(str::to_owned).collect());
    let of_type = |meaning: &Meaning| match meaning {
        Meaning::FileType { index, .. } => lexicon().types.get(*index).map(|kind| kind.extensions.clone()),
        Meaning::Concept(_) => None,
    };
    ends.or_else(|| lexicon().meanings(word).iter().find_map(of_type))
}

/// Whether two words are the same, one of them perhaps in the plural.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    // "notes" are no plural of "not".
    let hisses = |one: &str| ["s", "x", "z", "ch", "sh", "o"].iter().any(|end| one.ends_with(end));
    let plural =
        |one: &str, other: &str| other.strip_prefix(one).is_some_and(|end| end == "s" || end == "es" && hisses(one));
    one == other || one.len() > 2 && other.len() > 2 && (plural(one, other) || plural(other, one))
}

/// An entry with the words by which a request can describe it, in lower case.
struct Named {
    entry: Entry,
    /// The words of its name; none of a hidden entry.
    words: Vec<String>,
    /// The ending of its name; empty for a folder.
    ending: String,
    /// The words of the names of the folders above it, up to the current folder.
    above: Vec<String>,
}

impl Named {
    fn of(context: &Context<'_>, entry: Entry) -> Self {
        let name = String::from_utf8_lossy(entry.name_bytes()).to_lowercase();
        let (stem, ending) = match name.rsplit_once('.') {
            Some((stem, ending)) if entry.kind != EntryKind::Folder => (stem, ending),
            _ => (name.as_str(), ""),
        };
        let folder = entry.path.parent().and_then(|folder| folder.strip_prefix(&context.environment.cwd).ok());
        let above = words_of(&folder.map(|folder| folder.to_string_lossy().to_lowercase()).unwrap_or_default());
        let words = if name.starts_with('.') { Vec::new() } else { words_of(stem) };
        Self { words, ending: ending.to_owned(), above, entry }
    }

    /// Whether the entry lies in a folder of copies, to go by the folder's name.
    fn is_copy(&self) -> bool {
        self.above.iter().any(|above| COPIES.contains(&above.as_str()))
    }
}

/// The runs of letters and digits in a name or path.
pub(super) fn words_of(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}
