//! The limit of concurrent calls at one endpoint, lowered when the endpoint reports a rate limit.
//!
//! A 429 during several calls halves the limit; as many successful calls as may run at once raise it by one, up to the
//! configured value (additive increase, multiplicative decrease, as in TCP).

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// Limits how many calls run at one endpoint at the same time; the limit adapts to the endpoint's replies.
pub(crate) struct Gate {
    /// Permits for calls; each running call holds one.
    turns: Arc<Semaphore>,
    /// The configured limit of concurrent calls, which the current limit never exceeds.
    widest: usize,
    // Locked for a few sums only, never across an await.
    width: Mutex<Width>,
}

/// The current limit of concurrent calls, with the counts that change it.
struct Width {
    /// Number of calls that may run at once now.
    now: usize,
    /// Number of permits in use that are withdrawn when they are returned, because the limit was lowered.
    owed: usize,
    /// Number of successful calls since the limit last changed.
    went_well: usize,
    /// When the limit was last lowered: refusals of calls that began earlier don't lower it again.
    narrowed_at: Option<Instant>,
}

/// The permission to make one call, from [`Gate::turn`]; dropping it lets another call start.
pub(crate) struct Turn {
    gate: Arc<Gate>,
    permit: Option<OwnedSemaphorePermit>,
    began: Instant,
}

impl Gate {
    /// Creates a gate for `parallel` concurrent calls.
    pub(crate) fn new(parallel: usize) -> Self {
        let widest = parallel.clamp(1, Semaphore::MAX_PERMITS);
        let width = Mutex::new(Width { now: widest, owed: 0, went_well: 0, narrowed_at: None });
        Self { turns: Arc::new(Semaphore::new(widest)), widest, width }
    }

    /// Waits for a permit; permits are given in the order of requests.
    pub(crate) async fn turn(self: &Arc<Self>) -> Turn {
        // The semaphore is never closed; were it, calls would run unbounded rather than not at all.
        let permit = Arc::clone(&self.turns).acquire_owned().await.ok();
        Turn { gate: Arc::clone(self), permit, began: Instant::now() }
    }

    /// The current limit of concurrent calls.
    #[cfg(test)]
    fn width(&self) -> usize {
        self.width.lock().unwrap_or_else(PoisonError::into_inner).now
    }
}

impl Turn {
    /// After the endpoint refused this call for its rate limit: lowers the call limit to half of the calls that run
    /// now, at least one, unless it was lowered since the call began.
    pub(crate) fn was_too_many(&self) {
        let mut width = self.gate.width.lock().unwrap_or_else(PoisonError::into_inner);
        if width.narrowed_at.is_some_and(|narrowed| self.began <= narrowed) {
            return;
        }
        let under_way = (width.now + width.owed).saturating_sub(self.gate.turns.available_permits());
        let to = (under_way / 2).clamp(1, width.now);
        let fewer = width.now - to;
        width.now = to;
        width.owed += fewer - self.gate.turns.forget_permits(fewer);
        width.went_well = 0;
        width.narrowed_at = Some(Instant::now());
    }

    /// Counts a successful call; after as many as may run at the same time, raises the call limit by one, up to the
    /// configured one.
    pub(crate) fn went_well(&self) {
        let mut width = self.gate.width.lock().unwrap_or_else(PoisonError::into_inner);
        width.went_well += 1;
        if width.now == self.gate.widest || width.went_well < width.now {
            return;
        }
        width.went_well = 0;
        width.now += 1;
        match width.owed.checked_sub(1) {
            Some(owed) => width.owed = owed,
            None => self.gate.turns.add_permits(1),
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut width = self.gate.width.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(permit), Some(owed)) = (self.permit.take_if(|_| width.owed > 0), width.owed.checked_sub(1)) {
            permit.forget();
            width.owed = owed;
        }
    }
}

/// Tests of how the call limit is lowered and raised.
#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use tokio::time::{advance, timeout};

    use super::{Gate, Turn};

    /// Waits for this many permissions to call and returns them.
    async fn turns(gate: &Arc<Gate>, count: usize) -> Vec<Turn> {
        let mut turns = Vec::new();
        for _ in 0..count {
            turns.push(gate.turn().await);
        }
        turns
    }

    /// Number of calls that could start now.
    async fn free(gate: &Arc<Gate>) -> usize {
        let mut taken = Vec::new();
        while let Ok(turn) = timeout(Duration::from_millis(1), gate.turn()).await {
            taken.push(turn);
        }
        taken.len()
    }

    /// When the endpoint reports a rate limit, the call limit becomes half of the running calls, once for all of them.
    #[doc = "holds: client C19"]
    #[tokio::test(start_paused = true)]
    async fn rate_limit_halves_the_call_limit() {
        let gate = Arc::new(Gate::new(128));
        let running = turns(&gate, 8).await;
        advance(Duration::from_millis(5)).await;
        // Refusals of eight concurrent calls halve the limit once.
        running.iter().for_each(Turn::was_too_many);
        assert_eq!(gate.width(), 4);
        // Running calls continue; no call starts until fewer than four run.
        assert_eq!(free(&gate).await, 0);
        drop(running);
        assert_eq!(free(&gate).await, 4);
        advance(Duration::from_millis(5)).await;
        let again = turns(&gate, 4).await;
        again.iter().for_each(Turn::was_too_many);
        drop(again);
        assert_eq!((gate.width(), free(&gate).await), (2, 2));
        // Two successful calls raise the limit by one, then three do.
        for (well, width) in [(1, 2), (1, 3), (2, 3), (1, 4)] {
            for _ in 0..well {
                gate.turn().await.went_well();
            }
            assert_eq!((gate.width(), free(&gate).await), (width, width));
        }
    }

    /// The number of parallel calls stays between one and the configured number.
    #[doc = "holds: client C19"]
    #[tokio::test(start_paused = true)]
    async fn call_limit_stays_between_one_and_configured() {
        let gate = Arc::new(Gate::new(2));
        for _ in 0..9 {
            advance(Duration::from_millis(5)).await;
            gate.turn().await.was_too_many();
        }
        assert_eq!((gate.width(), free(&gate).await), (1, 1));
        for _ in 0..99 {
            gate.turn().await.went_well();
        }
        assert_eq!((gate.width(), free(&gate).await), (2, 2));
        // A cancelled wait for a permit does not change the limit.
        let both = turns(&gate, 2).await;
        assert!(timeout(Duration::from_millis(1), gate.turn()).await.is_err());
        drop(both);
        assert_eq!(free(&gate).await, 2);
    }

    /// A raised call limit lets exactly the additional calls start.
    #[doc = "holds: client C19"]
    #[tokio::test(start_paused = true)]
    async fn raised_call_limit_grants_permits_once() {
        let gate = Arc::new(Gate::new(8));
        let mut running = turns(&gate, 8).await;
        advance(Duration::from_millis(5)).await;
        running[0].was_too_many();
        assert_eq!(gate.width(), 4);
        for _ in 0..4 {
            running.pop().unwrap().went_well();
        }
        // The four returned permits were withdrawn; one call may start beside the four that still run.
        assert_eq!((gate.width(), free(&gate).await), (5, 1));
        drop(running);
        assert_eq!(free(&gate).await, 5);
    }
}
