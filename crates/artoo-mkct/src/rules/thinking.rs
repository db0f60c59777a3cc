//! Texts for level T that many rules agree on. Nothing is adopted unless a person asks for it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{
    engine::Engine,
    record::{
        Detail, Frame, Level, MegramId, Tag, WriteError,
        tag::{intent_slug, is_approach, is_skill, tools_of_approach},
    },
};

/// Least number of distinct tasks that must have worked for a proposal about a set of tools; the text of a skill needs
/// none.
pub const MIN_LEARNED_TASKS: usize = 10;

/// Least number of different intents with a rule for a proposal about a set of tools; the text of a skill needs none.
pub const MIN_LEARNED_INTENTS: usize = 3;

/// Space of the tags of texts that were adopted at level T from rules.
const LEARNED: &str = "persona:learned";

/// A text for level T: best practices of several intents that name the same tools, and that no record contradicts; or
/// the text of a skill, whose tag has the space of the skill as its entity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ThinkingProposal {
    /// The tag of the text at level T.
    pub tag: Tag,
    /// The text, with the rules it comes from; to be read as data until a person adopts it.
    pub text: String,
    /// The rules that the text comes from.
    pub rules: Vec<MegramId>,
    /// Number of distinct tasks that worked.
    pub tasks: usize,
    /// Number of different intents with a rule.
    pub intents: usize,
}

impl Engine {
    /// The texts that rules propose for level T, without those adopted already.
    #[must_use]
    pub fn thinking_proposals(&self) -> Vec<ThinkingProposal> {
        let mut by_tools: BTreeMap<&str, Vec<MegramId>> = BTreeMap::new();
        let adopted = |via: &str| self.thinking().any(|text| text.space == LEARNED && text.entity == via);
        for rule in self.rules.values().filter(|rule| rule.level == Level::C && rule.sigma > 0.0) {
            if intent_slug(&rule.space).is_some() && is_approach(&rule.entity) && !adopted(&rule.entity) {
                by_tools.entry(&rule.entity).or_default().push(rule.id);
            }
        }
        let skills = self.rules.values().filter(|rule| rule.level == Level::C && is_skill(&rule.space));
        let skills = skills.map(|rule| ThinkingProposal {
            tag: Tag::new(LEARNED, &rule.space),
            text: rule.content.clone(),
            rules: vec![rule.id],
            tasks: rule.provenance.tasks,
            intents: 1,
        });
        let is_new = |skill: &ThinkingProposal| {
            !self.thinking().any(|text| text.tag() == skill.tag && text.content == skill.text)
        };
        let of_tools = by_tools.into_iter().filter_map(|(via, rules)| self.proposal(via, rules));
        of_tools.chain(skills.filter(is_new)).collect()
    }

    /// The proposal of these rules about one set of tools; `None` if they have too few tasks or intents, or a record
    /// contradicts.
    fn proposal(&self, via: &str, rules: Vec<MegramId>) -> Option<ThinkingProposal> {
        let (mut tasks, mut contents) = (BTreeSet::new(), Vec::new());
        for rule in rules.iter().filter_map(|id| self.rules.get(id)) {
            for (_, row) in self.index.history(self.index.find(&rule.tag())?, &self.rows) {
                if row.blames_the_approach() {
                    return None;
                }
                tasks.extend((row.sigma > 0.0 && row.task != 0).then_some(row.task));
            }
            contents.push(rule.content.as_str());
        }
        let (tasks, intents) = (tasks.len(), rules.len());
        if tasks < MIN_LEARNED_TASKS || intents < MIN_LEARNED_INTENTS {
            return None;
        }
        let (tools, contents) = (tools_of_approach(via).join(", "), contents.join("; "));
        let text =
            format!("{tools} worked in {tasks} tasks for {intents} kinds of request and never failed: {contents}");
        Some(ThinkingProposal { tag: Tag::new(LEARNED, via), text, rules, tasks, intents })
    }

    /// Adopts a proposed text at level T; [`Engine::forget`] revokes it. Laws are never changed.
    ///
    /// # Errors
    /// [`WriteError::NotProposed`] if rules do not propose the text now; then nothing changed.
    pub fn adopt_thinking(&mut self, text: &ThinkingProposal, now_ms: i64) -> Result<Frame, WriteError> {
        let proposed = self.thinking_proposals().contains(text);
        let frame = if proposed { self.think(&text.tag, &text.text, Some(Detail::Learned), now_ms)? } else { None };
        frame.ok_or(WriteError::NotProposed)
    }
}
