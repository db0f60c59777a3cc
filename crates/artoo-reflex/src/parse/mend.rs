//! Reads questions that have no reading as they stand: two joined by "and", unquoted names with spaces, a file named
//! before the question, and tables.

use std::ffi::OsStr;
use std::path::Path;

use super::antecedent::Antecedent;
use super::background::{Background, background, is_purpose, is_told};
use super::build::Built;
use super::clauses::{after_lead, phrase};
use super::described::is_same;
use super::item::Context;
use super::lexical::{acts_at_a_start, begins_with_act, corrected};
use super::located::elsewhere;
use super::pattern::{is_table_name, is_word};
use super::{as_said, offer, plain, refuse, steps, steps_of};
use crate::algebra::{Function, Query, Step, Ty};
use crate::concept::Concept;
use crate::english::{english, english_steps};
use crate::kinds;
use crate::lex::{Class, Token, lex};
use crate::lexicon::{Meaning, lexicon};

/// Maximum number of tokens of a question that is rewritten to be read; each rewriting is parsed in full.
const MAX_TOKENS: usize = 16;

/// Maximum number of tokens on each side of "and" that are not common to both questions.
const MAX_APART: usize = 4;

/// Maximum number of parts of a request that are tried as background; the rest of the request is parsed for each.
const MAX_BACKGROUNDS: usize = 4;

/// Maximum number of tables among which the one is looked for that a question means without naming it; each is read.
const MAX_TABLES: usize = 32;

/// The reading of a question that has none as it stands, found by rewriting it; `None` for a change.
pub(super) fn question(
    context: &Context<'_>,
    text: &str,
    tokens: &[Token],
    before: Option<&Antecedent>,
) -> Option<Vec<Built>> {
    // "files not already in backup" are those of which no copy is there.
    if tokens
        .windows(2)
        .any(|pair| matches!(pair, [not, already] if is_word(Some(not), "not") && is_word(Some(already), "already")))
    {
        return None;
    }
    // Each of its words is one of a table, so none asks for a change.
    if let Some(built) = of_table(context, tokens) {
        return Some(vec![built]);
    }
    beside_background(context, text, tokens, before).or_else(|| reworded(context, text, tokens, before))
}

/// The reading of a question whose parts stand in another order, or with names and words as they were meant.
fn reworded(context: &Context<'_>, text: &str, tokens: &[Token], before: Option<&Antecedent>) -> Option<Vec<Built>> {
    let lists = (1..tokens.len()).any(|at| phrase("asks for a list", tokens, at).is_some());
    // "does it mention pets? show me what it says" asks for more than yes.
    let answers = |built: &Built| match &built.step {
        Step::Ask(Query::Aggregate { of, function: Function::Any }) => !lists || of.ty() == Ok(Ty::Files),
        _ => true,
    };
    let plain = |way: String| {
        let tokens = &lex(&way);
        let built = only_question(context, &way, tokens, before);
        let built = built.or_else(|| of_table(context, tokens).map(|built| vec![built]));
        built.or_else(|| as_meant(context, &way, tokens, before)).filter(|built| built.iter().all(answers))
    };
    as_meant(context, text, tokens, before).or_else(|| plain::questions(text, tokens).into_iter().find_map(plain))
}

/// The reading of a question with its words in their order, but with names and words as they were meant.
fn as_meant(context: &Context<'_>, text: &str, tokens: &[Token], before: Option<&Antecedent>) -> Option<Vec<Built>> {
    // "extract the URLs from a.html" shows them.
    let shows = phrase("extracted", tokens, after_lead(tokens, 0)).is_some();
    if tokens.is_empty() {
        return None;
    }
    let empties = phrase("empties", tokens, after_lead(tokens, 0)).is_some();
    if tokens.len() > MAX_TOKENS
        || empties
        || (!shows && acts_at_a_start(tokens))
        || refuse::unknown_act(tokens).is_some()
    {
        return None;
    }
    // "how many mp3s and flacs" may ask for one number.
    let is_one = steps::joins_two_kinds(tokens, true) && tokens.iter().any(|token| counts(&token.folded));
    let joined = if is_one { None } else { several(context, text, tokens, before, 0) };
    joined
        .or_else(|| of_topic(context, text, tokens, before))
        .or_else(|| offer::quoted(context, text, tokens, before))
        .or_else(|| offer::located(context, text, tokens, before))
        .or_else(|| rephrased(context, text, tokens, before))
        .or_else(|| {
            let plainer = offer::in_quotes(context, text, tokens, before)?;
            let mut built = question(context, &plainer, &lex(&plainer), before)?;
            built.first_mut()?.assumptions.push(format!("read as “{plainer}”"));
            built.iter().all(|built| matches!(built.step, Step::Ask(_))).then_some(built)
        })
        .or_else(|| offer::slipped(context, text, tokens, before))
}

/// The reading of a question before or after a part of the request that only tells why it is asked.
fn beside_background(
    context: &Context<'_>,
    text: &str,
    tokens: &[Token],
    before: Option<&Antecedent>,
) -> Option<Vec<Built>> {
    let is_pause =
        |token: &Token| matches!(token.class, Class::Comma | Class::Stop) || ["-", "–"].contains(&&*token.raw);
    let tells = |part: &[Token]| part.len() > 2 && background(part) == Some(Background::Circumstances);
    let mut tries = 0;
    for (at, pause) in tokens.iter().enumerate().filter(|(_, token)| is_pause(token)) {
        let (Some(head), Some(tail)) = (tokens.get(..at), tokens.get(at + 1..)) else { continue };
        let is_apart = pause.raw == ":" && is_purpose(head) || pause.raw == "." && is_told(head);
        let ways = [(head, tail, tells(head) || is_apart), (tail, head, tells(tail))];
        if tries >= MAX_BACKGROUNDS {
            return None;
        }
        for (told, asked, _) in ways.into_iter().filter(|(.., tells)| *tells) {
            tries += 1;
            let built = as_said(context, text, asked, before)
                .ok()
                .or_else(|| of_table(context, asked).map(|built| vec![built]))
                .or_else(|| reworded(context, text, asked, before));
            let Some(mut built) = built else { continue };
            if let (Some(first), Some(last), Some(asked)) = (told.first(), told.last(), built.first_mut()) {
                let said = text.get(first.span.start..last.span.end).unwrap_or_default();
                asked.assumptions.push(format!("“{said}” is taken as background"));
            }
            return built.iter().all(|built| matches!(built.step, Step::Ask(_))).then_some(built);
        }
    }
    None
}

/// The steps that tokens ask, if they only ask.
pub(super) fn only_question(
    context: &Context<'_>,
    text: &str,
    tokens: &[Token],
    before: Option<&Antecedent>,
) -> Option<Vec<Built>> {
    let built = as_said(context, text, tokens, before).ok()?;
    built.iter().all(|built| matches!(built.step, Step::Ask(_))).then_some(built)
}

/// The reading of a question in plainer words.
pub(super) fn rephrased(
    context: &Context<'_>,
    text: &str,
    tokens: &[Token],
    before: Option<&Antecedent>,
) -> Option<Vec<Built>> {
    let read = |plainer: String| {
        let tokens = &lex(&plainer);
        if tokens.is_empty() {
            return None;
        }
        // A plainer request that could be rewritten again might be rewritten forever.
        let is_plain = offer::rephrased(&plainer, tokens).is_empty();
        let mended = || is_plain.then(|| question(context, &plainer, tokens, before))?;
        let built = as_said(context, &plainer, tokens, before).ok().or_else(mended)?;
        built.iter().all(|built| matches!(built.step, Step::Ask(_))).then_some(built)
    };
    offer::rephrased(text, tokens).into_iter().find_map(read)
}

/// The reading of a question before or after the name of the file or folder it is about: "movie.mp4, how many megabytes
/// is it", "commits per author, code/site".
fn of_topic(context: &Context<'_>, text: &str, tokens: &[Token], before: Option<&Antecedent>) -> Option<Vec<Built>> {
    let is_pause = |token: &Token| token.class == Class::Comma || [":", "-", "–", "—"].contains(&token.raw.as_str());
    let first = tokens.iter().position(is_pause).filter(|at| (1..=3).contains(at));
    let last = || tokens.iter().rposition(is_pause).filter(|at| at + 2 == tokens.len());
    let (topic, rest) = match first {
        Some(at) => (tokens.get(..at)?, tokens.get(at + 1..)?),
        None => last().and_then(|at| Some((tokens.get(at + 1..)?, tokens.get(..at)?)))?,
    };
    let rest = rest.split_last().filter(|(last, _)| last.class == Class::Stop).map_or(rest, |(_, rest)| rest);
    let name = topic
        .last()
        .filter(|token| matches!(token.class, Class::FileName | Class::Path | Class::Quoted | Class::Word))?;
    let path = context.resolve(&name.raw)?.path;
    let is_there = context.on_disk(&path).is_some() || elsewhere(context, &path).is_some();
    let stands_for = |token: &Token| ["it", "there", "inside", "this"].contains(&token.folded.as_str());
    let mut ways = Vec::new();
    if topic.len() > 1 {
        // "in code, every file that …".
        ways.push([rest, topic].concat());
    } else if let Some(word) = rest.iter().rposition(stands_for) {
        let is_thing = rest.get(word).is_some_and(|token| ["it", "this"].contains(&token.folded.as_str()));
        let joint = if is_thing { "" } else { "in" };
        ways.push([rest.get(..word)?, &lex(joint), topic, rest.get(word + 1..)?].concat());
    } else {
        ways.extend(["of", "in"].map(|joint| [rest, &lex(joint), topic].concat()));
    }
    let read = |way: &Vec<Token>| {
        let built = as_said(context, text, way, before).ok();
        built.or_else(|| of_table(context, way).map(|built| vec![built]))
    };
    let only = offer::only(ways.iter().filter(|_| is_there).filter_map(read))?;
    only.iter().all(|built| matches!(built.step, Step::Ask(_))).then_some(only)
}

/// The reading of a change with its verb first, or with its object where it belongs.
pub(super) fn change(
    context: &Context<'_>,
    text: &str,
    tokens: &[Token],
    before: Option<&Antecedent>,
) -> Option<Vec<Built>> {
    let plain = |way: String| {
        let tokens = &lex(&way);
        as_said(context, &way, tokens, before).ok().or_else(|| of_object(context, &way, tokens, before))
    };
    of_object(context, text, tokens, before).or_else(|| plain::changes(text, tokens).into_iter().find_map(plain))
}

/// The reading of a change whose object stands before the verb: "a.log compress with gzip", "draft.txt, move it to Old".
/// Parts between the two may only tell something.
fn of_object(context: &Context<'_>, text: &str, tokens: &[Token], before: Option<&Antecedent>) -> Option<Vec<Built>> {
    let is_pause = |token: &Token| {
        matches!(token.class, Class::Comma | Class::Stop) || [":", "-", "–", "—", "->"].contains(&token.raw.as_str())
    };
    let tokens = tokens.split_last().filter(|(last, _)| last.class == Class::Stop).map_or(tokens, |(_, rest)| rest);
    let is_name = |token: &Token| matches!(token.class, Class::FileName | Class::Path | Class::Quoted);
    let end = tokens.iter().position(is_pause).or_else(|| tokens.first().filter(|token| is_name(token)).map(|_| 1))?;
    let (object, rest) = tokens.split_at_checked(end).filter(|(object, _)| !object.is_empty())?;
    let opens = phrase("frames", object, 0).or_else(|| phrase("lead", object, 0));
    let acts = |at: usize| begins_with_act(rest.get(at..).unwrap_or_default());
    // The verb is at the start of a part, polite words before it left out.
    let starts =
        std::iter::once(0).chain((0..rest.len()).filter(|at| rest.get(*at).is_some_and(is_pause)).map(|at| at + 1));
    let verb = starts.flat_map(|start| [start, after_lead(rest, start)]).find(|at| acts(*at))?;
    let told: Vec<&[Token]> =
        rest.get(..verb)?.split(is_pause).filter(|part| after_lead(part, 0) < part.len()).collect();
    let is_told = |part: &&[Token]| background(part) == Some(Background::Circumstances);
    // "Photos, delete it" may be said to Photos.
    let is_clear = object.len() > 1 || object.iter().all(is_name);
    if opens.is_some() || !is_clear || !told.iter().all(is_told) {
        return None;
    }
    let (verb, rest) = rest.get(verb..)?.split_first()?;
    let verb = std::slice::from_ref(verb);
    let stands_for = |token: &Token| ["it", "them"].contains(&token.folded.as_str());
    let ways = match rest.iter().position(stands_for) {
        Some(at) => vec![[verb, rest.get(..at)?, object, rest.get(at + 1..)?].concat()],
        None => vec![[verb, object, rest].concat(), [verb, rest, &lex("in"), object].concat()],
    };
    let mut only = offer::only(ways.iter().filter_map(|way| as_said(context, text, way, before).ok()))?;
    let said = told.iter().filter_map(|part| text.get(part.first()?.span.start..part.last()?.span.end));
    only.first_mut()?.assumptions.extend(said.map(|said| format!("“{said}” is taken as background")));
    Some(only)
}

/// The question that tokens ask about the table they name, or about the only one here that has the columns.
pub(super) fn of_table(context: &Context<'_>, tokens: &[Token]) -> Option<Built> {
    // "may I see the columns" is no month.
    let is_asked = ["i", "we"].iter().any(|word| is_word(tokens.get(1), word)) && is_word(tokens.first(), "may");
    let tokens = if is_asked { tokens.get(2..)? } else { tokens };
    let (named, said): (Vec<&Token>, Vec<&Token>) =
        tokens.iter().partition(|token| is_table_name(&token.raw) || token.folded.ends_with(".log"));
    // "are all orders paid" asks for yes or no.
    if said.first().is_some_and(|first| phrase("yes or no", std::slice::from_ref(*first), 0).is_some()) {
        return None;
    }
    // "sort the products by price".
    let is_sort = |token: &&Token| ["sort", "order"].contains(&token.folded.as_str());
    let said = match said.as_slice() {
        [first, rest @ ..] if is_sort(first) && rest.iter().any(|token| ["by", "of"].contains(&&*token.folded)) => {
            rest.to_vec()
        }
        _ => said,
    };
    let asked: Vec<String> = said.iter().map(|token| looked_up(token)).collect();
    // A word that fits nowhere may be mistyped; `finished` tells which.
    let mended = said.iter().map(|token| corrected(token).map_or_else(|| looked_up(token), str::to_owned)).collect();
    let question = |path: &str, least: usize| {
        let ways: [&Vec<String>; 2] = [&asked, &mended];
        ways.into_iter().find_map(|words| kinds::table_question(words, path, least, context.fs))
    };
    let (path, query, is_named) = match named.as_slice() {
        [named] => {
            let typed = context.resolve(&named.raw)?.path;
            let is_there = context.on_disk(&typed).is_some();
            let path = if is_there { typed } else { elsewhere(context, &typed)? };
            let query = question(&path, 0)?;
            (path, query, is_there)
        }
        [] => {
            let entries = context.below(&context.environment.cwd)?.into_iter();
            let paths = entries.filter_map(|entry| entry.path.to_str().map(str::to_owned));
            let tables: Vec<String> = paths.filter(|path| is_table_name(path)).take(MAX_TABLES + 1).collect();
            // After another request, "the average price" may be that of the rows it gave.
            let least = if context.earlier.is_some() { 2 } else { 1 };
            let asked = |path: String| Some((question(&path, least)?, path));
            if tables.len() > MAX_TABLES {
                return None;
            }
            let mut found: Vec<_> = tables.into_iter().filter_map(asked).collect();
            // "the cheapest product" is a row of products.csv rather than a cell of sales.csv.
            let is_of_name = |(_, path): &(Query, String)| {
                let stem = Path::new(path).file_stem().and_then(OsStr::to_str).unwrap_or_default().to_lowercase();
                said.iter().any(|token| is_same(&stem, &token.folded))
            };
            if found.iter().filter(|one| is_of_name(one)).count() == 1 {
                found.retain(is_of_name);
            }
            // A table with a "price" is meant rather than one with a "cost".
            let says_heading = |(query, _): &(Query, String)| {
                let reading = english(query);
                said.iter().any(|token| reading.contains(&format!("“{}”", token.folded)))
            };
            if found.len() > 1 {
                found.retain(says_heading);
            }
            let (query, path) = found.pop().filter(|_| found.is_empty())?;
            (path, query, false)
        }
        _ => return None,
    };
    let assumptions = if is_named { Vec::new() } else { vec![format!("the table {path} is meant")] };
    Some(Built { step: Step::Ask(query), assumptions, scope: Some(path), refers_back: false, names_only: false })
}

/// A token as text to look up in a table: a number in digits, a quoted text in quotes.
fn looked_up(token: &Token) -> String {
    let number = |meaning: &Meaning| match meaning {
        // "one" and "single" count nothing here.
        Meaning::Concept(Concept::Number(number)) if *number > 1 => Some(number.to_string()),
        _ => None,
    };
    match token.class {
        Class::Quoted => format!("\"{}\"", token.folded),
        Class::Word => {
            lexicon().meanings(&token.folded).iter().find_map(number).unwrap_or_else(|| token.folded.clone())
        }
        _ => token.folded.clone(),
    }
}

/// The texts that steps look for, as their reading has them in quotes.
pub(super) fn quoted_texts(built: &[Built]) -> Vec<String> {
    english_steps(&steps_of(built)).split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Whether a word asks for a number or whether there is anything.
fn counts(word: &str) -> bool {
    ["many", "count", "number", "is", "are"].contains(&word)
}

/// Splits two questions joined by "and" that share their other words: "the first and the last line of a.txt". Both must
/// look for the same text, since "lines with x and y" is one question.
fn several(
    context: &Context<'_>,
    text: &str,
    tokens: &[Token],
    before: Option<&Antecedent>,
    depth: usize,
) -> Option<Vec<Built>> {
    let joins = |at: &usize| {
        tokens.get(*at).is_some_and(|token| is_word(Some(token), "and") || (depth > 0 && token.class == Class::Comma))
    };
    let at = (1..tokens.len()).rev().find(joins).filter(|_| depth < 3)?;
    // "PDFs and files larger than 1 MB": what follows may belong to the second alone, unless it is a place.
    let joint = |token: &Token| {
        ["of", "in", "from", "under", "inside", "within", "has", "have", "does"]
            .iter()
            .any(|word| is_word(Some(token), word))
    };
    let is_common = |rest: &&[Token]| rest.iter().take(3).any(joint);
    let ways = (1..=MAX_APART).flat_map(|after| (1..=MAX_APART).map(move |before| (before, after)));
    for (first, second) in ways {
        let (Some(begin), end) = (at.checked_sub(first), at + 1 + second) else { continue };
        let (Some(prefix), Some(other), Some(rest)) =
            (tokens.get(..begin), tokens.get(at + 1..end), tokens.get(end..).filter(is_common))
        else {
            continue;
        };
        let Ok(later) = as_said(context, text, &[prefix, other, rest].concat(), before) else { continue };
        let earlier = [tokens.get(..at)?, rest].concat();
        let earlier = as_said(context, text, &earlier, before)
            .ok()
            .or_else(|| several(context, text, &earlier, before, depth + 1));
        let Some(earlier) = earlier else { continue };
        let found = [earlier, later].concat();
        if are_alike(&found) {
            return Some(found);
        }
    }
    None
}

/// Whether steps are different questions with answers of one type that look for the same texts. Two conditions on the
/// same files are none: "files of at least 1 and at most 2 MB".
fn are_alike(found: &[Built]) -> bool {
    let of_same = |pair: &[Built]| match pair {
        [a, b] => match (&a.step, &b.step) {
            (Step::Ask(Query::Filter { of: one, .. }), Step::Ask(Query::Filter { of: other, .. })) => one == other,
            _ => false,
        },
        _ => false,
    };
    if found.windows(2).any(of_same) {
        return false;
    }
    let asked = |built: &Built| match &built.step {
        Step::Ask(query) => query.ty().ok().map(|ty| (ty, quoted_texts(std::slice::from_ref(built)))),
        Step::Do(_) => None,
    };
    found.windows(2).all(|pair| match pair {
        [a, b] => asked(a).is_some() && asked(a) == asked(b) && a.step != b.step,
        _ => false,
    })
}
