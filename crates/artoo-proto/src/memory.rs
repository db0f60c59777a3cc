//! R5's contract: Megrams in, structured recall out.

use serde::{Deserialize, Serialize};

use crate::{FailureClass, MegramId, TaskId, Timestamp};

/// Layers of the pyramid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum MegramLevel {
    /// Megram: a raw event.
    M,
    /// Knowledge: task-scoped.
    K,
    /// Common sense: timeless until Trust Bankruptcy.
    C,
    /// Thinking: laws and persona.
    T,
}

/// The state a Megram was written in: a row of the quantization matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MacroState {
    /// Given up.
    Abandon,
    /// D = 0.
    Accept,
    /// Switch method.
    ChangeApproach,
    /// D ≤ δ.
    Success,
    /// Another class of tool.
    BreakSymmetry,
    /// Another target.
    ChangePath,
    /// Tighter parameters.
    Refine,
}

/// One memory record, as R5 keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Megram {
    /// Its id.
    pub id: MegramId,
    /// Its layer.
    pub level: MegramLevel,
    /// When it was written.
    pub created_at: Timestamp,
    /// When it was last recalled.
    pub last_recalled_at: Option<Timestamp>,
    /// First tag, e.g. `tool:shell`, `intent:count_pdf_files`.
    pub space: String,
    /// Second tag, e.g. `path:/tmp/x`, `env:local`, `via:glob,shell`.
    pub entity: String,
    /// What happened, in words; data, never instructions.
    pub content: String,
    /// The matrix row.
    pub state: MacroState,
    /// Magnitude, 0..=1.
    pub f: f64,
    /// Valence, −1..=1.
    pub sigma: f64,
    /// Decay a day.
    pub k: f64,
    /// Whose fault the state was, where it was a failure.
    pub failure_class: Option<FailureClass>,
    /// The task it comes from.
    pub task_id: Option<TaskId>,
}

/// What R7 asks R5 to keep; R5 adds id, time and the matrix row's numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MegramDraft {
    /// First tag.
    pub space: String,
    /// Second tag.
    pub entity: String,
    /// What happened.
    pub content: String,
    /// The matrix row.
    pub state: MacroState,
    /// Whose fault, for a failure.
    pub failure_class: Option<FailureClass>,
    /// The task it comes from.
    pub task_id: TaskId,
}

/// R2 to R5, before every plan and replan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryQuery {
    /// The task that asks.
    pub task_id: TaskId,
    /// The round that asks; the recall repeats it.
    pub round: u32,
    /// The intent; R5's library makes the slug.
    pub intent: String,
    /// Tools the planner may use.
    pub tools: Vec<String>,
    /// Targets named in the task.
    pub targets: Vec<String>,
}

/// What to do about an experience.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryAction {
    /// Too little history.
    Ignore,
    /// SHOULD PREFER.
    Exploit,
    /// MUST NOT.
    Avoid,
    /// Ask first.
    Caution,
}

/// The two convolution channels and the action they imply.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Potentials {
    /// Unsigned energy.
    pub attention: f64,
    /// Signed preference.
    pub decision: f64,
    /// What follows.
    pub action: MemoryAction,
}

/// A C-level rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sop {
    /// Its id.
    pub id: MegramId,
    /// The rule.
    pub content: String,
    /// +1 best practice, −1 constraint.
    pub sign: i8,
}

/// Advice about one approach or one (tool, target).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Advice {
    /// First tag.
    pub space: String,
    /// Second tag.
    pub entity: String,
    /// What is known.
    pub potentials: Potentials,
    /// How alike the remembered intent is, 1 = the same; below 1 the advice is discounted.
    pub similarity: f64,
    /// The records it rests on, newest first.
    pub megrams: Vec<MegramId>,
}

/// R5 to R2: data, not text; R2 formats it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemoryRecall {
    /// The task that asked.
    pub task_id: TaskId,
    /// The round that asked.
    pub round: u32,
    /// C-level rules for this intent.
    pub sops: Vec<Sop>,
    /// Advice for this intent as a whole, its approaches, and tools and targets named.
    pub advice: Vec<Advice>,
    /// How much stands in memory.
    pub megrams_total: u64,
}
