//! The cascade: the table, Law 2 and the guard on replans, as one pure function of one round's numbers.

use crate::decision::{Cell, Choice, DecisionInputs, decide};
use crate::gradient::Gradient;
use crate::loss::{Loss, Quantity};
use crate::macro_state::{Action, MacroState};
use crate::outcome::StopReason;
use crate::profile::{KillSwitch, Profile};
use crate::unit::{Unit, micros};

/// A round as the cascade sees it: with the profile, everything that a decision's state depends on, save whether any
/// tool is left.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Situation {
    /// Intent-result distance.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::named::d"))]
    pub d: Unit,
    /// Process implausibility.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::named::p"))]
    pub p: Unit,
    /// Resource cost.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::named::omega"))]
    pub omega: Unit,
    /// The loss of the round before; none in the first round.
    pub before: Option<Loss>,
    /// Whether an unmet required criterion makes D count as above δ.
    pub required_unmet: bool,
    /// Directives issued before this round.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::named::replans"))]
    pub replans: u32,
    /// Rounds in a row that Law 2 counted as worsening, up to the round before.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::named::worsening_before"))]
    pub worsening_before: u32,
}

/// What is to be done about a situation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Course {
    /// Give up.
    Abandon(StopReason),
    /// Deliver.
    Success,
    /// Plan again.
    Replan(Action),
}

/// What the cascade made of a situation.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Ruling {
    /// The loss.
    pub loss: Loss,
    /// How it moved since the round before; zero in the first round.
    pub gradient: Gradient,
    /// The table's cell.
    pub cell: Cell,
    /// Rounds in a row that Law 2 counts as worsening, this one included.
    pub worsening_rounds: u32,
    /// What follows, Law 2 and the guard on replans included.
    pub course: Course,
}

impl Ruling {
    /// The macro-state.
    #[must_use]
    pub fn state(&self) -> MacroState {
        match self.course {
            Course::Abandon(_) => MacroState::Abandon,
            Course::Success => MacroState::Success,
            Course::Replan(action) => action.into(),
        }
    }
}

impl Situation {
    /// Its loss.
    #[must_use]
    pub fn loss(&self, profile: &Profile) -> Loss {
        Loss::new(self.d, self.p, self.omega, profile.parameters())
    }

    /// Looks up the table, then lets Law 2 and the guard on replans overrule a directive. Pure and total.
    #[must_use]
    pub fn ruling(&self, profile: &Profile) -> Ruling {
        let parameters = profile.parameters();
        let loss = self.loss(profile);
        let gradient = self.before.map_or(Gradient::ZERO, |before| Gradient::between(&before, &loss, parameters));
        let cell = decide(&DecisionInputs::of(&loss, &gradient, self.required_unmet), parameters);
        let worsens = self.worsens(&gradient, profile);
        let worsening_rounds = if worsens { self.worsening_before.saturating_add(1) } else { 0 };
        let course = match cell.choice {
            Choice::Abandon => Course::Abandon(StopReason::BudgetExhausted),
            Choice::Success => Course::Success,
            Choice::Replan(_) if worsening_rounds >= parameters.kill_after => Course::Abandon(StopReason::Diverging),
            Choice::Replan(_) if self.replans >= parameters.max_replans => Course::Abandon(StopReason::MaxReplans),
            Choice::Replan(action) => Course::Replan(action),
        };
        Ruling { loss, gradient, cell, worsening_rounds, course }
    }

    fn worsens(&self, gradient: &Gradient, profile: &Profile) -> bool {
        let epsilon = micros(profile.parameters().epsilon);
        match profile.rules().kill_switch {
            KillSwitch::GapRises => {
                let rose = self.before.is_some_and(|before| self.d.micros() > before.d.micros());
                rose && micros(gradient.without_omega()) > epsilon
            }
            KillSwitch::LossRises => micros(gradient.total) > epsilon,
        }
    }

    /// What was measured of `quantity`.
    #[must_use]
    pub fn quantity(&self, quantity: Quantity) -> Unit {
        match quantity {
            Quantity::D => self.d,
            Quantity::P => self.p,
            Quantity::Omega => self.omega,
        }
    }
}
