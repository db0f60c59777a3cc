//! Exit codes: the one place that says what a script may conclude from how artoo ended.

use std::process::ExitCode;

use artoo_proto::{AbandonReason, Basis, Ending, FinalResult, ModelFailure, PerceptionFailure};

/// How the process ends. The numbers are documented and stable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// Accepted, and code decided every criterion; or a subcommand found nothing wrong.
    Accepted = 0,
    /// artoo itself failed, or its log is damaged.
    Internal = 1,
    /// The command line or the configuration can't be used.
    Usage = 2,
    /// Delivered, with criteria named that are not met.
    Partial = 3,
    /// Answered, and code did not decide all of it: a model judged a part or the whole, or no tool ran.
    ModelsWord = 4,
    /// The request was not understood.
    NotUnderstood = 5,
    /// An action that was needed was not allowed.
    ConsentNeeded = 6,
    /// The model can't be asked, or its replies can't be used.
    Model = 7,
    /// The time limit was reached.
    Deadline = 8,
    /// Not achieved, for any other reason.
    NotAchieved = 9,
    /// Standard output did not take the answer.
    Unwritten = 10,
    /// Cancelled, by Ctrl-C or a signal (128 + SIGINT).
    Cancelled = 130,
}

impl Exit {
    /// The number the shell sees.
    pub(crate) fn code(self) -> u8 {
        self as u8
    }

    /// How a task's result is told to the shell.
    pub(crate) fn of(result: &FinalResult) -> Self {
        match &result.ending {
            Ending::Accept { basis: Basis::Checked } => Self::Accepted,
            Ending::Accept { basis: Basis::Mixed | Basis::Judged | Basis::WordsOnly } => Self::ModelsWord,
            Ending::Success { .. } => Self::Partial,
            Ending::Abandon { reason, .. } => Self::of_reason(reason),
        }
    }

    fn of_reason(reason: &AbandonReason) -> Self {
        match reason {
            AbandonReason::NotUnderstood {
                failure: PerceptionFailure::Abstained { .. } | PerceptionFailure::BadInput { .. },
            } => Self::NotUnderstood,
            AbandonReason::NotUnderstood { failure: PerceptionFailure::Model { failure } }
            | AbandonReason::Provider { failure } => Self::of_model(failure),
            AbandonReason::ConsentNeeded => Self::ConsentNeeded,
            AbandonReason::Cancelled => Self::Cancelled,
            AbandonReason::Deadline => Self::Deadline,
            AbandonReason::RoleFailed { .. } => Self::Internal,
            AbandonReason::BudgetExhausted
            | AbandonReason::MaxReplans
            | AbandonReason::Diverging
            | AbandonReason::ToolsExhausted
            | AbandonReason::NoPlan { .. }
            | AbandonReason::NoOtherWay { .. } => Self::NotAchieved,
        }
    }

    fn of_model(failure: &ModelFailure) -> Self {
        match failure {
            ModelFailure::Cancelled => Self::Cancelled,
            ModelFailure::Unreachable { .. }
            | ModelFailure::Unauthorized { .. }
            | ModelFailure::Rejected { .. }
            | ModelFailure::Overloaded { .. }
            | ModelFailure::TimedOut { .. }
            | ModelFailure::Cut { .. }
            | ModelFailure::Unreadable { .. }
            | ModelFailure::DoesNotFit { .. }
            | ModelFailure::OverBudget { .. }
            | ModelFailure::NotRecorded { .. } => Self::Model,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests;
