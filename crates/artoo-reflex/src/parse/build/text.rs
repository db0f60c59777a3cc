//! Queries about the lines of one file.

use super::super::draft::{Ask, Draft, LinesWanted};
use super::Misfit;
use crate::algebra::{Function, Pred, Query};
use crate::concept::Verb;
use crate::place::{Looks, file_name};

pub(super) fn build(draft: &mut Draft) -> Result<Query, Misfit> {
    let path = path(draft)?;
    let verb = draft.verb.take();
    let text = Query::TextFile { path };
    let ignore_case = draft.ignore_case.take();
    let mut matches = Vec::new();
    for pred in std::mem::take(&mut draft.preds) {
        if let Pred::Contains { text, .. } = pred {
            matches.push(text);
        } else {
            draft.preds.push(pred);
        }
    }
    matches.extend(draft.needle.take());
    if matches.is_empty() && ignore_case.is_some() {
        draft.ignore_case = ignore_case;
    }
    let has_match = !matches.is_empty();
    let ignore_case = ignore_case.unwrap_or(false);
    let keep = Pred::All(matches.into_iter().map(|text| Pred::Contains { text, ignore_case }).collect());
    let lines = match draft.lines.take() {
        None | Some(LinesWanted::All) => Query::Filter { of: Box::new(text), keep },
        Some(LinesWanted::Part(_)) if has_match => {
            return Err(Misfit::Question { question: "text to match", of: "a numbered stretch of lines" });
        }
        Some(LinesWanted::Part(part)) => Query::Part { of: Box::new(text), part },
    };
    let counted = match draft.ask.take() {
        None => false,
        Some(Ask::Count) => true,
        Some(Ask::CountThem) if verb == Some(Verb::Find) => true,
        Some(other) => {
            draft.ask = Some(other);
            false
        }
    };
    match (counted, &lines) {
        (true, Query::Part { .. }) => Err(Misfit::Question { question: "a count", of: "a numbered stretch of lines" }),
        (true, _) => Ok(Query::Aggregate { of: Box::new(lines), function: Function::Count }),
        (false, _) => Ok(lines),
    }
}

/// The file whose lines are meant: named with or without "in", perhaps with its folder apart.
fn path(draft: &mut Draft) -> Result<String, Misfit> {
    match (draft.object.take(), draft.scope.take()) {
        (Some(file), Some(folder)) if file.bare && folder.looks != Looks::File => {
            let name = file_name(&file.path).unwrap_or_default();
            Ok(format!("{}/{name}", folder.path.trim_end_matches('/')))
        }
        (Some(file), Some(folder)) => {
            draft.object = Some(file);
            draft.scope = Some(folder);
            Err(Misfit::Leftover(Box::new(draft.clone())))
        }
        (Some(place), None) if place.looks == Looks::Folder => {
            Err(Misfit::Question { question: "lines of text", of: "a folder" })
        }
        // Without a word for lines, "read x" or "the contents of x" may speak of a folder.
        (Some(place), None) if place.looks == Looks::Open && draft.lines.is_none() && draft.needle.is_none() => {
            Err(Misfit::FolderOrFile { path: place.path })
        }
        (Some(place), None) => Ok(place.path),
        (None, Some(place)) if place.looks != Looks::Folder && draft.lines.is_some() => Ok(place.path),
        (None, _) => Err(Misfit::NoFile),
    }
}
