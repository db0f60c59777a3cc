//! Skills: calls that answered one kind of request in several tasks, with slots for what differed between them.
//!
//! R7 (the Solver) records an [`Episode`] for each task that a model planned and facts cover whole. The Dreamer turns
//! enough episodes of one kind into a [`Skill`], which is offered to the user. After the user's approval the skill's
//! calls replace the model's plan; approvals, sandbox and the comparison with the request stay as they are.

mod episode;
mod learn;
mod pattern;
#[cfg(test)]
mod tests;

use artoo_proto::{
    Check, Criterion, Mode, ProposedReading, Recipe, RecipePlan, RecipeStep, RecipeSubtask, ToolRequest,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use episode::Episode;
pub use pattern::Piece;
use pattern::{Slots, filled};

/// Prefix of the space tags of skills.
pub const SPACE: &str = "skill:";
/// Least number of tasks that a skill is learned from: as many accepted tasks as memory's rule for promotions asks for
/// (attention 5.0 at 0.9 a task).
pub const EPISODES_MIN: usize = 6;

/// What one subtask of a plan did, and the checks in code that it passed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// What the subtask is for.
    pub intent: String,
    /// Group number of the subtask: lower numbers run first.
    pub sequence: i64,
    /// Its tool calls, in order.
    pub calls: Vec<ToolRequest>,
    /// Checks of the state of files.
    pub checks: Vec<Check>,
}

/// A learned skill: tool calls that answer one kind of request, with slots for what differs between such requests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Skill {
    /// The words of the request, with slots.
    pub pattern: Vec<Piece>,
    /// The current folder in which the tasks ran. The skill applies only there.
    pub folder: String,
    /// Requests that the skill was learned from.
    pub examples: Vec<String>,
    /// A [`Body`] as JSON, with markers.
    pub body: Value,
}

/// What a task did: its scope, the calls and checks of its subtasks, and confirmed readings. The arguments of the
/// request recur in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Body {
    /// Where the task may look or act, if the user said so.
    pub scope: Option<String>,
    /// The subtasks of the plan.
    pub parts: Vec<Part>,
    /// The readings that the user confirmed.
    pub readings: Vec<ProposedReading>,
}

impl Skill {
    /// Learns a skill from episodes of one kind, newest first.
    ///
    /// # Errors
    /// Why there is none: too few episodes, or a difference between them that their requests don't explain.
    pub fn learn(episodes: &[Episode]) -> Result<Self, String> {
        learn::skill(episodes)
    }

    /// The calls for a request, with its words filled in; `None` if the skill does not apply to it in this folder.
    #[must_use]
    pub fn body(&self, request: &str, folder: &str) -> Option<Body> {
        let slots = Slots::of(&self.pattern, request).filter(|_| self.folder == folder)?;
        serde_json::from_value(filled(&self.body, &slots)?).ok()
    }

    /// The pattern of the skill as one line, with each slot as its number in brackets.
    #[must_use]
    pub fn shown(&self) -> String {
        pattern::shown(&self.pattern)
    }

    /// The calls, checks and readings as JSON, with each slot as its number in brackets.
    #[must_use]
    pub fn shown_body(&self) -> Value {
        pattern::shown_body(&self.body)
    }
}

impl Body {
    /// Converts the calls to a plan of recipes, marked with the space tag of their skill.
    #[must_use]
    pub fn plan(self, space: &str) -> RecipePlan {
        let subtask = |part: Part| {
            let steps =
                part.calls.into_iter().map(|call| RecipeStep { call, answers: true, paths_from: None }).collect();
            RecipeSubtask {
                recipe: Recipe { steps, reading: part.intent.clone(), skill: Some(space.to_owned()) },
                intent: part.intent,
                sequence: part.sequence,
                success_criteria: part.checks.into_iter().map(Criterion::checked).chain([covers()]).collect(),
                answers: None,
            }
        };
        RecipePlan {
            subtasks: self.parts.into_iter().map(subtask).collect(),
            task_criteria: vec![covers()],
            assumptions: Vec::new(),
            readings: self.readings,
        }
    }
}

/// The criterion of a skill, which the comparison of the request with the recorded facts decides.
fn covers() -> Criterion {
    let text = "recorded facts show each part of the request".to_owned();
    Criterion::Prose { text, mode: Mode::Verifiable, required: true }
}
