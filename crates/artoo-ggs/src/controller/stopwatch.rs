//! A stopwatch for a task, which takes the time as an argument and can be paused.

/// Measures the time a task uses, in milliseconds, without pauses.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub(super) struct Stopwatch {
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::field_readers::elapsed_ms"))]
    elapsed_ms: u64,
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::field_readers::since_ms"))]
    since_ms: u64,
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::field_readers::pauses"))]
    pauses: u32,
}

impl Stopwatch {
    /// Creates a running stopwatch that has measured nothing yet.
    pub(super) fn started_at(now_ms: u64) -> Self {
        Self { elapsed_ms: 0, since_ms: now_ms, pauses: 0 }
    }

    /// Adds the time until `now_ms`, unless paused. A clock that went back adds nothing.
    pub(super) fn advance(&mut self, now_ms: u64) {
        if self.pauses == 0 {
            self.elapsed_ms = self.elapsed_ms.saturating_add(now_ms.saturating_sub(self.since_ms));
        }
        self.since_ms = now_ms;
    }

    /// Stops the time; pauses nest.
    pub(super) fn pause(&mut self, now_ms: u64) {
        self.advance(now_ms);
        self.pauses = self.pauses.saturating_add(1);
    }

    /// Undoes one pause; returns whether there was one.
    pub(super) fn resume(&mut self, now_ms: u64) -> bool {
        self.advance(now_ms);
        let was_paused = self.pauses > 0;
        self.pauses = self.pauses.saturating_sub(1);
        was_paused
    }

    /// Continues from another clock, whose time is `now_ms` now; the time in between doesn't count.
    pub(super) fn rebase(&mut self, now_ms: u64) {
        self.since_ms = now_ms;
    }

    /// The time of the last event, in milliseconds of the caller's clock.
    pub(super) fn since_ms(&self) -> u64 {
        self.since_ms
    }

    /// The time used up to the last event, in milliseconds, without pauses.
    pub(super) fn elapsed_ms(&self) -> u64 {
        self.elapsed_ms
    }
}
