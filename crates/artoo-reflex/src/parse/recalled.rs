//! Finds files that a person remembers by words of their names and texts: "where did I put that pancake recipe".

use super::build::Built;
use super::clauses::phrase;
use super::described::{is_same, kind_of, words_of};
use super::item::Context;
use super::lexical::acts_at_a_start;
use super::located::entries;
use crate::algebra::{Depth, Kind, NameTest, Pred, Query, Step};
use crate::eval::text::file_holds;
use crate::eval::{Answer, Entry, EntryKind, evaluate};
use crate::lex::{Class, Token};

/// Maximum number of words that describe the file.
const MAX_WORDS: usize = 4;

/// Maximum number of files in the answer.
const MAX_FOUND: usize = 6;

/// Maximum number of bytes of a file, and of all files, whose text is read only to understand a request.
const MAX_BYTES: [u64; 2] = [1 << 20, 16 << 20];

/// Words of such a request that don't describe the file.
const FILLERS: &str = "where where's i we find remember recall do know forgot lost misplaced i've did does have has had could can might \
    would should will you it is are was were be been am i'm i'd that's it's what which who how me my our your the a \
    an that this these those one some any something called named titled file files document documents thing stuff \
    folder put puts save saved store stored keep kept leave left place placed wrote write written made make create \
    created download downloaded got get go went gone end up ended look looked looking search searching searched \
    found locate located see show tell need want help please thanks hey hi hello again somewhere anywhere once for \
    to of in on at with about from by there here ago back then down now into computer machine laptop home belong \
    belongs sit sits hide hiding lying mine";

/// The start of the assumption that lists the words.
const NOTE: &str = "looked for by the words";

/// Whether a reading was found by remembered words.
pub(super) fn is_recalled(built: &[Built]) -> bool {
    built.iter().any(|built| built.assumptions.iter().any(|note| note.starts_with(NOTE)))
}

/// The question for the files that all remembered words of a request describe; `None` if it asks for no place, if it
/// restricts what it asks for in other ways, or if no file or too many have all of the words.
pub(super) fn recalled(context: &Context<'_>, tokens: &[Token]) -> Option<Vec<Built>> {
    let asks = (0..tokens.len()).any(|at| phrase("recalls", tokens, at).is_some());
    if !asks || acts_at_a_start(tokens) {
        return None;
    }
    let words = remembered(context, tokens).filter(|words| !words.is_empty() && words.len() <= MAX_WORDS)?;
    let files: Vec<Entry> = entries(context)?
        .into_iter()
        .filter(|entry| entry.kind == EntryKind::File && !entry.name_bytes().starts_with(b"."))
        .collect();
    let mut bytes_left = MAX_BYTES[1];
    let preds = files.iter().find_map(|file| described_by(context, file, &words, &mut bytes_left))?;
    let tree = Query::Tree {
        roots: vec![context.environment.cwd.clone()],
        depth: Depth::Whole,
        hidden: false,
        kind: Kind::File,
    };
    let query = Query::Filter { of: Box::new(tree), keep: Pred::All(preds) }.normalise();
    let Ok(Answer::Files(found)) = evaluate(&query, context.fs) else { return None };
    let said: Vec<&str> = words.iter().map(|(word, _)| word.as_str()).collect();
    let note = format!("{NOTE} {} in names and texts", said.join(", "));
    let built =
        Built { step: Step::Ask(query), assumptions: vec![note], scope: None, refers_back: false, names_only: false };
    (1..=MAX_FOUND).contains(&found.len()).then(|| vec![built])
}

/// The words by which a request describes a file, each with whether it directly follows the previous one; `None` if the
/// request names a file, restricts the files in another way or joins another request.
fn remembered(context: &Context<'_>, tokens: &[Token]) -> Option<Vec<(String, bool)>> {
    let (mut words, mut at, mut last) = (Vec::new(), 0, None);
    while let Some(token) = tokens.get(at) {
        // "in Documents" is the folder.
        let is_place = context.resolve(&token.raw).is_some_and(|place| context.is_folder(&place.path));
        let is_filler = FILLERS.split(' ').any(|word| word == token.folded);
        let asked = phrase("recalls", tokens, at).or(is_filler.then_some(at + 1));
        if let Some(end) = asked.filter(|_| !is_place) {
            at = end;
            continue;
        }
        let limits = ["restricts", "negations", "conditions", "exceptions", "moods"];
        if limits.into_iter().any(|list| phrase(list, tokens, at).is_some()) {
            return None;
        }
        match token.class {
            Class::Comma | Class::Stop => {}
            Class::Symbol if ["-", "–", "—", ":"].contains(&token.raw.as_str()) => {}
            // What comes after it may be another request.
            Class::Word if token.folded == "and" => return None,
            Class::Word if token.folded.chars().count() > 2 => {
                words.push((token.folded.clone(), last == Some(at)));
                last = Some(at + 1);
            }
            _ => return None,
        }
        at += 1;
    }
    Some(words)
}

/// The conditions by which these words describe a file: a word of its name or kind, of a folder above it, or in its
/// text; `None` if one of them is none of these, or if all are kinds.
fn described_by(
    context: &Context<'_>,
    file: &Entry,
    words: &[(String, bool)],
    bytes_left: &mut u64,
) -> Option<Vec<Pred>> {
    let name = String::from_utf8_lossy(file.name_bytes()).to_lowercase();
    let parts = words_of(&name);
    let mut preds: Vec<Pred> = Vec::new();
    let mut texts: Vec<String> = Vec::new();
    for (at, (word, follows)) in words.iter().enumerate() {
        let previous = at.checked_sub(1).and_then(|at| words.get(at));
        if let Some(part) = parts.iter().find(|part| is_same(part, word)) {
            preds.push(Pred::NameIgnoringCase(NameTest::Has(part.clone())));
        } else if let Some(folder) = above(context, file, word) {
            preds.push(Pred::Below(NameTest::Has(folder)));
        } else if let Some(endings) =
            kind_of(word).filter(|endings| endings.iter().any(|end| parts.last() == Some(end)))
        {
            preds.push(Pred::Any(endings.into_iter().map(Pred::Extension).collect()));
        } else if let Some(text) =
            texts.last_mut().filter(|text| *follows && previous.is_some_and(|(word, _)| text.ends_with(word)))
        {
            *text = format!("{text} {word}");
        } else {
            texts.push(word.clone());
        }
    }
    let is_of_name = |pred: &Pred| matches!(pred, Pred::NameIgnoringCase(_) | Pred::Below(_));
    if texts.is_empty() && !preds.iter().any(is_of_name) {
        return None;
    }
    for text in texts {
        *bytes_left = bytes_left.checked_sub(file.bytes)?;
        let holds = || file_holds(&file.path, text.as_bytes(), true, context.fs) == Some(true);
        if file.bytes > MAX_BYTES[0] || !holds() {
            return None;
        }
        preds.push(Pred::Contains { text, ignore_case: true });
    }
    Some(preds)
}

/// The word that occurs in the name of a folder above a file, spelled as there; `None` if it occurs in none.
fn above(context: &Context<'_>, file: &Entry, word: &str) -> Option<String> {
    let folders = file.path.parent()?.strip_prefix(&context.environment.cwd).ok()?;
    words_of(&folders.to_string_lossy()).into_iter().find(|part| is_same(&part.to_lowercase(), word))
}
