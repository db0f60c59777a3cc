//! Who may speak on the bus.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A party on the bus: the roles of the spec, the dispatcher, the human operator and the runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// R1: carries the user's words in.
    Perceiver,
    /// R2: plans.
    Planner,
    /// Assigns ids and releases sequence groups (part of the Metaagent).
    Dispatcher,
    /// R3: executes one subtask.
    Executor,
    /// R4a: validates one subtask.
    AgentValidator,
    /// R4b: validates the merged result.
    MetaValidator,
    /// R5: memory.
    Memory,
    /// R6: observes; answers only to the operator.
    Auditor,
    /// R7: the Goal Gradient Solver.
    Solver,
    /// The human, or the program that stands for one.
    Operator,
    /// The System itself: reports a role's failure, nothing else.
    Runtime,
}

impl Role {
    /// Every party, in the spec's order.
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

    /// The spec's short name (`R1` … `R7`), or the plain name where the spec has none.
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
