//! Records of work outside the System (model calls, tool calls, timers …), as observers of the bus see them.

use serde::{Deserialize, Serialize};

use crate::{EffectId, MessageId, Role, SubTaskId, TaskId, Usage};

/// The kind of work outside the System, such as a model call or a timer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum EffectKind {
    /// A call to a model.
    Model {
        /// Name of the reply's JSON schema.
        schema: String,
    },
    /// A tool call.
    Tool {
        /// Name of the called tool.
        tool: String,
    },
    /// Checks decided in code.
    Checks {
        /// Number of checks to decide.
        count: u32,
    },
    /// A timer.
    Timer {
        /// Time until it fires, in milliseconds.
        after_ms: u64,
    },
    /// A memory record to be written to disk.
    Persist,
    /// A reading of the request by code.
    Read,
    /// A comparison of the request with what was recorded.
    Cover,
}

/// Tap event: a role asked for work outside the System, such as a model call or a tool call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectStarted {
    /// Id of this work; start and end carry the same one.
    pub effect_id: EffectId,
    /// The message that caused the work.
    pub cause: MessageId,
    /// The role that asked for the work.
    pub by: Role,
    /// The task that the work belongs to, if any.
    pub task_id: Option<TaskId>,
    /// The subtask that the work belongs to, if any.
    pub subtask_id: Option<SubTaskId>,
    /// The kind of work.
    pub effect: EffectKind,
    /// What was asked, shortened and escaped.
    pub digest: String,
}

/// Tap event: work outside the System ended, with its success and usage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectFinished {
    /// Id of this work; start and end carry the same one.
    pub effect_id: EffectId,
    /// The role that asked for the work.
    pub by: Role,
    /// The task that the work belongs to, if any.
    pub task_id: Option<TaskId>,
    /// Whether the work succeeded.
    pub ok: bool,
    /// The result of the work, shortened and escaped.
    pub digest: String,
    /// Model calls and tokens that the work used.
    pub usage: Usage,
}
