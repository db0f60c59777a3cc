//! The parties on the bus.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A party on the bus: a role of the specification, the dispatcher, the operator, or the runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// R1: turns the user's words into a task.
    Perceiver,
    /// R2: turns a task into a plan of subtasks.
    Planner,
    /// The dispatcher: gives subtasks their ids and releases them group by group.
    Dispatcher,
    /// R3: carries out one subtask with tools.
    Executor,
    /// R4a: validates one subtask.
    AgentValidator,
    /// R4b: validates the combined result of a round.
    MetaValidator,
    /// R5: stores and recalls experience.
    Memory,
    /// R6: logs everything and answers only to the operator.
    Auditor,
    /// R7: the Goal Gradient Solver, which decides whether to replan or to end.
    Solver,
    /// The user, or a program in their place.
    Operator,
    /// The System itself; it only reports that a role failed.
    Runtime,
}

impl Role {
    /// Every party on the bus, in the specification's order.
    pub const ALL: [Self; 11] = [
        Self::Perceiver,
        Self::Planner,
        Self::Dispatcher,
        Self::Executor,
        Self::AgentValidator,
        Self::MetaValidator,
        Self::Memory,
        Self::Auditor,
        Self::Solver,
        Self::Operator,
        Self::Runtime,
    ];

    /// The specification's short name (`R1` … `R7`), or the plain name of a party without one.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Perceiver => "R1",
            Self::Planner => "R2",
            Self::Dispatcher => "dispatcher",
            Self::Executor => "R3",
            Self::AgentValidator => "R4a",
            Self::MetaValidator => "R4b",
            Self::Memory => "R5",
            Self::Auditor => "R6",
            Self::Solver => "R7",
            Self::Operator => "operator",
            Self::Runtime => "runtime",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}
