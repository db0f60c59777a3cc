//! The tags of the two kinds of events, built in one place so that writer and reader agree.

use std::collections::BTreeSet;

use crate::{
    hash::fnv1a,
    key::{escape, escape_with, unescape},
    slug::slug,
};

/// Longest tag in bytes: a path fits (4,096 on Linux), a pasted file does not.
pub const MAX_TAG_BYTES: usize = 8 * 1024;

/// Entity of a macro event: what happened on this machine as a whole.
pub const ENV_LOCAL: &str = "env:local";

const INTENT: &str = "intent:";
const TOOL: &str = "tool:";
const PATH: &str = "path:";
const VIA: &str = "via:";

/// Space of a macro event: `intent:<slug>`.
#[must_use]
pub fn intent_tag(intent: &str) -> String {
    format!("{INTENT}{}", slug(intent))
}

/// Entity of an approach: `via:<tools>`, sorted, each once, comma between.
#[must_use]
pub fn via_tag<S: AsRef<str>>(tools: &[S]) -> String {
    let names: BTreeSet<String> = tools.iter().map(|tool| escape_with(tool.as_ref(), &[','])).collect();
    fit(format!("{VIA}{}", Vec::from_iter(names).join(",")))
}

/// Space of a micro event: `tool:<name>`.
#[must_use]
pub fn tool_tag(tool: &str) -> String {
    fit(format!("{TOOL}{}", escape(tool)))
}

/// Entity of a micro event: `path:<target>`; the target is a path, a query, whatever the tool was pointed at.
#[must_use]
pub fn path_tag(target: &str) -> String {
    fit(format!("{PATH}{}", escape(target)))
}

/// The slug of an intent's space.
pub(crate) fn intent_slug(space: &str) -> Option<&str> {
    space.strip_prefix(INTENT)
}

/// The space of a slug.
pub(crate) fn slug_space(slug: &str) -> String {
    format!("{INTENT}{slug}")
}

/// Whether the entity names an approach.
pub(crate) fn is_approach(entity: &str) -> bool {
    entity.starts_with(VIA)
}

/// The tools that a pair of tags names: a micro event's own, or those of an approach; unescaped, none otherwise.
#[must_use]
pub fn tools_of(space: &str, entity: &str) -> Vec<String> {
    if let Some(tool) = space.strip_prefix(TOOL) {
        return vec![unescape(tool)];
    }
    match (intent_slug(space), entity.strip_prefix(VIA)) {
        (Some(_), Some(tools)) => tools.split(',').filter(|tool| !tool.is_empty()).map(unescape).collect(),
        _ => Vec::new(),
    }
}

/// A tag that is too long keeps its head and gets a hash for the rest, so that it still names one thing.
fn fit(tag: String) -> String {
    if tag.len() <= MAX_TAG_BYTES {
        return tag;
    }
    let suffix = format!("~{:016x}", fnv1a(tag.as_bytes()));
    let mut head = tag;
    head.truncate(head.floor_char_boundary(MAX_TAG_BYTES - suffix.len()));
    head + &suffix
}
