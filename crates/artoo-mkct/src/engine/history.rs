//! The memory as it was at an earlier moment.

use crate::{engine::Engine, record::Frame};

impl Engine {
    /// The memory as it was at `at_ms`, rebuilt from the frames of a journal; queries of the result should use that
    /// time.
    ///
    /// Records that were deleted later are in it again, unless a compaction dropped them from the journal since.
    #[must_use]
    pub fn as_of(frames: impl IntoIterator<Item = Frame>, at_ms: i64) -> Self {
        let mut engine = Self::new();
        frames.into_iter().for_each(|frame| engine.apply_as_of(&frame, at_ms));
        engine
    }

    /// Applies one frame for [`Engine::as_of`]; a frame that is later than `at_ms` or not valid is skipped.
    pub fn apply_as_of(&mut self, frame: &Frame, at_ms: i64) {
        if frame.at_ms() <= at_ms {
            // The frame may name a record dated later than `at_ms` (by a clock that was wrong), which is missing here.
            drop(self.apply(frame));
        }
    }
}
