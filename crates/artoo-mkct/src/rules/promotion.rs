//! Promotion: which tags qualify for a rule, and the rule that is made of their events.
//!
//! The words of a rule come from the caller: [`Engine::promotions`] returns tickets with their evidence, a language
//! model or a person writes the text, and [`Engine::promote`] makes the rule.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{
    engine::{Engine, Potentials, index::TagEntry, row::Row},
    record::tag::is_skill,
    record::{
        Frame, Level, Megram, MegramId, PromoteError, Provenance, Quantum, RuleKind, State, Tag, Watermark,
        quantization::RULE_MAGNITUDE,
    },
    rules::evidence::{CountedEvidence, WeightedRow},
};

/// Least attention at which a tag qualifies for a rule.
pub const PROMOTE_ATTENTION: f64 = 5.0;

/// Least decision (for a constraint: its negative) at which a tag qualifies for a rule.
pub const PROMOTE_DECISION: f64 = 3.0;

/// A tag that qualifies for a rule, with the evidence.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Promotion {
    /// The ticket to pass to [`Engine::promote`].
    pub ticket: PromotionTicket,
    /// Attention and decision of the tag.
    pub potentials: Potentials,
    /// The records that count as evidence, strongest first, at most [`crate::rules::MAX_EVIDENCE`].
    pub evidence: Vec<Evidence>,
}

/// A permit to make one rule of a tag; it is invalid once a record of its evidence is deleted or another rule used it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PromotionTicket {
    tag: Tag,
    kind: RuleKind,
    evidence: Vec<MegramId>,
    watermark: Watermark,
}

impl PromotionTicket {
    /// The tag that the rule will be filed under.
    #[must_use]
    pub fn tag(&self) -> &Tag {
        &self.tag
    }

    /// Whether the rule will be a best practice or a constraint.
    #[must_use]
    pub fn kind(&self) -> RuleKind {
        self.kind
    }
}

/// One record as evidence for a rule; [`Engine::get`] returns its text.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Evidence {
    /// The id of the record.
    pub id: MegramId,
    /// The state of the controller that wrote the record.
    pub state: State,
    /// The record's share in the attention of its tag now.
    pub attention: f64,
    /// The record's share in the decision of its tag now.
    pub decision: f64,
}

impl From<&WeightedRow> for Evidence {
    fn from(weighed: &WeightedRow) -> Self {
        Self {
            id: weighed.row.id,
            state: weighed.row.state,
            attention: weighed.attention(),
            decision: weighed.decision(),
        }
    }
}

impl Engine {
    /// The tags that qualify for a rule now, sorted by tag.
    ///
    /// A tag qualifies at attention ≥ 5 and |decision| ≥ 3, both of all its records and of those newer than its last
    /// rule of that kind. Of these, at most [`crate::rules::MAX_EVIDENCE_PER_TASK`] of one task and
    /// [`crate::rules::MAX_EVIDENCE_PER_SOURCE`] of one quoted source count, and they must come from
    /// [`crate::rules::MIN_DISTINCT_TASKS`] tasks. Failures caused by the environment are no evidence for a constraint.
    #[must_use]
    pub fn promotions(&self, now_ms: i64) -> Vec<Promotion> {
        let of_tag = |(number, tag)| RuleKind::ALL.map(|kind| self.promotion(number, tag, kind, now_ms));
        let mut promotions: Vec<Promotion> = self.index.live().flat_map(of_tag).flatten().collect();
        promotions.sort_by(|a, b| (&a.ticket.tag, a.ticket.kind).cmp(&(&b.ticket.tag, b.ticket.kind)));
        promotions
    }

    /// Makes a rule of level C with the text `rule`, which replaces the rule of the same tag and kind.
    ///
    /// # Errors
    /// [`PromoteError`] when the text is not valid, the ticket is out of date, or newer records contradict the rule;
    /// then nothing changed.
    pub fn promote(&mut self, ticket: &PromotionTicket, rule: &str, now_ms: i64) -> Result<Frame, PromoteError> {
        let PromotionTicket { tag: names, kind, evidence, watermark } = ticket;
        if let Some(&id) = evidence.iter().find(|id| !self.contains(**id)) {
            return Err(PromoteError::EvidenceGone { id });
        }
        let number = self.index.number(&names.space, &names.entity).ok_or(PromoteError::AlreadyPromoted)?;
        let tag = self.index.tag(number).ok_or(PromoteError::AlreadyPromoted)?;
        let slot = self.rule_slots.get(&(number, *kind)).copied().unwrap_or_default();
        if slot.used.is_some_and(|used| used >= *watermark) {
            return Err(PromoteError::AlreadyPromoted);
        }
        let decision = tag.aggregate.at(now_ms).decision;
        if decision * f64::from(kind.sign()) <= 0.0 {
            return Err(PromoteError::Contradicted { decision });
        }
        let state = match kind {
            RuleKind::BestPractice => State::Accept,
            RuleKind::Constraint => State::Abandon,
        };
        let quantum = Quantum { f: RULE_MAGNITUDE, sigma: f64::from(kind.sign()), k: 0.0 };
        let created_at_ms = tag.aggregate.clamp(now_ms);
        let mut megram = Megram {
            content: rule.to_owned(),
            provenance: Provenance {
                evidence: evidence.clone(),
                evidence_hash: Some(self.evidence_hash(evidence)),
                tasks: evidence.iter().filter_map(|id| Some(self.row(*id)?.1.task)).collect::<BTreeSet<_>>().len(),
                ..Provenance::default()
            },
            ..Megram::new(Level::C, created_at_ms, names.clone(), state, quantum)
        };
        self.check_bounds(&megram)?;
        megram.id = self.fresh_id(&megram);
        self.add_rule(&megram, *kind, *watermark);
        Ok(Frame::Promoted { rule: megram, rule_kind: *kind, watermark: *watermark, supersedes: slot.rule })
    }

    /// Replaces the text of a rule by one that `source` wrote; `None` if there is no such rule, or the text is not valid.
    ///
    /// The rule gets another id and keeps everything else, its date too.
    pub fn reword(&mut self, rule: MegramId, text: &str, source: &str) -> Option<Frame> {
        let mut megram = Megram::clone(self.rules.get(&rule)?);
        let rule_kind = RuleKind::of_sigma(megram.sigma);
        let number = self.index.number(&megram.space, &megram.entity)?;
        let slot = self.rule_slots.get(&(number, rule_kind)).filter(|slot| slot.rule == Some(rule))?;
        let (watermark, supersedes) = (slot.used?, slot.rule);
        text.clone_into(&mut megram.content);
        megram.provenance.source = Some(source.to_owned());
        megram.id = self.fresh_id(&megram);
        let frame = Frame::Promoted { rule: megram, rule_kind, watermark, supersedes };
        self.apply(&frame).ok().map(|()| frame)
    }

    /// The promotion of a tag to a rule of a kind; `None` if the tag does not qualify.
    pub(crate) fn promotion(&self, number: u32, tag: &TagEntry, kind: RuleKind, now_ms: i64) -> Option<Promotion> {
        let sums = tag.aggregate.at(now_ms);
        // A skill that works is not learned again, and its failures are no rule.
        if is_skill(tag.space()) {
            let has_rule = self.rule_slots.get(&(number, kind)).is_some_and(|slot| slot.rule.is_some());
            if has_rule || kind == RuleKind::Constraint {
                return None;
            }
        }
        // The sums are checked first: they take constant time, the evidence does not.
        if !qualifies(sums.attention, sums.decision, kind) || !Tag::can_be_a_rule(tag.space(), tag.entity()) {
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
                tag: tag.tag(),
                kind,
                evidence: evidence.iter().map(|evidence| evidence.id).collect(),
                watermark: self.index.history(tag, &self.rows).next()?.1.place(),
            },
            potentials: Potentials::new(sums.attention, sums.decision),
            evidence,
        })
    }

    /// The records that count as evidence for a rule of a kind: those newer than the last rule. Failures caused by the
    /// environment do not count for a constraint.
    pub(crate) fn evidence_for(&self, number: u32, tag: &TagEntry, kind: RuleKind, now_ms: i64) -> CountedEvidence {
        let used = self.rule_slots.get(&(number, kind)).and_then(|slot| slot.used);
        let counts = |row: &Row| kind == RuleKind::BestPractice || !row.blames_the_environment();
        self.fresh_evidence(tag, used, now_ms, counts)
    }
}

/// Whether an attention and a decision are enough for a rule of a kind.
fn qualifies(attention: f64, decision: f64, kind: RuleKind) -> bool {
    attention >= PROMOTE_ATTENTION && decision * f64::from(kind.sign()) >= PROMOTE_DECISION
}
