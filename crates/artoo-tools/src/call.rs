//! A call with everything that decides whether it may be made.

use artoo_proto::{EvidenceId, TaskId, ToolRequest};

/// A requested call and the rules of its subtask.
#[derive(Debug, Clone, PartialEq)]
pub struct CallContext {
    /// Whose call it is: what a person allowed or refused, what failed and what was changed is kept by task.
    pub task_id: TaskId,
    /// What to call.
    pub request: ToolRequest,
    /// Where its evidence will be cited.
    pub evidence_id: EvidenceId,
    /// Tools the subtask may use; a tool that is not here is refused, so an empty list allows none.
    pub allowed_tools: Vec<String>,
    /// Tools that must not be called; letter case and blanks around are ignored.
    pub blocked_tools: Vec<String>,
    /// Targets that must not be used: a target as a record shows it, for every tool, or `tool:target` for one. A
    /// path ending in `/` covers all below it. Paths are compared as written and where their symlinks lead.
    pub blocked_targets: Vec<String>,
    /// Caution: a call that is not read-only asks even if it only creates.
    pub confirm: bool,
    /// The task as the person put it, empty where nobody did: what a question to the network may be made of without
    /// asking.
    pub said: String,
}
