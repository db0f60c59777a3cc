//! What comes out of a round: the outcome, and the decision that carries it with its reasons as data.

use std::num::NonZeroUsize;

use crate::blocked::BlockedTarget;
use crate::cascade::Situation;
use crate::config::ConfigHash;
use crate::counterfactual::Counterfactual;
use crate::decision::{Cell, Margins, Thresholds, Urgency};
use crate::gradient::Gradient;
use crate::loss::Loss;
use crate::macro_state::{Action, MacroState, Previous};
use crate::measurement::{FailureMix, Round, ToolTarget, Unmet, failing};
use crate::unit::Unit;

/// Why a task was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum StopReason {
    /// Omega reached θ.
    BudgetExhausted,
    /// Every directive was issued.
    MaxReplans,
    /// Law 2: the gap grew too many rounds in a row.
    Diverging,
    /// Every available tool is blocked and was released once already.
    ToolsExhausted,
    /// The caller ended it: a cancel, a deadline, a dead provider.
    External,
}

impl StopReason {
    /// Its name on the wire.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::BudgetExhausted => "budget_exhausted",
            Self::MaxReplans => "max_replans",
            Self::Diverging => "diverging",
            Self::ToolsExhausted => "tools_exhausted",
            Self::External => "external",
        }
    }
}

/// Something a directive blocked that was not blocked before.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Blocked {
    /// A tool.
    Tool(String),
    /// A target.
    Target(BlockedTarget),
}

/// What the next plan must do differently.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Replan {
    /// The kind of change.
    pub action: Action,
    /// How widely it was applied.
    pub urgency: Urgency,
    /// Tools the plan must not use, oldest first.
    pub blocked_tools: Vec<String>,
    /// Targets the plan must not use, sorted.
    pub blocked_targets: Vec<BlockedTarget>,
    /// Tools this directive set free again, since every tool would have been blocked.
    pub released_tools: Vec<String>,
    /// What this directive added.
    pub new_blocked: Vec<Blocked>,
    /// For `break_symmetry`: classes with a usable tool that this round's failing subtasks did not touch. Empty where
    /// none is left.
    pub novel_classes: Vec<String>,
}

/// A result that is close enough, with what it lacks. Only a decision makes one, and never with an empty list:
///
/// ```compile_fail
/// let hidden = artoo_ggs::SuccessOutcome { unmet: Vec::new() };
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "UnmetList", into = "UnmetList")
)]
pub struct SuccessOutcome {
    unmet: Vec<Unmet>,
}

impl SuccessOutcome {
    /// Everything unmet in a round; `None` where nothing is.
    pub(crate) fn of(round: &Round) -> Option<Self> {
        let unmet: Vec<_> = failing(round).map(|f| f.to_unmet()).collect();
        (!unmet.is_empty()).then_some(Self { unmet })
    }

    /// What is unmet; never empty.
    #[must_use]
    pub fn unmet(&self) -> &[Unmet] {
        &self.unmet
    }

    /// How many are unmet.
    #[must_use]
    pub fn count(&self) -> NonZeroUsize {
        NonZeroUsize::new(self.unmet.len()).unwrap_or(NonZeroUsize::MIN)
    }
}

/// The list as it is written. Private, so that even with serde only a record of a decision brings a success back.
#[cfg(feature = "serde")]
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
struct UnmetList(Vec<Unmet>);

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

/// What a decision asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Outcome {
    /// Plan again, differently.
    Replan(Replan),
    /// Deliver, naming what is unmet.
    Success(SuccessOutcome),
    /// Give up.
    Abandon(StopReason),
    /// Deliver: every criterion is met.
    Accept,
}

/// Credit for a way out: after `break_symmetry` the distance fell, and this is what worked.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Credit {
    /// A tool of this round whose call worked and that this decision doesn't block.
    pub tool: String,
    /// What it last worked on.
    pub target: String,
}

/// One decision, with everything it rests on. `Display` tells it in a line.
///
/// Rounds are numbered by the directives issued before them: the first execution of a plan is round 0.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Decision {
    /// What to do.
    pub outcome: Outcome,
    /// The round this decides on.
    pub round: u32,
    /// What the cascade was asked. [`Situation::ruling`] under the same configuration gives this decision's numbers
    /// again; for an end from outside, what was measured last.
    pub inputs: Situation,
    /// The loss.
    pub loss: Loss,
    /// How it moved since the round before; zero in round 0.
    pub gradient: Gradient,
    /// The table's cell; none for `accept` and for an end from outside, which bypass the table.
    pub cell: Option<Cell>,
    /// The directive before this decision.
    pub previous: Previous,
    /// Directives issued so far, this one included.
    pub replans: u32,
    /// The sign of the gradient as urgency.
    pub urgency: Urgency,
    /// Whose fault, by count.
    pub failure_mix: FailureMix,
    /// The claim that drives D.
    pub primary_failed: Option<String>,
    /// Whether an unmet required criterion made D count as above δ.
    pub required_unmet: bool,
    /// Distances from the thresholds.
    pub margins: Margins,
    /// The thresholds.
    pub thresholds: Thresholds,
    /// The least change that would have led to another state: for an accept anything unmet at all, for a task that ran
    /// out of tools the way to a success. None for an end from outside, which nothing measured could have changed.
    pub counterfactual: Option<Counterfactual>,
    /// Rounds in a row that Law 2 counts as worsening.
    pub worsening_rounds: u32,
    /// Whether the loss ever fell while the approach was wrong; never taken back.
    pub suspect: bool,
    /// The round with the lowest D; the later one of a tie. A delivered round is its own best.
    pub best_round: u32,
    /// Distinct (tool, target) pairs that failed in this round.
    pub failed_pairs: Vec<ToolTarget>,
    /// What earned the credit a `break_symmetry` had to wait for.
    pub credit: Vec<Credit>,
    /// The probability with which this state was chosen, for off-policy evaluation: always 1 here. Whoever explores, and
    /// follows another directive than the one decided, logs the probability of what was followed instead.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::named::propensity"))]
    pub propensity: Unit,
    /// The configuration it was decided under.
    pub config: ConfigHash,
}

impl Decision {
    /// The macro-state decided on.
    #[must_use]
    pub fn state(&self) -> MacroState {
        match &self.outcome {
            Outcome::Replan(replan) => replan.action.into(),
            Outcome::Success(_) => MacroState::Success,
            Outcome::Abandon(_) => MacroState::Abandon,
            Outcome::Accept => MacroState::Accept,
        }
    }

    /// The macro-state before it; none on the first round.
    #[must_use]
    pub fn prior_state(&self) -> Option<MacroState> {
        self.previous.state()
    }

    /// Whether the task is over.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        !matches!(self.outcome, Outcome::Replan(_))
    }
}
