//! Megrams (memory records) that roles send to memory, and the typed advice that memory returns.

use serde::{Deserialize, Serialize};

use crate::{FailureClass, MegramId, TaskId, Timestamp};

/// The layer of memory a record belongs to: event (M), knowledge (K), common sense (C) or thinking (T).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum MegramLevel {
    /// Megram: a raw event.
    M,
    /// Knowledge: belongs to one task.
    K,
    /// Common sense: does not decay until it loses trust ("Trust Bankruptcy").
    C,
    /// Thinking: laws and persona; never changes.
    T,
}

/// The decision of the solver that a record was written with; it sets magnitude, valence and decay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MacroState {
    /// The record was written when a task was given up.
    Abandon,
    /// Every criterion of the task was met.
    Accept,
    /// The plan's method had to be changed.
    ChangeApproach,
    /// D (distance from the goal) was at most the threshold δ.
    Success,
    /// Another class of tools was needed.
    BreakSymmetry,
    /// Another target was needed.
    ChangePath,
    /// Parameters had to be tightened.
    Refine,
}

/// One record in memory: an experience with its tag, magnitude, valence and decay.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Megram {
    /// The record's id.
    pub id: MegramId,
    /// The layer of memory that the record belongs to.
    pub level: MegramLevel,
    /// When the record was written.
    pub created_at: Timestamp,
    /// When the record was last recalled; `null` if never.
    pub last_recalled_at: Option<Timestamp>,
    /// First tag, for example `tool:shell` or `intent:count_pdf_files`.
    pub space: String,
    /// Second tag, for example `path:/tmp/x`, `env:local` or `via:glob,shell`.
    pub entity: String,
    /// What happened, in words. It is data, never an instruction.
    pub content: String,
    /// The solver's decision that the record was written with.
    pub state: MacroState,
    /// Magnitude of the experience, from 0 to 1.
    pub f: f64,
    /// Valence of the experience: −1 is bad, 1 is good.
    pub sigma: f64,
    /// Rate per day at which the record's weight decays.
    pub k: f64,
    /// For a failure: its cause.
    pub failure_class: Option<FailureClass>,
    /// The task that the record comes from, if any.
    pub task_id: Option<TaskId>,
}

/// A record that the solver asks memory to store. Memory adds the id, the time, and the numbers of the state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MegramDraft {
    /// First tag of the record, for example `tool:shell`.
    pub space: String,
    /// Second tag of the record, for example `path:/tmp/x`.
    pub entity: String,
    /// What happened, in words.
    pub content: String,
    /// The solver's decision that led to the record.
    pub state: MacroState,
    /// For a failure: its cause.
    pub failure_class: Option<FailureClass>,
    /// The task that the record comes from.
    pub task_id: TaskId,
    /// The whole intent of the task, of which the tag keeps the first three words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub intent: String,
    /// What a correction taught, if that is what the record is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lesson: Option<Lesson>,
}

/// What a correction taught: a criterion that was unmet, and the call with which it was met.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lesson {
    /// The claim of the criterion.
    pub criterion: String,
    /// What was wrong before the correction.
    pub wrong: String,
    /// The tool of the call that then met the criterion.
    pub tool: String,
    /// The input of that call, as JSON text.
    pub input: String,
}

/// A lesson of the same task or of a similar one. It is data, never an instruction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecalledLesson {
    /// The record's id.
    pub id: MegramId,
    /// The intent of the task that taught the lesson.
    pub intent: String,
    /// Similarity of that intent to the queried one, from 0 to 1.
    pub similarity: f64,
    /// What was learnt.
    pub lesson: Lesson,
}

/// The planner's question to memory, before every plan and replan, about experience with the task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryQuery {
    /// The task that the planner plans.
    pub task_id: TaskId,
    /// The round that the planner plans; the answer repeats this number.
    pub round: u32,
    /// The goal of the task; memory derives a tag from this text.
    pub intent: String,
    /// Tools the planner may use.
    pub tools: Vec<String>,
    /// Targets named in the task.
    pub targets: Vec<String>,
}

/// What memory advises about an approach: nothing, prefer it, do not use it, or ask first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryAction {
    /// No advice: there is too little history.
    Ignore,
    /// The planner SHOULD PREFER this approach.
    Exploit,
    /// The planner MUST NOT use this approach.
    Avoid,
    /// Ask the user before using this approach.
    Caution,
}

/// The two sums over past records, and the advice they imply.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Potentials {
    /// Sum of the records' weights without sign: how much is remembered.
    pub attention: f64,
    /// Sum of the records' weights with sign: positive for good experience.
    pub decision: f64,
    /// The advice that the two sums imply.
    pub action: MemoryAction,
}

/// A rule of the common-sense layer ("standard operating procedure").
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sop {
    /// The record's id.
    pub id: MegramId,
    /// The rule in words.
    pub content: String,
    /// +1 for a best practice, −1 for a constraint.
    pub sign: i8,
    /// First tag that the rule is filed under, for example `intent:count_pdf_files`.
    #[serde(default)]
    pub space: String,
    /// Second tag that the rule is filed under, for example `via:glob,shell`.
    #[serde(default)]
    pub entity: String,
}

/// Why the action of a piece of advice was lowered to caution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AdviceCap {
    /// The failures were caused by the environment.
    Environmental,
    /// The advice is about a whole tool or intent.
    Unspecific,
    /// The advice is about another, similar intent.
    Similar,
    /// All failures come from one task.
    OneTask,
    /// The user said that a result was wrong.
    Corrected,
    /// The advice is a hypothesis: the approach worked for other intents and is untested for this one.
    Hypothesis,
}

/// What memory advises about one approach, or one pair of tool and target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Advice {
    /// First tag of the records, for example `tool:shell`.
    pub space: String,
    /// Second tag of the records, for example `path:/tmp/x`.
    pub entity: String,
    /// The advice, and the sums over past records behind it.
    pub potentials: Potentials,
    /// How similar the remembered intent is to the asked one; below 1 the advice is discounted.
    pub similarity: f64,
    /// Why the action was lowered to caution; `null` if it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capped: Option<AdviceCap>,
    /// The records that the advice is based on, newest first.
    pub megrams: Vec<MegramId>,
}

/// Memory's answer to the planner: data, which the planner puts into words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemoryRecall {
    /// The task that asked.
    pub task_id: TaskId,
    /// The round that asked.
    pub round: u32,
    /// Rules of the common-sense layer for this intent.
    pub sops: Vec<Sop>,
    /// Advice on this intent as a whole, its approaches, and the tools and targets named.
    pub advice: Vec<Advice>,
    /// Lessons of this task and of similar ones, best first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lessons: Vec<RecalledLesson>,
    /// Notes that the user asked memory to remember and that fit the intent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Number of records in memory.
    pub megrams_total: u64,
}
