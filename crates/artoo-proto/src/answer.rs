//! Answers to the parts of a request: the text, the meaning of the columns, and the digest of the complete output.

use serde::{Deserialize, Serialize};

/// The meaning of a column of an answer, so that a terminal can show its values in readable units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Column {
    /// Any text.
    Text,
    /// A path, escaped as a [`path_line`](crate::escape::path_line).
    Path,
    /// A number of bytes.
    Bytes,
    /// A time, as [`Timestamp`](crate::Timestamp) writes it.
    Time,
    /// A whole number.
    Count,
    /// A sentence that code wrote, with paths in it.
    Sentence,
}

/// The answer to one part of the request: its text and the meaning of its columns.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The question or change that is answered, in English.
    pub label: String,
    /// The text, with exact values.
    pub text: String,
    /// The columns of each line of the text, which tabs separate; empty if the lines have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<Column>,
    /// If `text` is cut: the item of the evidence store that holds all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole: Option<KeptOutput>,
}

impl Answer {
    /// An answer that is only a text, without columns.
    #[must_use]
    pub fn text(label: impl Into<String>, text: impl Into<String>) -> Self {
        Self { label: label.into(), text: text.into(), ..Self::default() }
    }

    /// The texts of all answers joined; each has its label if there are several.
    #[must_use]
    pub fn join(answers: &[Self]) -> String {
        if let [only] = answers {
            return only.text.clone();
        }
        answers.iter().map(Self::labelled).collect::<Vec<_>>().join("\n")
    }

    /// The text with its label: on one line if the text is one line.
    #[must_use]
    pub fn labelled(&self) -> String {
        let text = self.text.trim_end_matches('\n');
        let between = if text.contains('\n') { '\n' } else { ' ' };
        format!("{}:{between}{text}", self.label)
    }
}

/// Where a stream of a program's output (such as stdout) is in the evidence store: digest and length in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptOutput {
    /// Which stream: `output`, `stdout` or `stderr`.
    pub stream: String,
    /// SHA-256 of the stored bytes, in hex; the key in the store.
    pub sha256: String,
    /// Number of bytes stored.
    pub bytes: u64,
    /// Number of bytes not stored, between the stored beginning and end.
    pub left_out: u64,
}
