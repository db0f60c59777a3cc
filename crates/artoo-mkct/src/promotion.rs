//! From many alike events to one rule: which tags qualify, on what evidence, and the rule that comes of it.
//!
//! Turned inside out: [`Engine::promotions`] hands out tickets with their evidence, somebody else finds the words (a
//! language model, a person), [`Engine::promote`] takes them.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{
    Engine, FailureClass, Frame, Level, Megram, MegramId, Potentials, PromoteError, Provenance, State, Watermark,
    aggregate::Compensated, engine::index::Tag, hash::fnv1a_parts, potential::days_between,
    quantization::RULE_MAGNITUDE,
};

/// Attention a tag needs before a rule is distilled from it.
pub const PROMOTE_ATTENTION: f64 = 5.0;

/// Preference, either way, that it needs besides.
pub const PROMOTE_DECISION: f64 = 3.0;

/// Distinct tasks that must agree before a rule is made or unmade: one task that loops is one witness.
pub const MIN_DISTINCT_TASKS: usize = 2;

/// Records of one task that count as evidence for a rule; records without a task count as one task's together.
///
/// Three: a task gets at most four rounds, and with two witnesses the thresholds can still be met.
pub const MAX_EVIDENCE_PER_TASK: usize = 3;

/// Records handed over with a ticket and kept with its rule: what fits into one prompt.
pub const MAX_EVIDENCE: usize = 64;

/// Which way a rule points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleKind {
    /// It keeps working: do it this way.
    BestPractice,
    /// It keeps failing: do not.
    Constraint,
}

impl RuleKind {
    const ALL: [Self; 2] = [Self::BestPractice, Self::Constraint];

    /// +1 for a best practice, −1 for a constraint.
    #[must_use]
    pub const fn sign(self) -> i8 {
        match self {
            Self::BestPractice => 1,
            Self::Constraint => -1,
        }
    }

    /// The kind a rule's valence says.
    #[must_use]
    pub(crate) fn of_sigma(sigma: f64) -> Self {
        if sigma < 0.0 { Self::Constraint } else { Self::BestPractice }
    }

    /// The matrix row whose sign the rule has.
    const fn state(self) -> State {
        match self {
            Self::BestPractice => State::Accept,
            Self::Constraint => State::Abandon,
        }
    }
}

/// A tag that qualifies for a rule, and what speaks for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Promotion {
    /// What [`Engine::promote`] takes.
    pub ticket: PromotionTicket,
    /// The tag's potentials.
    pub potentials: Potentials,
    /// The records that count, strongest first, at most [`MAX_EVIDENCE`].
    pub evidence: Vec<Evidence>,
}

/// The right to make one rule; it goes stale when the evidence does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromotionTicket {
    space: String,
    entity: String,
    kind: RuleKind,
    evidence: Vec<MegramId>,
    watermark: Watermark,
}

impl PromotionTicket {
    /// First tag.
    #[must_use]
    pub fn space(&self) -> &str {
        &self.space
    }

    /// Second tag.
    #[must_use]
    pub fn entity(&self) -> &str {
        &self.entity
    }

    /// Best practice or constraint.
    #[must_use]
    pub fn kind(&self) -> RuleKind {
        self.kind
    }
}

/// One record as evidence for a rule.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// The record.
    pub id: MegramId,
    /// What happened; data, never instructions.
    pub content: String,
    /// The matrix row.
    pub state: State,
    /// The task it comes from.
    pub task: Option<String>,
    /// What it adds to attention now.
    pub attention: f64,
    /// What it adds to decision now.
    pub decision: f64,
}

impl Engine {
    /// The tags from which a rule can be made now, in the order of their tags.
    ///
    /// A tag qualifies at attention ≥ 5 and |decision| ≥ 3, as a whole and by the records that came after its last
    /// rule of that kind alone, counting at most [`MAX_EVIDENCE_PER_TASK`] a task and at least
    /// [`MIN_DISTINCT_TASKS`] tasks. What the environment did is no evidence for a constraint.
    #[must_use]
    pub fn promotions(&self, now_ms: i64) -> Vec<Promotion> {
        self.index
            .tags()
            .flat_map(|(space, entity, tag)| RuleKind::ALL.map(|kind| self.promotion(space, entity, tag, kind, now_ms)))
            .flatten()
            .collect()
    }

    /// Makes a rule of level C in the words given, replacing the tag's rule of that kind.
    ///
    /// # Errors
    /// When the words break a bound or the ticket is stale; then nothing changed.
    pub fn promote(&mut self, ticket: &PromotionTicket, rule: &str, now_ms: i64) -> Result<Frame, PromoteError> {
        let PromotionTicket { space, entity, kind, evidence, watermark } = ticket;
        if let Some(&id) = evidence.iter().find(|id| !self.records.contains_key(*id)) {
            return Err(PromoteError::EvidenceGone { id });
        }
        let tag = self.index.tag(space, entity).ok_or(PromoteError::AlreadyPromoted)?;
        if tag.watermarks.get(kind).is_some_and(|used| used >= watermark) {
            return Err(PromoteError::AlreadyPromoted);
        }
        let decision = tag.aggregate.at(now_ms).decision;
        if decision * f64::from(kind.sign()) <= 0.0 {
            return Err(PromoteError::Contradicted { decision });
        }
        let supersedes = tag.rules.get(kind).copied();
        let mut megram = Megram {
            id: MegramId::from_u128(0),
            level: Level::C,
            created_at_ms: tag.aggregate.clamp(now_ms),
            last_recalled_at_ms: None,
            demoted_at_ms: None,
            space: space.clone(),
            entity: entity.clone(),
            content: rule.to_owned(),
            state: kind.state(),
            f: RULE_MAGNITUDE,
            sigma: f64::from(kind.sign()),
            k: 0.0,
            failure_class: None,
            task: None,
            provenance: Provenance {
                evidence: evidence.clone(),
                evidence_hash: Some(self.evidence_hash(evidence)),
                ..Provenance::default()
            },
        };
        self.check_bounds(&megram)?;
        megram.id = self.free_id(&megram);
        self.add_rule(&megram, *kind, *watermark);
        Ok(Frame::Promoted { rule: megram, rule_kind: *kind, watermark: *watermark, supersedes })
    }

    fn promotion(&self, space: &str, entity: &str, tag: &Tag, kind: RuleKind, now_ms: i64) -> Option<Promotion> {
        let sums = tag.aggregate.at(now_ms);
        // Constant time for the many tags that do not qualify; the evidence is looked at for those that do.
        if !qualifies(sums.attention, sums.decision, kind) {
            return None;
        }
        let used = tag.watermarks.get(&kind);
        let fresh = tag.live.iter().rev().take_while(|place| used.is_none_or(|used| *place > used));
        let now_ms = tag.aggregate.clamp(now_ms);
        let counted = capped(
            fresh
                .filter_map(|place| self.records.get(&place.id))
                // A demoted rule is no new experience: it would count its old evidence twice.
                .filter(|megram| megram.level == Level::M)
                .filter(|megram| kind == RuleKind::BestPractice || !blames_the_environment(megram)),
            now_ms,
        );
        let (mut attention, mut decision) = (Compensated::default(), Compensated::default());
        for (megram, weight) in &counted {
            attention.add(megram.f * weight);
            decision.add(megram.sigma * megram.f * weight);
        }
        let tasks: BTreeSet<&str> = counted.iter().filter_map(|(megram, _)| megram.task.as_deref()).collect();
        if !qualifies(attention.value(), decision.value(), kind) || tasks.len() < MIN_DISTINCT_TASKS {
            return None;
        }
        let evidence: Vec<Evidence> = counted.into_iter().take(MAX_EVIDENCE).map(Evidence::from).collect();
        Some(Promotion {
            ticket: PromotionTicket {
                space: space.to_owned(),
                entity: entity.to_owned(),
                kind,
                evidence: evidence.iter().map(|evidence| evidence.id).collect(),
                watermark: *tag.live.last()?,
            },
            potentials: Potentials::new(sums.attention, sums.decision),
            evidence,
        })
    }

    fn evidence_hash(&self, evidence: &[MegramId]) -> u64 {
        let ids: Vec<[u8; 16]> = evidence.iter().map(|id| id.as_u128().to_be_bytes()).collect();
        let contents = evidence.iter().filter_map(|id| self.records.get(id)).map(|megram| megram.content.as_bytes());
        fnv1a_parts(ids.iter().map(<[u8; 16]>::as_slice).chain(contents))
    }
}

impl From<(&Megram, f64)> for Evidence {
    fn from((megram, weight): (&Megram, f64)) -> Self {
        Self {
            id: megram.id,
            content: megram.content.clone(),
            state: megram.state,
            task: megram.task.clone(),
            attention: megram.f * weight,
            decision: megram.sigma * megram.f * weight,
        }
    }
}

/// Whether a record is a failure that the environment caused: nobody's approach learns from it.
pub(crate) fn blames_the_environment(megram: &Megram) -> bool {
    megram.sigma < 0.0 && megram.failure_class == Some(FailureClass::Environmental)
}

fn qualifies(attention: f64, decision: f64, kind: RuleKind) -> bool {
    attention >= PROMOTE_ATTENTION && decision * f64::from(kind.sign()) >= PROMOTE_DECISION
}

/// The strongest records of each task with what is left of them, strongest first.
fn capped<'a>(megrams: impl Iterator<Item = &'a Megram>, now_ms: i64) -> Vec<(&'a Megram, f64)> {
    let mut by_task: BTreeMap<Option<&str>, Vec<(&Megram, f64)>> = BTreeMap::new();
    for megram in megrams {
        let weight = crate::potential::decay(megram.k, days_between(megram.decays_from_ms(), now_ms));
        by_task.entry(megram.task.as_deref()).or_default().push((megram, weight));
    }
    let strongest_first = |records: &mut Vec<(&Megram, f64)>| {
        records.sort_by(|a, b| (b.0.f * b.1).total_cmp(&(a.0.f * a.1)).then_with(|| a.0.id.cmp(&b.0.id)));
    };
    let mut counted = Vec::new();
    for (_, mut records) in by_task {
        strongest_first(&mut records);
        records.truncate(MAX_EVIDENCE_PER_TASK);
        counted.extend(records);
    }
    strongest_first(&mut counted);
    counted
}
