//! Replacements of words of a request: by the names and the words that may be meant.

use std::ops::Range;

use super::super::clauses::{after_lead, lists, phrase};
use super::super::steps::joins;
use crate::lex::{Class, Token};

/// A replacement of bytes of the request, with the number of typing errors it corrects. An empty one deletes the bytes:
/// a clause that only tells something if it corrects none, else a word. One of no bytes adds words.
#[derive(Clone)]
pub(super) struct Edit {
    pub(super) span: Range<usize>,
    pub(super) with: String,
    pub(super) slips: usize,
}

impl Edit {
    /// The name in quotes that the replacement consists of or ends with; without one, the whole replacement.
    pub(super) fn name(&self) -> &str {
        match self.with.split('"').collect::<Vec<_>>().as_slice() {
            [_, name, ""] => name,
            _ => &self.with,
        }
    }
}

/// The request with words that requests are seldom made in replaced by plainer ones: first all of them, then one at a
/// time; empty if it has none of these.
pub(in crate::parse) fn rephrased(text: &str, tokens: &[Token]) -> Vec<String> {
    plainer(tokens).iter().map(|edits| applied(text, edits)).collect()
}

/// The edits that replace words that requests are seldom made in: first all of them, then one at a time.
pub(super) fn plainer(tokens: &[Token]) -> Vec<Vec<Edit>> {
    let (mut edits, mut at) = (Vec::new(), 0);
    while let Some(first) = tokens.get(at) {
        let meant = lists("meant ").filter_map(|list| Some((phrase(list, tokens, at)?, list.strip_prefix("meant ")?)));
        // "open x" asks to see x, "which files are open" doesn't.
        let is_verb = |plain: &str| ["show", "find", "list"].contains(&plain.split(' ').next().unwrap_or_default());
        let ends = |token: &Token| joins(token) || token.class == Class::Stop;
        let opens = at <= after_lead(tokens, 0) || at.checked_sub(1).and_then(|at| tokens.get(at)).is_some_and(ends);
        let longest = meant.filter(|(_, plain)| opens || !is_verb(plain)).max_by_key(|(end, _)| *end);
        if let Some((end, plain)) = longest
            && let Some(last) = tokens.get(end - 1)
        {
            let joint = if first.class == Class::Comma { " " } else { "" };
            let with = format!("{joint}{}", plain.trim_start_matches("nothing"));
            edits.push(Edit { span: first.span.start..last.span.end, with, slips: 0 });
        }
        at = longest.map_or(at + 1, |(end, _)| end);
    }
    let single = edits.iter().map(|edit| vec![edit.clone()]).filter(|_| edits.len() > 1);
    Some(edits.clone()).filter(|all| !all.is_empty()).into_iter().chain(single).collect()
}

/// All edits of two lists, ordered by the bytes they replace; `None` if two of them overlap.
pub(super) fn joined(one: &[Edit], other: &[Edit]) -> Option<Vec<Edit>> {
    let mut all = [one, other].concat();
    all.sort_by_key(|edit| edit.span.start);
    let overlap = |pair: &[Edit]| matches!(pair, [a, b] if a.span.end > b.span.start);
    (!all.windows(2).any(overlap)).then_some(all)
}

/// How far edits take a request from the declined one: the number of edits, then of typing errors they correct; less is
/// nearer.
pub(super) fn cost(edits: &[Edit]) -> (usize, usize) {
    (edits.len(), edits.iter().map(|edit| edit.slips).sum())
}

/// The request text with these edits made; they are in the order of their positions.
pub(super) fn applied(text: &str, edits: &[Edit]) -> String {
    let mut request = text.to_owned();
    edits.iter().rev().for_each(|edit| request.replace_range(edit.span.clone(), &edit.with));
    let request = request.split_whitespace().collect::<Vec<_>>().join(" ");
    // A full stop alone would be the current folder.
    request.strip_suffix(" .").map_or(request.clone(), str::to_owned)
}
