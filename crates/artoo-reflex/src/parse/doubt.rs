//! Readings that take every word for something, but not for what it can mean together with the others.

use std::path::Path;

use super::item::Context;
use super::pattern::{is_word, wishes_new};
use crate::algebra::{Act, Function, Pred, Query, Step};
use crate::english::{english, quoted};
use crate::eval::regex;
use crate::lex::{Class, Token};

/// Pairs of texts in the English of readings: a reading with the first is meant rather than one with the second, as the
/// entries of an archive are rather than its lines.
const LIKELIER: [(&str, &str); 8] = [
    ("show the entries of the archive ", "show the lines of the file "),
    (" ending in .", " ending with \""),
    ("pack the folder \"", "pack \""),
    (" without line ", ", except containing \""),
    ("create the file ", "add \""),
    (" on the search path", ", named \""),
    ("show the location of the program ", "list the files "),
    (" in the name, whatever the case of its letters", " containing \""),
];

/// Removes readings whose English marks them as the less likely of a pair in `LIKELIER`, if the other one of the pair is
/// among the readings.
pub(super) fn keep_likely<T>(readings: &mut Vec<T>, english: impl Fn(&T) -> String) {
    let says = |reading: &T, text: &str| english(reading).contains(text);
    for (likely, other) in LIKELIER {
        if readings.iter().any(|reading| says(reading, likely)) {
            readings.retain(|reading| says(reading, likely) || !says(reading, other));
        }
    }
}

/// Whether a step can't be what these tokens ask for.
pub(super) fn is_misread(context: &Context<'_>, step: &Step, tokens: &[Token]) -> bool {
    let asks = |query: &Query| {
        takes_literally(query, tokens)
            || sums_text(query, tokens)
            || seeks_each(query, tokens)
            || seeks_program(query, tokens)
            || lists_open(query, tokens)
            || counts_verb(query, tokens)
            || lists_text(query, tokens)
            || counts_others(query, tokens)
            || tells_own(query, tokens)
            || looks_elsewhere(query)
            || wishes_new(tokens) && english(query).contains(" named \"")
    };
    excepts_all(step)
        || is_no_archive(step)
        || matches!(step, Step::Ask(query) if asks(query) || shows_newer(query, tokens) || leaves_folder(context, query, tokens))
}

/// Whether a word that stands for a folder is taken for something else: a capitalized kind of file, as in "the Documents
/// files", or the first word of "tmp has how many files".
fn leaves_folder(context: &Context<'_>, query: &Query, tokens: &[Token]) -> bool {
    tokens.iter().enumerate().any(|(at, token)| {
        let next = |words: &[&str]| words.iter().any(|word| is_word(tokens.get(at + 1), word));
        let is_name = token.raw.starts_with(char::is_uppercase) && token.raw.ends_with(|c: char| c.is_lowercase());
        let is_topic = at == 0 && (next(&["has", "contains", "holds"]) || is_name && next(&[":", "-", ","]));
        let before = at.checked_sub(1).and_then(|at| tokens.get(at));
        let is_subject = ["does", "do", "has"].iter().any(|word| is_word(before, word));
        let is_meant = is_topic || is_name && (is_subject || next(&["file", "files", "folder"]));
        let folder = context.resolve(&token.raw).filter(|place| is_meant && context.is_folder(&place.path));
        folder.is_some_and(|place| !english(query).contains(&place.path))
    })
}

/// Whether a query looks for the very signs of a text that `grep` or "matching" takes for a regular expression.
pub(super) fn takes_literally(query: &Query, tokens: &[Token]) -> bool {
    let is_match = |token: &Token| matches!(token.folded.as_str(), "grep" | "match" | "matches" | "matching");
    if !tokens.iter().any(is_match) {
        return false;
    }
    let says_for = tokens.iter().any(|token| is_word(Some(token), "for"));
    let is_command = is_word(tokens.first(), "grep") && !says_for;
    let is_pattern = |text: &str| regex::is_meant(text) || (is_command && regex::has_signs(text));
    let reading = english(query);
    let is_literal = |text: &str| is_pattern(text) && reading.contains(&format!("containing {}", quoted(text)));
    if is_word(tokens.first(), "grep") {
        return !tokens.iter().any(|token| token.raw == "-F") && tokens.iter().any(|token| is_literal(&token.raw));
    }
    tokens.windows(2).any(|pair| matches!(pair, [word, text] if is_match(word) && is_literal(&text.raw)))
}

/// Whether a query counts occurrences of the word after "every" or "each", as for "occurrences of every fruit", which asks
/// for a number of each.
fn seeks_each(query: &Query, tokens: &[Token]) -> bool {
    tokens.windows(2).any(|pair| {
        matches!(pair, [each, word] if ["every", "each"].iter().any(|known| is_word(Some(each), known))
            && word.class == Class::Word
            && english(query).contains(&format!("occurrences of \"{}\"", word.raw)))
    })
}

/// Whether a query counts occurrences of the verb of the question, as for "how often is the mentioned in a.txt".
fn counts_verb(query: &Query, tokens: &[Token]) -> bool {
    let is_counted = |pair: &[Token]| matches!(pair, [_, verb] if english(query).contains(&format!("occurrences of \"{}\"", verb.raw)));
    let asks = |pair: &[Token]| {
        matches!(pair, [often, verb] if ["often", "times", "frequently"].contains(&often.folded.as_str())
            && ["is", "are", "was", "were", "do", "does"].iter().any(|word| is_word(Some(verb), word)))
    };
    tokens.windows(2).any(|pair| asks(pair) && is_counted(pair))
}

/// Whether the query counts the files of a folder although the request asks for the number of results of the question
/// before: "how many things is that".
fn counts_others(query: &Query, tokens: &[Token]) -> bool {
    let says = |at: usize, words: &[&str]| {
        let token = tokens.len().checked_sub(at).and_then(|at| tokens.get(at));
        words.iter().any(|word| is_word(token, word))
    };
    let is_of_here = matches!(query, Query::Aggregate { of, .. } if matches!(of.as_ref(), Query::Tree { .. }));
    is_of_here && says(2, &["is", "are"]) && says(1, &["that", "it", "those", "they", "these"])
}

/// Whether the query asks for a fact of the machine although "its" or "their" refers to the result before: "its date".
fn tells_own(query: &Query, tokens: &[Token]) -> bool {
    let is_of_it = |token: &Token| ["its", "their"].contains(&token.folded.as_str());
    matches!(query, Query::System { .. }) && tokens.iter().any(is_of_it)
}

/// Whether files of a folder are looked for in another one, where none of them can be.
fn looks_elsewhere(query: &Query) -> bool {
    let Query::Filter { of, keep } = query else { return query.operand().is_some_and(looks_elsewhere) };
    let roots = if let Query::Tree { roots, .. } = of.source() { roots.as_slice() } else { &[] };
    let parts = if let Pred::All(parts) = keep { parts.as_slice() } else { std::slice::from_ref(keep) };
    let is_apart = |folder: &str| {
        roots.iter().all(|root| !Path::new(folder).starts_with(root) && !Path::new(root).starts_with(folder))
    };
    !roots.is_empty() && parts.iter().any(|part| matches!(part, Pred::Inside(folder) if is_apart(folder)))
}

/// Whether the query lists a file although the request asks for its whole text: "the whole poem.txt".
fn lists_text(query: &Query, tokens: &[Token]) -> bool {
    let is_whole = |token: &Token| ["whole", "entire"].contains(&token.folded.as_str());
    matches!(query, Query::Paths { paths, .. } if paths.len() == 1) && tokens.iter().any(is_whole)
}

/// Whether files are listed although the request asks for open ones.
fn lists_open(query: &Query, tokens: &[Token]) -> bool {
    let are_files = |token: &Token| ["file", "files", "documents"].contains(&token.folded.as_str());
    let is_said = |pair: &[Token]| matches!(pair, [open, of] if is_word(Some(open), "open") && are_files(of));
    matches!(query.source(), Query::Tree { .. }) && tokens.windows(2).any(is_said)
}

/// Whether the name of a program or thing is looked for in files though the request asks whether it is there: "is git
/// available", "has code/site got any tags".
fn seeks_program(query: &Query, tokens: &[Token]) -> bool {
    let says = |words: &[&str]| tokens.iter().any(|token| words.contains(&token.folded.as_str()));
    let is_asked = says(&["available", "installed", "running"]) || is_word(tokens.first(), "has") && says(&["got"]);
    is_asked
        && !says(&["file", "files", "word", "text", "line", "lines"])
        && matches!(query, Query::Aggregate { function: Function::Any, .. } | Query::Filter { .. })
        && matches!(query.source(), Query::Tree { .. })
        && english(query).contains("containing \"")
}

/// Whether a query shows the text of the newest of several files though the request asks which file it is.
fn shows_newer(query: &Query, tokens: &[Token]) -> bool {
    let is_shown = |reading: &str| reading.starts_with("show the lines of the ") && reading.contains("est one");
    tokens.iter().any(|token| is_word(Some(token), "which")) && is_shown(&english(query))
}

/// Whether a step selects files of some kinds and excludes all of these kinds, as "the PDFs except Documents" does if the
/// last word is read as a kind and not as a folder.
fn excepts_all(step: &Step) -> bool {
    let of = match step {
        Step::Ask(query) => Some(query),
        Step::Do(act) => act.selection(),
    };
    let mut chain = std::iter::successors(of, |of| of.operand());
    chain.any(|of| if let Query::Filter { keep: Pred::All(parts), .. } = of { kinds_except_all(parts) } else { false })
}

/// Whether a query adds up the numbers in files found below a folder though the request names no numbers: "the total of
/// songs in Music" counts them, and "add up the lines of the .py files" counts lines.
fn sums_text(query: &Query, tokens: &[Token]) -> bool {
    let words = ["number", "numbers", "value", "values", "amount", "amounts", "figures"];
    let is_table = |path: &str| [".csv", ".tsv"].iter().any(|ending| path.ends_with(ending));
    let is_text = match query.source() {
        Query::Tree { .. } => true,
        // "the total of expenses.csv" adds no dates.
        Query::TextFile { path } => {
            is_table(path)
                && matches!(query, Query::Aggregate { of, .. } if **of == Query::TextFile { path: path.clone() })
        }
        _ => false,
    };
    let is_computed = |function: &Function| match function {
        Function::Sum => true,
        Function::Average | Function::Maximum | Function::Minimum => matches!(query.source(), Query::TextFile { .. }),
        _ => false,
    };
    matches!(query, Query::Aggregate { function, .. } if is_computed(function))
        && is_text
        && !tokens.iter().any(|token| words.contains(&&*token.folded))
}

/// Whether a step creates an empty file with the name of an archive: "create an archive a.zip from docs" packs one.
fn is_no_archive(step: &Step) -> bool {
    let Step::Do(Act::CreateFile { path, text }) = step else { return false };
    text.is_empty() && [".zip", ".tar", ".gz", ".tgz"].iter().any(|ending| path.ends_with(ending))
}

/// Whether one of several conditions asks for kinds of file that another one excludes.
fn kinds_except_all(parts: &[Pred]) -> bool {
    let kinds = |pred: &Pred| match pred {
        Pred::Extension(_) => Some(vec![pred.clone()]),
        Pred::Any(kinds) if kinds.iter().all(|kind| matches!(kind, Pred::Extension(_))) => Some(kinds.clone()),
        _ => None,
    };
    let asked: Vec<Pred> = parts.iter().filter_map(kinds).flatten().collect();
    let excepted = parts.iter().filter_map(|part| if let Pred::Not(inner) = part { kinds(inner) } else { None });
    !asked.is_empty() && excepted.into_iter().any(|excepted| asked.iter().all(|kind| excepted.contains(kind)))
}
