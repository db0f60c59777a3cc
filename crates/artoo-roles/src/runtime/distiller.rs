//! The text of rules that memory makes from experience: fixed sentences with names and counts.

use std::collections::BTreeSet;

use artoo_mkct::{
    memory::Distiller,
    record::{Megram, RuleKind, tools_of, unescape},
    rules::Promotion,
};

use crate::skill::{self, Skill};

/// A distiller that writes a memory rule without a model: a fixed sentence, or, under the tag of a skill, the skill as
/// JSON. Of untrusted text only an intent or a path gets into a sentence.
#[derive(Debug)]
pub(super) struct PlainWords;

impl Distiller for PlainWords {
    fn distil(&self, promotion: &Promotion, evidence: &[Megram]) -> Result<String, String> {
        let (ticket, tag) = (&promotion.ticket, promotion.ticket.tag());
        if tag.space.starts_with(skill::SPACE) {
            let episodes = evidence.iter().filter_map(|megram| serde_json::from_str(&megram.content).ok());
            let skill = Skill::learn(&episodes.collect::<Vec<_>>())?;
            return serde_json::to_string(&skill).map_err(|error| error.to_string());
        }
        let tasks: BTreeSet<&str> = evidence.iter().filter_map(|megram| megram.task.as_deref()).collect();
        let tools = tools_of(&tag.space, &tag.entity).join(", ");
        let tail = |tag: &str| unescape(tag.split_once(':').map_or(tag, |(_, tail)| tail));
        let intent = evidence.iter().find_map(|megram| megram.intent.clone());
        let place = if tag.entity.starts_with("path:") {
            format!("on {:?}", tail(&tag.entity))
        } else {
            format!("for tasks such as {:?}", intent.unwrap_or_else(|| tail(&tag.space).replace('_', " ")))
        };
        let verb = match ticket.kind() {
            RuleKind::BestPractice => "worked",
            RuleKind::Constraint => "failed",
        };
        Ok(format!("{tools} {verb} {place} in {} tasks", tasks.len()))
    }
}
