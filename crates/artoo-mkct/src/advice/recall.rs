//! Advice on an intent: rules, and what worked or failed, with the records it is based on.
//!
//! Advice to avoid is given only about an approach or an exact pair of tool and target; broader advice is caution at
//! most. If an action was lowered, the advice says why.

use std::{cmp::Reverse, collections::BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{
    engine::{Action, Engine, MAX_NAMED_MEGRAMS, Potentials, aggregate::Sums, index::TagEntry},
    record::{
        Frame, MegramId, Tag,
        slug::slug,
        tag::{ENV_LOCAL, intent_tag, is_approach, path_tag, slug_space, tool_tag},
    },
    rules::{SopRecord, sop::recalled},
};

/// Most rules and pieces of advice together in one recall, so that they fit into a prompt.
#[doc(alias = "limit")]
pub const MAX_RECALL_ENTRIES: usize = 10;

/// Most rules in one recall.
pub const MAX_RECALL_SOPS: usize = MAX_RECALL_ENTRIES / 2;

/// Most tools, and most targets, of a query that are read; the others are ignored.
pub const MAX_QUERIED_NAMES: usize = 64;

/// Most similar intents that are used if the intent itself is unknown.
const MAX_SIMILAR_INTENTS: usize = 3;

/// Entity in [`Advice::tag`] of advice about a tool, which sums over all its tags.
pub const ANY_ENTITY: &str = "*";

/// A query for advice on an intent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecallQuery<'a> {
    /// The user's request in words.
    pub intent: &'a str,
    /// Names of the tools that the plan may use.
    pub tools: &'a [String],
    /// Targets named in the request, e.g. paths or queries.
    pub targets: &'a [String],
    /// Most rules and pieces of advice to return, at most [`MAX_RECALL_ENTRIES`].
    pub limit: usize,
}

impl<'a> RecallQuery<'a> {
    /// A query about an intent, without tools and targets, with the greatest limit.
    #[must_use]
    pub fn new(intent: &'a str) -> Self {
        Self { intent, tools: &[], targets: &[], limit: MAX_RECALL_ENTRIES }
    }

    /// Sets the names of the tools that the plan may use.
    #[must_use]
    pub fn tools(self, tools: &'a [String]) -> Self {
        Self { tools, ..self }
    }

    /// Sets the targets named in the request.
    #[must_use]
    pub fn targets(self, targets: &'a [String]) -> Self {
        Self { targets, ..self }
    }

    /// Sets the greatest number of rules and pieces of advice to return.
    #[must_use]
    pub fn limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }
}

/// What a piece of advice is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Scope {
    /// One tool on one target.
    Pair,
    /// A set of tools for this intent.
    Approach,
    /// The intent, whatever the approach.
    Intent,
    /// A tool, summed over its targets and approaches.
    Tool,
}

/// Why the action of a piece of advice is weaker than its potentials imply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Cap {
    /// All that implies "avoid" is failures caused by the environment.
    Environmental,
    /// The advice sums over different things (targets or approaches), so it neither recommends nor forbids one of them.
    Unspecific,
    /// The advice is about another, similar intent.
    Similar,
}

/// Advice about one approach, one pair, one intent or one tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Advice {
    /// What the advice is about: a pair, an approach, an intent or a tool.
    pub scope: Scope,
    /// The tag that the advice is about; the entity is [`ANY_ENTITY`] for a tool.
    pub tag: Tag,
    /// Attention and decision times `similarity`, and the action after caps; never [`Action::Ignore`].
    pub potentials: Potentials,
    /// Similarity of the remembered intent to the queried one; 1 for the same intent.
    pub similarity: f64,
    /// Why the action was lowered to caution; `None` if it was not.
    pub capped: Option<Cap>,
    /// The records that the advice is based on, newest first, at most [`MAX_NAMED_MEGRAMS`].
    pub megrams: Vec<MegramId>,
    /// Number of records that the advice is based on.
    pub megrams_total: usize,
}

/// The result of a [`RecallQuery`].
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Recall {
    /// Rules of the intent, its approaches and the named pairs, constraints first.
    pub sops: Vec<SopRecord>,
    /// Advice: first what to avoid, then what works, then what needs care.
    pub advice: Vec<Advice>,
    /// The frame that records this recall, for the journal; empty without rules.
    pub frames: Vec<Frame>,
}

impl Engine {
    /// Advice on an intent, for the tools of the plan and the targets of the request.
    ///
    /// Reads the intent's own tag, its approaches, the exact pairs of `tools` × `targets` and a sum for each tool; if
    /// the intent is unknown, up to three similar intents are read instead, at a discount.
    ///
    /// The frames in the result are not applied, so that readers need no write access. The owner of the journal passes
    /// them to [`Engine::apply`].
    #[must_use]
    pub fn recall(&self, query: &RecallQuery<'_>, now_ms: i64) -> Recall {
        let limit = query.limit.min(MAX_RECALL_ENTRIES);
        let space = intent_tag(query.intent);
        let tools: BTreeSet<&String> = query.tools.iter().take(MAX_QUERIED_NAMES).collect();
        let targets: BTreeSet<&String> = query.targets.iter().take(MAX_QUERIED_NAMES).collect();

        let mut rules = Vec::new();
        let mut advice = Vec::new();
        let mut exact = self.intent_advice(&space, 1.0, now_ms);
        rules.extend(self.index.space(&space).into_iter().flat_map(|(number, _)| self.rule_ids(number)));
        if exact.is_empty() {
            for (slug, similarity) in self.index.intents.similar(query.intent, &slug(query.intent), MAX_SIMILAR_INTENTS)
            {
                exact.extend(self.intent_advice(&slug_space(&slug), similarity, now_ms));
            }
        }
        advice.append(&mut exact);
        for tool in &tools {
            let space = tool_tag(tool);
            for target in &targets {
                let entity = path_tag(target);
                let Some(number) = self.index.number(&space, &entity) else { continue };
                rules.extend(self.rule_ids(number));
                advice.extend(self.index.tag(number).and_then(|tag| self.tag_advice(Scope::Pair, tag, 1.0, now_ms)));
            }
            advice.extend(self.tool_advice(tool, &space, now_ms));
        }

        // Constraints before best practices, and newer rules before older ones.
        rules.sort_unstable_by_key(|id| (self.rules.get(id).is_some_and(|rule| rule.sigma > 0.0), Reverse(*id)));
        rules.dedup();
        rules.truncate(limit.div_ceil(2).min(MAX_RECALL_SOPS));
        advice.sort_by(by_urgency);
        advice.truncate(limit - rules.len());
        let sops = self.sops(&rules);
        Recall { sops, advice, frames: recalled(rules, now_ms) }
    }

    /// Advice from each tag of an intent: the intent itself and its approaches.
    fn intent_advice(&self, space: &str, similarity: f64, now_ms: i64) -> Vec<Advice> {
        let of_tag = |(_, tag): (u32, &TagEntry)| {
            let scope = match tag.entity() {
                ENV_LOCAL => Scope::Intent,
                entity if is_approach(entity) => Scope::Approach,
                _ => return None,
            };
            self.tag_advice(scope, tag, similarity, now_ms)
        };
        self.index.space(space).into_iter().filter_map(of_tag).collect()
    }

    /// Advice from one tag; `None` if too little is known.
    fn tag_advice(&self, scope: Scope, tag: &TagEntry, similarity: f64, now_ms: i64) -> Option<Advice> {
        let (potentials, capped) = capped_action(scope, tag.aggregate.at(now_ms), similarity)?;
        let newest = self.index.history(tag, &self.rows).take(MAX_NAMED_MEGRAMS);
        Some(Advice {
            scope,
            tag: tag.tag(),
            potentials,
            similarity,
            capped,
            megrams: newest.map(|(_, row)| row.id).collect(),
            megrams_total: tag.live as usize,
        })
    }

    /// Advice from the sum over all tags of a tool; `None` if too little is known.
    fn tool_advice(&self, tool: &str, space: &str, now_ms: i64) -> Option<Advice> {
        let sum = self.index.tool(tool)?;
        let (potentials, capped) = capped_action(Scope::Tool, sum.aggregate.at(now_ms), 1.0)?;
        Some(Advice {
            scope: Scope::Tool,
            tag: Tag::new(space, ANY_ENTITY),
            potentials,
            similarity: 1.0,
            capped,
            megrams: sum.newest.iter().map(|place| place.id).collect(),
            megrams_total: sum.live as usize,
        })
    }
}

/// Attention and decision times `similarity`, with the action that the scope allows and why it was lowered; `None` for
/// too little attention.
fn capped_action(scope: Scope, sums: Sums, similarity: f64) -> Option<(Potentials, Option<Cap>)> {
    let mut potentials = Potentials::new(sums.attention * similarity, sums.decision * similarity);
    let blameless = Action::of(potentials.attention, (sums.decision - sums.excused) * similarity);
    let capped = match (potentials.action, scope) {
        (Action::Ignore, _) => return None,
        (Action::Caution, _) => None,
        (Action::Exploit | Action::Avoid, _) if similarity < 1.0 => Some(Cap::Similar),
        (Action::Exploit | Action::Avoid, Scope::Tool) | (Action::Avoid, Scope::Intent) => Some(Cap::Unspecific),
        (Action::Avoid, _) if blameless != Action::Avoid => Some(Cap::Environmental),
        (Action::Exploit | Action::Avoid, _) => None,
    };
    if capped.is_some() {
        potentials.action = Action::Caution;
    }
    Some((potentials, capped))
}

/// Order of advice: avoid, exploit, caution; then by similarity, scope and attention.
fn by_urgency(a: &Advice, b: &Advice) -> std::cmp::Ordering {
    let rank = |advice: &Advice| match advice.potentials.action {
        Action::Avoid => 0,
        Action::Exploit => 1,
        Action::Caution => 2,
        Action::Ignore => 3,
    };
    rank(a)
        .cmp(&rank(b))
        .then_with(|| b.similarity.total_cmp(&a.similarity))
        .then_with(|| a.scope.cmp(&b.scope))
        .then_with(|| b.potentials.attention.total_cmp(&a.potentials.attention))
        .then_with(|| a.tag.cmp(&b.tag))
}
