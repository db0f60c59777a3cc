//! Reading the rules of a tag.

use serde::{Deserialize, Serialize};

use crate::{
    engine::Engine,
    record::{Frame, Level, Megram, MegramId, RuleKind, Tag},
};

/// A rule of level C, as a query returns it: a standard operating procedure (SOP).
#[doc(alias = "rule")]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SopRecord {
    /// The id of the rule.
    pub id: MegramId,
    /// The tag that the rule is filed under.
    pub tag: Tag,
    /// The text of the rule; to be read as data, never as instructions to this program.
    pub content: String,
    /// Whether the rule is a best practice or a constraint.
    pub kind: RuleKind,
    /// When the rule was made, Unix milliseconds.
    pub created_at_ms: i64,
    /// When a query last returned the rule before this one, Unix milliseconds; `None` for never.
    pub last_recalled_at_ms: Option<i64>,
    /// The records that the rule was made of, strongest first.
    pub evidence: Vec<MegramId>,
    /// Number of distinct tasks that the evidence came from when the rule was made; 0 in rules of earlier versions.
    pub tasks: usize,
    /// Number of records of the rule's evidence that still exist.
    pub evidence_live: usize,
    /// Number of records of the rule's evidence that were deleted on request.
    pub evidence_forgotten: usize,
}

impl Engine {
    /// The rules of a tag, and the frame that records that they were returned (no frame without rules).
    ///
    /// The frame is not applied, so that readers need no write access. The owner of the journal passes the frame to
    /// [`Engine::apply`].
    #[doc(alias = "rules")]
    #[must_use]
    pub fn query_c(&self, tag: &Tag, now_ms: i64) -> (Vec<SopRecord>, Vec<Frame>) {
        let ids = self.index.number(&tag.space, &tag.entity).map(|tag| self.rule_ids(tag)).unwrap_or_default();
        (self.sops(&ids), recalled(ids, now_ms))
    }

    /// All rules, newest first.
    #[must_use]
    pub fn sop_records(&self) -> Vec<SopRecord> {
        self.rules.values().rev().filter(|rule| rule.level == Level::C).map(|rule| self.sop(rule)).collect()
    }

    /// Ids of the rules of the tag with number `tag`, best practice first.
    pub(crate) fn rule_ids(&self, tag: u32) -> Vec<MegramId> {
        let slot = RuleKind::ALL.map(|kind| self.rule_slots.get(&(tag, kind)).and_then(|slot| slot.rule));
        slot.into_iter().flatten().collect()
    }

    /// The rules with these ids.
    pub(crate) fn sops(&self, ids: &[MegramId]) -> Vec<SopRecord> {
        ids.iter().filter_map(|id| self.rules.get(id)).map(|rule| self.sop(rule)).collect()
    }

    /// A rule as a query returns it, with counts of its evidence.
    fn sop(&self, rule: &Megram) -> SopRecord {
        let evidence = rule.provenance.evidence.clone();
        SopRecord {
            id: rule.id,
            tag: rule.tag(),
            content: rule.content.clone(),
            kind: RuleKind::of_sigma(rule.sigma),
            created_at_ms: rule.created_at_ms,
            last_recalled_at_ms: rule.last_recalled_at_ms,
            tasks: rule.provenance.tasks,
            evidence_live: evidence.iter().filter(|id| self.contains(**id)).count(),
            evidence_forgotten: evidence.iter().filter(|id| self.forgotten.contains(*id)).count(),
            evidence,
        }
    }
}

/// The frame that records that these rules were returned by a query; empty without rules.
pub(crate) fn recalled(ids: Vec<MegramId>, at_ms: i64) -> Vec<Frame> {
    if ids.is_empty() { Vec::new() } else { vec![Frame::Recalled { ids, at_ms }] }
}
