//! The utility of a task: the values of its four possible endings, and its costs.

/// How a simulated task ended, judged by its hidden truth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ending {
    /// The result was delivered as complete; every criterion is really met, and the subtasks fit together.
    Full,
    /// The result was delivered with a list of unmet criteria, and every criterion not on the list is really met.
    Partial {
        /// Share of all criteria that passed, in micro-units; 0 if a required criterion did not pass.
        worth_micros: i64,
    },
    /// The result was delivered with a criterion reported as met that is not, or as complete although it is wrong.
    FalseDelivery,
    /// Nothing was delivered.
    Nothing,
}

/// The weights of endings and costs; 1 is the value of a task done in full.
///
/// Reasons for the defaults: a task done in part saves at most half of the work, since someone has to finish it; a
/// false delivery costs as much as a full success is worth, since someone acts on it; an execution is five to ten model
/// calls, a twentieth of what the task is worth; a minute of waiting a fiftieth, so that five minutes are worth two
/// executions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Utility {
    /// Value of a full success.
    pub full: f64,
    /// Value of an honest partial delivery, multiplied by the share of criteria met.
    pub partial: f64,
    /// Value of a false delivery (negative).
    pub false_delivery: f64,
    /// Cost of each execution (negative).
    pub execution: f64,
    /// Cost of each minute (negative).
    pub minute: f64,
}

impl Utility {
    /// The weights used in all published tables.
    pub const DEFAULT: Self = Self { full: 1.0, partial: 0.5, false_delivery: -1.0, execution: -0.05, minute: -0.02 };

    /// The utility of a task in micro-units: the value of its ending minus its costs. An integer, so that sums don't
    /// depend on their order.
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

/// Tests of the utility.
#[cfg(test)]
mod tests {
    use super::{Ending, Utility};

    /// The utility of a task is the worth of its ending minus the costs of executions and time.
    #[test]
    fn utility_is_worth_of_ending_minus_cost() {
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
