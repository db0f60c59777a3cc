//! The strict reader: finds the one JSON value in a model's reply that fits the schema, or fails with a typed error.
//!
//! Text around the value is tolerated: fences, prose, labels, `<think>` blocks, a byte order mark, and one JSON
//! encoding as a string. The value itself must be valid: no trailing commas, duplicate keys, comments, `NaN` or
//! inexact numbers, and a text that ends inside a value is truncated. Of several complete objects the first that fits
//! is taken; a part of a broken or larger object never is.

use artoo_proto::{ModelFailure, Usage, escape};
use serde_json::Value;

use crate::schema::{self, Misfit};
use text::{first_inside, reasoning_end_outside_strings, reasoning_tag, region};

mod strict;
mod text;

/// Maximum length of a model's reply in bytes: no role needs longer ones, and parsing takes only milliseconds.
pub const MAX_TEXT_BYTES: usize = 1 << 20;

/// Maximum nesting of a model's reply: five levels are needed, and recursion must not exhaust the stack.
pub const MAX_DEPTH: usize = 64;

/// Number of characters of an unreadable reply that an error quotes.
const EXCERPT_CHARS: usize = 200;

/// Maximum number of times that the scan starts again after a reasoning tag that follows broken JSON; each may read the
/// whole text.
const MAX_RESTARTS: usize = 8;

/// Why a reply contains no acceptable value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReaderError {
    /// The reply is blank.
    #[error("the reply is empty")]
    Empty,
    /// The reply is longer than [`MAX_TEXT_BYTES`].
    #[error("the reply has {bytes} bytes, more than {limit}")]
    TooLong { bytes: usize, limit: usize },
    /// The reply ends inside a value or a reasoning block.
    #[error("the reply ends inside {inside}")]
    Cut {
        /// The construct that was not closed, such as an object or a reasoning block.
        inside: &'static str,
    },
    /// The reply contains no JSON object, only prose.
    #[error("the reply contains no JSON object")]
    NoObject,
    /// Invalid JSON, or a part of a broken object.
    #[error("malformed JSON: {problem}")]
    Malformed { problem: String },
    /// A JSON object has the same key twice.
    #[error("the key {key:?} occurs twice in one object")]
    DuplicateKey { key: String },
    /// The value is nested deeper than [`MAX_DEPTH`].
    #[error("nested deeper than {limit} levels")]
    TooDeep { limit: usize },
    /// A number that 64 bits can't represent exactly.
    #[error("a number is too large to be read exactly")]
    InexactNumber,
    /// A complete value that violates the schema.
    #[error("{misfit}")]
    DoesNotFit {
        /// The first violation of the first value.
        misfit: Misfit,
    },
}

impl ReaderError {
    /// Converts the error to the failure that the asking role receives; `text` is the reply, of which the failure
    /// quotes the beginning.
    #[must_use]
    pub fn into_failure(self, text: &str) -> ModelFailure {
        let detail = escape::one_line(&self.to_string());
        let usage = Usage::default();
        if matches!(self, Self::Cut { .. }) {
            return ModelFailure::Cut { detail, usage };
        }
        ModelFailure::Unreadable { detail, excerpt: excerpt(text), usage }
    }
}

/// The beginning of a text, escaped to one line.
pub(crate) fn excerpt(text: &str) -> String {
    escape::one_line(&escape::shorten(text, EXCERPT_CHARS))
}

/// Finds and parses the one JSON value in a model's reply `text` that fits `schema`; text around it is ignored.
///
/// # Errors
/// [`ReaderError`]
pub fn read(text: &str, schema: &Value) -> Result<Value, ReaderError> {
    let text = checked(text, |c| c.is_whitespace() || c == '\u{feff}')?;
    // One decoding at most: a string inside the decoded string stays a string.
    match text.starts_with('"').then(|| serde_json::from_str::<String>(text)) {
        Some(Ok(decoded)) => Scan::new(&decoded, schema).run(),
        Some(Err(_)) | None => Scan::new(text, schema).run(),
    }
}

/// Parses a text that is exactly one JSON value, such as the input of a tool call. Nothing around it is allowed,
/// and a string inside it stays a string.
///
/// # Errors
/// [`ReaderError`], except [`ReaderError::NoObject`] and [`ReaderError::DoesNotFit`].
pub fn exactly(text: &str) -> Result<Value, ReaderError> {
    let text = checked(text, |c| matches!(c, ' ' | '\t' | '\n' | '\r'))?;
    match strict::prefix(text, "a value")? {
        (value, len) if len == text.len() => Ok(value),
        _ => Err(ReaderError::Malformed { problem: "more follows behind it".to_owned() }),
    }
}

/// Removes the spaces around a text; an error if it is too long or blank.
fn checked(text: &str, is_space: fn(char) -> bool) -> Result<&str, ReaderError> {
    if text.len() > MAX_TEXT_BYTES {
        return Err(ReaderError::TooLong { bytes: text.len(), limit: MAX_TEXT_BYTES });
    }
    let text = text.trim_matches(is_space);
    if text.is_empty() { Err(ReaderError::Empty) } else { Ok(text) }
}

/// A linear scan of a model's reply for the JSON value that fits the schema.
struct Scan<'a> {
    text: &'a str,
    schema: &'a Value,
    wants_array: bool,
    at: usize,
    restarts: usize,
    found: Found,
}

/// What the scan found since the last closing reasoning tag: a fitting value, and the first errors of each kind.
#[derive(Default)]
struct Found {
    fitting: Option<Value>,
    misfit: Option<Misfit>,
    /// The first malformed region that is closed; a later complete object may still be accepted.
    malformed: Option<String>,
    /// The first sign that a complete value is part of a broken one; then no value is accepted.
    broken: Option<ReaderError>,
}

impl<'a> Scan<'a> {
    /// Creates a scan at the start of a reply.
    fn new(text: &'a str, schema: &'a Value) -> Self {
        let wants_array = schema.get("type").and_then(Value::as_str) == Some("array");
        Self { text, schema, wants_array, at: 0, restarts: 0, found: Found::default() }
    }

    /// Scans the whole reply and returns the value that fits the schema, or the first error.
    fn run(mut self) -> Result<Value, ReaderError> {
        while let Some(offset) = self.rest().find(['{', '}', '[', '<']) {
            self.at += offset;
            let step = match self.rest().as_bytes().first() {
                Some(b'{') => self.object(),
                Some(b'[') => self.array(),
                Some(b'<') => self.tag(),
                Some(_) => {
                    self.at += 1;
                    self.break_up("a closing brace without an opening one");
                    Ok(())
                }
                None => Ok(()),
            };
            if let Err(error) = step {
                // What went wrong inside unmarked reasoning was not the answer. A tag inside a string of the broken
                // part ends no reasoning: the part may be a cut answer that quotes one.
                let end = reasoning_end_outside_strings(self.rest()).filter(|_| self.restarts < MAX_RESTARTS);
                let Some(after) = end.map(|end| self.at + end) else { return Err(error) };
                self.at = after;
                self.restarts += 1;
                self.found = Found::default();
            }
        }
        match self.found {
            Found { broken: Some(error), .. } => Err(error),
            Found { fitting: Some(value), .. } => Ok(value),
            Found { misfit: Some(misfit), .. } => Err(ReaderError::DoesNotFit { misfit }),
            Found { malformed: Some(problem), .. } => Err(ReaderError::Malformed { problem }),
            Found { .. } => Err(ReaderError::NoObject),
        }
    }

    /// The part of the reply that was not scanned yet.
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Handles an opening brace at the scan's position: records the object that begins there, or skips text in braces.
    fn object(&mut self) -> Result<(), ReaderError> {
        let inside = "an object";
        let problem = match first_inside(self.rest()) {
            Some('"' | '}') => match strict::prefix(self.rest(), inside) {
                Ok((value, len)) => return self.complete(value, len),
                Err(ReaderError::Malformed { problem }) => problem,
                Err(error) => return Err(error),
            },
            Some(_) => "text in braces that is not JSON".to_owned(),
            None => return Err(ReaderError::Cut { inside }),
        };
        self.skip_region('{', '}', problem)
    }

    /// Handles an opening bracket at the scan's position: records the array that begins there, or skips text in
    /// brackets.
    fn array(&mut self) -> Result<(), ReaderError> {
        let rest = self.rest();
        let starts_like_json = first_inside(rest).is_some_and(|c| matches!(c, '{' | '[' | ']' | '"' | '-' | '0'..='9'));
        if !starts_like_json {
            self.at += 1;
            return Ok(());
        }
        match strict::prefix(rest, "an array") {
            Ok((value, len)) => self.complete(value, len),
            Err(ReaderError::Malformed { problem }) => self.skip_region('[', ']', problem),
            Err(error) => Err(error),
        }
    }

    /// Records a complete JSON value, unless the text around it shows that it is a part of a larger, broken one.
    fn complete(&mut self, value: Value, len: usize) -> Result<(), ReaderError> {
        let before = self.text.get(..self.at).unwrap_or_default().trim_end();
        self.at += len;
        let after = self.rest().trim_start();
        let follows_key = before.strip_suffix(':').is_some_and(|key| key.trim_end().ends_with('"'));
        if follows_key || after.starts_with(['}', ']', ':']) {
            self.break_up("a value inside a broken one");
        }
        if !self.wants_array && value.is_array() && !holds_object(&value) {
            return Ok(()); // `[1]` in prose.
        }
        match schema::fit(&value, self.schema) {
            Ok(()) => self.found.fitting = self.found.fitting.take().or(Some(value)),
            Err(misfit) => self.found.misfit = self.found.misfit.take().or(Some(misfit)),
        }
        Ok(())
    }

    /// Skips to the bracket that closes this region and records the region as malformed; an error if none closes it.
    fn skip_region(&mut self, open: char, close: char, problem: String) -> Result<(), ReaderError> {
        match region(self.rest(), open, close) {
            Some(inner) => {
                self.at += inner.len();
                let other = if open == '{' { ['[', ']'] } else { ['{', '}'] };
                let [opened, closed] = other.map(|bracket| inner.matches(bracket).count());
                if closed > opened {
                    // The region began inside a string and ended after the value that contains the string.
                    self.break_up("a closing bracket without an opening one");
                }
                self.found.malformed = self.found.malformed.take().or(Some(problem));
                Ok(())
            }
            None => Err(ReaderError::Malformed { problem }),
        }
    }

    /// Handles a `<` at the scan's position: skips a reasoning block; a closing reasoning tag discards all found before
    /// it.
    fn tag(&mut self) -> Result<(), ReaderError> {
        if reasoning_tag(self.rest(), "</").is_some() {
            self.at += 2;
            self.found = Found::default();
        } else if reasoning_tag(self.rest(), "<").is_some() {
            self.at = self.next_reasoning_end().ok_or(ReaderError::Cut { inside: "its reasoning" })?;
        } else {
            self.at += 1;
        }
        Ok(())
    }

    /// Position after the next closing reasoning tag; `None` if there is none.
    fn next_reasoning_end(&self) -> Option<usize> {
        let rest = self.rest();
        rest.match_indices("</").find_map(|(offset, _)| {
            let tag = reasoning_tag(rest.get(offset..)?, "</")?;
            Some(self.at + offset + tag)
        })
    }

    /// Records the error that the values found so far are parts of a larger, broken value.
    fn break_up(&mut self, problem: &str) {
        let error = ReaderError::Malformed { problem: problem.to_owned() };
        self.found.broken = self.found.broken.take().or(Some(error));
    }
}

/// Whether an array contains an object at any depth.
fn holds_object(value: &Value) -> bool {
    value.as_array().is_some_and(|items| items.iter().any(|item| item.is_object() || holds_object(item)))
}

#[cfg(test)]
mod conformance;
#[cfg(test)]
mod tests;
