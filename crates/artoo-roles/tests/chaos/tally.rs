//! Counts of what happened in many runs, so that a test can require that every kind of event occurred.

use std::collections::BTreeMap;
use std::fmt;

use artoo_proto::{AbandonReason, Basis, Ending, FinalResult};

/// Counts of events by their name, over one or many runs.
#[derive(Debug, Default, Clone)]
pub(super) struct Tally(BTreeMap<String, u64>);

impl Tally {
    /// Counts one event.
    pub(super) fn add(&mut self, what: &str) {
        self.add_many(what, 1);
    }

    /// Counts `n` events.
    pub(super) fn add_many(&mut self, what: &str, n: u64) {
        *self.0.entry(what.to_owned()).or_default() += n;
    }

    /// Adds the counts of another tally.
    pub(super) fn merge(&mut self, other: &Self) {
        for (what, n) in &other.0 {
            self.add_many(what, *n);
        }
    }

    /// The count of a name; 0 if it was never counted.
    pub(super) fn of(&self, what: &str) -> u64 {
        self.0.get(what).copied().unwrap_or_default()
    }

    /// Counts the ending of a task.
    pub(super) fn ending(&mut self, result: &FinalResult) {
        let what = match &result.ending {
            Ending::Accept { basis } => {
                self.add("accept");
                match basis {
                    Basis::Checked => "accept: checked",
                    Basis::Mixed => "accept: mixed",
                    Basis::Judged => "accept: judged",
                    Basis::WordsOnly => "accept: words only",
                }
            }
            Ending::Success { .. } => "success",
            Ending::Abandon { reason, .. } => match reason {
                AbandonReason::BudgetExhausted => "abandon: budget exhausted",
                AbandonReason::MaxReplans => "abandon: max replans",
                AbandonReason::Diverging => "abandon: diverging",
                AbandonReason::Cycling => "abandon: cycling",
                AbandonReason::ToolsExhausted => "abandon: tools exhausted",
                AbandonReason::NoPlan { .. } => "abandon: no plan",
                AbandonReason::NoOtherWay { .. } => "abandon: no other way",
                AbandonReason::NotUnderstood { .. } => "abandon: not understood",
                AbandonReason::ConsentNeeded => "abandon: consent needed",
                AbandonReason::Provider { .. } => "abandon: provider",
                AbandonReason::Cancelled => "abandon: cancelled",
                AbandonReason::Deadline => "abandon: deadline",
                AbandonReason::RoleFailed { .. } => "abandon: role failed",
            },
        };
        self.add(what);
        if result.suspect {
            self.add("suspect results");
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (what, n) in &self.0 {
            writeln!(f, "{n:>9}  {what}")?;
        }
        Ok(())
    }
}
