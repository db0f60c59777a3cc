//! Names of files that hold spaces: found in a request by its quotes, or by the paths that calls really touched.

use std::ops::Range;

use super::{has_extension, looks_like_path, unquoted};

const QUOTES: [char; 3] = ['"', '\'', '`'];

/// The words of a text; a quoted path is one word, whatever spaces it holds.
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

/// The length of the quoted path that a text begins with, its quotes included.
fn quoted_path(text: &str) -> Option<usize> {
    let quote = text.chars().next().filter(|first| QUOTES.contains(first))?;
    let inner = text.get(1..)?;
    // Not the apostrophe of "don't".
    let closes = |at: &usize| !inner.get(at + 1..).unwrap_or_default().starts_with(char::is_alphanumeric);
    let close = inner.match_indices(quote).map(|(at, _)| at).find(closes)?;
    looks_like_path(inner.get(..close)?).then_some(close + 2)
}

/// A request in lower case, with `it` in place of each of these paths that it names by a name with spaces.
pub(crate) fn without_names<'a>(request: &str, paths: impl Iterator<Item = &'a String>) -> String {
    let mut lower = request.to_lowercase();
    for path in paths {
        if let Some(span) = spaced_span(&lower, &path.to_lowercase()) {
            lower.replace_range(span, "it");
        }
    }
    lower
}

/// Where a request names this path by an end of it that holds spaces; both in lower case.
///
/// Without quotes only a name whose other words could not be names themselves: `a.txt and b.txt` are two files.
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

/// Whether what stands at a place of a request is a whole name there, and no end of another path.
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
