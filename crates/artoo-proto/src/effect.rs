//! Effect records: what a machine asked the outside for, and how that ended, as seen on the tap.

use serde::{Deserialize, Serialize};

use crate::{EffectId, MessageId, Role, SubTaskId, TaskId, Usage};

/// What kind of outside work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum EffectKind {
    /// A model call.
    Model {
        /// Name of the reply's schema.
        schema: String,
    },
    /// A tool call.
    Tool {
        /// Tool name.
        tool: String,
    },
    /// Checks in code.
    Checks {
        /// How many.
        count: u32,
    },
    /// A timer.
    Timer {
        /// After how long, in milliseconds.
        after_ms: u64,
    },
    /// A memory record on its way to disk.
    Persist,
}

/// An effect was handed out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectStarted {
    /// Its id.
    pub effect_id: EffectId,
    /// The message that led to it.
    pub cause: MessageId,
    /// Who asked.
    pub by: Role,
    /// For which task.
    pub task_id: Option<TaskId>,
    /// For which subtask.
    pub subtask_id: Option<SubTaskId>,
    /// What.
    pub effect: EffectKind,
    /// What was asked, shortened and escaped.
    pub digest: String,
}

/// An effect came back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectFinished {
    /// Its id.
    pub effect_id: EffectId,
    /// Who asked.
    pub by: Role,
    /// For which task.
    pub task_id: Option<TaskId>,
    /// Whether it worked.
    pub ok: bool,
    /// What came back, shortened and escaped.
    pub digest: String,
    /// What it cost.
    pub usage: Usage,
}
