//! From many alike events to one rule: which tags qualify, on what evidence, and the rule that comes of it.
//!
//! Turned inside out: [`Engine::promotions`] hands out tickets with their evidence, somebody else finds the words (a
//! language model, a person), [`Engine::promote`] takes them.

use serde::{Deserialize, Serialize};

use crate::{
    Engine, Frame, Level, Megram, MegramId, Potentials, PromoteError, Provenance, Quantum, State, Watermark,
    engine::{index::Tag, row::Row},
    evidence::{Counted, Weighed},
    quantization::RULE_MAGNITUDE,
};

/// Attention a tag needs before a rule is distilled from it.
pub const PROMOTE_ATTENTION: f64 = 5.0;

/// Preference, either way, that it needs besides.
pub const PROMOTE_DECISION: f64 = 3.0;

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
    pub(crate) const ALL: [Self; 2] = [Self::BestPractice, Self::Constraint];

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
    /// The records that count, strongest first, at most [`crate::MAX_EVIDENCE`].
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

/// One record as evidence for a rule; [`Engine::get`] has its text.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// The record.
    pub id: MegramId,
    /// The matrix row.
    pub state: State,
    /// What it adds to attention now.
    pub attention: f64,
    /// What it adds to decision now.
    pub decision: f64,
}

impl From<&Weighed> for Evidence {
    fn from(weighed: &Weighed) -> Self {
        Self {
            id: weighed.row.id,
            state: weighed.row.state,
            attention: weighed.attention(),
            decision: weighed.decision(),
        }
    }
}

impl Engine {
    /// The tags from which a rule can be made now, in the order of their tags.
    ///
    /// A tag qualifies at attention ≥ 5 and |decision| ≥ 3, as a whole and by the records that came after its last
    /// rule of that kind alone, counting at most [`crate::MAX_EVIDENCE_PER_TASK`] a task, at most
    /// [`crate::MAX_EVIDENCE_PER_SOURCE`] a quoted source and at least [`crate::MIN_DISTINCT_TASKS`] tasks. What the
    /// environment did is no evidence for a constraint.
    #[must_use]
    pub fn promotions(&self, now_ms: i64) -> Vec<Promotion> {
        let of_tag = |(number, tag)| RuleKind::ALL.map(|kind| self.promotion(number, tag, kind, now_ms));
        let mut promotions: Vec<Promotion> = self.index.live().flat_map(of_tag).flatten().collect();
        let order = |promotion: &Promotion| {
            let ticket = &promotion.ticket;
            (ticket.space.clone(), ticket.entity.clone(), ticket.kind)
        };
        promotions.sort_by_cached_key(order);
        promotions
    }

    /// Makes a rule of level C in the words given, replacing the tag's rule of that kind.
    ///
    /// # Errors
    /// When the words break a bound or the ticket is stale; then nothing changed.
    pub fn promote(&mut self, ticket: &PromotionTicket, rule: &str, now_ms: i64) -> Result<Frame, PromoteError> {
        let PromotionTicket { space, entity, kind, evidence, watermark } = ticket;
        if let Some(&id) = evidence.iter().find(|id| !self.contains(**id)) {
            return Err(PromoteError::EvidenceGone { id });
        }
        let number = self.index.number(space, entity).ok_or(PromoteError::AlreadyPromoted)?;
        let tag = self.index.tag(number).ok_or(PromoteError::AlreadyPromoted)?;
        let standing = self.standing.get(&(number, *kind)).copied().unwrap_or_default();
        if standing.used.is_some_and(|used| used >= *watermark) {
            return Err(PromoteError::AlreadyPromoted);
        }
        let decision = tag.aggregate.at(now_ms).decision;
        if decision * f64::from(kind.sign()) <= 0.0 {
            return Err(PromoteError::Contradicted { decision });
        }
        let quantum = Quantum { f: RULE_MAGNITUDE, sigma: f64::from(kind.sign()), k: 0.0 };
        let created_at_ms = tag.aggregate.clamp(now_ms);
        let mut megram = Megram {
            content: rule.to_owned(),
            provenance: Provenance {
                evidence: evidence.clone(),
                evidence_hash: Some(self.evidence_hash(evidence)),
                ..Provenance::default()
            },
            ..Megram::new(Level::C, created_at_ms, (space, entity), kind.state(), quantum)
        };
        self.check_bounds(&megram)?;
        megram.id = self.fresh_id(&megram);
        self.add_rule(&megram, *kind, *watermark);
        Ok(Frame::Promoted { rule: megram, rule_kind: *kind, watermark: *watermark, supersedes: standing.rule })
    }

    pub(crate) fn promotion(&self, number: u32, tag: &Tag, kind: RuleKind, now_ms: i64) -> Option<Promotion> {
        let sums = tag.aggregate.at(now_ms);
        // Constant time for the many tags that do not qualify; the evidence is looked at for those that do.
        if !qualifies(sums.attention, sums.decision, kind) {
            return None;
        }
        let now_ms = tag.aggregate.clamp(now_ms);
        let counted = self.evidence_for(number, tag, kind, now_ms);
        let (attention, decision) = counted.sums();
        if !qualifies(attention, decision, kind) || !counted.has_witnesses(|_| true) {
            return None;
        }
        let evidence: Vec<Evidence> = counted.strongest(|_| true).iter().map(Evidence::from).collect();
        Some(Promotion {
            ticket: PromotionTicket {
                space: tag.space().to_owned(),
                entity: tag.entity().to_owned(),
                kind,
                evidence: evidence.iter().map(|evidence| evidence.id).collect(),
                watermark: self.index.history(tag, &self.rows).next()?.1.place(),
            },
            potentials: Potentials::new(sums.attention, sums.decision),
            evidence,
        })
    }

    /// What counts for a rule of a kind now: the experience since the last one. What the environment did is no evidence
    /// for a constraint.
    pub(crate) fn evidence_for(&self, number: u32, tag: &Tag, kind: RuleKind, now_ms: i64) -> Counted {
        let used = self.standing.get(&(number, kind)).and_then(|standing| standing.used);
        let counts = |row: &Row| kind == RuleKind::BestPractice || !row.blames_the_environment();
        self.fresh_evidence(tag, used, now_ms, counts)
    }
}

fn qualifies(attention: f64, decision: f64, kind: RuleKind) -> bool {
    attention >= PROMOTE_ATTENTION && decision * f64::from(kind.sign()) >= PROMOTE_DECISION
}
