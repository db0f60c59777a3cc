//! The facts a journal keeps: every change of memory is one frame, and replaying them rebuilds it.

use serde::{Deserialize, Serialize};

use crate::record::{Megram, MegramId, RuleKind};

/// Most ids in one frame; a larger deletion is several frames.
pub const MAX_IDS_PER_FRAME: usize = 10_000;

/// One change of memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
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
        /// The newest record it took into account; only later ones count for the next rule.
        watermark: Watermark,
        /// The rule of the same tag and kind that it replaces.
        supersedes: Option<MegramId>,
    },
    /// A query returned these rules.
    Recalled {
        /// The rules.
        ids: Vec<MegramId>,
        /// When, Unix milliseconds.
        at_ms: i64,
    },
    /// A rule lost its trust and is Knowledge now.
    Demoted {
        /// The rule.
        id: MegramId,
        /// When, Unix milliseconds.
        at_ms: i64,
    },
    /// Records are gone.
    Deleted {
        /// Which, at most [`MAX_IDS_PER_FRAME`].
        ids: Vec<MegramId>,
        /// When, Unix milliseconds.
        at_ms: i64,
        /// Why.
        reason: DeletionReason,
    },
    /// Evidence of a tag is used up to here, where no standing rule says so any more.
    Marked {
        /// First tag.
        space: String,
        /// Second tag.
        entity: String,
        /// Which kind of rule used it.
        rule_kind: RuleKind,
        /// The newest record it took into account.
        watermark: Watermark,
    },
    /// A rule was asked for and none came; changes nothing.
    Attempted {
        /// First tag.
        space: String,
        /// Second tag.
        entity: String,
        /// Which kind of rule was wanted.
        rule_kind: RuleKind,
        /// When, Unix milliseconds.
        at_ms: i64,
        /// What went wrong.
        problem: String,
    },
}

impl Frame {
    /// When it happened, Unix milliseconds.
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

/// Why a record went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeletionReason {
    /// Its tag had next to no attention left.
    Faded,
    /// Somebody asked for it.
    Forgotten,
}

/// A place in a tag's history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Watermark {
    /// The time of the record there, Unix milliseconds.
    pub at_ms: i64,
    /// The record there.
    pub id: MegramId,
}
