//! The ledgers of open tasks: each request as code read it, and its comparison with what was recorded.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use artoo_proto::{Coverage, CoverageState, Covered, Environment, OfferedReading, Reading, TaskId};
use artoo_reflex::Ledger;

use super::files::RealFiles;
use crate::machine::{CoverOrder, ReadOrder};

/// A task's ledger, and what the user was asked about its offered readings.
struct Kept {
    ledger: Ledger,
    /// Whether a consent question showed the offered readings.
    shown: bool,
    /// Whether the user denied that question, which withdraws the offered readings.
    declined: bool,
}

/// The place of a task's ledger; empty until the request was read, and for good if reading it failed.
type Place = Arc<Mutex<Option<Kept>>>;

/// The ledgers of all open tasks. All work with them runs on blocking threads.
#[derive(Default)]
pub(super) struct Ledgers {
    // Held only to find a place, never while a ledger works.
    places: Mutex<BTreeMap<TaskId, Place>>,
}

impl Ledgers {
    /// The place of a task's ledger; a new one if `add`, unless the task has one.
    fn place(&self, task_id: &TaskId, add: bool) -> Option<Place> {
        let mut places = self.places.lock().ok()?;
        if add {
            return Some(Arc::clone(places.entry(task_id.clone()).or_default()));
        }
        places.get(task_id).cloned()
    }

    /// Forgets the ledger of an ended task.
    pub(super) fn forget(&self, task_id: &TaskId) {
        if let Ok(mut places) = self.places.lock() {
            places.remove(task_id);
        }
    }

    /// Reads a request, or lets its ledger look at proposals. A task's ledger is made once.
    ///
    /// Its place is taken before this returns, so that it can't be taken after the task was forgotten. `by_recipes` says
    /// that the embedded parser plans: its recipes have checks of their own, so that nothing needs to be computed here.
    pub(super) fn read(
        &self,
        order: ReadOrder,
        environment: Environment,
        by_recipes: bool,
    ) -> impl Future<Output = Result<Reading, String>> + use<> {
        let place = self.place(&order.task_id, order.proposals.is_empty());
        async move {
            let read = move |kept: &mut Option<Kept>| {
                if let Some(Kept { ledger, shown, .. }) = kept {
                    if !*shown {
                        ledger.propose(&order.proposals, &RealFiles);
                    }
                    return Ok(ledger.reading().clone());
                }
                let mut ledger = Ledger::read(&order.request, &order.session, &environment, order.now, &RealFiles);
                if !by_recipes || !order.required.is_empty() {
                    ledger = ledger.simulate(&RealFiles);
                }
                ledger.require(&order.required, order.by_required, &RealFiles)?;
                let reading = ledger.reading().clone();
                *kept = Some(Kept { ledger, shown: false, declined: false });
                Ok(reading)
            };
            on_a_thread(place, read).await.unwrap_or_else(|| Err("reading the request failed inside artoo".to_owned()))
        }
    }

    /// Compares a request with what was recorded. If that fails, nothing counts as shown.
    pub(super) fn cover(&self, order: CoverOrder, request: String) -> impl Future<Output = Coverage> + use<> {
        let place = self.place(&order.task_id, false);
        async move {
            let cover = move |kept: &mut Option<Kept>| {
                let kept = kept.as_ref()?;
                let mut coverage = kept.ledger.cover(&order.calls, &RealFiles);
                if kept.declined {
                    coverage.offered.clear();
                }
                Some(coverage)
            };
            on_a_thread(place, cover).await.flatten().unwrap_or_else(|| not_compared(request))
        }
    }

    /// The offered readings to show with a consent question; none if they were shown before in this task.
    pub(super) async fn to_show(&self, task_id: &TaskId) -> Vec<OfferedReading> {
        let show = |kept: &mut Option<Kept>| {
            let kept = kept.as_mut().filter(|kept| !kept.shown)?;
            let offered = kept.ledger.reading().offered.clone();
            kept.shown = !offered.is_empty();
            Some(offered)
        };
        on_a_thread(self.place(task_id, false), show).await.flatten().unwrap_or_default()
    }

    /// A person said no to a question that showed readings of the request: they are not on offer any more.
    pub(super) async fn decline(&self, task_id: &TaskId) {
        let decline = |kept: &mut Option<Kept>| kept.as_mut().map(|kept| kept.declined = true);
        on_a_thread(self.place(task_id, false), decline).await;
    }

    /// A person confirmed these readings. Whether they are all that is on offer, and so count from now on.
    pub(super) async fn confirm(&self, task_id: &TaskId, readings: Vec<OfferedReading>) -> bool {
        let confirm = move |kept: &mut Option<Kept>| {
            let Some(kept) = kept else { return false };
            let offered = &kept.ledger.reading().offered;
            let is_seen = !offered.is_empty() && offered.iter().all(|one| readings.contains(one));
            if is_seen {
                kept.shown = true;
                kept.ledger.confirm();
            }
            is_seen
        };
        on_a_thread(self.place(task_id, false), confirm).await.unwrap_or(false)
    }
}

/// Works with a ledger on a blocking thread; `None` if there is no place for it, or if this or earlier work panicked.
async fn on_a_thread<T: Send + 'static>(
    place: Option<Place>,
    work: impl FnOnce(&mut Option<Kept>) -> T + Send + 'static,
) -> Option<T> {
    let place = place?;
    tokio::task::spawn_blocking(move || Some(work(&mut *place.lock().ok()?))).await.ok().flatten()
}

/// A coverage in which nothing of the request is shown, since the comparison failed.
pub(super) fn not_compared(request: String) -> Coverage {
    let row = Covered {
        span: (0, request.len()),
        words: request,
        act: None,
        state: CoverageState::NotShown,
        by: Vec::new(),
        why: "comparing it with what was done failed inside artoo".to_owned(),
        confirmed: false,
        required: false,
    };
    Coverage { rows: vec![row], ..Coverage::default() }
}
