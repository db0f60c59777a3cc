//! The ledgers of open tasks: each request as code read it, and its comparison with what was recorded.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use artoo_proto::{Coverage, CoverageState, Covered, Environment, OfferedReading, ProposedReading, Reading, TaskId};
use artoo_reflex::Ledger;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::files::RealFiles;
use crate::machine::{CoverOrder, ReadOrder};

/// A task's ledger (its request as code read it, with the expected changes), and whether the user was asked about its
/// readings.
#[derive(Serialize, Deserialize)]
struct TaskLedger {
    ledger: Ledger,
    /// Whether a consent question showed the offered readings.
    shown: bool,
    /// Whether the user denied that question, which withdraws the offered readings.
    declined: bool,
    /// Whether the readings were confirmed with a skill, in an earlier task.
    #[serde(default)]
    by_skill: bool,
}

/// The shared slot of a task's ledger; empty until the request is read, and permanently if reading it fails.
type LedgerSlot = Arc<Mutex<Option<TaskLedger>>>;

/// The ledgers of all open tasks: each request as code read it, with the changes it expects. Works on blocking threads.
#[derive(Default)]
pub(super) struct Ledgers {
    // Held only to find a place, never while a ledger works.
    places: Mutex<BTreeMap<TaskId, LedgerSlot>>,
}

impl Ledgers {
    /// The slot of a task's ledger; with `add`, a missing slot is added, and without it, `None` stands for it.
    fn place(&self, task_id: &TaskId, add: bool) -> Option<LedgerSlot> {
        let mut places = self.places.lock().ok()?;
        if add {
            return Some(Arc::clone(places.entry(task_id.clone()).or_default()));
        }
        places.get(task_id).cloned()
    }

    /// Drops the ledger of a task that has ended.
    pub(super) fn forget(&self, task_id: &TaskId) {
        if let Ok(mut places) = self.places.lock() {
            places.remove(task_id);
        }
    }

    /// The ledger of a task as JSON, for its record; `None` if there is none, or if a path in it is not text.
    pub(super) async fn saved(&self, task_id: &TaskId) -> Option<Value> {
        let save = |kept: &mut Option<TaskLedger>| serde_json::to_value(kept.as_ref()?).ok();
        on_a_thread(self.place(task_id, false), save).await.flatten()
    }

    /// Restores the ledger (the request as code read it) of a resumed task from the JSON in its record.
    pub(super) fn restore(&self, task_id: &TaskId, saved: Value) -> serde_json::Result<()> {
        let kept = serde_json::from_value(saved)?;
        if let Some(place) = self.place(task_id, true)
            && let Ok(mut place) = place.lock()
        {
            *place = Some(kept);
        }
        Ok(())
    }

    /// Reads a request into a new ledger, or adds proposed readings to the ledger that the task has already. The error
    /// is a text for the user: a required check can't be read, or a skill's readings can't count.
    ///
    /// Its place is taken before this returns, so that it can't be taken after the task was forgotten. `needs_none` says
    /// of a ledger that the embedded parser plans: its recipes have checks of their own, so that nothing needs to be
    /// computed here.
    pub(super) fn read(
        &self,
        order: ReadOrder,
        environment: Environment,
        needs_none: fn(&Ledger) -> bool,
    ) -> impl Future<Output = Result<Reading, String>> + use<> {
        let place = self.place(&order.task_id, order.proposals.is_empty());
        async move {
            let read = move |kept: &mut Option<TaskLedger>| {
                if let Some(TaskLedger { ledger, shown, by_skill, .. }) = kept {
                    if std::mem::replace(by_skill, order.confirmed) && !order.confirmed {
                        *shown = false;
                        ledger.withdraw();
                    }
                    if !*shown {
                        ledger.propose(&order.proposals, &RealFiles);
                    }
                    let is_offered = |proposal: &ProposedReading| {
                        ledger.reading().offered.iter().any(|offered| offered.clause == proposal.clause)
                    };
                    if order.confirmed {
                        if !order.proposals.iter().all(is_offered) {
                            (*shown, *by_skill) = (false, false);
                            ledger.withdraw();
                            return Err("the readings of a skill can't count".to_owned());
                        }
                        *shown = true;
                        ledger.confirm();
                    }
                    return Ok(ledger.reading().clone());
                }
                let mut ledger = Ledger::read(&order.request, &order.session, &environment, order.now, &RealFiles);
                if !needs_none(&ledger) || !order.required.is_empty() {
                    ledger = ledger.simulate(&RealFiles);
                }
                ledger.require(&order.required, order.by_required, &RealFiles)?;
                let reading = ledger.reading().clone();
                *kept = Some(TaskLedger { ledger, shown: false, declined: false, by_skill: false });
                Ok(reading)
            };
            on_a_thread(place, read).await.unwrap_or_else(|| Err("reading the request failed inside artoo".to_owned()))
        }
    }

    /// Computes what the request of a task would change and answer, if reading the request left that out. Returns
    /// whether it computed anything.
    pub(super) async fn simulate(&self, task_id: &TaskId) -> bool {
        let simulate = |kept: &mut Option<TaskLedger>| {
            let Some(known) = kept.take_if(|known| !known.ledger.reading().simulated) else { return false };
            *kept = Some(TaskLedger { ledger: known.ledger.simulate(&RealFiles), ..known });
            true
        };
        on_a_thread(self.place(task_id, false), simulate).await.unwrap_or(false)
    }

    /// Compares a request with what was recorded. If that fails, nothing counts as shown.
    pub(super) fn cover(&self, order: CoverOrder, request: String) -> impl Future<Output = Coverage> + use<> {
        let place = self.place(&order.task_id, false);
        async move {
            let cover = move |kept: &mut Option<TaskLedger>| {
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

    /// The offered readings to show with a consent question, which then count as shown; none if they were shown before.
    pub(super) async fn to_show(&self, task_id: &TaskId) -> Vec<OfferedReading> {
        let show = |kept: &mut Option<TaskLedger>| {
            let kept = kept.as_mut().filter(|kept| !kept.shown)?;
            let offered = kept.ledger.reading().offered.clone();
            kept.shown = !offered.is_empty();
            Some(offered)
        };
        on_a_thread(self.place(task_id, false), show).await.flatten().unwrap_or_default()
    }

    /// Withdraws offered readings after the user denied a question that showed them.
    pub(super) async fn decline(&self, task_id: &TaskId) {
        let decline = |kept: &mut Option<TaskLedger>| kept.as_mut().map(|kept| kept.declined = true);
        on_a_thread(self.place(task_id, false), decline).await;
    }

    /// Confirms the offered readings if all of them are among `readings`, so that they count in the coverage; returns
    /// whether it did.
    pub(super) async fn confirm(&self, task_id: &TaskId, readings: Vec<OfferedReading>) -> bool {
        let confirm = move |kept: &mut Option<TaskLedger>| {
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

/// Runs `work` on a ledger on a blocking thread; `None` if the task has no slot, or if this or earlier work panicked.
async fn on_a_thread<T: Send + 'static>(
    place: Option<LedgerSlot>,
    work: impl FnOnce(&mut Option<TaskLedger>) -> T + Send + 'static,
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
