//! What is known of a word when the command is judged, and of the text that flows through a pipe.

use std::path::PathBuf;

/// One word, or several, as a program would get it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Arg {
    pub(crate) value: Value,
    /// Whether it may begin with a dash.
    pub(crate) may_be_option: bool,
}

/// What a word is known to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    /// Exactly this text.
    Literal(String),
    /// Names on the disk that fit a pattern; these are there now.
    Matches { pattern: String, found: Vec<String> },
    /// Any number of paths below these folders.
    Below(Vec<PathBuf>),
    /// A whole number in digits.
    Number,
    /// Text nobody knows; `many` when it may be several words or none.
    Unknown { many: bool },
}

impl Arg {
    pub(crate) fn literal(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { may_be_option: text.starts_with('-'), value: Value::Literal(text) }
    }

    pub(crate) const fn unknown(many: bool) -> Self {
        Self { value: Value::Unknown { many }, may_be_option: true }
    }

    /// The text, where it is known.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Literal(text) => Some(text),
            Value::Matches { .. } | Value::Below(_) | Value::Number | Value::Unknown { .. } => None,
        }
    }

    /// How it is shown in a reason.
    pub(crate) fn shown(&self) -> &str {
        match &self.value {
            Value::Literal(text) => text,
            Value::Matches { pattern, .. } => pattern,
            Value::Below(_) => "names found on the way",
            Value::Number => "a number",
            Value::Unknown { .. } => "a text made on the way",
        }
    }
}

/// What a program writes to its standard output, or finds on its standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stream {
    /// Data.
    Text,
    /// Names of files below these folders.
    Names {
        folders: Vec<PathBuf>,
        /// Separated by NUL, so that a name is never read as two.
        by_nul: bool,
        /// Whether a name may begin with a dash.
        may_be_option: bool,
    },
}
