//! Reads questions that have no reading as they stand: two joined by "and", unquoted names with spaces, a file named
//! before the question, tables, and texts in other letter case.

use super::antecedent::Antecedent;
use super::background::{Background, background, is_purpose};
use super::build::Built;
use super::clauses::phrase;
use super::item::Context;
use super::lexical::clause_starts;
use super::located::{elsewhere, settled};
use super::pattern::is_word;
use super::{as_said, offer, refuse, steps, steps_of};
use crate::algebra::{Act, Key, NameTest, Pred, Query, SortKey, Step};
use crate::concept::Concept;
use crate::english::english_steps;
use crate::eval::{Answer, Line, evaluate};
use crate::kinds;
use crate::lex::{Class, Token, lex};
use crate::lexicon::{Meaning, lexicon};
use crate::place::file_name;

/// Maximum number of tokens of a question that is rewritten to be read; each rewriting is parsed in full.
const MAX_TOKENS: usize = 16;

/// Maximum number of tokens on each side of "and" that are not common to both questions.
const MAX_APART: usize = 4;

/// Maximum number of tables among which the one is looked for that a question means without naming it; each is read.
const MAX_TABLES: usize = 32;

/// The reading of a question that has none as it stands, found by rewriting it; `None` for a change.
pub(super) fn question(
    context: &Context<'_>,
    text: &str,
    tokens: &[Token],
    before: Option<&Antecedent>,
) -> Option<Vec<Built>> {
    // Each of its words is one of a table, so none asks for a change.
    if let Some(built) = of_table(context, tokens) {
        return Some(vec![built]);
    }
    if let Some(built) = beside_background(context, text, tokens, before) {
        return Some(built);
    }
    let is_act = |meaning: &Meaning| matches!(meaning, Meaning::Concept(Concept::Do(_)));
    let acts = |at: usize| tokens.get(at).is_some_and(|token| lexicon().meanings(&token.folded).iter().any(is_act));
    if tokens.len() > MAX_TOKENS || clause_starts(tokens).into_iter().any(acts) || refuse::unknown_act(tokens).is_some()
    {
        return None;
    }
    // "how many mp3s and flacs" may ask for one number.
    let is_one = steps::joins_two_kinds(tokens, true) && tokens.iter().any(|token| counts(&token.folded));
    let joined = if is_one { None } else { several(context, text, tokens, before, 0) };
    joined
        .or_else(|| of_topic(context, text, tokens, before))
        .or_else(|| offer::quoted(context, text, tokens, before))
        .or_else(|| rephrased(context, text, tokens, before))
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
    for (at, pause) in tokens.iter().enumerate().filter(|(_, token)| is_pause(token)) {
        let (Some(head), Some(tail)) = (tokens.get(..at), tokens.get(at + 1..)) else { continue };
        let ways = [(head, tail, tells(head) || pause.raw == ":" && is_purpose(head)), (tail, head, tells(tail))];
        for (told, asked, _) in ways.into_iter().filter(|(.., tells)| *tells) {
            let built = as_said(context, text, asked, before).ok().or_else(|| question(context, text, asked, before));
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

/// The reading of a question in plainer words.
fn rephrased(context: &Context<'_>, text: &str, tokens: &[Token], before: Option<&Antecedent>) -> Option<Vec<Built>> {
    let plainer = offer::rephrased(text, tokens)?;
    let tokens = &lex(&plainer);
    // Plainer words that were replaced again could be so without end.
    if tokens.is_empty() || offer::rephrased(&plainer, tokens).is_some() {
        return None;
    }
    let built =
        as_said(context, &plainer, tokens, before).ok().or_else(|| question(context, &plainer, tokens, before))?;
    built.iter().all(|built| matches!(built.step, Step::Ask(_))).then_some(built)
}

/// The reading of a question after the name of the file or folder it is about: "movie.mp4, how many megabytes is it".
fn of_topic(context: &Context<'_>, text: &str, tokens: &[Token], before: Option<&Antecedent>) -> Option<Vec<Built>> {
    let is_pause = |token: &Token| token.class == Class::Comma || [":", "-", "–"].contains(&token.raw.as_str());
    let at = tokens.iter().position(is_pause).filter(|at| (1..=3).contains(at))?;
    let (topic, rest) = (tokens.get(..at)?, tokens.get(at + 1..)?);
    let name = topic
        .last()
        .filter(|token| matches!(token.class, Class::FileName | Class::Path | Class::Quoted | Class::Word))?;
    let path = context.resolve(&name.raw)?.path;
    let is_there = context.on_disk(&path).is_some() || elsewhere(context, &path).is_some();
    let stands_for = |token: &Token| ["it", "there", "inside"].contains(&token.folded.as_str());
    let mut ways = Vec::new();
    if topic.len() > 1 {
        // "in code, every file that …".
        ways.push([rest, topic].concat());
    } else if let Some(word) = rest.iter().position(stands_for) {
        let joint = if rest.get(word).is_some_and(|token| token.folded == "it") { "" } else { "in" };
        ways.push([rest.get(..word)?, &lex(joint), topic, rest.get(word + 1..)?].concat());
    } else {
        ways.extend(["of", "in"].map(|joint| [rest, &lex(joint), topic].concat()));
    }
    let mut found: Vec<Vec<Built>> = Vec::new();
    for way in ways.iter().filter(|_| is_there) {
        let Ok(built) = as_said(context, text, way, before) else { continue };
        if !found.iter().any(|known| steps_of(known) == steps_of(&built)) {
            found.push(built);
        }
    }
    let only = found.pop().filter(|_| found.is_empty())?;
    only.iter().all(|built| matches!(built.step, Step::Ask(_))).then_some(only)
}

/// The question that tokens ask about the table they name, or about the only one here that has the columns.
pub(super) fn of_table(context: &Context<'_>, tokens: &[Token]) -> Option<Built> {
    let ends = |name: &str, endings: &[&str]| endings.iter().any(|ending| name.to_lowercase().ends_with(ending));
    let is_table = |name: &str| ends(name, &[".csv", ".tsv", ".json"]);
    let (named, said): (Vec<&Token>, Vec<&Token>) =
        tokens.iter().partition(|token| is_table(&token.raw) || ends(&token.raw, &[".log"]));
    // "are all orders paid" asks for yes or no.
    if said.first().is_some_and(|first| phrase("yes or no", std::slice::from_ref(*first), 0).is_some()) {
        return None;
    }
    let words: Vec<String> = said.into_iter().map(looked_up).collect();
    let (path, query, is_named) = match named.as_slice() {
        [named] => {
            let typed = context.resolve(&named.raw)?.path;
            let is_there = context.on_disk(&typed).is_some();
            let path = if is_there { typed } else { elsewhere(context, &typed)? };
            let query = kinds::table_question(&words, &path, true, context.fs)?;
            (path, query, is_there)
        }
        [] => {
            let entries = context.below(&context.environment.cwd)?.into_iter();
            let paths = entries.filter_map(|entry| entry.path.to_str().map(str::to_owned));
            let tables: Vec<String> = paths.filter(|path| is_table(path)).take(MAX_TABLES + 1).collect();
            let asked = |path: String| Some((kinds::table_question(&words, &path, false, context.fs)?, path));
            if tables.len() > MAX_TABLES {
                return None;
            }
            let mut found = tables.into_iter().filter_map(asked);
            let (query, path) = found.next().filter(|_| found.next().is_none())?;
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

/// A number for the class of words that can replace this one when a question is asked again with one word changed.
fn substitution_class(concept: &Concept) -> Option<u8> {
    match concept {
        Concept::Ask(_) => Some(0),
        Concept::Edge(_) => Some(1),
        Concept::Lines { .. } | Concept::TextUnit(_) | Concept::Characters => Some(2),
        Concept::Superlative { .. } => Some(3),
        _ => None,
    }
}

/// The reading of "and the average?" after "the sum of …": the question before with one of its words replaced by one of
/// the same kind; `None` unless exactly one question comes of it.
pub(super) fn substituted(context: &Context<'_>, tokens: &[Token]) -> Option<Vec<Built>> {
    let earlier = context.earlier?;
    let is_filler = |token: &&Token| {
        const FILLERS: [&str; 11] = ["and", "the", "what", "about", "one", "ones", "in", "for", "of", "with", "from"];
        matches!(token.class, Class::Stop | Class::Comma) || FILLERS.contains(&token.folded.as_str())
    };
    // "what is their average salary?" after a question about a table asks it of the same rows.
    let refers = (0..tokens.len()).any(|at| phrase("rows spoken of", tokens, at).is_some());
    if refers && let Some(built) = of_table(context, &[tokens, &lex(earlier)].concat()) {
        return Some(vec![built]);
    }
    let said: Vec<&Token> = tokens.iter().filter(|token| !is_filler(token)).collect();
    let [only] = said.as_slice() else { return None };
    let opens = is_word(tokens.first(), "and") || is_word(tokens.first(), "what");
    let classes = |word: &str| -> Vec<u8> {
        let class = |meaning: &Meaning| match meaning {
            Meaning::Concept(concept) => substitution_class(concept),
            Meaning::FileType { .. } => None,
        };
        lexicon().meanings(word).iter().filter_map(class).collect()
    };
    let wanted = classes(&only.folded);
    let says_one = tokens.iter().any(|token| is_word(Some(token), "one"));
    let old = lex(earlier);
    let plain = Context { is_lost: false, ..*context };
    let asked = |request: &str| {
        let tokens = lex(request);
        as_said(&plain, request, &tokens, None).ok().or_else(|| of_table(&plain, &tokens).map(|built| vec![built]))
    };
    // What was looked for may be another text: "and warnings?" after "how many errors are in a.log".
    // A verb for a change is no text to look for.
    let is_act = |meaning: &Meaning| matches!(meaning, Meaning::Concept(Concept::Do(_) | Concept::Act));
    let is_new_text = wanted.is_empty() && !lexicon().meanings(&only.folded).iter().any(is_act);
    let texts = if is_new_text { asked(earlier).map(|built| quoted_texts(&built)) } else { None };
    let is_text = |token: &Token| {
        let stem = token.folded.trim_end_matches('s');
        texts.iter().flatten().any(|text| text.to_lowercase().trim_end_matches('s') == stem)
    };
    let mut found: Vec<Vec<Built>> = Vec::new();
    for (at, token) in old.iter().enumerate().filter(|_| opens) {
        let is_counted = says_one && matches!(old.get(at + 1).map(|next| &next.class), Some(Class::Number(_)));
        if is_counted
            || token.folded == only.folded
            || !(is_text(token) || classes(&token.folded).iter().any(|class| wanted.contains(class)))
        {
            continue;
        }
        let mut request = earlier.to_owned();
        request.replace_range(token.span.clone(), &only.raw);
        let Some(built) = asked(&request) else { continue };
        let is_act = built.iter().any(|built| matches!(built.step, Step::Do(_)));
        if !is_act && !found.contains(&built) {
            found.push(built);
        }
    }
    found.pop().filter(|_| found.is_empty())
}

/// The texts that steps look for, as their reading has them in quotes.
fn quoted_texts(built: &[Built]) -> Vec<String> {
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

/// Whether steps are different questions with answers of one type that look for the same texts.
fn are_alike(found: &[Built]) -> bool {
    let asked = |built: &Built| match &built.step {
        Step::Ask(query) => query.ty().ok().map(|ty| (ty, quoted_texts(std::slice::from_ref(built)))),
        Step::Do(_) => None,
    };
    found.windows(2).all(|pair| match pair {
        [a, b] => asked(a).is_some() && asked(a) == asked(b) && a.step != b.step,
        _ => false,
    })
}

/// The steps of a request; in questions alone, a bare name that is not here is that of the only entry of this name
/// below, and a text that no line has in this letter case is looked for in any case.
pub(super) fn located(context: &Context<'_>, tokens: &[Token], mut built: Vec<Built>) -> Vec<Built> {
    if built.iter().any(|built| matches!(built.step, Step::Do(_))) {
        let is_only = built.len() == 1;
        // What a new file is made from is an answer too; an edit of the file itself looks for the text as typed.
        for Built { step, assumptions, .. } in &mut built {
            if let Step::Do(Act::Save { of, to }) = step
                && !matches!(of.source(), Query::TextFile { path } if path == to)
            {
                // A new file changes none of those it is made from.
                if is_only && context.on_disk(to).is_none() {
                    assumptions.extend(taken(&settled(context, of)));
                }
                any_case(context, tokens, of, assumptions);
            }
        }
        return built;
    }
    let in_place = |mut built: Built| {
        let Step::Ask(query) = &mut built.step else { return built };
        let found = settled(context, query);
        built.assumptions.retain(|note| !found.iter().any(|(path, ..)| note.contains(path)));
        built.assumptions.extend(taken(&found));
        built.scope = found.into_iter().next_back().map(|(_, found, _)| found).or(built.scope);
        any_case(context, tokens, query, &mut built.assumptions);
        any_ending(context, query, &mut built.assumptions);
        by_number(context, tokens, query, &mut built.assumptions);
        one_best(tokens, query, &mut built.assumptions);
        built
    };
    built.into_iter().map(in_place).collect()
}

/// The notes on names that were taken for files elsewhere.
fn taken(found: &[(String, String, &str)]) -> Vec<String> {
    let note = |(path, found, only): &(String, String, &str)| {
        format!("“{}” is taken as {found}, {only}", file_name(path).unwrap_or_default())
    };
    found.iter().map(note).collect()
}

/// Makes a query look for files with a name and any ending, if none has the name without one; adds a note.
fn any_ending(context: &Context<'_>, query: &mut Query, notes: &mut Vec<String>) {
    let Query::Tree { roots, .. } = query.source() else { return };
    if roots.iter().any(|root| context.below(root).is_none()) {
        return;
    }
    let mut other = query.clone();
    let Some(name) = set_any_ending(&mut other) else { return };
    if is_empty(context, query) == Some(true) && is_empty(context, &other) == Some(false) {
        *query = other;
        notes.push(format!("no file is named “{name}” without an ending, so those with one are meant"));
    }
}

/// Makes the condition on a name without an ending accept any ending; returns the name.
fn set_any_ending(query: &mut Query) -> Option<String> {
    let Query::Filter { of, keep } = query else { return set_any_ending(query.operands_mut().next()?) };
    let parts = if let Pred::All(parts) = keep { parts.as_mut_slice() } else { std::slice::from_mut(keep) };
    let named = parts.iter_mut().find_map(|part| match part {
        Pred::Name(NameTest::Is(name)) | Pred::NameIgnoringCase(NameTest::Is(name)) if !name.contains('.') => {
            let name = std::mem::take(name);
            *part = Pred::NameIgnoringCase(NameTest::Starts(format!("{name}.")));
            Some(name)
        }
        _ => None,
    });
    named.or_else(|| set_any_ending(of))
}

/// Sorts the lines of a file that are all numbers by number, unless the request names another order; adds a note.
fn by_number(context: &Context<'_>, tokens: &[Token], query: &mut Query, notes: &mut Vec<String>) {
    let Query::Sort { of, keys } = query else { return };
    let [SortKey { by: key @ Key::Text, .. }] = keys.as_mut_slice() else { return };
    let says_text = |token: &Token| token.folded.starts_with("alphabet") || ["text", "name"].contains(&&*token.folded);
    let is_number = |line: &Line| String::from_utf8_lossy(&line.text).trim().parse::<f64>().is_ok();
    let Query::TextFile { .. } = of.as_ref() else { return };
    let Ok(Answer::Lines(lines)) = evaluate(of, context.fs) else { return };
    if !lines.is_empty() && lines.iter().all(is_number) && !tokens.iter().any(says_text) {
        *key = Key::Numeric;
        notes.push("the lines are numbers, so they are sorted as numbers".to_owned());
    }
}

/// Limits the answer to "which of the folders is the biggest" to one; removes the note on the number assumed.
fn one_best(tokens: &[Token], query: &mut Query, notes: &mut Vec<String>) {
    let said: Vec<&str> =
        tokens.iter().filter(|token| token.class == Class::Word).map(|token| token.folded.as_str()).collect();
    let is_one = matches!(said.as_slice(), ["which", .., "is" | "was", "the", _] | ["which", .., "is" | "was", _]);
    let is_assumed = |note: &String| note.starts_with("no number was named: the first");
    fn first(query: &mut Query) {
        match query {
            Query::Limit { count, .. } => *count = 1,
            other => other.operands_mut().next().into_iter().for_each(first),
        }
    }
    if is_one && notes.iter().any(is_assumed) {
        notes.retain(|note| !is_assumed(note));
        first(query);
    }
}

/// Whether the answer to a query has nothing in it; `None` if it can't be told.
fn is_empty(context: &Context<'_>, query: &Query) -> Option<bool> {
    match evaluate(query, context.fs) {
        Ok(Answer::Lines(lines)) => Some(lines.is_empty()),
        Ok(Answer::Files(files)) => Some(files.is_empty()),
        Ok(Answer::Number(number)) => Some(number == 0),
        Ok(Answer::Truth(truth)) => Some(!truth),
        _ => None,
    }
}

/// Makes a query look for a text in any letter case, if no line has it as typed and it was not quoted; adds a note.
fn any_case(context: &Context<'_>, tokens: &[Token], query: &mut Query, notes: &mut Vec<String>) {
    if !matches!(query.source(), Query::TextFile { .. } | Query::Tree { .. }) {
        return;
    }
    let is_small = |root: &String| context.below(root).is_some();
    let is_of_folder = matches!(query.source(), Query::Tree { .. });
    if matches!(query.source(), Query::Tree { roots, .. } if !roots.iter().all(is_small)) {
        return;
    }
    let is_exact = |text: &str| {
        let is_quoted = |token: &Token| token.class == Class::Quoted && token.raw == text;
        text.chars().any(char::is_uppercase) || !text.is_ascii() || tokens.iter().any(is_quoted)
    };
    let says_case = tokens.iter().any(|token| token.folded.contains("case"));
    let mut other = query.clone();
    if says_case || !set_any_case(&mut other, &is_exact) {
        return;
    }
    if is_of_folder && evaluate(query, context.fs).ok() != evaluate(&other, context.fs).ok() {
        *query = other;
        notes.retain(|note| !note.starts_with("upper and lower case differ in the text"));
        notes.push("upper and lower case are not told apart in the text looked for".to_owned());
    } else if is_empty(context, query) == Some(true) && is_empty(context, &other) == Some(false) {
        *query = other;
        notes.push("no line has it in this letter case, so the case is ignored".to_owned());
    }
}

/// Makes the conditions on lines of a query ignore case; `false` if it has none, or one that must be exact or is
/// negated.
fn set_any_case(query: &mut Query, is_exact: &impl Fn(&str) -> bool) -> bool {
    match query {
        Query::Filter { keep: Pred::Contains { text, ignore_case }, .. }
        | Query::Filter { keep: Pred::Word { text, ignore_case }, .. } => {
            let fits = !*ignore_case && !is_exact(text);
            *ignore_case = fits || *ignore_case;
            fits
        }
        other => other.operands_mut().next().is_some_and(|of| set_any_case(of, is_exact)),
    }
}
