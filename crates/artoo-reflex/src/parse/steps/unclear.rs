//! Detects steps that ignore words of the request, or whose words can also mean other files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{joins, means_nothing};
use crate::algebra::{Act, Depth, Function, GroupKey, Kind, NameTest, Pred, Query, Step};
use crate::concept::Concept;
use crate::english::english;
use crate::eval::{Answer, evaluate};
use crate::lex::{Class, Token};
use crate::lexicon::{Meaning, lexicon};
use crate::parse::build::Built;
use crate::parse::chart::Chart;
use crate::parse::clauses::phrase;
use crate::parse::doubt::takes_literally;
use crate::parse::draft::Draft;
use crate::parse::item::{Context, Item};
use crate::parse::pattern::{is_table_name, is_word};
use crate::place::file_name;

/// Words before the folder that is meant.
const PLACES: [&str; 4] = ["in", "inside", "within", "under"];

/// Whether words without content stand before a new name or text that is not quoted, so that they may belong to it; not
/// those right after the verb, as in "create the x folder".
pub(super) fn is_cut(said: &[Token], text: &str) -> bool {
    let text = text.trim_end();
    let is_it = |token: &Token| token.class != Class::Quoted && text.rsplit('/').next() == Some(token.raw.as_str());
    let Some(at) = said.iter().rposition(is_it) else { return false };
    let before = said.get(..at).unwrap_or_default();
    let skipped = before.iter().rev().take_while(|token| means_nothing(token)).count();
    let acts = |token: &Token| {
        lexicon().meanings(&token.folded).iter().any(|meaning| matches!(meaning, Meaning::Concept(Concept::Do(_))))
    };
    skipped > 0 && before.iter().rev().nth(skipped).is_some_and(|announcing| !acts(announcing))
}

/// Whether the words of a step can mean other texts or files.
pub(super) fn is_unclear(context: &Context<'_>, said: &[Token], step: &Step) -> bool {
    let of = match step {
        Step::Do(Act::Save { of, .. }) | Step::Ask(of) => Some(of),
        Step::Do(act) => act.selection(),
    };
    let is_act = matches!(step, Step::Do(_));
    let means_others = |of: &Query| {
        let enters = is_act && enters_subfolders(said) && differs(context, of, |of| of.set_depth(Depth::Direct));
        // "lines with the word cat" may leave out those with "category".
        let has_word = is_of_text(of) && said.iter().any(|token| is_word(Some(token), "word"));
        let takes = takes_folders(step) && takes_excepted(context, of);
        // "each folder of docs" doesn't mean docs, and a folder without files has a number too.
        let is_of_one = matches!(of, Query::Group { by: GroupKey::Folder, .. }) && says_folder_of(said);
        let is_of_names = is_act && may_mean_names(context, said, of);
        // "the third word of a.txt" is one word, not one of each line.
        let says = |words: &[&str]| said.iter().any(|token| words.contains(&token.folded.as_str()));
        let is_one_word =
            matches!(of, Query::Column { .. }) && says(&["word"]) && !says(&["each", "every", "all", "line", "lines"]);
        // "the line count of every .c and .h file" is one number for each.
        let says_each = |pair: &[Token]| {
            ["of", "in", "for"].iter().any(|word| is_word(pair.first(), word))
                && ["each", "every"].iter().any(|word| is_word(pair.last(), word))
        };
        let is_one_number = matches!(of, Query::Aggregate { of, function: Function::Count } if matches!(of.as_ref(), Query::TextOf { .. }))
            && said.windows(2).any(says_each);
        takes
            || counts_column(context, said, of)
            || loses_folder(context, said, of)
            || compares_a_folder(context, of)
            || takes_all(of)
            // "inside a.zip" is not the archive.
            || matches!(of, Query::Paths { .. }) && ["inside", "within"].iter().any(|word| is_word(said.first(), word))
            || is_one_number
            || is_one_word
            || enters
            || is_of_one
            || is_of_names
            || is_one_of_each(said, of)
            || takes_literally(of, said)
            || (has_word && differs(context, of, set_whole))
    };
    // "every notes.txt" may be in any folder.
    let is_name = |token: &Token| matches!(token.class, Class::FileName);
    let names_many =
        (0..said.len()).any(|at| phrase("every", said, at).is_some_and(|end| said.get(end).is_some_and(is_name)));
    let is_found = of.is_some_and(|of| matches!(of.source(), Query::Tree { .. }));
    // Some say "substitute a for b" the other way round.
    let says = |word| said.iter().any(|token| is_word(Some(token), word));
    let is_unclear = (names_many && !is_found) || (says("substitute") && says("for")) || means_content(said, step);
    is_unclear || loses_words(said, step) || loses_place(said, step) || of.is_some_and(means_others)
}

/// Whether a change of a folder may be one of the files in it, as in "delete my downloads".
fn means_content(said: &[Token], step: &Step) -> bool {
    let Step::Do(act @ (Act::Delete { .. } | Act::Move { .. } | Act::Rename { .. } | Act::SetMode { .. })) = step
    else {
        return false;
    };
    let Some(Query::Paths { paths, kind: Kind::Folder }) = act.selection() else { return false };
    let is_name = |path: &String, token: &Token| {
        file_name(path).is_some_and(|name| name != token.raw && name.to_lowercase() == token.raw)
    };
    let says_folder = said.iter().any(|token| matches!(token.folded.as_str(), "folder" | "folders" | "directory"));
    !says_folder && paths.iter().any(|path| said.iter().any(|token| is_name(path, token)))
}

/// Whether one of several steps is about everything in a folder or a folder as a whole, if words such as "and their
/// contents" ask for that.
pub(super) fn takes_contents(said: &[Token], steps: &[Built]) -> bool {
    let takes = |built: &Built| {
        let of = match &built.step {
            Step::Do(act) => act.selection(),
            Step::Ask(of) => Some(of),
        };
        of.is_some_and(|of| of.kind() == Kind::Any || (of.kind() == Kind::Folder && takes_folders(&built.step)))
    };
    !(0..said.len()).any(|at| phrase("with_contents", said, at).is_some()) || steps.iter().any(takes)
}

/// Whether an act on a folder is one on all that is in it.
fn takes_folders(step: &Step) -> bool {
    matches!(step, Step::Do(Act::Copy { .. } | Act::Move { .. } | Act::Archive { .. } | Act::Delete { .. }))
}

/// Whether a selected folder holds files that a condition leaves out: "delete everything in docs except the PDFs".
fn takes_excepted(context: &Context<'_>, of: &Query) -> bool {
    let layers = of.layers();
    let names = |pred: &Pred| matches!(pred, Pred::Name(_) | Pred::NameIgnoringCase(_) | Pred::Extension(_));
    let excepts = matches!(layers.source, Query::Tree { kind: Kind::Any, .. }) && !layers.keep.iter().all(names);
    if !excepts {
        return false;
    }
    let files = |of: &Query| match evaluate(of, context.fs) {
        Ok(Answer::Files(files)) => files.into_iter().map(|entry| entry.path).collect(),
        _ => BTreeSet::new(),
    };
    let selected = files(of);
    let is_taken = |path: &PathBuf| path.ancestors().skip(1).any(|folder| selected.contains(folder));
    files(layers.source).difference(&selected).any(is_taken)
}

/// Whether a query counts the lines of a table though a word is a heading of it: "the total amount of sales.csv".
fn counts_column(context: &Context<'_>, said: &[Token], of: &Query) -> bool {
    let Query::Aggregate { of, function: Function::Count } = of else { return false };
    let Query::TextFile { path } = of.as_ref() else { return false };
    let heading = match evaluate(of, context.fs) {
        Ok(Answer::Lines(lines)) if is_table_name(path) => lines.into_iter().next().map(|line| line.text),
        _ => return false,
    };
    let heading = String::from_utf8_lossy(heading.as_deref().unwrap_or_default()).into_owned();
    let heads: Vec<String> = heading.split([',', ';', '\t']).map(|head| head.trim().to_lowercase()).collect();
    said.iter().any(|token| token.class == Class::Word && heads.contains(&token.folded))
}

/// Whether a query lists all files that the request names, sorted, although the request asks for one of them: "which of
/// the two is bigger, a.txt or b.txt".
fn takes_all(of: &Query) -> bool {
    let named = match of.source() {
        Query::Paths { paths, .. } if paths.len() > 1 => paths.len(),
        _ => return false,
    };
    let is_all = |of: &Query| matches!(of, Query::Limit { count, .. } if usize::try_from(*count).is_ok_and(|count| count >= named));
    std::iter::successors(Some(of), |of| of.operand()).any(is_all)
}

/// Whether a question ends with the name of a folder and "has", but its query is about another folder: "how many files
/// Photos has".
fn loses_folder(context: &Context<'_>, said: &[Token], of: &Query) -> bool {
    let [.., name, verb] = said else { return false };
    let holds = ["has", "contains", "holds"].iter().any(|word| is_word(Some(verb), word));
    let Some(place) = context.resolve(&name.raw).filter(|_| holds) else { return false };
    let is_of_it = |root: &String| Path::new(root).starts_with(&place.path);
    let is_about_it = match of.source() {
        Query::Tree { roots, .. } | Query::Paths { paths: roots, .. } => roots.iter().any(is_of_it),
        _ => true,
    };
    context.is_folder(&place.path) && !is_about_it
}

/// Whether a query compares the lines of a path that is a folder; the files in that folder are meant.
fn compares_a_folder(context: &Context<'_>, of: &Query) -> bool {
    let Query::Compare { of, with, .. } = of else { return false };
    [of, with].iter().any(|side| matches!(side.source(), Query::TextFile { path } if context.is_folder(path)))
}

/// Whether "there" stands right after the name of a file that is changed, and so may name its folder, which the step
/// ignores.
fn loses_place(said: &[Token], step: &Step) -> bool {
    let is_name = |token: &Token| matches!(token.class, Class::FileName | Class::Path | Class::Quoted | Class::Glob);
    let is_there = |pair: &[Token]| pair.first().is_some_and(is_name) && is_word(pair.last(), "there");
    let goes_there = match step {
        Step::Do(Act::Copy { .. } | Act::Move { .. }) => true,
        // Not the folder that is chosen if the request names none.
        Step::Do(Act::Extract { of: Query::Paths { paths, .. }, to }) => !paths.iter().any(|path| path.starts_with(to)),
        _ => false,
    };
    matches!(step, Step::Do(_)) && !goes_there && said.windows(2).any(is_there)
}

/// Whether a query gives another answer on this disk after `change` is applied to it.
fn differs(context: &Context<'_>, of: &Query, change: fn(&mut Query)) -> bool {
    let mut other = of.clone();
    change(&mut other);
    other != *of && evaluate(&other, context.fs).ok() != evaluate(of, context.fs).ok()
}

/// Whether a query reads the lines of one file.
fn is_of_text(of: &Query) -> bool {
    matches!(of.source(), Query::TextFile { .. })
}

/// Whether "files containing x" may mean their names: some of the files there have x in their name, and the request
/// doesn't say that it is a word, a text or content.
fn may_mean_names(context: &Context<'_>, said: &[Token], of: &Query) -> bool {
    let says_text = ["word", "text", "string", "content", "contents", "phrase", "line", "lines"];
    let Query::Filter { of: tree, keep } = of else { return false };
    let is_said = says_text.iter().any(|word| said.iter().any(|token| is_word(Some(token), word)));
    let in_a_name = |pred: &Pred| {
        let Pred::Contains { text, .. } = pred else { return false };
        let keep = Pred::NameIgnoringCase(NameTest::Has(text.clone()));
        let named = Query::Filter { of: tree.clone(), keep };
        matches!(evaluate(&named, context.fs), Ok(Answer::Files(files)) if !files.is_empty())
    };
    matches!(tree.as_ref(), Query::Tree { .. }) && !is_said && keep.has(&in_a_name)
}

/// Whether tokens say "each folder of" or the like.
fn says_folder_of(said: &[Token]) -> bool {
    let is_one_of = |token: Option<&Token>, words: &[&str]| words.iter().any(|word| is_word(token, word));
    said.windows(3).any(|run| {
        is_one_of(run.first(), &["each", "every"])
            && is_one_of(run.get(1), &["folder", "subfolder", "directory", "subdirectory"])
            && (is_one_of(run.get(2), &PLACES) || is_one_of(run.get(2), &["of"]))
    })
}

/// Replaces the substring conditions of a query by whole-word conditions.
fn set_whole(of: &mut Query) {
    if let Query::Filter { keep, .. } = of {
        let whole = |pred| match pred {
            Pred::Contains { text, ignore_case } => Pred::Word { text, ignore_case },
            other => other,
        };
        *keep = keep.clone().map(&whole);
    }
    of.operands_mut().for_each(set_whole);
}

/// Whether one file of each folder may be meant instead of one in all: "the largest file in a and in b".
fn is_one_of_each(said: &[Token], of: &Query) -> bool {
    let repeats = |pair: &[Token]| is_word(pair.first(), "and") && PLACES.iter().any(|word| is_word(pair.last(), word));
    let is_of_several = matches!(of.source(), Query::Tree { roots, .. } if roots.len() > 1);
    is_of_several && is_limited(of) && said.windows(2).any(repeats)
}

/// Whether a query limits the number of its elements.
fn is_limited(of: &Query) -> bool {
    matches!(of, Query::Limit { .. }) || of.operand().is_some_and(is_limited)
}

/// Whether a pattern such as `*.tmp` may also select files in subfolders, which a shell leaves out, though the request
/// doesn't speak of them.
fn enters_subfolders(said: &[Token]) -> bool {
    let means_depth = |words: &[Token]| {
        let words: Vec<&str> = words.iter().map(|token| token.folded.as_str()).collect();
        let meanings = lexicon().meanings(&words.join(" "));
        meanings.iter().any(|meaning| matches!(meaning, Meaning::Concept(Concept::Depth(_))))
    };
    let says_depth = (1..=lexicon().longest.min(said.len())).any(|length| said.windows(length).any(means_depth));
    let says_below = said.iter().any(|token| ["under", "below", "beneath", "tree"].contains(&&*token.folded));
    said.iter().any(|token| token.class == Class::Glob) && !says_depth && !says_below
}

/// Whether a question names no folder and the clause after it does, which may be that of both: "how many pdfs and how
/// many jpgs are in docs".
pub(super) fn misses_folder(tokens: &[Token], end: usize, built: &Built) -> bool {
    let is_next = |token: &&Token| !matches!(token.class, Class::Stop | Class::Step);
    let next: Vec<&Token> = tokens.iter().skip(end).take_while(is_next).collect();
    let is_here = |pair: &[&Token]| {
        PLACES.iter().any(|word| is_word(pair.first().copied(), word))
            && !["it", "them", "those", "there"].iter().any(|word| is_word(pair.last().copied(), word))
    };
    let joins = next.first().is_some_and(|token| joins(token))
        && !next.iter().take(2).any(|token| is_word(Some(token), "then"));
    let is_question = matches!(built.step, Step::Ask(_)) && built.chosen().is_some();
    is_question && joins && next.windows(2).any(is_here)
}

/// Whether a filler such as "here" or "please" stands in place of an unquoted text of the step, or right after it.
fn loses_words(said: &[Token], step: &Step) -> bool {
    let is_act = matches!(step, Step::Do(_));
    let texts = texts(step);
    let is_end = |token: &Token| {
        let is_text = |text: &String| text.rsplit([' ', '\n']).next() == Some(token.raw.as_str());
        matches!(token.class, Class::Word | Class::Number(_) | Class::Symbol) && texts.iter().any(is_text)
    };
    let is_quoted = |token: &Token| said.iter().any(|other| other.class == Class::Quoted && other.raw == token.raw);
    (0..said.len()).any(|at| {
        let next = after_fillers(said, at);
        let follows = at
            .checked_sub(1)
            .and_then(|before| said.get(before))
            .is_some_and(|token| is_end(token) && !is_quoted(token));
        // "search for hello in a.txt" seeks nothing but a filler.
        let seeks = phrase("searches", said, at).map(|from| (from, after_fillers(said, from)));
        let is_part = |end: usize| {
            phrase("joints", said, end).is_some()
                || (is_act && said.get(end).is_none_or(|token| token.class != Class::Word))
        };
        let seeks_nothing = seeks.is_some_and(|(from, end)| end > from && is_word(said.get(end), "in"));
        (next > at && follows && is_part(next)) || seeks_nothing
    })
}

/// The position after the filler words that start at a position.
fn after_fillers(said: &[Token], at: usize) -> usize {
    let mut at = at;
    while let Some(end) = phrase("fillers", said, at) {
        at = end;
    }
    at
}

/// The texts that a step writes, sets as a value or looks for.
fn texts(step: &Step) -> Vec<String> {
    // A query's texts are those in quotes in its sentence.
    let quoted = |sentence: String| sentence.split('"').skip(1).step_by(2).map(str::to_owned).collect();
    match step {
        Step::Do(Act::CreateFile { text, .. } | Act::Insert { text, .. }) => vec![text.trim_end().to_owned()],
        Step::Do(Act::Save { of, .. }) | Step::Ask(of) => quoted(english(of)),
        // "set port to 80 please" has a whole value.
        Step::Do(Act::SetValue { value, .. })
            if value.parse::<f64>().is_err() && !["true", "false", "on", "off"].contains(&value.as_str()) =>
        {
            vec![value.clone()]
        }
        Step::Do(act) => act.selection().map(|of| quoted(english(of))).unwrap_or_default(),
    }
}

/// The place at the end of the next clause, which may be that of both: "how many pdfs and how many jpgs are in docs".
fn shared_place(context: &Context<'_>, chart: &Chart, end: usize) -> Option<Draft> {
    let rest = chart.tokens.get(end..)?;
    let is_over = |token: &Token| matches!(token.class, Class::Stop | Class::Step);
    let stop = end + rest.iter().position(is_over).unwrap_or(rest.len());
    let joins_on = rest.first().is_some_and(joins) && !rest.iter().take(2).any(|token| is_word(Some(token), "then"));
    let scope = |item: &Item| item.as_draft(context).filter(Draft::only_scope);
    (end + 1..stop).filter(|_| joins_on).find_map(|start| chart.items(start, stop).iter().find_map(scope))
}

/// The parsed phrase with the place that the next clause names for both; an act without the folder its names are in
/// anyway.
pub(super) fn placed(context: &Context<'_>, chart: &Chart, end: usize, draft: Draft) -> Draft {
    let draft = draft.without_folder(context.resolve(".").as_ref());
    match shared_place(context, chart, end).filter(|_| draft.asks_without_place()) {
        Some(place) => draft.merge(&place).unwrap_or(draft),
        None => draft,
    }
}
