//! Memory as it was: what would have been advised then.

use crate::{engine::Engine, record::Frame};

impl Engine {
    /// The memory as it stood at `at_ms`, rebuilt from a journal's frames; ask it with that time.
    ///
    /// Records that were deleted later are there again, as far as the frames still hold them: after a compaction that
    /// dropped deleted records the answer is complete only from when it says.
    #[must_use]
    pub fn as_of(frames: impl IntoIterator<Item = Frame>, at_ms: i64) -> Self {
        let mut engine = Self::new();
        frames.into_iter().for_each(|frame| engine.apply_as_of(&frame, at_ms));
        engine
    }

    /// One step of [`Engine::as_of`]: applies a frame unless it came later, or does not fit.
    pub fn apply_as_of(&mut self, frame: &Frame, at_ms: i64) {
        if frame.at_ms() <= at_ms {
            // What a frame refers to may have come later, by a clock that was wrong then.
            drop(self.apply(frame));
        }
    }
}
