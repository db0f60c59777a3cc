//! File names with spaces: found in a request by quotes, or by comparison with the paths that tool calls used.

use std::ops::Range;

use super::{has_extension, looks_like_path, unquoted};

/// Characters that can quote a file name in a request.
const QUOTES: [char; 3] = ['"', '\'', '`'];

/// Splits a text at white space into words. A quoted path is one word, even if it contains spaces.
pub(crate) fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let quoted = quoted_path(rest).unwrap_or(0);
        let behind = rest.get(quoted..).unwrap_or_default();
        let end = quoted + behind.find(char::is_whitespace).unwrap_or(behind.len());
        let (token, left) = rest.split_at(end);
        tokens.push(token);
        rest = left.trim_start();
    }
    tokens
}

/// Length in bytes of the quoted path at the start of a text, with its quotes; `None` if there is none.
fn quoted_path(text: &str) -> Option<usize> {
    let quote = text.chars().next().filter(|first| QUOTES.contains(first))?;
    let inner = text.get(1..)?;
    // Not the apostrophe of "don't".
    let closes = |at: &usize| !inner.get(at + 1..).unwrap_or_default().starts_with(char::is_alphanumeric);
    let close = inner.match_indices(quote).map(|(at, _)| at).find(closes)?;
    looks_like_path(inner.get(..close)?).then_some(close + 2)
}

/// A request in lowercase, in which each name with spaces that stands for one of `paths` is replaced by `it`.
pub(crate) fn without_names<'a>(request: &str, paths: impl Iterator<Item = &'a String>) -> String {
    let mut lower = request.to_lowercase();
    for path in paths {
        if let Some(span) = spaced_span(&lower, &path.to_lowercase()) {
            lower.replace_range(span, "it");
        }
    }
    lower
}

/// The byte range in which a request names `path` by its last parts, if these contain a space. Both texts are
/// lowercase.
///
/// A name without quotes is found only if just its last word has an extension: `a.txt and b.txt` are two files.
pub(super) fn spaced_span(request: &str, path: &str) -> Option<Range<usize>> {
    let path = path.trim_end_matches('/');
    let ends = std::iter::once(0).chain(path.match_indices('/').map(|(at, _)| at + 1));
    ends.filter_map(|from| path.get(from..)).filter(|name| name.contains(char::is_whitespace)).find_map(|name| {
        let is_plain = name
            .rsplit_once(char::is_whitespace)
            .is_some_and(|(first, _)| !first.split_whitespace().any(|word| has_extension(unquoted(word))));
        let mut places = request.match_indices(name).map(|(at, _)| at..at + name.len());
        places.find(|span| stands_alone(request, span, is_plain))
    })
}

/// Whether the text at `span` of a request is a complete name: quoted, or not a part of a longer path or word.
fn stands_alone(request: &str, span: &Range<usize>, is_plain: bool) -> bool {
    let before = request.get(..span.start).unwrap_or_default();
    let after = request.get(span.end..).unwrap_or_default();
    let before = before.strip_suffix("~/").or_else(|| before.strip_suffix("./")).unwrap_or(before);
    let (last, next) = (before.chars().next_back(), after.chars().next());
    let is_quoted = last.is_some_and(|quote| QUOTES.contains(&quote)) && last == next;
    let goes_on = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || matches!(c, '/' | '_' | '-'));
    let has_end = |rest: &str| rest.chars().nth(1).is_some_and(char::is_alphanumeric);
    let is_part = goes_on(last) || goes_on(next) || (after.starts_with('.') && has_end(after));
    is_quoted || (is_plain && !is_part)
}
