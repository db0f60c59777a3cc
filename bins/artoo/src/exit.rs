//! The program's exit codes.

use artoo_proto::{AbandonReason, Basis, CoverageState, Covered, Ending, FinalResult, ModelFailure, PerceptionFailure};
use artoo_roles::runtime::CloseReport;

/// An exit code. The numbers are documented and stable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// The result was accepted and code verified every criterion; or a subcommand succeeded.
    Accepted = 0,
    /// artoo itself failed, or its audit log is damaged or could not be written.
    Internal = 1,
    /// The command line or the configuration is not valid.
    Usage = 2,
    /// A result was delivered, but some criteria are not met; the output names them.
    Partial = 3,
    /// The result was accepted, but code did not verify every criterion.
    Unchecked = 4,
    /// artoo did not understand the request.
    NotUnderstood = 5,
    /// An action that the task needed was not approved.
    ConsentNeeded = 6,
    /// The model could not be called, or its replies could not be used.
    Model = 7,
    /// The task's time limit was reached.
    Deadline = 8,
    /// The task was not achieved, for any other reason.
    NotAchieved = 9,
    /// Standard output could not be written.
    Unwritten = 10,
    /// No task can be resumed: there is none, or it began under other conditions.
    NotResumable = 11,
    /// The task was cancelled by Ctrl-C or another signal (128 + SIGINT).
    Cancelled = 130,
}

impl Exit {
    /// The exit code as a number.
    pub(crate) fn code(self) -> u8 {
        self as u8
    }

    /// The exit code for a task's result. With `accept_judged`, a text that a model wrote and judged counts as accepted if
    /// the request asks for nothing else.
    pub(crate) fn of(result: &FinalResult, accept_judged: bool) -> Self {
        match &result.ending {
            Ending::Accept { basis: Basis::Checked } => Self::Accepted,
            Ending::Accept { .. } if accept_judged && is_text_alone(result) => Self::Accepted,
            Ending::Accept { basis: Basis::Mixed | Basis::Judged | Basis::WordsOnly } => Self::Unchecked,
            Ending::Success { .. } => Self::Partial,
            Ending::Abandon { reason, .. } => Self::of_reason(reason),
        }
    }

    /// The final exit code after shutdown: `self`, or `Internal` if a part of the audit log was not written.
    pub(crate) fn after(self, close: &CloseReport) -> Self {
        if close.audit.is_some() { self } else { Self::Internal }
    }

    /// The exit code of a task that was abandoned for this reason.
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
            | AbandonReason::Cycling
            | AbandonReason::ToolsExhausted
            | AbandonReason::NoPlan { .. }
            | AbandonReason::NoOtherWay { .. } => Self::NotAchieved,
        }
    }

    /// The exit code after a model failed: `Cancelled` if the user cancelled the call, otherwise `Model`.
    fn of_model(failure: &ModelFailure) -> Self {
        if *failure == ModelFailure::Cancelled { Self::Cancelled } else { Self::Model }
    }
}

/// Whether the request asked only for a text by a model (besides parts that facts show), got it, and nothing was denied
/// or changed unasked.
pub(crate) fn is_text_alone(result: &FinalResult) -> bool {
    let Some(coverage) = &result.coverage else { return false };
    let is_met =
        |row: &Covered| matches!(row.state, CoverageState::Words | CoverageState::Shown | CoverageState::Courtesy);
    let asks_for_text = coverage.deciding().any(|row| row.state == CoverageState::Words);
    let is_clean = coverage.unasked.is_empty() && coverage.run_by_others.is_empty() && result.denied.is_empty();
    asks_for_text && is_clean && coverage.deciding().all(is_met) && !result.output.trim().is_empty() && !result.suspect
}

#[cfg(test)]
mod tests;
