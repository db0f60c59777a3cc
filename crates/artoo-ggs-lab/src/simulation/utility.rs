//! What an ending is worth: the four endings, and the weights that turn them into one number.

/// How a task ended, judged by the truth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ending {
    /// Handed over as complete, and everything is really met, the whole included.
    Full,
    /// Handed over with a list of what is unmet, and everything not on the list is really met.
    Partial {
        /// Share of the subtasks' criteria that are claimed and met, in micro-units; 0 where something required is unmet.
        worth_micros: i64,
    },
    /// Handed over with a claim that is not true: something said to be met is not.
    FalseDelivery,
    /// Nothing handed over as done.
    Nothing,
}

/// What things are worth, in units of one task done.
///
/// Reasons for the defaults: a task done in part saves at most half of the work, since somebody has to pick it up; a
/// false claim costs as much as a task done is worth, since somebody acts on it; an execution is five to ten model
/// calls, a twentieth of what the task is worth; a minute of waiting a fiftieth, so that five minutes are worth two
/// executions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Utility {
    /// Of a full success.
    pub full: f64,
    /// Of an honest partial, times the share of criteria met.
    pub partial: f64,
    /// Of a false delivery.
    pub false_delivery: f64,
    /// Of every execution.
    pub execution: f64,
    /// Of every minute.
    pub minute: f64,
}

impl Utility {
    /// The weights of every published table.
    pub const DEFAULT: Self = Self { full: 1.0, partial: 0.5, false_delivery: -1.0, execution: -0.05, minute: -0.02 };

    /// In micro-units, so that sums don't depend on their order.
    #[must_use]
    pub fn micros(&self, ending: Ending, executions: usize, elapsed_ms: u64) -> i64 {
        let result = match ending {
            Ending::Full => self.full * 1e6,
            Ending::Partial { worth_micros } => self.partial * worth_micros as f64,
            Ending::FalseDelivery => self.false_delivery * 1e6,
            Ending::Nothing => 0.0,
        };
        let cost = self.execution * executions as f64 + self.minute * elapsed_ms as f64 / 60_000.0;
        (result + cost * 1e6).round() as i64
    }
}

impl Default for Utility {
    fn default() -> Self {
        Self::DEFAULT
    }
}

#[cfg(test)]
mod tests {
    use super::{Ending, Utility};

    #[test]
    fn an_ending_is_worth_its_weight_less_its_cost() {
        let check = |ending, executions, elapsed_ms, expected| {
            assert_eq!(Utility::DEFAULT.micros(ending, executions, elapsed_ms), expected, "{ending:?}");
        };
        check(Ending::Full, 1, 0, 950_000);
        check(Ending::Full, 4, 300_000, 700_000);
        check(Ending::Partial { worth_micros: 750_000 }, 2, 60_000, 255_000);
        check(Ending::FalseDelivery, 1, 0, -1_050_000);
        check(Ending::Nothing, 0, 0, 0);
    }
}
