//! The envelope of a message on the bus: order, sender, receivers and cause.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Message, MessageId, Role, SubTaskId, TaskId, Timestamp};

/// One instance of a role: one per process, per task, or per subtask.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Address {
    /// The role of the instance.
    pub role: Role,
    /// The task of the instance; `null` for a role with one instance per process.
    pub task_id: Option<TaskId>,
    /// The subtask of the instance; only executors and agent-validators have one.
    pub subtask_id: Option<SubTaskId>,
}

impl Address {
    /// The address of the instance of `role` that handles this task and subtask; an id that the role has none of is
    /// left out.
    #[must_use]
    pub fn of(role: Role, task_id: Option<&TaskId>, subtask_id: Option<SubTaskId>) -> Self {
        match role {
            Role::Executor | Role::AgentValidator => Self { role, task_id: task_id.cloned(), subtask_id },
            Role::Perceiver | Role::Planner | Role::Dispatcher | Role::MetaValidator | Role::Solver => {
                Self { role, task_id: task_id.cloned(), subtask_id: None }
            }
            Role::Memory | Role::Auditor | Role::Operator | Role::Runtime => {
                Self { role, task_id: None, subtask_id: None }
            }
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.role)?;
        if let Some(task) = &self.task_id {
            write!(f, "/{task}")?;
        }
        if let Some(subtask) = &self.subtask_id {
            write!(f, "/{subtask}")?;
        }
        Ok(())
    }
}

/// A published message with its order, sender, receivers and cause.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Envelope {
    /// Sequence number on the bus, without gaps.
    pub seq: u64,
    /// The message's id.
    pub id: MessageId,
    /// When the message was published.
    pub sent_at: Timestamp,
    /// The instance that published it.
    pub from: Address,
    /// The receiving roles, from the route table.
    pub to: Vec<Role>,
    /// The task that the message belongs to; `null` for the operator's query to the auditor.
    pub correlation_id: Option<TaskId>,
    /// The message that caused this one; `null` only for input from outside the System.
    pub causation_id: Option<MessageId>,
    /// The message itself.
    pub message: Message,
}
