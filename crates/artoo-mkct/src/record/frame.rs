//! Frames: the changes of a memory, as a journal keeps them.

use serde::{Deserialize, Serialize};

use crate::record::{Megram, MegramId, RuleKind};

/// Most ids in one frame; a larger deletion is several frames.
pub const MAX_IDS_PER_FRAME: usize = 10_000;

/// One change of a memory; replaying all frames rebuilds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Frame {
    /// A record of level M, K or T was added.
    Written {
        /// The record.
        megram: Megram,
    },
    /// A rule of level C was made.
    Promoted {
        /// The rule.
        rule: Megram,
        /// Best practice or constraint.
        rule_kind: RuleKind,
        /// The newest record of the tag then; only newer ones count as evidence for the next rule.
        watermark: Watermark,
        /// The rule of the same tag and kind that it replaces.
        supersedes: Option<MegramId>,
    },
    /// A query returned these rules.
    Recalled {
        /// The rules.
        ids: Vec<MegramId>,
        /// When it happened, Unix milliseconds.
        at_ms: i64,
    },
    /// A rule was demoted to Knowledge.
    Demoted {
        /// The rule.
        id: MegramId,
        /// When it happened, Unix milliseconds.
        at_ms: i64,
    },
    /// Records were deleted.
    Deleted {
        /// The records, at most [`MAX_IDS_PER_FRAME`].
        ids: Vec<MegramId>,
        /// When it happened, Unix milliseconds.
        at_ms: i64,
        /// Why they were deleted.
        reason: DeletionReason,
    },
    /// The evidence of a tag is used up to a record, though no rule shows that any more.
    Marked {
        /// The space of the tag.
        space: String,
        /// The entity of the tag.
        entity: String,
        /// The kind of rule that used the evidence.
        rule_kind: RuleKind,
        /// The newest record that was used.
        watermark: Watermark,
    },
    /// A distiller was asked for a rule and failed; changes nothing.
    Attempted {
        /// The space of the tag.
        space: String,
        /// The entity of the tag.
        entity: String,
        /// The kind of rule that was asked for.
        rule_kind: RuleKind,
        /// When it happened, Unix milliseconds.
        at_ms: i64,
        /// The error of the distiller.
        problem: String,
    },
}

impl Frame {
    /// When the change happened, Unix milliseconds.
    #[must_use]
    pub fn at_ms(&self) -> i64 {
        match self {
            Self::Written { megram } => megram.created_at_ms,
            Self::Promoted { rule, .. } => rule.created_at_ms,
            Self::Recalled { at_ms, .. }
            | Self::Demoted { at_ms, .. }
            | Self::Deleted { at_ms, .. }
            | Self::Attempted { at_ms, .. } => *at_ms,
            Self::Marked { watermark, .. } => watermark.at_ms,
        }
    }
}

/// Why records were deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DeletionReason {
    /// The attention of their tag had faded.
    Faded,
    /// A person asked for it.
    Forgotten,
}

/// A position in the history of a tag: everything up to this record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Watermark {
    /// The time of the record, Unix milliseconds.
    pub at_ms: i64,
    /// The record.
    pub id: MegramId,
}
