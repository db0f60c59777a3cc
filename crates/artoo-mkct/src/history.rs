//! Memory as it was: what would have been advised then.

use crate::{Engine, Frame};

impl Engine {
    /// The memory as it stood at `at_ms`, rebuilt from a journal's frames; ask it with that time.
    ///
    /// Records that were deleted later are there again, as far as the frames still hold them: after a compaction that
    /// dropped deleted records the answer is complete only from when it says.
    #[must_use]
    pub fn as_of(at_ms: i64, frames: impl IntoIterator<Item = Frame>) -> Self {
        let mut engine = Self::new();
        frames.into_iter().for_each(|frame| engine.apply_as_of(at_ms, &frame));
        engine
    }

    /// One step of [`Engine::as_of`]: applies a frame unless it came later, or does not fit.
    pub fn apply_as_of(&mut self, at_ms: i64, frame: &Frame) {
        if frame.at_ms() <= at_ms {
            // What a frame refers to may have come later, by a clock that was wrong then.
            drop(self.apply(frame));
        }
    }
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
