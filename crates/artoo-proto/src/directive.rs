//! Messages of the solver: directives to the planner, and the final result to the user.

use serde::{Deserialize, Serialize};

use crate::{Answer, Coverage, DeniedAction, ModelFailure, PerceptionFailure, SubTaskId, TaskId, UnverifiedOutput};

/// How far a round is from the goal: the loss L and its parts, of which D, P and Omega are between 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Loss {
    /// Distance between what was asked and what was achieved, from 0 to 1.
    #[serde(rename = "D")]
    pub d: f64,
    /// How implausible the process was, from 0 to 1.
    #[serde(rename = "P")]
    pub p: f64,
    /// Resources used, as a share of the budget.
    #[serde(rename = "Omega")]
    pub omega: f64,
    /// The weighted sum of D, P and Omega.
    #[serde(rename = "L")]
    pub l: f64,
}

/// What kind of change the planner must make: refine, change_path, change_approach or break_symmetry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplanDirective {
    /// Plan the same approach with tighter parameters.
    Refine,
    /// Plan the same approach with another target.
    ChangePath,
    /// Plan another method.
    ChangeApproach,
    /// Plan with another class of tools.
    BreakSymmetry,
}

/// How a task ends, without details: accept, success or abandon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TerminalDirective {
    /// Every criterion is met.
    Accept,
    /// D (distance from the goal) is at most the threshold δ; the unmet criteria are listed.
    Success,
    /// The task was given up; any output is delivered as unverified.
    Abandon,
}

/// The replan directive before the current one, or `Init` in the first round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PrevDirective {
    /// There was none: this is the first round.
    Init,
    /// See [`ReplanDirective::Refine`].
    Refine,
    /// See [`ReplanDirective::ChangePath`].
    ChangePath,
    /// See [`ReplanDirective::ChangeApproach`].
    ChangeApproach,
    /// See [`ReplanDirective::BreakSymmetry`].
    BreakSymmetry,
}

impl From<ReplanDirective> for PrevDirective {
    fn from(directive: ReplanDirective) -> Self {
        match directive {
            ReplanDirective::Refine => Self::Refine,
            ReplanDirective::ChangePath => Self::ChangePath,
            ReplanDirective::ChangeApproach => Self::ChangeApproach,
            ReplanDirective::BreakSymmetry => Self::BreakSymmetry,
        }
    }
}

/// Whether the failures in a round were caused by the approach, by the environment, or by both alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureMix {
    /// Most failures came from a wrong approach.
    Logical,
    /// Most failures came from the environment: network, permission, missing file.
    Environmental,
    /// The approach and the environment caused equally many failures, or no failure has a known cause.
    Mixed,
}

/// How widely a directive is to be applied, from the sign of the gradient of the loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Urgency {
    /// The loss falls: narrow scope.
    Low,
    /// The loss is flat, or there is no earlier round.
    Normal,
    /// The loss rises: wide scope.
    High,
}

/// The solver tells the planner what must change in the next plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanDirective {
    /// The task's id.
    pub task_id: TaskId,
    /// The round that this directive opens; 1 for the first replan.
    pub round: u32,
    /// The loss of the round before.
    pub loss: Loss,
    /// The directive before this one.
    pub prev_directive: PrevDirective,
    /// What kind of change the planner must make.
    pub directive: ReplanDirective,
    /// Tools the next plan must not use. Within a task the list only grows, except for released tools.
    pub blocked_tools: Vec<String>,
    /// Targets the next plan must not use. Within a task the list only grows.
    pub blocked_targets: Vec<String>,
    /// Tools allowed again because otherwise every tool would be blocked.
    pub released_tools: Vec<String>,
    /// The criterion that contributes most to D (the distance from the goal).
    pub failed_criterion: String,
    /// Main cause of the failures of the round.
    pub failure_class: FailureMix,
    /// Omega (resources used, as a share of the budget).
    pub budget_pressure: f64,
    /// The change of the loss L since the previous round; below 0 if it fell.
    pub grad_l: f64,
    /// How widely to apply the directive.
    pub urgency: Urgency,
    /// For `change_path`: names that tools found near a missing target; may be empty.
    pub suggested_alternatives: Vec<String>,
    /// The solver's decision in one sentence.
    pub rationale: String,
    /// What each subtask of the last plan did, in sequence order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tried: Vec<TriedSubtask>,
    /// Whether nothing was judged, so that the same plan may be tried again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub same_again: bool,
}

/// The work of a subtask of the last plan, and why it was not enough.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TriedSubtask {
    /// The subtask's id.
    pub subtask_id: SubTaskId,
    /// What the subtask was to do.
    pub intent: String,
    /// Its calls, each as tool and input, shortened.
    pub calls: Vec<String>,
    /// Why the subtask failed; `null` if its criteria were met.
    pub failure: Option<String>,
    /// What must change in this subtask, if the solver says it for each subtask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directive: Option<ReplanDirective>,
    /// Tools that this subtask must not use again, besides those that are blocked for the whole plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocked_tools: Vec<String>,
}

/// The solver's request to the planner to describe the end of an abandoned task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WordingRequest {
    /// The task's id.
    pub task_id: TaskId,
    /// Why the task was abandoned.
    pub reason: String,
    /// Claims that were verified in the round that is delivered.
    pub met: Vec<String>,
    /// Claims that are unmet, each with what was found.
    pub unmet: Vec<String>,
    /// What each subtask of the last plan did.
    pub tried: Vec<TriedSubtask>,
}

/// The planner's reply with a model's ending text of an abandoned task, or without one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wording {
    /// The task's id.
    pub task_id: TaskId,
    /// The words; `null` if the model gave none.
    pub words: Option<ModelWords>,
}

/// A model's description of an abandoned task; nothing of it is verified.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelWords {
    /// How far the task got.
    pub summary: String,
    /// What the user can do next.
    pub next_steps: Vec<String>,
}

/// Whether a criterion of the result was checked by code, judged by a model, or is unmet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CriterionMark {
    /// Passed: code read the state again or recomputed it.
    Checked,
    /// Passed: a model judged it on cited evidence.
    Judged,
    /// Not met, or not shown to be met.
    Unmet,
}

/// One criterion of the result for the user: its claim, mark and evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CriterionReport {
    /// The criterion's assertion.
    pub claim: String,
    /// How the criterion was decided.
    pub mark: CriterionMark,
    /// What supports or contradicts the claim.
    pub evidence: String,
}

/// What an accepted result rests on: checked, mixed, judged or words only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Recorded facts show every part of the request.
    Checked,
    /// Facts show a part of the request, or no model judged and only checks in code decided.
    Mixed,
    /// A model judged evidence from this machine; no fact shows a part of the request.
    Judged,
    /// Nothing: no tool ran, so the answer is words only.
    WordsOnly,
}

/// Why a task was given up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AbandonReason {
    /// Omega (the used share of the budget) reached its limit θ.
    BudgetExhausted,
    /// The limit of replans was reached.
    MaxReplans,
    /// Law 2: too many rounds in a row were worse than the round before.
    Diverging,
    /// The same criteria failed in turn again, although the task had to leave that cycle before.
    Cycling,
    /// Every available tool is blocked, and each was released once already.
    ToolsExhausted,
    /// No draft of a plan passed the plan validator.
    NoPlan {
        /// What was wrong with the drafts of a plan.
        problems: Vec<String>,
    },
    /// The only known approach failed.
    NoOtherWay {
        /// The failure, in the words of the tool call or check.
        failed: String,
        /// What the user can do after the only known approach failed.
        next_steps: Vec<String>,
    },
    /// The request was not understood.
    NotUnderstood {
        /// Why the request was not understood.
        failure: PerceptionFailure,
    },
    /// The user denied an effect that the task needs.
    ConsentNeeded,
    /// The model could not be used.
    Provider {
        /// Why the call to the model failed.
        failure: ModelFailure,
    },
    /// The operator cancelled the task.
    Cancelled,
    /// The hard time limit was reached.
    Deadline,
    /// A role failed with an internal error.
    RoleFailed {
        /// The failed role and its error.
        detail: String,
    },
}

/// How a task ended, with the details that each ending must state.
///
/// A `success` needs its list of unmet criteria, an `accept` what it was verified by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "directive", rename_all = "snake_case")]
pub enum Ending {
    /// Every criterion is met.
    Accept {
        /// What the result was verified by.
        basis: Basis,
    },
    /// D (distance from the goal) is at most the threshold δ: delivered although some criteria are unmet.
    Success {
        /// The unmet criteria; never empty in a result the solver sends.
        unmet: Vec<CriterionReport>,
    },
    /// The task was given up.
    Abandon {
        /// Why the task was given up.
        reason: AbandonReason,
        /// Criteria that are unmet or were not verified.
        unmet: Vec<CriterionReport>,
    },
}

impl Ending {
    /// The kind of ending (accept, success or abandon) without its details.
    #[must_use]
    pub fn directive(&self) -> TerminalDirective {
        match self {
            Self::Accept { .. } => TerminalDirective::Accept,
            Self::Success { .. } => TerminalDirective::Success,
            Self::Abandon { .. } => TerminalDirective::Abandon,
        }
    }
}

/// The one result of a task, from the solver to the user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FinalResult {
    /// The task's id.
    pub task_id: TaskId,
    /// One or two lines; never claims more than the ending does.
    pub summary: String,
    /// The answer: verified for `accept`, otherwise only as far as the ending says.
    pub output: String,
    /// The parts of `output`, each with what it answers; empty unless the ending is `accept`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<Answer>,
    /// Outputs that were not verified.
    pub unverified: Vec<UnverifiedOutput>,
    /// The loss of the delivered round.
    pub loss: Loss,
    /// The change of the loss L between the last two rounds; below 0 if it fell.
    pub grad_l: f64,
    /// Number of replan directives.
    pub replans: u32,
    /// The last directive before the end.
    pub prev_directive: PrevDirective,
    /// Why the solver ended the task: the state, and how far the loss was from each limit; empty without a round.
    #[serde(default)]
    pub decision: String,
    /// How the task ended: `directive` and its details.
    #[serde(flatten)]
    pub ending: Ending,
    /// The round whose output is delivered.
    pub delivered_round: u32,
    /// Whether the loss once fell although the approach stayed wrong: the criteria may be gamed.
    pub suspect: bool,
    /// Every criterion and how it was decided.
    pub criteria: Vec<CriterionReport>,
    /// Calls that were not allowed.
    pub denied: Vec<DeniedAction>,
    /// Defaults chosen where the request said nothing.
    pub assumptions: Vec<String>,
    /// What the user can do next.
    pub next_steps: Vec<String>,
    /// Which parts of the request are shown to be done; `null` if nothing was compared.
    #[serde(default)]
    pub coverage: Option<Coverage>,
    /// What a model says about an abandoned task; `null` if none was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_words: Option<Box<ModelWords>>,
    /// The space tag of the skill that answered in place of a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
}
