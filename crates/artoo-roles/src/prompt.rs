//! Prompt templates with placeholders, and the fence around untrusted text in prompts.

use artoo_proto::escape;

use crate::limits::{ENTRY_CHARS, FENCE_CHARS, MATERIAL_CHARS};

/// Untrusted text (from files, tools or the user), escaped, shortened and put between markers, so that a model doesn't
/// take it for instructions and it can't contain the closing marker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fenced(String);

impl Fenced {
    /// Fences `text`: control characters become escapes, and of more than 24,000 characters the middle is left out.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let (body, _) = escape::head_tail(&escape::visible(text), FENCE_CHARS);
        // The marker does not occur in the text, so the text can't close its own fence.
        let marker = (0_u32..)
            .map(|n| format!("DATA-{n}"))
            .find(|marker| !body.contains(marker.as_str()))
            .unwrap_or_else(|| "DATA".to_owned());
        Self(format!("<<{marker}\n{body}\n{marker}>>"))
    }

    /// The fenced text, including its markers.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The placeholders of a template and the given values do not match.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PromptError {
    /// The template has a placeholder (`{{name}}`) without a value, or a `{{` without its `}}`.
    #[error("the placeholder {hole:?} of the template has no value")]
    Missing {
        /// Name of the placeholder without a value.
        hole: String,
    },
    /// A value was given for a placeholder that the template does not have.
    #[error("the template has no placeholder {hole:?}")]
    Unused {
        /// Name of the value that has no placeholder.
        hole: String,
    },
}

/// Every prompt text that roles send to models, for the digest and the tests of templates.
pub(crate) const ALL: &[&str] = &[
    include_str!("../../../prompts/agent_validator.md"),
    include_str!("../../../prompts/agent_validator.user.md"),
    include_str!("../../../prompts/ending.md"),
    include_str!("../../../prompts/ending.user.md"),
    include_str!("../../../prompts/executor.md"),
    include_str!("../../../prompts/executor.tools.md"),
    include_str!("../../../prompts/executor.user.md"),
    include_str!("../../../prompts/laws.md"),
    include_str!("../../../prompts/meta_validator.md"),
    include_str!("../../../prompts/meta_validator.user.md"),
    include_str!("../../../prompts/perceiver.md"),
    include_str!("../../../prompts/perceiver.user.md"),
    include_str!("../../../prompts/planner.md"),
    include_str!("../../../prompts/planner.user.md"),
    include_str!("../../../prompts/rule.md"),
    include_str!("../../../prompts/rule.user.md"),
];

/// Prompt text that stands for an empty list: `(none)`.
const NONE: &str = "(none)";

/// Fills the placeholders (`{{name}}`) of a template; placeholders inside values are not filled. A paragraph with an
/// optional placeholder (`{{?name}}`) is left out if its value is empty or `(none)`.
///
/// # Errors
/// `PromptError` if a placeholder has no value, or a value has no placeholder.
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

/// Fills the placeholders of one paragraph and marks the values it used; `None` if the paragraph is left out.
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

/// Fills a template that is part of this crate. If values are missing or left over (a defect, which a test over all
/// templates rules out), it returns the unfilled template with the error instead of ending the task.
#[must_use]
pub fn render_embedded(template: &str, values: &[(&str, String)]) -> String {
    render(template, values).unwrap_or_else(|error| format!("{template}\n[{error}]"))
}

/// A bulleted list with one shortened line for each entry; `(none)` if there are no entries.
#[must_use]
pub fn bullets<T: AsRef<str>>(lines: &[T]) -> String {
    if lines.is_empty() {
        return NONE.to_owned();
    }
    let line = |text: &str| format!("- {}", escape::shorten(&escape::one_line(text), ENTRY_CHARS));
    lines.iter().map(|text| line(text.as_ref())).collect::<Vec<_>>().join("\n")
}

/// Text that the user gave with the request, fenced and cut to the limit of material; empty if there is none.
#[must_use]
pub fn material(text: Option<&str>) -> String {
    let cut = |text| Fenced::new(&escape::head_tail(text, MATERIAL_CHARS).0).as_str().to_owned();
    text.map(cut).unwrap_or_default()
}

/// A bulleted list of untrusted text (file names, memory, a tool's remarks) inside a fence; `(none)` without one if the
/// list is empty.
#[must_use]
pub fn fenced_bullets<T: AsRef<str>>(lines: &[T]) -> String {
    if lines.is_empty() { bullets(lines) } else { Fenced::new(&bullets(lines)).as_str().to_owned() }
}

#[cfg(test)]
mod tests;
