//! What surrounds a message on the bus.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Message, MessageId, Role, SubTaskId, TaskId, Timestamp};

/// One instance of a role: per process, per task, or per subtask.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Address {
    /// Its role.
    pub role: Role,
    /// Its task; `null` for a role of the process.
    pub task_id: Option<TaskId>,
    /// Its subtask; set only for R3 and R4a.
    pub subtask_id: Option<SubTaskId>,
}

impl Address {
    /// The address at which `role` handles things of this task and subtask.
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

/// A message that passed the bus.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Envelope {
    /// Position in the bus's order; set by the bus, without gaps.
    pub seq: u64,
    /// Its id.
    pub id: MessageId,
    /// When it was published.
    pub sent_at: Timestamp,
    /// Who published it.
    pub from: Address,
    /// The roles it goes to, from the route table.
    pub to: Vec<Role>,
    /// The task.
    pub correlation_id: Option<TaskId>,
    /// The message that led to this one; `null` only for what comes from outside.
    pub causation_id: Option<MessageId>,
    /// What is said.
    pub message: Message,
}
