//! R7's contract: directives to the planner and the final result to the user.

use serde::{Deserialize, Serialize};

use crate::{KeptOutput, ModelFailure, PerceptionFailure, TaskId, UnverifiedOutput};

/// The loss and its three parts; D, P and Omega lie in 0..=1.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Loss {
    /// Intent-result distance.
    #[serde(rename = "D")]
    pub d: f64,
    /// Process implausibility.
    #[serde(rename = "P")]
    pub p: f64,
    /// Resource cost.
    #[serde(rename = "Omega")]
    pub omega: f64,
    /// The weighted sum.
    #[serde(rename = "L")]
    pub l: f64,
}

/// What kind of change R2 must make.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplanDirective {
    /// Same approach, tighter parameters.
    Refine,
    /// Same approach, another target.
    ChangePath,
    /// Another method.
    ChangeApproach,
    /// Another class of tool.
    BreakSymmetry,
}

/// How a task ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TerminalDirective {
    /// Every criterion met.
    Accept,
    /// Close enough; what is unmet is named.
    Success,
    /// Given up; what there is, is delivered as unverified.
    Abandon,
}

/// The state before this one; `init` on the first round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PrevDirective {
    /// Nothing was directed yet.
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

/// The failure class of a whole round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureMix {
    /// Mostly wrong approach.
    Logical,
    /// Mostly the environment.
    Environmental,
    /// A tie.
    Mixed,
}

/// How widely a directive is applied, from the sign of the gradient.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Urgency {
    /// Improving: narrow scope.
    Low,
    /// No signal.
    Normal,
    /// Worsening: wide scope.
    High,
}

/// R7 to R2: what must change in the next plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanDirective {
    /// The task.
    pub task_id: TaskId,
    /// The round this directive opens (1 for the first replan).
    pub round: u32,
    /// The loss of the round that fell short.
    pub loss: Loss,
    /// The directive before this one.
    pub prev_directive: PrevDirective,
    /// What kind of change.
    pub directive: ReplanDirective,
    /// Tools the next plan must not use; only grows within a task, save a released one.
    pub blocked_tools: Vec<String>,
    /// Targets the next plan must not use; only grows within a task.
    pub blocked_targets: Vec<String>,
    /// Tools released since every tool would have been blocked.
    pub released_tools: Vec<String>,
    /// The criterion that drives D.
    pub failed_criterion: String,
    /// Whose fault.
    pub failure_class: FailureMix,
    /// Omega.
    pub budget_pressure: f64,
    /// L minus the previous round's L.
    pub grad_l: f64,
    /// How widely to apply it.
    pub urgency: Urgency,
    /// Near names seen by tools, for `change_path`; may be empty.
    pub suggested_alternatives: Vec<String>,
    /// The decision in a sentence.
    pub rationale: String,
}

/// Whether a delivered criterion was decided by code, by a model, or not at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CriterionMark {
    /// Passed by re-reading state or recomputing.
    Checked,
    /// Passed in a model's judgement on cited evidence.
    Judged,
    /// Not met, or not shown to be.
    Unmet,
}

/// One criterion as shown to the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CriterionReport {
    /// The claim.
    pub claim: String,
    /// How it was decided.
    pub mark: CriterionMark,
    /// What was seen.
    pub evidence: String,
}

/// What an accept rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Every criterion was decided by a check in code.
    Checked,
    /// Every subtask passed at least one check in code about the machine; the rest is a model's judgement.
    Mixed,
    /// A model's judgement of evidence from this machine; in some subtask no check in code supports it.
    Judged,
    /// Words only: no tool ran, so nothing about this machine was verified.
    WordsOnly,
}

/// Why a task was abandoned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AbandonReason {
    /// Omega reached θ.
    BudgetExhausted,
    /// A fifth execution would have been needed.
    MaxReplans,
    /// Law 2: the gap grew twice in a row.
    Diverging,
    /// Every tool was blocked and released once already.
    ToolsExhausted,
    /// No acceptable plan.
    NoPlan {
        /// What was wrong with the drafts.
        problems: Vec<String>,
    },
    /// The one way that is known failed.
    NoOtherWay {
        /// What failed, in the words of the call or the check.
        failed: String,
        /// What the user can do next.
        next_steps: Vec<String>,
    },
    /// The request was not understood.
    NotUnderstood {
        /// What was and what was not.
        failure: PerceptionFailure,
    },
    /// A refused effect was needed.
    ConsentNeeded,
    /// The model could not be asked.
    Provider {
        /// What happened.
        failure: ModelFailure,
    },
    /// The operator cancelled.
    Cancelled,
    /// The hard time limit.
    Deadline,
    /// A role failed.
    RoleFailed {
        /// Which, and what it said.
        detail: String,
    },
}

/// A call that was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeniedAction {
    /// The call as it would have run, escaped for display.
    pub action: String,
    /// Why it was not allowed.
    pub reason: String,
    /// Whether a person saw the question and said no; otherwise nobody could be asked, or a rule refused.
    #[serde(default)]
    pub by_person: bool,
}

/// How a task ended, with what honesty demands of each ending.
///
/// A `success` can't be built without its list of unmet criteria, nor an `accept` without what it rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "directive", rename_all = "snake_case")]
pub enum Ending {
    /// Every criterion met.
    Accept {
        /// What that rests on.
        basis: Basis,
    },
    /// D ≤ δ: delivered with these criteria unmet.
    Success {
        /// What is unmet; never empty in a result R7 sends.
        unmet: Vec<CriterionReport>,
    },
    /// Not achieved.
    Abandon {
        /// Why.
        reason: AbandonReason,
        /// What is unmet or unverified.
        unmet: Vec<CriterionReport>,
    },
}

impl Ending {
    /// The directive alone.
    #[must_use]
    pub fn directive(&self) -> TerminalDirective {
        match self {
            Self::Accept { .. } => TerminalDirective::Accept,
            Self::Success { .. } => TerminalDirective::Success,
            Self::Abandon { .. } => TerminalDirective::Abandon,
        }
    }
}

/// R7 to the user: the one result of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FinalResult {
    /// The task.
    pub task_id: TaskId,
    /// One or two lines; never claims more than the ending does.
    pub summary: String,
    /// The answer: verified for `accept`, otherwise as good as the ending says.
    pub output: String,
    /// Where `output` is cut: the items of the evidence store that hold all of it, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub whole: Vec<KeptOutput>,
    /// Outputs nobody verified, apart.
    pub unverified: Vec<UnverifiedOutput>,
    /// The loss of the delivered round.
    pub loss: Loss,
    /// The last gradient.
    pub grad_l: f64,
    /// Directives issued.
    pub replans: u32,
    /// The last directive before the end.
    pub prev_directive: PrevDirective,
    /// `directive` and what goes with it.
    #[serde(flatten)]
    pub ending: Ending,
    /// The round whose output is delivered.
    pub delivered_round: u32,
    /// Loss once fell while the approach stayed wrong: criteria may be gamed.
    pub suspect: bool,
    /// Every criterion with its mark.
    pub criteria: Vec<CriterionReport>,
    /// Calls that were refused.
    pub denied: Vec<DeniedAction>,
    /// Defaults taken where the request was silent.
    pub assumptions: Vec<String>,
    /// What the user can do next.
    pub next_steps: Vec<String>,
}
