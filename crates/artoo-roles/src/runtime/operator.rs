//! The operator: approves calls and answers questions of a task.

use artoo_proto::{ClarificationRequest, ConsentRequest, ConsentScope, ReadingRequest};
use async_trait::async_trait;

/// The user's approval of a call: how much it covers, and whether a person gave it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Consent {
    /// How much the approval covers. A scope that the request does not offer counts as an approval of this one call.
    pub scope: ConsentScope,
    /// Whether a person saw the whole request, with its readings, and said yes. Only then are the readings confirmed.
    pub by_person: bool,
}

/// The user, or a program that answers in their place.
#[async_trait]
pub trait Operator: Send + Sync {
    /// Whether a user can be asked. If not, every call that needs approval is denied (Law 1).
    fn is_present(&self) -> bool;

    /// Asks the user to approve exactly this call, and with it the readings of the request, if there are any. Returns
    /// `None` for a denial.
    async fn consent(&self, request: &ConsentRequest) -> Option<Consent>;

    /// Asks the user a question and returns the answer; an empty answer means that the task goes on without one.
    async fn clarify(&self, request: &ClarificationRequest) -> String;

    /// Asks the user whether readings of the request say what was meant. Only a person may confirm them; the default
    /// returns `false`.
    async fn confirm_readings(&self, _request: &ReadingRequest) -> bool {
        false
    }
}

/// An operator without a user: every approval is denied, and every question gets an empty answer.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unattended;

#[async_trait]
impl Operator for Unattended {
    fn is_present(&self) -> bool {
        false
    }

    async fn consent(&self, _request: &ConsentRequest) -> Option<Consent> {
        None
    }

    async fn clarify(&self, _request: &ClarificationRequest) -> String {
        String::new()
    }
}
