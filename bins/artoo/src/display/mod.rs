//! What people and programs see: pure renderings, and the one writer that puts them on a stream.

pub(crate) mod json;
pub(crate) mod live;
pub(crate) mod result;
#[cfg(test)]
pub(crate) mod testing;
pub(crate) mod wrap;
pub(crate) mod writer;

/// Stands before every line that is not ours.
pub(crate) const QUOTE: &str = "  | ";

/// Stands before the rest of such a line where a terminal is too narrow for it.
const QUOTE_GOES_ON: &str = "  : ";

/// How a line looks on a terminal that shows colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// The bare answer: neither coloured nor cut, for whoever copies it.
    Answer,
    /// As it is.
    Plain,
    /// Of lesser weight.
    Faint,
    /// A heading or a verdict.
    Strong,
    /// Something to look at.
    Warning,
}

/// One line, or several with the same look. Its text may come from anywhere: the writer escapes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) style: Style,
    pub(crate) text: String,
}

impl Line {
    pub(crate) fn answer(text: impl Into<String>) -> Self {
        Self { style: Style::Answer, text: text.into() }
    }

    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self { style: Style::Plain, text: text.into() }
    }

    pub(crate) fn faint(text: impl Into<String>) -> Self {
        Self { style: Style::Faint, text: text.into() }
    }

    pub(crate) fn strong(text: impl Into<String>) -> Self {
        Self { style: Style::Strong, text: text.into() }
    }

    pub(crate) fn warning(text: impl Into<String>) -> Self {
        Self { style: Style::Warning, text: text.into() }
    }
}

/// Text that nobody verified, each line marked, so that nothing in it can pass for a line of ours.
pub(crate) fn quoted(text: &str) -> Vec<Line> {
    text.lines().map(|line| Line::plain(format!("{QUOTE}{line}"))).collect()
}
