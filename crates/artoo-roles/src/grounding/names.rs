//! The words of a text, in which a quoted file name with spaces is one word.

use super::looks_like_path;

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
