//! The decision on a round: its outcome, with the reasons as data.

use alloc::string::String;
use alloc::vec::Vec;
use core::num::NonZeroUsize;

use crate::blocked::BlockedTarget;
use crate::config::ConfigHash;
use crate::counterfactual::Counterfactual;
use crate::evaluation::DecisionInputs;
use crate::gradient::Gradient;
use crate::loss::Loss;
use crate::macro_state::{MacroState, PreviousAction, ReplanAction};
use crate::measurement::{FailureMix, Round, ToolTarget, UnmetCriterion, failing};
use crate::stop_reason::StopReason;
use crate::table::{Margins, TableCell, Thresholds, Urgency};
use crate::unit::Unit;

/// A tool or target that a directive added to the blocks.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum NewBlock {
    /// The name of a blocked tool.
    Tool(String),
    /// A blocked target.
    Target(BlockedTarget),
}

/// A directive for the next plan: the kind of change, and what the plan must not use.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Replan {
    /// The kind of change the plan must make.
    pub action: ReplanAction,
    /// How widely tools and targets were blocked.
    pub urgency: Urgency,
    /// Tools the plan must not use, oldest first.
    pub blocked_tools: Vec<String>,
    /// Targets the plan must not use, sorted.
    pub blocked_targets: Vec<BlockedTarget>,
    /// Tools this directive released, because otherwise every tool would have been blocked.
    pub released_tools: Vec<String>,
    /// The tools and targets this directive added to the blocks.
    pub new_blocked: Vec<NewBlock>,
    /// For `break_symmetry`: classes with an allowed tool that the failing subtasks of this round did not use. Empty if
    /// none is left.
    pub novel_classes: Vec<String>,
    /// Targets released since the directive was issued, by [`Controller::release`](crate::Controller::release).
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub released_targets: Vec<BlockedTarget>,
    /// Whether nothing was judged, so that the same plan is to be tried again; only with
    /// [`Switch::Retry`](crate::Switch::Retry), and with the action `refine`.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "crate::field_readers::is_default"))]
    pub same_again: bool,
    /// The directives of the failing subtasks; empty unless [`Switch::BySubtask`](crate::Switch::BySubtask) is on.
    /// `action` is then the widest change among them, and `blocked_tools` what is blocked for all of them.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub subtasks: Vec<SubtaskDirective>,
}

/// What one subtask must change in the next plan, and the tools that only it must not use.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct SubtaskDirective {
    /// The subtask's index in [`Round::subtasks`] of the round that was observed.
    pub subtask: usize,
    /// The kind of change the subtask's next plan must make.
    pub action: ReplanAction,
    /// Whether nothing was judged, so that the same is to be tried again; the action is then `refine`.
    pub same_again: bool,
    /// Tools the subtask's next plan must not use, oldest first.
    pub blocked_tools: Vec<String>,
    /// For `break_symmetry`: classes with an allowed tool that this subtask did not use in this round.
    pub novel_classes: Vec<String>,
}

impl Replan {
    /// A directive that blocks nothing.
    pub(crate) fn new(action: ReplanAction, urgency: Urgency) -> Self {
        Self {
            action,
            urgency,
            blocked_tools: Vec::new(),
            blocked_targets: Vec::new(),
            released_tools: Vec::new(),
            new_blocked: Vec::new(),
            novel_classes: Vec::new(),
            released_targets: Vec::new(),
            same_again: false,
            subtasks: Vec::new(),
        }
    }

    /// Whether the next plan must not call `tool` on `target`.
    #[must_use]
    pub fn blocks(&self, tool: &str, target: &str) -> bool {
        self.blocked_tools.iter().any(|blocked| blocked == tool)
            || self.blocked_targets.iter().any(|blocked| blocked.matches(tool, target))
    }

    /// Whether the next plan must not call `tool` on `target` in the subtask with this index: by a block on the whole
    /// plan, or by one on the subtask.
    #[must_use]
    pub fn blocks_in(&self, subtask: usize, tool: &str, target: &str) -> bool {
        let own = self.subtasks.iter().filter(|directive| directive.subtask == subtask);
        self.blocks(tool, target) || own.flat_map(|own| &own.blocked_tools).any(|blocked| blocked == tool)
    }

    /// Moves a target from the blocked targets to the released ones.
    pub(crate) fn release(&mut self, target: BlockedTarget) {
        self.blocked_targets.retain(|blocked| *blocked != target);
        self.released_targets.push(target);
    }
}

/// The unmet criteria of a result that is close enough. Only a decision can create one, never with an empty list:
///
/// ```compile_fail
/// let without_list = artoo_ggs::SuccessOutcome { unmet: Vec::new() };
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "UnmetList", into = "UnmetList")
)]
pub struct SuccessOutcome {
    unmet: Vec<UnmetCriterion>,
}

impl SuccessOutcome {
    /// All unmet criteria of a round; `None` if there are none.
    pub(crate) fn of(round: &Round) -> Option<Self> {
        let unmet: Vec<_> = failing(round).map(|f| f.to_unmet()).collect();
        (!unmet.is_empty()).then_some(Self { unmet })
    }

    /// The unmet criteria; never empty.
    #[must_use]
    pub fn unmet(&self) -> &[UnmetCriterion] {
        &self.unmet
    }

    /// The number of unmet criteria.
    #[must_use]
    pub fn count(&self) -> NonZeroUsize {
        NonZeroUsize::new(self.unmet.len()).unwrap_or(NonZeroUsize::MIN)
    }
}

/// The serialized list of unmet criteria. Private, so that with serde too only a saved decision restores a success.
#[cfg(feature = "serde")]
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
struct UnmetList(Vec<UnmetCriterion>);

#[cfg(feature = "serde")]
impl From<SuccessOutcome> for UnmetList {
    fn from(success: SuccessOutcome) -> Self {
        Self(success.unmet)
    }
}

#[cfg(feature = "serde")]
impl TryFrom<UnmetList> for SuccessOutcome {
    type Error = &'static str;

    fn try_from(UnmetList(unmet): UnmetList) -> Result<Self, Self::Error> {
        if unmet.is_empty() { Err("a success must name at least one unmet criterion") } else { Ok(Self { unmet }) }
    }
}

/// The outcome of a decision: replan, deliver or abandon.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Outcome {
    /// Plan again by this directive.
    Replan(Replan),
    /// Deliver the result, with its list of unmet criteria.
    Success(SuccessOutcome),
    /// Abandon the task for this reason.
    Abandon(StopReason),
    /// Deliver the result: every criterion is met.
    Accept,
}

/// A tool that worked in the round after `break_symmetry`, in which D fell; worth remembering.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Credit {
    /// The name of a tool whose call worked and that this decision doesn't block.
    pub tool: String,
    /// The last target the tool worked on.
    pub target: String,
}

/// A decision with its reasons as data. `Display` shows it in one line.
///
/// Rounds are numbered by the directives issued before them: the first execution of a plan is round 0.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Decision {
    /// What to do next: replan, deliver or abandon.
    pub outcome: Outcome,
    /// The number of the round, counted from 0.
    pub round: u32,
    /// The numbers the decision was computed from: [`DecisionInputs::evaluate`] under the same configuration gives the
    /// same loss, gradient and cell. After [`Controller::stop`](crate::Controller::stop) those of the last round.
    pub inputs: DecisionInputs,
    /// The loss of the round.
    pub loss: Loss,
    /// The change of the loss since the previous round; zero in round 0.
    pub gradient: Gradient,
    /// The cell of the decision table; `None` for `accept` and after `stop`, which bypass the table.
    pub cell: Option<TableCell>,
    /// The action of the previous directive, if there was one.
    pub previous: PreviousAction,
    /// Number of directives issued so far, this one included.
    pub replans: u32,
    /// The urgency that follows from the sign of the gradient.
    pub urgency: Urgency,
    /// Which class of failure, logical or environmental, was more frequent in the round.
    pub failure_mix: FailureMix,
    /// The claim of the unmet criterion that contributes most to D.
    pub primary_failed: Option<String>,
    /// Whether an unmet required criterion made D count as above δ.
    pub required_unmet: bool,
    /// Distance of D, P, Ω and the gradient from their thresholds.
    pub margins: Margins,
    /// The profile's thresholds of D, P, Ω and the gradient.
    pub thresholds: Thresholds,
    /// The smallest change that would have led to another state: for `accept` one micro-unit of D, for a task that ran
    /// out of tools the change that leads to success. `None` after `stop`, which no measurement could have changed.
    pub counterfactual: Option<Counterfactual>,
    /// Number of rounds in a row that Law 2 (the kill switch) counts as worsening.
    pub worsening_rounds: u32,
    /// Whether the loss fell in any round so far although the approach was to blame: criteria may have been gamed.
    pub suspect: bool,
    /// The round with the lowest D, the later of equals; for a delivered result its own round.
    pub best_round: u32,
    /// Distinct (tool, target) pairs that failed in this round.
    pub failed_pairs: Vec<ToolTarget>,
    /// Tools that worked, if the previous directive was `break_symmetry` and D fell; otherwise empty.
    pub credit: Vec<Credit>,
    /// The probability of this choice, for off-policy evaluation: always 1 here. A caller that explores and follows
    /// another directive logs the probability of that one instead.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::field_readers::propensity"))]
    pub propensity: Unit,
    /// Hash of the configuration the decision was made under.
    pub config: ConfigHash,
}

impl Decision {
    /// The macro-state of the decision, such as `change_path` or `accept`.
    #[must_use]
    pub fn state(&self) -> MacroState {
        match &self.outcome {
            Outcome::Replan(replan) => replan.action.into(),
            Outcome::Success(_) => MacroState::Success,
            Outcome::Abandon(_) => MacroState::Abandon,
            Outcome::Accept => MacroState::Accept,
        }
    }

    /// The macro-state of the previous directive; `None` in the first round.
    #[must_use]
    pub fn prior_state(&self) -> Option<MacroState> {
        self.previous.state()
    }

    /// Whether the decision ends the task.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        !matches!(self.outcome, Outcome::Replan(_))
    }
}
