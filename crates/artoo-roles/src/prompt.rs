//! Prompt templates with holes, and the one door through which outside text enters a prompt.

use artoo_proto::escape;

use crate::limits::{ENTRY_CHARS, FENCE_CHARS};

/// Text from outside, escaped, capped and fenced so that it can't pass for instructions or close its fence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fenced(String);

impl Fenced {
    /// Fences `text`: control characters shown as escapes, at most 24,000 characters kept (head and tail).
    #[must_use]
    pub fn new(text: &str) -> Self {
        let (body, _) = escape::head_tail(&escape::visible(text), FENCE_CHARS);
        // The first marker that does not occur in the text: a payload can't close a fence it can't name.
        let marker = (0_u32..)
            .map(|n| format!("DATA-{n}"))
            .find(|marker| !body.contains(marker.as_str()))
            .unwrap_or_else(|| "DATA".to_owned());
        Self(format!("<<{marker}\n{body}\n{marker}>>"))
    }

    /// The fenced block.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A template and its holes do not match.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PromptError {
    /// A `{{hole}}` nobody filled.
    #[error("the template has a hole nobody fills: {hole:?}")]
    Missing {
        /// The hole.
        hole: String,
    },
    /// A value for a hole the template does not have.
    #[error("the template has no hole named {hole:?}")]
    Unused {
        /// The name.
        hole: String,
    },
}

/// What stands in a list of nothing.
const NONE: &str = "(none)";

/// Fills the `{{holes}}` of a template; values are not searched for holes. A paragraph with a `{{?hole}}` is left out
/// where its value is empty or `(none)`: what is not there needs no words.
///
/// # Errors
/// A hole without a value, or a value without a hole.
pub fn render(template: &str, values: &[(&str, String)]) -> Result<String, PromptError> {
    let mut used = vec![false; values.len()];
    let mut kept = Vec::new();
    for paragraph in template.split("\n\n") {
        kept.extend(filled(paragraph, values, &mut used)?);
    }
    match values.iter().zip(&used).find(|(_, used)| !**used) {
        Some(((name, _), _)) => Err(PromptError::Unused { hole: (*name).to_owned() }),
        None => Ok(kept.join("\n\n")),
    }
}

/// One paragraph; `None` where it is left out.
fn filled(paragraph: &str, values: &[(&str, String)], used: &mut [bool]) -> Result<Option<String>, PromptError> {
    let mut out = String::with_capacity(paragraph.len());
    let mut rest = paragraph;
    let mut is_kept = true;
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before);
        let (hole, tail) =
            after.split_once("}}").ok_or_else(|| PromptError::Missing { hole: escape::shorten(after, 20) })?;
        let name = hole.strip_prefix('?').unwrap_or(hole);
        let found = values.iter().zip(used.iter_mut()).find(|((known, _), _)| *known == name);
        let ((_, value), used) = found.ok_or_else(|| PromptError::Missing { hole: hole.to_owned() })?;
        *used = true;
        is_kept &= name == hole || !(value.is_empty() || value == NONE);
        out.push_str(value);
        rest = tail;
    }
    out.push_str(rest);
    Ok(is_kept.then_some(out))
}

/// Renders an embedded template. A mismatch is a defect of this crate, held by a test over every template; the
/// template is then shown unfilled rather than ending the task.
#[must_use]
pub fn render_embedded(template: &str, values: &[(&str, String)]) -> String {
    render(template, values).unwrap_or_else(|error| format!("{template}\n[{error}]"))
}

/// A bulleted list, one capped line an entry; `(none)` for an empty one.
#[must_use]
pub fn bullets<T: AsRef<str>>(lines: &[T]) -> String {
    if lines.is_empty() {
        return NONE.to_owned();
    }
    let line = |text: &str| format!("- {}", escape::shorten(&escape::one_line(text), ENTRY_CHARS));
    lines.iter().map(|text| line(text.as_ref())).collect::<Vec<_>>().join("\n")
}

/// The same for words that come from outside (file names, memory, a tool's remarks): fenced.
#[must_use]
pub fn fenced_bullets<T: AsRef<str>>(lines: &[T]) -> String {
    if lines.is_empty() { bullets(lines) } else { Fenced::new(&bullets(lines)).as_str().to_owned() }
}

#[cfg(test)]
mod tests;
