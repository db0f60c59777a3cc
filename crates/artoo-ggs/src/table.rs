//! The decision table: 24 cells, chosen by Ω, D, |∇L| and P.

use crate::gradient::Gradient;
use crate::loss::Loss;
use crate::macro_state::{MacroState, ReplanAction};
use crate::params::Hyperparameters;
use crate::profile::Profile;
use crate::switches::Switch;
use crate::unit::{Unit, micros};

/// The inputs of the decision table: D, P, Ω, the total gradient, and whether a required criterion is unmet.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct TableInputs {
    d: Unit,
    p: Unit,
    omega: Unit,
    gradient: f64,
    required_unmet: bool,
}

/// The error of a gradient that is NaN or infinite.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("gradient is {value}, not a finite number")]
pub struct GradientNotFinite {
    /// The rejected gradient.
    pub value: f64,
}

impl TableInputs {
    /// Inputs for [`TableCell::look_up`]. With `required_unmet`, D counts as above δ.
    ///
    /// # Errors
    /// [`GradientNotFinite`] if `gradient` is NaN or infinite.
    pub fn new(d: Unit, p: Unit, omega: Unit, gradient: f64, required_unmet: bool) -> Result<Self, GradientNotFinite> {
        if gradient.is_finite() {
            Ok(Self { d, p, omega, gradient, required_unmet })
        } else {
            Err(GradientNotFinite { value: gradient })
        }
    }

    /// The inputs with D, P and Ω of a loss.
    pub(crate) fn of(loss: &Loss, gradient: &Gradient, required_unmet: bool) -> Self {
        Self { d: loss.d, p: loss.p, omega: loss.omega, gradient: gradient.total, required_unmet }
    }
}

/// The direction of the loss: improving, flat or worsening.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Trend {
    /// ∇L ≤ −ε: the loss falls.
    Improving,
    /// |∇L| < ε: the loss does not change.
    Plateau,
    /// ∇L ≥ ε: the loss rises.
    Worsening,
}

impl Trend {
    /// The trend of a gradient, compared with ε in whole micro-units.
    #[must_use]
    pub fn of(gradient: f64, parameters: &Hyperparameters) -> Self {
        let (gradient, epsilon) = (micros(gradient), micros(parameters.epsilon));
        if gradient.abs() < epsilon {
            Self::Plateau
        } else if gradient < 0 {
            Self::Improving
        } else {
            Self::Worsening
        }
    }

    /// The action of the table in this trend at this P, where D is above δ and Ω below θ.
    pub(crate) fn action(self, p: Unit, parameters: &Hyperparameters) -> ReplanAction {
        match (self, p.micros() > micros(parameters.rho)) {
            (Self::Plateau, true) => ReplanAction::BreakSymmetry,
            (Self::Plateau, false) => ReplanAction::ChangePath,
            (Self::Improving | Self::Worsening, true) => ReplanAction::ChangeApproach,
            (Self::Improving | Self::Worsening, false) => ReplanAction::Refine,
        }
    }
}

/// How widely a directive blocks tools and targets. It does not affect which directive is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Urgency {
    /// The loss falls: block exact failed pairs, and only tools behind criteria that failed twice in a row.
    Low,
    /// The loss is flat: block failed targets for every tool, and all tools of the failing subtasks.
    Normal,
    /// The loss rises: also block the parent folders of failed targets.
    High,
}

impl Urgency {
    /// The urgency that follows from the direction of the loss; with `UrgencyWithoutOmega`, without its Ω part.
    pub(crate) fn of(gradient: &Gradient, profile: &Profile) -> Self {
        let without_omega = profile.has(Switch::UrgencyWithoutOmega);
        let change = if without_omega { gradient.without_omega() } else { gradient.total };
        Trend::of(change, profile.parameters()).into()
    }
}

impl From<Trend> for Urgency {
    fn from(trend: Trend) -> Self {
        match trend {
            Trend::Improving => Self::Low,
            Trend::Plateau => Self::Normal,
            Trend::Worsening => Self::High,
        }
    }
}

/// What a cell of the decision table says: abandon, success, or replan with an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum TableChoice {
    /// Abandon the task, because Ω (share of the budget used) reached θ.
    Abandon,
    /// Deliver the result, because D (distance from the goal) is at most δ.
    Success,
    /// Plan again, with this kind of change.
    Replan(ReplanAction),
}

/// One of the 24 cells of the decision table, with its number and choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct TableCell {
    /// The cell's number in the specification, 1..=24.
    pub number: u8,
    /// The direction of the loss in this cell.
    pub trend: Trend,
    /// The choice in this cell.
    pub choice: TableChoice,
}

impl TableCell {
    /// Looks up the cell of `inputs`: Ω decides first, then D, then |∇L| and P. All comparisons are in whole
    /// micro-units.
    #[must_use]
    pub fn look_up(inputs: &TableInputs, parameters: &Hyperparameters) -> Self {
        let spent = inputs.omega.micros() >= micros(parameters.theta);
        let far = inputs.required_unmet || inputs.d.micros() > micros(parameters.delta);
        let wrong = inputs.p.micros() > micros(parameters.rho);
        let trend = Trend::of(inputs.gradient, parameters);
        let choice = if spent {
            TableChoice::Abandon
        } else if !far {
            TableChoice::Success
        } else {
            TableChoice::Replan(trend.action(inputs.p, parameters))
        };
        let number = 8 * trend as u8 + 4 * u8::from(far) + 2 * u8::from(spent) + u8::from(wrong) + 1;
        Self { number, trend, choice }
    }

    /// The macro-state that the cell's choice leads to.
    #[must_use]
    pub fn state(self) -> MacroState {
        match self.choice {
            TableChoice::Abandon => MacroState::Abandon,
            TableChoice::Success => MacroState::Success,
            TableChoice::Replan(action) => action.into(),
        }
    }

    /// Whether the loss falls although the approach is to blame and D is above δ (cells 6 and 8), a sign that criteria
    /// are being gamed.
    #[must_use]
    pub fn is_suspect(self) -> bool {
        matches!(self.number, 6 | 8)
    }
}

/// The four thresholds of a decision, in whole micro-units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Thresholds {
    /// ε, the threshold of |∇L| (the size of the loss's change).
    pub epsilon_micros: i64,
    /// δ, the threshold of D (distance from the goal).
    pub delta_micros: i64,
    /// ρ, the threshold of P (share of failures blamed on the approach).
    pub rho_micros: i64,
    /// θ, the threshold of Ω (share of the budget used).
    pub theta_micros: i64,
}

impl From<&Hyperparameters> for Thresholds {
    fn from(parameters: &Hyperparameters) -> Self {
        Self {
            epsilon_micros: micros(parameters.epsilon),
            delta_micros: micros(parameters.delta),
            rho_micros: micros(parameters.rho),
            theta_micros: micros(parameters.theta),
        }
    }
}

/// The distance of each number of a decision from its threshold, in whole micro-units: positive above, negative below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Margins {
    /// D − δ: distance from the goal, minus its threshold.
    pub d_micros: i64,
    /// P − ρ: share of failures blamed on the approach, minus its threshold.
    pub p_micros: i64,
    /// Ω − θ: share of the budget used, minus its threshold.
    pub omega_micros: i64,
    /// |∇L| − ε: size of the loss's change, minus its threshold.
    pub gradient_micros: i64,
}

impl Margins {
    /// Computes the margins of a loss and its gradient from the thresholds.
    #[must_use]
    pub fn of(loss: &Loss, gradient: &Gradient, thresholds: &Thresholds) -> Self {
        Self {
            d_micros: loss.d.micros() - thresholds.delta_micros,
            p_micros: loss.p.micros() - thresholds.rho_micros,
            omega_micros: loss.omega.micros() - thresholds.theta_micros,
            gradient_micros: micros(gradient.total).saturating_abs().saturating_sub(thresholds.epsilon_micros),
        }
    }
}
