//! Frames: the changes of a memory, one in each entry of the journal.

use serde::{Deserialize, Serialize};

use crate::record::{Megram, MegramId, RuleKind};

/// Most record ids in one `Frame`; a larger deletion takes several frames.
pub const MAX_IDS_PER_FRAME: usize = 10_000;

/// One change of a memory, as stored in the journal; applying all frames in order rebuilds the memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Frame {
    /// A record of level M, K or T was added.
    Written {
        /// The added record.
        megram: Megram,
    },
    /// A rule of level C was made.
    Promoted {
        /// The added rule.
        rule: Megram,
        /// Whether the rule is a best practice or a constraint.
        rule_kind: RuleKind,
        /// The newest record of the rule's tag then; only newer records count as evidence for the next rule.
        watermark: Watermark,
        /// The rule of the same tag and kind that the new rule replaces; `None` for the first one.
        supersedes: Option<MegramId>,
    },
    /// A query returned these rules.
    Recalled {
        /// The returned rules.
        ids: Vec<MegramId>,
        /// When the query ran, Unix milliseconds.
        at_ms: i64,
    },
    /// A rule was demoted to Knowledge.
    Demoted {
        /// The demoted rule.
        id: MegramId,
        /// When the rule was demoted, Unix milliseconds.
        at_ms: i64,
    },
    /// Records were deleted.
    Deleted {
        /// The deleted records, at most [`MAX_IDS_PER_FRAME`].
        ids: Vec<MegramId>,
        /// When the records were deleted, Unix milliseconds.
        at_ms: i64,
        /// Why the records were deleted.
        reason: DeletionReason,
    },
    /// The evidence of a tag up to a record was used for a rule that no longer exists.
    Marked {
        /// The space of the tag whose evidence was used.
        space: String,
        /// The entity of the tag whose evidence was used.
        entity: String,
        /// The kind of rule that used the evidence.
        rule_kind: RuleKind,
        /// The newest record that was used as evidence.
        watermark: Watermark,
    },
    /// A distiller (which writes the text of a rule) was asked for a rule and failed; this frame changes nothing.
    Attempted {
        /// The space of the tag that the rule was to be about.
        space: String,
        /// The entity of the tag that the rule was to be about.
        entity: String,
        /// The kind of rule that was asked for.
        rule_kind: RuleKind,
        /// When the distiller failed, Unix milliseconds.
        at_ms: i64,
        /// The error of the distiller.
        problem: String,
    },
}

impl Frame {
    /// When the change happened, Unix milliseconds; for `Marked`, the time of the watermark.
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
    /// The attention of the records' tag had faded.
    Faded,
    /// A person asked to forget the records.
    Forgotten,
}

/// A position in the history of a tag: the record named here and all records before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Watermark {
    /// The time of the record, Unix milliseconds.
    pub at_ms: i64,
    /// The id of the record.
    pub id: MegramId,
}
