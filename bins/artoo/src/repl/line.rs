//! Hooks of the line editor: highlighting, multi-line input and completion.

use std::borrow::Cow;
use std::cell::Cell;
use std::path::{Path, PathBuf};

use artoo_proto::escape;
use rustyline::completion::Completer;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Helper};
use unicode_width::UnicodeWidthChar as _;

use super::command::Command;
use super::names;

/// The character at the end of a line that continues the input on the next line.
const CONTINUED: char = '\\';

/// Hooks that the line editor calls for highlighting, multi-line input and completion of commands.
#[derive(Debug, Default)]
pub(super) struct LineHelper {
    /// The folder that names after `@` are completed in.
    cwd: PathBuf,
    /// Whether the typed line is empty, updated with each key.
    is_empty: Cell<bool>,
}

impl LineHelper {
    /// Creates hooks that complete file names relative to a folder.
    pub(super) fn in_folder(cwd: &Path) -> Self {
        Self { cwd: cwd.to_owned(), ..Self::default() }
    }

    /// Whether the typed line was empty when the line editor returned.
    pub(super) fn was_empty(&self) -> bool {
        self.is_empty.get()
    }
}

/// Cleans a typed input: removes a backslash at the end of a line (the line break stays), and control characters except
/// line breaks and tabs.
pub(super) fn meant(typed: &str) -> String {
    let joined = typed.replace("\\\n", "\n");
    joined.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}

/// Whether a character, other than a line break or tab, could control the terminal or reorder text.
fn is_hostile(c: char) -> bool {
    let mut bytes = [0; 4];
    let text: &str = c.encode_utf8(&mut bytes);
    c != '\n' && c != '\t' && escape::one_line(text) != text
}

impl Highlighter for LineHelper {
    /// Shows the line with spaces in place of characters that could control the terminal or reorder text.
    fn highlight<'l>(&self, line: &'l str, _pos: usize) -> Cow<'l, str> {
        if !line.contains(is_hostile) {
            return Cow::Borrowed(line);
        }
        let mut shown = String::with_capacity(line.len());
        for c in line.chars() {
            if is_hostile(c) {
                shown.extend(std::iter::repeat_n(' ', c.width().unwrap_or(0)));
            } else {
                shown.push(c);
            }
        }
        Cow::Owned(shown)
    }

    fn highlight_char(&self, line: &str, _pos: usize, _kind: CmdKind) -> bool {
        self.is_empty.set(line.is_empty());
        line.contains(is_hostile)
    }
}

impl Validator for LineHelper {
    fn validate(&self, input: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let goes_on = input.input().ends_with(CONTINUED);
        Ok(if goes_on { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

impl Completer for LineHelper {
    type Candidate = String;

    fn complete(&self, line: &str, pos: usize, _context: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let begun = line.get(..pos).unwrap_or_default();
        if let Some(names) = names::completions(begun, &self.cwd) {
            return Ok(names);
        }
        let begun = if begun.starts_with('/') { begun } else { "\n" };
        let fits = Command::words().into_iter().filter(|word| word.starts_with(begun));
        Ok((0, fits.map(str::to_owned).collect()))
    }
}

impl Hinter for LineHelper {
    type Hint = String;
}

impl Helper for LineHelper {}

/// Tests of cleaning typed and pasted input.
#[cfg(test)]
mod tests {
    use rustyline::highlight::Highlighter as _;

    use super::{LineHelper, meant};

    /// Control characters in pasted text are neither shown nor part of the request.
    #[doc = "holds: design H2"]
    #[test]
    fn pasted_control_characters_are_removed() {
        for (typed, shown, expected) in [
            ("plain 日本語 👍", "plain 日本語 👍", "plain 日本語 👍"),
            ("a\\\nb", "a\\\nb", "a\nb"),
            ("a\u{7}\u{9b}2J\tb", "a2J\tb", "a2J\tb"),
            ("a\u{202e}b", "ab", "a\u{202e}b"),
            ("می\u{200c}خواهم", "میخواهم", "می\u{200c}خواهم"),
        ] {
            assert_eq!(LineHelper::default().highlight(typed, 0), shown, "{typed:?}");
            assert_eq!(meant(typed), expected, "{typed:?}");
        }
    }
}
