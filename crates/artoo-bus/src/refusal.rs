//! Reasons for which the bus refuses a message.

use artoo_proto::{MessageKind, Role};
use serde::{Deserialize, Serialize};

/// Why the bus refused a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "refusal", rename_all = "snake_case")]
pub enum Refusal {
    /// The route table has no row for this kind of message.
    #[error("no route for messages of kind {kind}")]
    NoRoute {
        /// The kind of message.
        kind: MessageKind,
    },
    /// Another role than the only permitted one published the message.
    #[error("only {owner} may publish {kind}, not {from}")]
    WrongSender {
        /// The kind of message.
        kind: MessageKind,
        /// The role that tried to publish the message.
        from: Role,
        /// The only role that may publish this kind.
        owner: Role,
    },
    /// The sender belongs to another task or subtask.
    #[error("the sender belongs to another task or subtask")]
    ForeignTask,
    /// A message with this id was already published in this task.
    #[error("a message with this id was already published")]
    RepeatedId,
    /// A role named no cause, or one that was never published in this task.
    #[error("the message's cause was never published in this task")]
    UnknownCause,
    /// The task has reached its maximum number of messages.
    #[error("the task has already published {max} messages")]
    TooManyMessages {
        /// The maximum number of messages for a message of this kind.
        max: usize,
    },
}
