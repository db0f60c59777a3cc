//! Cognitive dissonance: a rule that newer events contradict loses weight faster than its evidence decays.
//!
//! A rule with much old evidence would outlast a change of the world by weeks. So if the events after it alone imply
//! the opposite action, and come from at least two tasks, one record of great magnitude against the rule is added. The
//! same events cause only one such record; it counts in attention and decision, but is not evidence for a rule.

use crate::{
    engine::{Action, Engine, index::TagEntry, row::Row},
    record::{Frame, Megram, MegramId, Provenance, RuleKind, Watermark},
    rules::evidence::{CountedEvidence, WeightedRow},
};

impl Engine {
    /// Adds a record against each rule that newer events contradict; returns the contradicted rules and the frames of
    /// the new records.
    pub(crate) fn record_dissonance(&mut self, now_ms: i64) -> (Vec<MegramId>, Vec<Frame>) {
        let contradicted: Vec<(MegramId, Megram)> = self
            .rule_slots
            .iter()
            .filter_map(|((number, kind), slot)| {
                let rule = self.rules.get(&slot.rule?)?;
                self.dissonance(self.index.tag(*number)?, rule, *kind, slot.used, now_ms)
                    .map(|megram| (rule.id, megram))
            })
            .collect();
        let record = |(rule, mut megram): (MegramId, Megram)| {
            megram.id = self.fresh_id(&megram);
            let frame = Frame::Written { megram };
            self.apply_own(&frame);
            (rule, frame)
        };
        contradicted.into_iter().map(record).unzip()
    }

    /// The record to add against a rule; `None` if newer events do not contradict the rule.
    fn dissonance(
        &self,
        tag: &TagEntry,
        rule: &Megram,
        kind: RuleKind,
        used: Option<Watermark>,
        now_ms: i64,
    ) -> Option<Megram> {
        let now_ms = tag.aggregate.clamp(now_ms);
        let opposes = |row: &Row| row.sigma * rule.sigma < 0.0;
        let said_already = |row: &Row| row.dissonance && opposes(row);
        let last = self.index.history(tag, &self.rows).map(|(_, row)| row).find(said_already).map(|row| row.place());
        let fresh = self.fresh_evidence(tag, used.max(last), now_ms, |row| !row.blames_the_environment());
        let (attention, decision) = fresh.sums();
        let opposite = match kind {
            RuleKind::BestPractice => Action::Avoid,
            RuleKind::Constraint => Action::Exploit,
        };
        if Action::of(attention, decision) != opposite || !fresh.has_witnesses(opposes) {
            return None;
        }
        Some(self.soft_overwrite(rule, &fresh, opposes, now_ms))
    }

    /// A record against a rule, with the events that contradict it as evidence.
    fn soft_overwrite(
        &self,
        rule: &Megram,
        fresh: &CountedEvidence,
        opposes: impl Fn(&Row) -> bool,
        now_ms: i64,
    ) -> Megram {
        let evidence: Vec<MegramId> = fresh.strongest(opposes).iter().map(|WeightedRow { row, .. }| row.id).collect();
        let against = Megram::against(rule, now_ms);
        Megram {
            content: format!("{} records since speak against rule {}", evidence.len(), rule.id),
            provenance: Provenance {
                evidence_hash: Some(self.evidence_hash(&evidence)),
                evidence,
                ..against.provenance
            },
            ..against
        }
    }
}
