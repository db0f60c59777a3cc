//! Advice on an intent: rules, and what worked or failed, with the records it is based on.
//!
//! Advice to avoid is given only about an approach or an exact pair of tool and target; broader advice is caution at
//! most. If an action was lowered, the advice says why.

use std::{cmp::Reverse, collections::BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{
    advice::{Hypothesis, Lesson, Note},
    engine::{
        Action, Engine, MAX_NAMED_MEGRAMS, Potentials,
        aggregate::{Aggregate, Sums},
        index::TagEntry,
        lexical::{EVERY_INTENT, MAX_SIMILARITY, Near},
        row::Row,
    },
    record::{
        Frame, MegramId, Tag,
        tag::{ENV_LOCAL, intent_slug, intent_tag, is_approach, path_tag, slug_space, tool_tag},
    },
    rules::{MIN_DISTINCT_TASKS, SopRecord, evidence::has_witnesses, sop::recalled},
};

/// Most rules and pieces of advice together in one recall, so that they fit into a prompt.
#[doc(alias = "limit")]
pub const MAX_RECALL_ENTRIES: usize = 10;

/// Maximum number of rules returned by one recall (a query for advice).
pub const MAX_RECALL_SOPS: usize = MAX_RECALL_ENTRIES / 2;

/// Most tools, and most targets, of a query that are read; the others are ignored.
pub const MAX_QUERIED_NAMES: usize = 64;

/// Maximum number of similar intents whose advice is used if the intent itself is unknown.
const MAX_SIMILAR_INTENTS: usize = 3;

/// Maximum number of records of a tag that are searched for tasks, corrections and ids, newest first.
const MAX_SCANNED_RECORDS: usize = 10_000;

/// Supplies remembered intents that are similar to a new one, e.g. by embeddings; advice from them is capped like that
/// of intents that share words.
pub trait Similarity: std::fmt::Debug + Send + Sync {
    /// Remembered intents (in the words of [`Engine::intents`]) with their similarity to `intent`, 0..=1.
    fn candidates(&self, intent: &str) -> Vec<(String, f64)>;
}

/// Entity in [`Advice::tag`] of advice about a tool, which sums over all its tags.
pub const ANY_ENTITY: &str = "*";

/// A query for advice on an intent, with the tools and targets that the plan may use.
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

    /// Sets the targets (such as paths) that the user's request names.
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

/// What a piece of advice is about: a tool on a target, a set of tools for an intent, an intent, or a tool.
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
    /// The advice is about another, similar intent, or only the key of the intent is known.
    Similar,
    /// All failures that imply "avoid" come from one task and one source.
    OneTask,
    /// A person said that a result was wrong, and fewer than two tasks have worked since.
    Corrected,
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
    /// The remembered intent that the advice is about, in the words it was first given; `None` for pairs and tools.
    #[serde(default)]
    pub intent: Option<String>,
    /// The records that the advice is based on, newest first, at most [`MAX_NAMED_MEGRAMS`].
    pub megrams: Vec<MegramId>,
    /// Number of records that the advice is based on.
    pub megrams_total: usize,
}

/// What memory returns for a [`RecallQuery`]: rules, advice, lessons, notes and hypotheses.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Recall {
    /// Rules of the intent, its approaches and the named pairs, constraints first.
    pub sops: Vec<SopRecord>,
    /// Advice: first what to avoid, then what works, then what needs care.
    pub advice: Vec<Advice>,
    /// What corrections taught, of this intent and alike ones; best first, one for each criterion.
    pub lessons: Vec<Lesson>,
    /// Notes of a person that share words with the intent; if there are few notes, short ones always.
    pub notes: Vec<Note>,
    /// What may work, if nothing is known to work for the intent itself; at most one.
    pub hypotheses: Vec<Hypothesis>,
    /// The frame that records this recall, for the journal; empty without rules.
    pub frames: Vec<Frame>,
}

impl Engine {
    /// Advice on an intent, for the tools of the plan and the targets of the request.
    ///
    /// Reads the tags of the intent itself (an equal key *and* equal words), the exact pairs of `tools` × `targets` and
    /// a sum for each tool; if nothing is known about the intent itself, up to three alike intents, at a discount.
    ///
    /// The frames in the result are not applied, so that readers need no write access. The owner of the journal passes
    /// them to [`Engine::apply`].
    #[must_use]
    pub fn recall(&self, query: &RecallQuery<'_>, now_ms: i64) -> Recall {
        self.recall_with(query, None, now_ms)
    }

    /// Like [`Engine::recall`], with more candidates for similar intents, e.g. those whose embeddings are near.
    #[must_use]
    pub fn recall_with(&self, query: &RecallQuery<'_>, more: Option<&dyn Similarity>, now_ms: i64) -> Recall {
        let limit = query.limit.min(MAX_RECALL_ENTRIES);
        let space = intent_tag(query.intent);
        let tools: BTreeSet<&String> = query.tools.iter().take(MAX_QUERIED_NAMES).collect();
        let targets: BTreeSet<&String> = query.targets.iter().take(MAX_QUERIED_NAMES).collect();

        let of_slug = self.index.space(&space).into_iter();
        let mut rules: Vec<MegramId> = of_slug
            .filter(|(_, tag)| tag.entity() != ENV_LOCAL)
            .flat_map(|(number, _)| self.rule_ids(number))
            .collect();
        let intents = &self.index.intents;
        let more = more.map(|more| more.candidates(query.intent)).unwrap_or_default();
        let alike = intents.similar(query.intent, more, MAX_SIMILAR_INTENTS);
        let (same, same_slug) = (intents.same(query.intent), intents.same_slug(query.intent));
        let mut advice = Vec::new();
        for tier in [same.as_slice(), same_slug.as_slice(), &alike] {
            if advice.is_empty() {
                advice.extend(tier.iter().flat_map(|near| self.intent_advice(*near, now_ms)));
            }
        }
        let works = |advice: &Advice| advice.scope == Scope::Approach && advice.potentials.action == Action::Exploit;
        let own: Vec<&str> =
            advice.iter().filter(|own| own.similarity == 1.0).map(|own| own.tag.entity.as_str()).collect();
        let unknown = limit > 0 && !advice.iter().any(works);
        let hypotheses =
            unknown.then(|| self.hypothesis(query.intent, query.tools, &own, now_ms)).flatten().into_iter().collect();
        for tool in &tools {
            let space = tool_tag(tool);
            for target in &targets {
                let entity = path_tag(target);
                let Some(number) = self.index.number(&space, &entity) else { continue };
                rules.extend(self.rule_ids(number));
                advice.extend(self.index.tag(number).and_then(|tag| self.pair_advice(tag, now_ms)));
            }
            advice.extend(self.tool_advice(tool, &space, now_ms));
        }

        // Constraints before best practices, and newer rules before older ones.
        rules.sort_unstable_by_key(|id| (self.rules.get(id).is_some_and(|rule| rule.sigma > 0.0), Reverse(*id)));
        rules.dedup();
        rules.truncate(limit.div_ceil(2).min(MAX_RECALL_SOPS));
        advice.sort_by(by_urgency);
        advice.truncate(limit - rules.len());
        let near: Vec<Near> = same.or(same_slug).into_iter().chain(alike).collect();
        Recall {
            sops: self.sops(&rules),
            advice,
            lessons: self.lessons(&near, limit, now_ms),
            notes: self.notes(query.intent, limit),
            hypotheses,
            frames: recalled(rules, now_ms),
        }
    }

    /// What a recall would advise about the newest intent, or the tool and target, of each tag; newest tags first, at
    /// most `limit`.
    #[must_use]
    pub fn overview(&self, limit: usize, now_ms: i64) -> Vec<Advice> {
        let mut tags: Vec<&TagEntry> = self.index.live().map(|(_, tag)| tag).collect();
        tags.sort_by_key(|tag| (Reverse(tag.aggregate.newest_ms), tag.tag()));
        let advice = |tag: &TagEntry| {
            if intent_slug(tag.space()).is_none() {
                return self.pair_advice(tag, now_ms).filter(|_| Tag::can_be_a_rule(tag.space(), tag.entity()));
            }
            let number = self.index.number(tag.space(), tag.entity())?;
            let own =
                self.index.history(tag, &self.rows).map(|(_, row)| row.intent).find(|own| *own != EVERY_INTENT)?;
            let known = self.index.intents.get(own)?;
            let near = self.index.intents.same(known.text()).filter(|same| same.intent == own);
            let near = near.unwrap_or(Near { intent: own, similarity: MAX_SIMILARITY });
            self.approach_advice(number, tag, near, now_ms)
        };
        tags.into_iter().filter_map(advice).take(limit).collect()
    }

    /// Advice from each tag of a remembered intent: the intent itself and its approaches.
    fn intent_advice(&self, near: Near, now_ms: i64) -> Vec<Advice> {
        let Some(intent) = self.index.intents.get(near.intent) else { return Vec::new() };
        let tags = self.index.space(&slug_space(intent.slug())).into_iter();
        tags.filter_map(|(number, tag)| self.approach_advice(number, tag, near, now_ms)).collect()
    }

    /// Advice from one tag of a remembered intent; `None` if too little is known, or the tag is neither an approach nor
    /// the intent itself.
    fn approach_advice(&self, number: u32, tag: &TagEntry, near: Near, now_ms: i64) -> Option<Advice> {
        let scope = match tag.entity() {
            ENV_LOCAL => Scope::Intent,
            entity if is_approach(entity) => Scope::Approach,
            _ => return None,
        };
        let (live, sums) = self.index.of_intent(number, near.intent);
        let mut advice = self.tag_advice(scope, tag, near, &sums, now_ms)?;
        advice.megrams_total = live as usize;
        advice.intent = self.index.intents.get(near.intent).map(|intent| intent.text().to_owned());
        Some(advice)
    }

    /// Advice from a tag that is not about an intent; `None` if too little is known.
    fn pair_advice(&self, tag: &TagEntry, now_ms: i64) -> Option<Advice> {
        let every = Near { intent: EVERY_INTENT, similarity: 1.0 };
        self.tag_advice(Scope::Pair, tag, every, &tag.aggregate, now_ms)
    }

    /// Advice from the records of a tag about one intent, with their sums; `None` if too little is known.
    fn tag_advice(&self, scope: Scope, tag: &TagEntry, near: Near, sums: &Aggregate, now_ms: i64) -> Option<Advice> {
        let (mut potentials, mut capped) = capped_action(scope, sums.at(now_ms), near.similarity)?;
        let rows = || self.rows_about(tag, near.intent);
        capped = capped.or(match potentials.action {
            Action::Avoid if !has_witnesses(rows().filter(Row::blames_the_approach), true) => Some(Cap::OneTask),
            Action::Exploit if awaits_proof(rows()) => Some(Cap::Corrected),
            Action::Ignore | Action::Exploit | Action::Avoid | Action::Caution => None,
        });
        if capped.is_some() {
            potentials.action = Action::Caution;
        }
        Some(Advice {
            scope,
            tag: tag.tag(),
            potentials,
            similarity: near.similarity,
            capped,
            intent: None,
            megrams: rows().take(MAX_NAMED_MEGRAMS).map(|row| row.id).collect(),
            megrams_total: tag.live as usize,
        })
    }

    /// The records that concern an intent (all, for `EVERY_INTENT`) among the tag's newest `MAX_SCANNED_RECORDS`,
    /// newest first.
    pub(super) fn rows_about(&self, tag: &TagEntry, intent: u32) -> impl Iterator<Item = Row> {
        let history = self.index.history(tag, &self.rows).map(|(_, row)| row).take(MAX_SCANNED_RECORDS);
        history.filter(move |row| intent == EVERY_INTENT || [intent, EVERY_INTENT].contains(&row.intent))
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
            intent: None,
            megrams: sum.newest.iter().map(|place| place.id).collect(),
            megrams_total: sum.live as usize,
        })
    }
}

/// Attention and decision times `similarity`, with the action that the scope allows and why it was lowered; `None` for
/// too little attention. Whether attention is too little does not depend on the similarity.
fn capped_action(scope: Scope, sums: Sums, similarity: f64) -> Option<(Potentials, Option<Cap>)> {
    let blameless = Action::of(sums.attention, sums.decision - sums.excused);
    let action = Action::of(sums.attention, sums.decision);
    let capped = match (action, scope) {
        (Action::Ignore, _) => return None,
        (Action::Caution, _) => None,
        (Action::Exploit | Action::Avoid, _) if similarity < 1.0 => Some(Cap::Similar),
        (Action::Exploit | Action::Avoid, Scope::Tool) | (Action::Avoid, Scope::Intent) => Some(Cap::Unspecific),
        (Action::Avoid, _) if blameless != Action::Avoid => Some(Cap::Environmental),
        (Action::Exploit | Action::Avoid, _) => None,
    };
    let action = if capped.is_some() { Action::Caution } else { action };
    Some((Potentials { attention: sums.attention * similarity, decision: sums.decision * similarity, action }, capped))
}

/// Whether a person corrected a result, and fewer than two tasks have worked since; rows newest first.
fn awaits_proof(rows: impl Iterator<Item = Row>) -> bool {
    let mut worked = BTreeSet::new();
    for row in rows {
        if row.correction || worked.len() >= MIN_DISTINCT_TASKS {
            return row.correction && worked.len() < MIN_DISTINCT_TASKS;
        }
        worked.extend((row.sigma > 0.0).then_some(row.task).filter(|task| *task != 0));
    }
    false
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
