//! The program's exit codes.

use std::process::ExitCode;

use artoo_proto::{AbandonReason, Basis, Ending, FinalResult, ModelFailure, PerceptionFailure};

/// An exit code. The numbers are documented and stable.
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
    /// Answered, and not all of it was checked by code.
    Unchecked = 4,
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
    /// Standard output could not be written.
    Unwritten = 10,
    /// Cancelled, by Ctrl-C or a signal (128 + SIGINT).
    Cancelled = 130,
}

impl Exit {
    /// The code as a number.
    pub(crate) fn code(self) -> u8 {
        self as u8
    }

    /// The exit code for a task's result.
    pub(crate) fn of(result: &FinalResult) -> Self {
        match &result.ending {
            Ending::Accept { basis: Basis::Checked } => Self::Accepted,
            Ending::Accept { basis: Basis::Mixed | Basis::Judged | Basis::WordsOnly } => Self::Unchecked,
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
