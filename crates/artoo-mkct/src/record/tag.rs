//! Tags: the two names that a record is filed under.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::record::{
    hash::fnv1a,
    key::{escape, escape_with, unescape},
    slug::slug,
};

/// Most bytes of the space or the entity of a tag: a path fits (4,096 on Linux), a pasted file does not.
pub const MAX_TAG_BYTES: usize = 8 * 1024;

/// Entity of events that concern the machine as a whole.
pub const ENV_LOCAL: &str = "env:local";

/// Prefix of a tag's space for an intent, before its slug.
const INTENT: &str = "intent:";
/// Prefix of a tag's space for a tool, before the tool's name.
const TOOL: &str = "tool:";
/// Prefix of a tag's entity for the target of a tool, before the target.
const PATH: &str = "path:";
/// Prefix of a tag's entity for an approach, before the names of its tools.
const VIA: &str = "via:";
/// Prefix of a tag's entity for a lesson, before the criterion.
const LESSON: &str = "lesson:";
/// Prefix of a tag's space for a person's note.
const NOTE: &str = "note:";
/// Prefix of a tag's space for a hypothesis, before the act word.
const ACT: &str = "act:";

/// The two names that a record is filed under. Both must be escaped; all constructors except [`Tag::new`] escape them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Tag {
    /// First name: what the record is about, e.g. `tool:shell`, `intent:count_pdf_files`.
    pub space: String,
    /// Second name: what was tried or touched, e.g. `path:/etc`, `env:local`, `via:glob,shell`.
    pub entity: String,
}

impl Tag {
    /// A tag of two names that are escaped already, see [`escape`].
    #[must_use]
    pub fn new(space: impl Into<String>, entity: impl Into<String>) -> Self {
        Self { space: space.into(), entity: entity.into() }
    }

    /// The tag of an intent, whatever the approach: its entity is `ENV_LOCAL`.
    #[must_use]
    pub fn intent(intent: &str) -> Self {
        Self::new(intent_tag(intent), ENV_LOCAL)
    }

    /// The tag of an approach: a set of tools tried for an intent.
    #[must_use]
    pub fn approach<S: AsRef<str>>(intent: &str, tools: &[S]) -> Self {
        Self::new(intent_tag(intent), via_tag(tools))
    }

    /// The tag of a tool used on a target: a path, a query, whatever the tool was pointed at.
    #[must_use]
    pub fn target(tool: &str, target: &str) -> Self {
        Self::new(tool_tag(tool), path_tag(target))
    }

    /// The tag of the lessons about a criterion of an intent.
    #[must_use]
    pub fn lesson(intent: &str, criterion: &str) -> Self {
        Self::new(intent_tag(intent), fit(format!("{LESSON}{}", escape(criterion))))
    }

    /// The tag of a person's note with this text.
    #[must_use]
    pub fn note(text: &str) -> Self {
        Self::new(format!("{NOTE}{}", slug(text)), ENV_LOCAL)
    }

    /// The tag of a hypothesis: that an approach works for all intents with an act word.
    pub(crate) fn hypothesis(act: &str, via: &str) -> Self {
        Self::new(fit(format!("{ACT}{}", escape(act))), via)
    }

    /// Whether records under the tag can become a rule; false for the tags of whole intents, lessons, notes and
    /// hypotheses.
    pub(crate) fn can_be_a_rule(space: &str, entity: &str) -> bool {
        let of_intent = intent_slug(space).is_some() && (entity == ENV_LOCAL || is_lesson(entity));
        !of_intent && !space.starts_with(NOTE) && !space.starts_with(ACT)
    }
}

/// The space of an intent: `intent:<slug>`.
#[must_use]
pub fn intent_tag(intent: &str) -> String {
    format!("{INTENT}{}", slug(intent))
}

/// The entity of an approach: `via:<tools>`, the tool names sorted, without duplicates, joined by commas.
#[must_use]
pub fn via_tag<S: AsRef<str>>(tools: &[S]) -> String {
    let names: BTreeSet<String> = tools.iter().map(|tool| escape_with(tool.as_ref(), &[','])).collect();
    fit(format!("{VIA}{}", Vec::from_iter(names).join(",")))
}

/// The space of a tool: `tool:<name>`.
#[must_use]
pub fn tool_tag(tool: &str) -> String {
    fit(format!("{TOOL}{}", escape(tool)))
}

/// The entity of a target: `path:<target>`, escaped and cut if it is too long; the target is what the tool was called
/// for, such as a path or a query.
#[must_use]
pub fn path_tag(target: &str) -> String {
    fit(format!("{PATH}{}", escape(target)))
}

/// The slug in the space of an intent; `None` for other spaces.
pub(crate) fn intent_slug(space: &str) -> Option<&str> {
    space.strip_prefix(INTENT)
}

/// Whether a space is that of a skill: `skill:<name>`.
pub(crate) fn is_skill(space: &str) -> bool {
    space.starts_with("skill:")
}

/// The space of an intent with this slug.
pub(crate) fn slug_space(slug: &str) -> String {
    format!("{INTENT}{slug}")
}

/// Whether an entity is that of an approach.
pub(crate) fn is_approach(entity: &str) -> bool {
    entity.starts_with(VIA)
}

/// Whether an entity is that of a lesson.
pub(crate) fn is_lesson(entity: &str) -> bool {
    entity.starts_with(LESSON)
}

/// The tools named by the entity of an approach, unescaped; empty for other entities.
pub(crate) fn tools_of_approach(entity: &str) -> Vec<String> {
    let tools = entity.strip_prefix(VIA).unwrap_or_default();
    tools.split(',').filter(|tool| !tool.is_empty()).map(unescape).collect()
}

/// The tools named by a tag, unescaped: the tool of a target, the tools of an approach; empty for other tags.
#[must_use]
pub fn tools_of(space: &str, entity: &str) -> Vec<String> {
    if let Some(tool) = space.strip_prefix(TOOL) {
        return vec![unescape(tool)];
    }
    if intent_slug(space).is_some() { tools_of_approach(entity) } else { Vec::new() }
}

/// Shortens a name of a tag that is longer than `MAX_TAG_BYTES`, and appends a hash of the whole name so that it
/// stays unique.
fn fit(tag: String) -> String {
    if tag.len() <= MAX_TAG_BYTES {
        return tag;
    }
    let suffix = format!("~{:016x}", fnv1a(tag.as_bytes()));
    let mut head = tag;
    head.truncate(head.floor_char_boundary(MAX_TAG_BYTES - suffix.len()));
    head + &suffix
}
