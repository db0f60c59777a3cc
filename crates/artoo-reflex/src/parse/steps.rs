//! Splits a request into steps, and parses the steps one after the other.

#[cfg(test)]
mod tests;
mod unclear;

use unclear::{is_cut, is_unclear, misses_folder, placed, takes_contents};

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::antecedent::Antecedent;
use super::background::states;
use super::build::{BuildError, Built, build};
use super::chart::Chart;
use super::clauses::{after_lead, asks_whether, phrase};
use super::draft::{Draft, only};
use super::item::{Context, Item};
use super::pattern::is_word;
use super::{forms, refuse};
use crate::algebra::{Act, Function, NameChange, NameTest, Pred, Query, Step, Target, Ty};
use crate::concept::{ActWord, Concept, Reference, Verb};
use crate::eval::{Answer, evaluate};
use crate::lex::{Class, Token};
use crate::lexicon::{Meaning, TypeForm, lexicon};
use crate::place::{file_name, is_archive, parent};

/// Maximum number of steps of a request.
#[doc(alias = "limit")]
const MAX_STEPS: usize = 5;

/// Maximum number of tokens between two steps (", and after that").
const MOST_WORDS_BETWEEN: usize = 4;

/// Positions in a request where one step can end and the next begin.
pub(super) struct StepBoundaries {
    /// The number of tokens of the request.
    width: usize,
    /// The token ranges that separate two steps, such as that of "then".
    pub(super) between: Vec<(usize, usize)>,
    /// The token positions where a step can end.
    pub(super) ends: Vec<usize>,
}

impl StepBoundaries {
    /// The step boundaries in the tokens of a request, such as at "then" and full stops.
    pub(super) fn of(tokens: &[Token]) -> Self {
        let mut between = Vec::new();
        for start in 1..tokens.len() {
            for end in start + 1..=tokens.len().min(start + MOST_WORDS_BETWEEN) {
                if is_between(tokens, start, end) {
                    between.push((start, end));
                }
            }
        }
        Self::new(tokens.len(), between)
    }

    /// Also boundaries that leave parts of a request unread: after a comma or "and" before a verb, known or not, or a
    /// statement, and before words such as "because"; none if the request corrects itself, as with "I mean".
    pub(super) fn wide(tokens: &[Token]) -> Self {
        // What is said after "I mean" changes what is said before.
        if (0..tokens.len()).any(|at| phrase("corrections", tokens, at).is_some()) {
            return Self::new(tokens.len(), Vec::new());
        }
        let mut between = Self::of(tokens).between;
        for at in 1..tokens.len() {
            let joints = tokens.iter().skip(at).take_while(|token| joins(token)).count();
            let next = at + joints;
            if joints > 0 && (begins_anew(tokens, next) || states(tokens, next)) {
                between.push((at, next));
            }
            // "Ada has moved, so change her address".
            if joints > 0 && is_word(tokens.get(next), "so") && begins_a_step(tokens, next + 1) {
                between.push((at, next + 1));
            }
            if ["apart", "purposes", "because"].iter().any(|list| phrase(list, tokens, at).is_some()) {
                between.push((at, at));
            }
        }
        between.sort_unstable();
        between.dedup();
        Self::new(tokens.len(), between)
    }

    /// Boundaries from the number of tokens and the token ranges between steps; a step can also end at the last token.
    fn new(width: usize, between: Vec<(usize, usize)>) -> Self {
        let mut ends: Vec<usize> = between.iter().map(|(start, _)| *start).collect();
        ends.push(width);
        Self { width, between, ends }
    }
}

/// Whether a token range separates two steps: "then", ";", a full stop, or "and" before a verb or question.
fn is_between(tokens: &[Token], start: usize, end: usize) -> bool {
    let Some(run) = tokens.get(start..end) else { return false };
    let means = |words: &[Token], concept: Concept| {
        let words: Vec<&str> = words.iter().map(|token| token.folded.as_str()).collect();
        lexicon().meanings(&words.join(" ")).contains(&Meaning::Concept(concept))
    };
    let is_mark = |token: &Token| matches!(token.class, Class::Step | Class::Stop);
    let marks = run.iter().take_while(|token| is_mark(token) || token.class == Class::Comma).count();
    let has_mark = run.iter().any(is_mark);
    match run.get(marks..) {
        Some([]) => has_mark && end < tokens.len(),
        Some(words) if words.iter().all(|token| token.class == Class::Word) => {
            let joins = means(words, Concept::And) && (has_mark || begins_a_step(tokens, end));
            joins || means(words, Concept::Then)
        }
        _ => false,
    }
}

/// Whether a token only joins two clauses: a comma, "and", "then" or "also".
pub(super) fn joins(token: &Token) -> bool {
    token.class == Class::Comma
        || (token.class == Class::Word && matches!(token.folded.as_str(), "and" | "then" | "also"))
}

/// Whether a clause starts at a position, after a comma or "and": with a verb, known to the grammar or not.
pub(super) fn begins_anew(tokens: &[Token], at: usize) -> bool {
    if !tokens.get(at.saturating_sub(1)).is_some_and(joins) {
        return false;
    }
    phrase("verbs", tokens, at).is_some() || begins_a_step(tokens, at) || begins_unknown(tokens, at)
}

/// Whether an unknown word at a position stands where a verb would, before an object.
pub(super) fn begins_unknown(tokens: &[Token], at: usize) -> bool {
    let is_unknown = |token: &Token| token.class == Class::Word && !lexicon().knows(&token.folded);
    phrase("objects", tokens, at + 1).is_some() && tokens.get(at).is_some_and(is_unknown)
}

/// Whether a verb or a question starts at a position, perhaps after function words.
pub(super) fn begins_a_step(tokens: &[Token], at: usize) -> bool {
    let mut at = at;
    while let Some(token) = tokens.get(at) {
        let mut skips = false;
        for end in (at + 1..=tokens.len().min(at + lexicon().longest)).rev() {
            let words: Vec<&str> = tokens.get(at..end).unwrap_or_default().iter().map(|t| t.folded.as_str()).collect();
            for meaning in lexicon().meanings(&words.join(" ")) {
                let Meaning::Concept(concept) = meaning else { continue };
                match concept {
                    Concept::Verb(_)
                    | Concept::Do(_)
                    | Concept::Act
                    | Concept::Count
                    | Concept::Size
                    | Concept::TotalSize
                    | Concept::Ask(_)
                    | Concept::Field(_)
                    | Concept::ListFolder
                    | Concept::Fact(_)
                    | Concept::WhenWas => return true,
                    Concept::Skip => skips = true,
                    _ => {}
                }
            }
        }
        if !skips || token.class != Class::Word {
            return false;
        }
        at += 1;
    }
    false
}

/// The different readings of a request in the smallest number of steps; none if it can't be read.
pub(super) fn readings(
    context: &Context<'_>,
    chart: &Chart,
    boundaries: &StepBoundaries,
    before: Option<&Antecedent>,
    errors: &mut Vec<BuildError>,
) -> Vec<Vec<Built>> {
    for boundary_count in 0..MAX_STEPS.min(boundaries.between.len() + 1) {
        let mut found: Vec<Vec<Built>> = Vec::new();
        for sequence in explore(context, chart, boundaries, (0, boundary_count), before, errors) {
            add(&mut found, without_names(sequence));
        }
        if !found.is_empty() {
            return found;
        }
    }
    Vec::new()
}

/// Adds a reading to a list; of two with the same steps, the one with fewer assumptions stays.
fn add(found: &mut Vec<Vec<Built>>, reading: Vec<Built>) {
    let notes = |reading: &[Built]| reading.iter().map(|built| built.assumptions.len()).sum::<usize>();
    match found
        .iter_mut()
        .find(|known| known.iter().map(|built| &built.step).eq(reading.iter().map(|built| &built.step)))
    {
        Some(known) if notes(known) > notes(&reading) => *known = reading,
        Some(_) => {}
        None => found.push(reading),
    }
}

/// The readings of the tokens from a position on, split into steps at this number of boundaries.
fn explore(
    context: &Context<'_>,
    chart: &Chart,
    boundaries: &StepBoundaries,
    (start, boundaries_left): (usize, usize),
    before: Option<&Antecedent>,
    errors: &mut Vec<BuildError>,
) -> Vec<Vec<Built>> {
    if boundaries_left == 0 {
        return read_range(context, chart, (start, boundaries.width), before, errors);
    }
    let mut found = Vec::new();
    for (end, next) in boundaries.between.iter().filter(|(end, _)| *end > start) {
        for first in read_range(context, chart, (start, *end), before, errors) {
            let Some(last) = first.last() else { continue };
            let said = chart.tokens.get(start..*end).unwrap_or_default();
            let spoken_of = Antecedent::of_step(&last.step, said);
            for rest in explore(context, chart, boundaries, (*next, boundaries_left - 1), Some(&spoken_of), errors) {
                found.push([first.clone(), rest].concat());
            }
        }
    }
    found
}

/// The readings of one token range as a single step, or as the steps that "again" repeats.
pub(super) fn read_range(
    context: &Context<'_>,
    chart: &Chart,
    (start, end): (usize, usize),
    before: Option<&Antecedent>,
    errors: &mut Vec<BuildError>,
) -> Vec<Vec<Built>> {
    let mut found: Vec<Vec<Built>> = Vec::new();
    let said = chart.tokens.get(start..end).unwrap_or_default();
    if (0..said.len()).any(|at| phrase("corrections", said, at).is_some()) {
        return found;
    }
    // "I don't need it any more" names no files.
    let is_every = |at| phrase("every", said, at).is_some() || is_word(said.get(at), "both");
    let is_each = |at| is_every(at) && phrase("not_every", said, at).is_none();
    let says_each = (0..said.len()).any(is_each);
    let says_if = said.iter().any(|token| is_word(Some(token), "if") || is_word(Some(token), "whether"));
    let says_every = said.iter().any(|token| is_word(Some(token), "each") || is_word(Some(token), "every"));
    let context = &Context { says_each, says_every, says_if, asks_whether: asks_whether(said), ..*context };
    let same_request = before.filter(|before| before.is_in_same_request());
    let asks = phrase("asks", said, after_lead(said, 0)).is_some();
    let items = if refuse::unknown_act(said).is_some() { &[] } else { chart.items(start, end) };
    let speaks_back = ["and", "only", "just"].map(|word| is_word(said.first(), word));
    let context = &Context { is_lost: context.is_lost || (before.is_none() && speaks_back != [false; 3]), ..*context };
    for item in items {
        let draft = match item {
            // "the third".
            Item::Ordinal(nth) if before.is_some() => {
                Draft { nth: Some(*nth), reference: Some(Reference::One), ..Draft::default() }
            }
            item => match item.as_draft(context) {
                Some(draft) => draft,
                None => continue,
            },
        };
        let draft = placed(context, chart, end, draft);
        // "again", "what about x", "and in x".
        let follows = before.filter(|before| !before.is_in_same_request());
        let names_place = draft.only_scope() || (speaks_back[0] && draft.only_object() && draft.object.len() == 1);
        let is_elsewhere = names_place && follows.is_some();
        // "and the jpgs".
        if let Some(steps) =
            follows.filter(|_| speaks_back[0] && draft.only_types()).and_then(|b| b.retyped(&draft.types))
        {
            found.push(steps.into_iter().map(repeated).collect());
            continue;
        }
        if is_elsewhere || (draft.reference == Some(Reference::Again) && only!(draft, reference, scope)) {
            match before.and_then(|before| before.repeated(draft.scope.first().or(draft.object.first()))) {
                Some(steps) => found.push(steps.into_iter().map(repeated).collect()),
                None => errors.push(BuildError::NothingBefore),
            }
            continue;
        }
        let is_narrower = speaks_back != [true, false, false] && speaks_back != [false; 3] && same_request.is_none();
        let names_no_place = draft.scope.is_empty() && draft.object.is_empty() && !draft.says_what_to_do();
        let draft = match draft {
            draft if is_narrower && names_no_place => Draft { reference: Some(Reference::Those), ..draft },
            draft => draft,
        };
        // "delete a.txt, then b.txt": the verb of the step before is left out.
        let continues = same_request.filter(|_| !asks && !draft.says_what_to_do());
        match build(context, before, draft) {
            Ok(built) if continues.is_some_and(|before| !before.is_listing_like(&built.step)) => {
                errors.push(BuildError::Leftover);
            }
            Ok(built) => add(&mut found, vec![built]),
            Err(error) => errors.push(error),
        }
    }
    let is_clear = |built: &Built| fits_words(context, said, &built.step) && !misses_folder(&chart.tokens, end, built);
    let fits = |built: &Vec<Built>| {
        takes_contents(said, built)
            && built.iter().all(|built| is_clear(built) && !is_forbidden(context, before, &built.step))
    };
    found.retain(fits);
    if found.is_empty() && chart.has_forms {
        found = forms::readings(context, chart, (start, end), before);
        found.retain(fits);
    }
    found
}

/// Whether the step before forbids a step, or another one of the same request contradicts it.
fn is_forbidden(context: &Context<'_>, before: Option<&Antecedent>, step: &Step) -> bool {
    let contradicts = |before: &Antecedent| before.is_in_same_request() && contradict(context, &before.last, step);
    before.is_some_and(|before| before.forbids(step) || contradicts(before))
}

/// Whether a step fits the words it was read from; not if it ignores some, cuts a name or text, or the words can mean
/// another step.
fn fits_words(context: &Context<'_>, said: &[Token], step: &Step) -> bool {
    let of = match step {
        Step::Do(act) => act.selection(),
        Step::Ask(of) => Some(of),
    };
    match step {
        step if is_unclear(context, said, step) => false,
        // "delete docs/a.txt and b.txt": the second one may be in docs.
        _ if of.is_some_and(|of| is_scattered(context, said, of)) => false,
        // "write hello in a new file a.txt" doesn't make an empty file.
        Step::Do(Act::CreateFile { path, text }) => {
            let is_name = |token: &Token| file_name(path) == Some(token.raw.as_str());
            let (named, rest) = said.split_at(said.iter().position(is_name).unwrap_or_default());
            let says_text = rest.iter().any(|token| ["containing", "saying", "reading"].contains(&&*token.folded));
            let is_left = text.is_empty() && (says_text || has(after_verb(named), "fillers"));
            !is_left && !is_cut(said, path) && !is_cut(said, text)
        }
        Step::Do(Act::CreateFolder { paths }) => !paths.iter().any(|path| is_cut(said, path)),
        Step::Do(Act::Rename { change: NameChange::To(name), .. }) => !is_cut(said, name),
        // "a copy of a.txt in docs named b.txt": the place may be that of the copy.
        Step::Do(
            Act::Copy { of: Query::Paths { paths, .. }, to: Target::As(to) }
            | Act::Move { of: Query::Paths { paths, .. }, to: Target::As(to) },
        ) => {
            let is_bare = |path: &String| said.iter().any(|token| file_name(path) == Some(token.raw.as_str()));
            // "put a.txt into b.zip" packs it.
            if is_archive(to) && !paths.iter().all(|path| is_archive(path)) {
                return false;
            }
            let named = said.iter().position(|token| file_name(to) == Some(token.raw.as_str())).unwrap_or_default();
            let (before, after) = said.split_at(named);
            // "put that as x in a.txt" moves no file.
            let is_in = |pair: &[Token]| match pair {
                [word, place] => {
                    let ends = |path: &String| file_name(path).is_some_and(|name| place.raw.ends_with(name));
                    ["in", "into", "inside"].iter().any(|within| is_word(Some(word), within)) && paths.iter().any(ends)
                }
                _ => false,
            };
            if said.windows(2).any(is_in) {
                return false;
            }
            let is_last = ["to", "as"].iter().any(|word| is_word(before.last(), word))
                && !after.iter().any(|token| is_word(Some(token), "in"));
            is_last || paths.iter().all(|path| parent(path) == parent(to)) || !paths.iter().chain([to]).all(is_bare)
        }
        Step::Do(Act::Save { of, to }) => {
            let says_one =
                said.iter().any(|token| ["line", "row", "entry"].iter().any(|word| is_word(Some(token), word)));
            let count = |of: &Query| match evaluate(of, context.fs) {
                Ok(Answer::Lines(lines)) => lines.len(),
                _ => 0,
            };
            let source = Query::TextFile { path: to.clone() };
            !says_one || context.says_each || of.source() != &source || count(&source) <= count(of) + 1
        }
        // "find a.txt and show it" are two steps.
        Step::Ask(Query::Filter { keep: Pred::Name(NameTest::Is(_)), .. }) if has(after_verb(said), "shows_it") => {
            false
        }
        Step::Ask(_) if has(said, "new_file") => false,
        Step::Ask(Query::Aggregate { function, .. })
            if matches!(function, Function::Count | Function::Any)
                && joins_two_kinds(said, *function == Function::Any) =>
        {
            false
        }
        // "tell me if a.txt exists" does not ask for its text.
        Step::Ask(Query::TextFile { .. }) if has(said, "existence") => false,
        // "remove the last 3 characters from 'abc'" changes nothing on disk.
        Step::Ask(Query::Known { known }) if known.is_of_text() => true,
        Step::Ask(of) if of.ty() == Ok(Ty::Lines) => !only_edits(said),
        Step::Do(_) | Step::Ask(_) => true,
    }
}

/// Whether one of several named files doesn't exist and may mean something else: a file in the folder of another one,
/// or no file, as in "delete a.txt and confirm".
fn is_scattered(context: &Context<'_>, said: &[Token], of: &Query) -> bool {
    let (Query::Paths { paths, .. } | Query::Tree { roots: paths, .. }) = of.source() else { return false };
    let folders: BTreeSet<&str> = paths.iter().map(|path| parent(path)).collect();
    let is_bare = |path: &String| said.iter().any(|token| file_name(path) == Some(token.raw.as_str()));
    let may_be_other = |path: &String| folders.len() > 1 || file_name(path).is_some_and(|name| !name.contains('.'));
    let is_missing = |path: &String| is_bare(path) && may_be_other(path) && context.on_disk(path).is_none();
    paths.len() > 1 && paths.iter().any(is_missing)
}

/// The tokens after the verb, the first token that is not polite.
fn after_verb(said: &[Token]) -> &[Token] {
    said.get(after_lead(said, 0) + 1..).unwrap_or_default()
}

/// Whether tokens join two kinds of file by "and", as in "the pdfs and the images", which one answer doesn't fit.
pub(super) fn joins_two_kinds(said: &[Token], may_be_one: bool) -> bool {
    let means = |token: &Token, test: fn(&Meaning) -> bool| lexicon().meanings(&token.folded).iter().any(test);
    let is_kind = |token: &Token| means(token, |meaning| matches!(meaning, Meaning::FileType { .. }));
    let are_files = |token: &Token| {
        means(token, |meaning| match meaning {
            Meaning::FileType { form, .. } => *form == TypeForm::Plural,
            Meaning::Concept(concept) => matches!(concept, Concept::Noun { plural: true, .. }),
        }) || (may_be_one && (is_kind(token) || is_word(Some(token), "file")))
    };
    said.windows(2).enumerate().any(|(at, pair)| {
        let after = said.iter().skip(at + 2).find(|token| !means_nothing(token));
        is_word(pair.last(), "and") && pair.first().is_some_and(are_files) && after.is_some_and(is_kind)
    })
}

/// Whether a token is a filler word (`Concept::Skip`), such as "the".
fn means_nothing(token: &Token) -> bool {
    lexicon().meanings(&token.folded).contains(&Meaning::Concept(Concept::Skip))
}

/// Whether tokens contain a phrase of a word list of `clauses.txt`.
fn has(said: &[Token], list: &str) -> bool {
    (0..said.len()).any(|at| phrase(list, said, at).is_some())
}

/// Whether the verbs in tokens edit a text and none of them shows it, as in "uppercase a.txt".
fn only_edits(said: &[Token]) -> bool {
    let means = |test: fn(&Concept) -> bool| {
        let tests = |meaning: &Meaning| matches!(meaning, Meaning::Concept(concept) if test(concept));
        said.iter().any(|token| token.class == Class::Word && lexicon().meanings(&token.folded).iter().any(tests))
    };
    let edits = phrase("edits", said, after_lead(said, 0)).is_some();
    let shows = means(|concept| matches!(concept, Concept::Verb(verb) if *verb != Verb::Sort));
    let edits = edits || means(|concept| *concept == Concept::Do(ActWord::Delete));
    edits && (!shows || has(said, "shows_it")) && !has(said, "unchanged")
}

/// Whether one of two steps changes what the other one leaves unchanged.
fn contradict(context: &Context<'_>, a: &Step, b: &Step) -> bool {
    let ((Step::Do(act), Step::Do(Act::Keep { paths: kept })) | (Step::Do(Act::Keep { paths: kept }), Step::Do(act))) =
        (a, b)
    else {
        return false;
    };
    let target = match act {
        Act::Copy { to, .. } | Act::Move { to, .. } => Some(match to {
            Target::Into(path) | Target::As(path) => path.clone(),
        }),
        _ => None,
    };
    let written = match Antecedent::of_step(&Step::Do(act.clone()), &[]).elements() {
        Some(Query::Paths { paths, .. }) => paths,
        _ => Vec::new(),
    };
    let is_source = matches!(act, Act::Copy { .. } | Act::Archive { .. } | Act::Extract { .. });
    let selected = act.selection().filter(|_| !is_source).and_then(|of| evaluate(of, context.fs).ok());
    let selected: Vec<PathBuf> = match selected {
        Some(Answer::Files(files)) => files.into_iter().map(|file| file.path).collect(),
        _ => Vec::new(),
    };
    kept.iter().any(|kept| {
        let is_in = |path: &String| Path::new(path).starts_with(kept);
        target.iter().chain(&written).any(is_in)
            || selected.iter().any(|path| path.starts_with(kept) || Path::new(kept).starts_with(path))
    })
}

/// A step of the previous request, to be asked again.
fn repeated(step: Step) -> Built {
    Built { step, assumptions: Vec::new(), scope: None, refers_back: true, names_only: false }
}

/// Removes steps that only find files for the next step, as in "find x and copy it".
fn without_names(steps: Vec<Built>) -> Vec<Built> {
    let refers_back: Vec<bool> = steps.iter().skip(1).map(|built| built.refers_back).chain([false]).collect();
    steps
        .into_iter()
        .zip(refers_back)
        .filter(|(built, next)| !(built.names_only && *next))
        .map(|(built, _)| built)
        .collect()
}
