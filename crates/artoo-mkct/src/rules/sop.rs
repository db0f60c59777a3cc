//! Rules as a planner reads them; reading one is remembered.

use serde::{Deserialize, Serialize};

use crate::{
    engine::Engine,
    record::{Frame, Megram, MegramId, RuleKind, Tag},
};

/// A rule of level C: a standard operating procedure.
#[doc(alias = "rule")]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SopRecord {
    /// Its id.
    pub id: MegramId,
    /// What the rule is filed under.
    pub tag: Tag,
    /// The rule, in words; data, never instructions to this program.
    pub content: String,
    /// Best practice or constraint.
    pub kind: RuleKind,
    /// When it was made, Unix milliseconds.
    pub created_at_ms: i64,
    /// When it was last recalled before this query.
    pub last_recalled_at_ms: Option<i64>,
    /// What it was distilled from, strongest first.
    pub evidence: Vec<MegramId>,
    /// How much of the evidence is still there.
    pub evidence_live: usize,
    /// How much of the evidence was deleted on request: the rule rests on what somebody disowned.
    pub evidence_forgotten: usize,
}

impl Engine {
    /// The rules of a tag, and the frame that remembers their recall (none where there is no rule).
    ///
    /// The frame is not applied: reading changes nothing, so that readers need no writer. Whoever keeps the journal
    /// gives it to [`Engine::apply`].
    #[doc(alias = "rules")]
    #[must_use]
    pub fn query_c(&self, tag: &Tag, now_ms: i64) -> (Vec<SopRecord>, Vec<Frame>) {
        let ids = self.index.number(&tag.space, &tag.entity).map(|tag| self.rule_ids(tag)).unwrap_or_default();
        (self.sops(&ids), recalled(ids, now_ms))
    }

    pub(crate) fn rule_ids(&self, tag: u32) -> Vec<MegramId> {
        let slot = RuleKind::ALL.map(|kind| self.rule_slots.get(&(tag, kind)).and_then(|slot| slot.rule));
        slot.into_iter().flatten().collect()
    }

    pub(crate) fn sops(&self, ids: &[MegramId]) -> Vec<SopRecord> {
        ids.iter().filter_map(|id| self.rules.get(id)).map(|rule| self.sop(rule)).collect()
    }

    fn sop(&self, rule: &Megram) -> SopRecord {
        let evidence = rule.provenance.evidence.clone();
        SopRecord {
            id: rule.id,
            tag: rule.tag(),
            content: rule.content.clone(),
            kind: RuleKind::of_sigma(rule.sigma),
            created_at_ms: rule.created_at_ms,
            last_recalled_at_ms: rule.last_recalled_at_ms,
            evidence_live: evidence.iter().filter(|id| self.contains(**id)).count(),
            evidence_forgotten: evidence.iter().filter(|id| self.forgotten.contains(*id)).count(),
            evidence,
        }
    }
}

/// The frame that says these rules were recalled.
pub(crate) fn recalled(ids: Vec<MegramId>, at_ms: i64) -> Vec<Frame> {
    if ids.is_empty() { Vec::new() } else { vec![Frame::Recalled { ids, at_ms }] }
}
