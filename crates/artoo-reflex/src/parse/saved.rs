//! Answers that are written into a new file: "write the error lines of app.log into errors.txt".

use super::antecedent::Antecedent;
use super::as_said;
use super::build::Built;
use super::clauses::{after_lead, phrase};
use super::item::Context;
use super::mend::of_table;
use super::offer;
use super::pattern::is_word;
use crate::algebra::{Act, Query, Step, Ty};
use crate::english::is_measured;
use crate::kinds;
use crate::lex::{Class, Token, lex};
use crate::place::{PathKind, file_name, parent};

/// Endings of files that hold lines of any kind.
const LISTS: [&str; 5] = [".txt", ".log", ".md", ".lst", ".list"];

/// The step that writes the answer to a question into the new file that the request ends with; `None` if the rest of the
/// request has no single reading as a question.
pub(super) fn saved(
    context: &Context<'_>,
    text: &str,
    tokens: &[Token],
    before: Option<&Antecedent>,
) -> Option<Vec<Built>> {
    let (asked, name, is_beside) = named_last(tokens).or_else(|| named_first(tokens))?;
    let place = context.resolve(&name.raw).filter(|place| place.kind == PathKind::File)?;
    let is_table = [".csv", ".tsv"].iter().any(|ending| place.path.ends_with(ending));
    if !is_table && !LISTS.iter().any(|ending| place.path.ends_with(ending)) {
        return None;
    }
    let said = text.get(asked.first()?.span.start..asked.last()?.span.end)?;
    let mut found: Vec<Built> = Vec::new();
    for request in [said.to_owned(), format!("show {said}"), format!("list {said}")] {
        let Some(built) = only_question(context, &request, before) else { continue };
        if !found.iter().any(|known| known.step == built.step) {
            found.push(built);
        }
    }
    let mut built = found.pop().filter(|_| found.is_empty())?;
    // Of files sorted by size, a file takes the paths alone, unless their sizes are asked for.
    let says_sizes = tokens.iter().any(|token| is_word(Some(token), "sizes"));
    let of = match built.step {
        Step::Ask(Query::Details { of }) if is_measured(&of) && !says_sizes => *of,
        Step::Ask(of) => of,
        Step::Do(_) => return None,
    };
    if kinds::is_whole_column(&of) {
        return None;
    }
    let path = match (is_beside, of.source()) {
        (false, _) => place.path,
        (true, Query::Tree { roots: places, .. } | Query::Paths { paths: places, .. }) if place.bare => {
            let [only] = places.as_slice() else { return None };
            let is_within = matches!(of.source(), Query::Tree { .. }) || context.is_folder(only);
            let folder = if is_within { only } else { parent(only) };
            format!("{folder}/{}", file_name(&place.path)?)
        }
        (true, Query::TextFile { path }) if place.bare => format!("{}/{}", parent(path), file_name(&place.path)?),
        _ => return None,
    };
    if context.is_taken(&path) {
        return None;
    }
    // Rows keep their heading in a table of their own.
    let of = if is_table { kinds::with_heading(of, &path)? } else { of };
    let is_text = matches!(of.ty(), Ok(Ty::Lines | Ty::Number | Ty::Files | Ty::Rows | Ty::Groups));
    let is_whole_file = matches!(of, Query::TextFile { .. } | Query::Paths { .. });
    built.step = Step::Do(Act::Save { of, to: path });
    (is_text && !is_whole_file).then(|| vec![built])
}

/// What a request asks, the new file that it ends with, and whether "in the same folder" follows.
fn named_last(tokens: &[Token]) -> Option<(&[Token], &Token, bool)> {
    let end =
        (1..=tokens.len()).rev().find(|end| tokens.get(end - 1).is_some_and(|token| token.class != Class::Stop))?;
    let end = end - usize::from(end > 1 && phrase("courtesy", tokens, end - 1) == Some(end));
    // "into list.txt in the same folder".
    let beside = (0..end).find(|at| phrase("same folder", tokens, *at) == Some(end));
    let end = beside.unwrap_or(end).max(1);
    let name = tokens.get(end - 1).filter(|token| names_file(token))?;
    let joint = (0..end - 1).rev().find(|at| phrase("into a file", tokens, *at) == Some(end - 1))?;
    let begin = after_lead(tokens, 0);
    let asked = match phrase("saves", tokens, begin) {
        Some(verb) => tokens.get(verb..joint)?,
        // "count the lines of a.txt, save it as n.txt".
        None => {
            let it = (begin + 1..joint).find(|at| phrase("and save it", tokens, *at) == Some(joint));
            // "the error lines of app.log into a new file errors.txt".
            let is_into = is_word(tokens.get(joint), "into") && tokens.iter().any(|token| token.folded == "file");
            let is_as = is_word(tokens.get(joint), "as") || is_into;
            let asked = tokens.get(begin..it.or(Some(joint).filter(|_| is_as))?)?;
            match asked {
                [asked @ .., comma] if comma.class == Class::Comma => asked,
                asked => asked,
            }
        }
    };
    Some((asked, name, beside.is_some()))
}

/// What a request asks and the new file that it names first, as in "make a file a.txt that lists …", "into a.txt write …".
fn named_first(tokens: &[Token]) -> Option<(&[Token], &Token, bool)> {
    let begin = after_lead(tokens, 0);
    let at = (begin..tokens.len()).find(|at| tokens.get(*at).is_some_and(names_file))?;
    let end =
        (at + 1..tokens.len()).rev().find(|end| tokens.get(*end).is_some_and(|token| token.class != Class::Stop))?;
    let makes = phrase("makes a file", tokens, begin) == Some(at);
    let opens = phrase("into a file", tokens, begin) == Some(at);
    let from = phrase(if makes { "that holds" } else { "and saves" }, tokens, at + 1)?;
    Some((tokens.get(from..=end)?, tokens.get(at)?, false)).filter(|_| makes || opens)
}

/// Whether a token is the name or path of a file.
fn names_file(token: &Token) -> bool {
    matches!(token.class, Class::FileName | Class::Path)
}

/// The only question that a request asks, read as it stands, of a table or of a file that it describes.
fn only_question(context: &Context<'_>, request: &str, before: Option<&Antecedent>) -> Option<Built> {
    let tokens = &lex(request);
    let mut built = as_said(context, request, tokens, before)
        .ok()
        .or_else(|| of_table(context, tokens).map(|built| vec![built]))
        .or_else(|| offer::quoted(context, request, tokens, before))?;
    built.pop().filter(|last| built.is_empty() && matches!(last.step, Step::Ask(_)))
}
