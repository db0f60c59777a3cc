//! Who answers when a task needs a person.

use artoo_proto::{ClarificationRequest, ConsentRequest, ConsentScope};
use async_trait::async_trait;

/// The person, or the program that stands for one.
#[async_trait]
pub trait Operator: Send + Sync {
    /// Whether somebody can be asked at all. Where not, Law 1 refuses without asking.
    fn is_present(&self) -> bool;

    /// Whether exactly this may be done, and how far the yes reaches; `None`, like silence, is no. A scope that the
    /// request does not offer is taken as once.
    async fn consent(&self, request: &ConsentRequest) -> Option<ConsentScope>;

    /// The answer to a question; an empty one means: go on.
    async fn clarify(&self, request: &ClarificationRequest) -> String;
}

/// Nobody: every consent is refused, every question stays unanswered.
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
