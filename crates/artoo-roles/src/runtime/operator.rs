//! The operator: approves calls and answers questions of a task.

use artoo_proto::{ClarificationRequest, ConsentRequest, ConsentScope};
use async_trait::async_trait;

/// The user, or a program that answers in their place.
#[async_trait]
pub trait Operator: Send + Sync {
    /// Whether a user can be asked. If not, every call that needs approval is denied (Law 1).
    fn is_present(&self) -> bool;

    /// Asks the user to approve exactly this call. Returns how much the approval covers, or `None` for a denial. A
    /// scope that the request does not offer counts as an approval of this one call.
    async fn consent(&self, request: &ConsentRequest) -> Option<ConsentScope>;

    /// Asks the user a question and returns the answer; an empty answer means: continue without one.
    async fn clarify(&self, request: &ClarificationRequest) -> String;
}

/// An operator without a user: every approval is denied, and every question gets an empty answer.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unattended;

#[async_trait]
impl Operator for Unattended {
    fn is_present(&self) -> bool {
        false
    }

    async fn consent(&self, _request: &ConsentRequest) -> Option<ConsentScope> {
        None
    }

    async fn clarify(&self, _request: &ClarificationRequest) -> String {
        String::new()
    }
}
