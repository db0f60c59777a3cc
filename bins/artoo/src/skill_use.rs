//! Finds out whether a learned skill answers a request.

use artoo_proto::escape;
use artoo_roles::runtime::{Engine, SkillState, StoredSkill, fitting_skill};
use artoo_roles::skill;

use crate::display::Line;

/// A line that tells the user that a learned but not yet approved skill would answer the request; `None` if none would.
pub(crate) fn offer(engine: &Engine, request: &str, folder: &str) -> Option<Line> {
    let (found, _) = fitting_skill(engine, SkillState::Offered, request, folder)?;
    let name = escape::one_line(named(&found));
    Some(Line::plain(format!(
        "artoo can answer such requests without the model: artoo skills show {name}, artoo skills accept {name}"
    )))
}

/// Whether a skill that the user approved answers a request in this folder.
pub(crate) fn is_used(engine: &Engine, request: &str, folder: &str) -> bool {
    fitting_skill(engine, SkillState::Approved, request, folder).is_some()
}

/// The name of a skill as the user types it: its name in memory without the prefix `skill:`.
pub(crate) fn named(skill: &StoredSkill) -> &str {
    skill.space.strip_prefix(skill::SPACE).unwrap_or(&skill.space)
}
