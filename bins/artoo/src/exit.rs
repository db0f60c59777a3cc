//! The program's exit codes.

use std::process::ExitCode;

use artoo_proto::{AbandonReason, Basis, Ending, FinalResult, ModelFailure, PerceptionFailure};

/// An exit code. The numbers are documented and stable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The result was accepted and code verified every criterion; or a subcommand succeeded.
    Accepted,
    /// artoo itself failed, or its audit log is damaged.
    Internal,
    /// The command line or the configuration is not valid.
    Usage,
    /// A result was delivered, but some criteria are not met; the output names them.
    Partial,
    /// The result was accepted, but code did not verify every criterion.
    Unchecked,
    /// artoo did not understand the request.
    NotUnderstood,
    /// An action that the task needed was not approved.
    ConsentNeeded,
    /// The model could not be called, or its replies could not be used.
    Model,
    /// The task's time limit was reached.
    Deadline,
    /// The task was not achieved, for any other reason.
    NotAchieved,
    /// Standard output could not be written.
    Unwritten,
    /// The task was cancelled by Ctrl-C or another signal (128 + SIGINT).
    Cancelled,
    /// The exit code of a command that `artoo try` ran.
    Command(u8),
}

impl Exit {
    /// The exit code as a number.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Accepted => 0,
            Self::Internal => 1,
            Self::Usage => 2,
            Self::Partial => 3,
            Self::Unchecked => 4,
            Self::NotUnderstood => 5,
            Self::ConsentNeeded => 6,
            Self::Model => 7,
            Self::Deadline => 8,
            Self::NotAchieved => 9,
            Self::Unwritten => 10,
            Self::Cancelled => 130,
            Self::Command(code) => code,
        }
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
        if *failure == ModelFailure::Cancelled { Self::Cancelled } else { Self::Model }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests;
