//! The evaluation of one round's numbers: the decision table, then Law 2 and the limit on replans, as a pure function.

use crate::gradient::Gradient;
use crate::loss::{Loss, LossTerm};
use crate::macro_state::{MacroState, ReplanAction};
use crate::profile::{KillSwitch, Profile};
use crate::stop_reason::StopReason;
use crate::switches::Switch;
use crate::table::{TableCell, TableChoice, TableInputs};
use crate::unit::{Unit, micros};

/// How often a task may return to the claims of two rounds ago; the next time ends it.
const CYCLES_MAX: u32 = 1;

/// The numbers a decision is computed from. Together with the profile they determine its state, except that a task may
/// also run out of tools.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct DecisionInputs {
    /// D: distance between intent and result.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::field_readers::d"))]
    pub d: Unit,
    /// P: share of failures blamed on the approach.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::field_readers::p"))]
    pub p: Unit,
    /// Ω: share of the budget used.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::field_readers::omega"))]
    pub omega: Unit,
    /// The loss of the previous round; `None` in the first round.
    pub before: Option<Loss>,
    /// Whether an unmet required criterion makes D count as above δ, so that the result can't be a success.
    pub required_unmet: bool,
    /// Number of directives issued before this round.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::field_readers::replans"))]
    pub replans: u32,
    /// Number of rounds in a row, up to the previous one, that Law 2 (the kill switch) counted as worsening.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::field_readers::worsening_before"))]
    pub worsening_before: u32,
    /// Whether the last directive ordered another approach, so that Law 2 doesn't count a rise; only with
    /// [`Switch::SpareExploration`].
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "crate::field_readers::is_default"))]
    pub explored: bool,
    /// How often the task, up to this round, returned to the claims of two rounds ago; only with
    /// [`Switch::StopCycles`].
    #[cfg_attr(
        feature = "serde",
        serde(
            default,
            skip_serializing_if = "crate::field_readers::is_default",
            deserialize_with = "crate::field_readers::cycles"
        )
    )]
    pub cycles: u32,
    /// The widest change that the subtasks' own directives order; takes the place of the table's action. Only with
    /// switches that decide by subtask or by what is met.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "crate::field_readers::is_default"))]
    pub ordered: Option<ReplanAction>,
}

/// The next step after a round: abandon, deliver with unmet criteria, or plan again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum NextStep {
    /// Abandon the task, for this reason.
    Abandon(StopReason),
    /// Deliver the result, with a list of what is unmet.
    Success,
    /// Plan again, with this kind of change.
    Replan(ReplanAction),
}

/// The result of [`DecisionInputs::evaluate`]: loss, gradient, table cell and next step.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Evaluation {
    /// The loss of the round.
    pub loss: Loss,
    /// The change of the loss since the previous round; zero in the first round.
    pub gradient: Gradient,
    /// The cell of the decision table that the inputs select.
    pub cell: TableCell,
    /// Number of rounds in a row that Law 2 (the kill switch) counts as worsening, this one included.
    pub worsening_rounds: u32,
    /// The next step: the table's choice, unless Law 2 or the limit on replans overrules it.
    pub next: NextStep,
}

impl Evaluation {
    /// The macro-state (such as `refine` or `abandon`) that the next step leads to.
    #[must_use]
    pub fn state(&self) -> MacroState {
        match self.next {
            NextStep::Abandon(_) => MacroState::Abandon,
            NextStep::Success => MacroState::Success,
            NextStep::Replan(action) => action.into(),
        }
    }
}

impl DecisionInputs {
    /// Creates the inputs of a first round: no previous loss, no directives.
    #[must_use]
    pub fn first_round(d: Unit, p: Unit, omega: Unit) -> Self {
        Self { d, p, omega, ..Self::default() }
    }

    /// Looks up the decision table, then lets Law 2, repeated cycles and the limit on replans overrule a directive.
    #[must_use]
    pub fn evaluate(&self, profile: &Profile) -> Evaluation {
        let parameters = profile.parameters();
        let loss = Loss::new(self.d, self.p, self.omega, parameters);
        let gradient = self.before.map_or(Gradient::ZERO, |before| Gradient::between(&before, &loss, parameters));
        let look_up = |far| TableCell::look_up(&TableInputs::of(&loss, &gradient, far), parameters);
        let cell = look_up(self.required_unmet);
        let waits = self.could_be_delivered_last(profile);
        let choice = if waits { look_up(true).choice } else { cell.choice };
        let stop = |reason| if waits { NextStep::Success } else { NextStep::Abandon(reason) };
        let worsens = self.worsens(&gradient, profile);
        let worsening_rounds = if worsens { self.worsening_before.saturating_add(1) } else { 0 };
        let next = match choice {
            TableChoice::Abandon => stop(StopReason::BudgetExhausted),
            TableChoice::Success => NextStep::Success,
            TableChoice::Replan(_) if worsening_rounds >= parameters.kill_after => stop(StopReason::Diverging),
            TableChoice::Replan(_) if self.cycles > CYCLES_MAX => stop(StopReason::Cycling),
            TableChoice::Replan(_) if self.replans >= parameters.max_replans => stop(StopReason::MaxReplans),
            TableChoice::Replan(action) => NextStep::Replan(self.ordered.unwrap_or(action)),
        };
        Evaluation { loss, gradient, cell, worsening_rounds, next }
    }

    /// Whether the result is close enough but unmet in part, and the profile delivers such a result only when the task
    /// would otherwise be abandoned.
    pub(crate) fn could_be_delivered_last(&self, profile: &Profile) -> bool {
        let near = (1..=micros(profile.parameters().delta)).contains(&self.d.micros());
        near && !self.required_unmet && profile.has(Switch::DeliverLast)
    }

    /// Whether Law 2 (the kill switch) counts this round as worsening.
    fn worsens(&self, gradient: &Gradient, profile: &Profile) -> bool {
        let epsilon = micros(profile.parameters().epsilon);
        match profile.rules().kill_switch {
            KillSwitch::GapRises => {
                let rose = self.before.is_some_and(|before| self.d.micros() > before.d.micros());
                rose && !self.explored && micros(gradient.without_omega()) > epsilon
            }
            KillSwitch::LossRises => micros(gradient.total) > epsilon,
        }
    }

    /// The measured value of D, P or Ω.
    #[must_use]
    pub fn term(&self, term: LossTerm) -> Unit {
        match term {
            LossTerm::D => self.d,
            LossTerm::P => self.p,
            LossTerm::Omega => self.omega,
        }
    }
}
