//! The decision table: 24 cells, six states, one cascade.

use crate::gradient::Gradient;
use crate::loss::Loss;
use crate::macro_state::{Action, MacroState};
use crate::params::Hyperparameters;
use crate::unit::{Unit, micros};

/// What the table looks at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DecisionInputs {
    d: Unit,
    p: Unit,
    omega: Unit,
    gradient: f64,
    required_unmet: bool,
}

/// A gradient that is NaN or infinite.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("gradient is {value}, not a finite number")]
pub struct GradientNotFinite {
    /// What was given.
    pub value: f64,
}

impl DecisionInputs {
    /// Gathers the inputs. `required_unmet` makes the table read D as above δ.
    ///
    /// # Errors
    /// [`GradientNotFinite`].
    pub fn new(d: Unit, p: Unit, omega: Unit, gradient: f64, required_unmet: bool) -> Result<Self, GradientNotFinite> {
        if gradient.is_finite() {
            Ok(Self { d, p, omega, gradient, required_unmet })
        } else {
            Err(GradientNotFinite { value: gradient })
        }
    }

    pub(crate) fn of(loss: &Loss, gradient: &Gradient, required_unmet: bool) -> Self {
        Self { d: loss.d, p: loss.p, omega: loss.omega, gradient: gradient.total, required_unmet }
    }
}

/// Where the loss is heading; exactly ±ε is a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Trend {
    /// ∇L ≤ −ε.
    Improving,
    /// |∇L| < ε.
    Plateau,
    /// ∇L ≥ ε.
    Worsening,
}

impl Trend {
    /// The trend of `gradient` in whole micro-units.
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
}

/// How widely a directive is applied. It never changes which directive it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Urgency {
    /// Improving: the exact failed pairs; only tools behind criteria that failed twice running.
    Low,
    /// No signal: the failed targets for every tool; all tools of the failing subtasks.
    Normal,
    /// Worsening: also the targets' parent folders.
    High,
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

/// What the table chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Choice {
    /// Ω ≥ θ.
    Abandon,
    /// D ≤ δ.
    Success,
    /// Plan again.
    Replan(Action),
}

/// One cell of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Cell {
    /// 1..=24, as the specification numbers them.
    pub number: u8,
    /// Where the loss is heading.
    pub trend: Trend,
    /// What is to be done.
    pub choice: Choice,
}

impl Cell {
    /// The macro-state.
    #[must_use]
    pub fn state(self) -> MacroState {
        match self.choice {
            Choice::Abandon => MacroState::Abandon,
            Choice::Success => MacroState::Success,
            Choice::Replan(action) => action.into(),
        }
    }

    /// Whether the loss falls while the approach is wrong and the goal far (cells 6 and 8): criteria may be gamed.
    #[must_use]
    pub fn is_suspect(self) -> bool {
        matches!(self.number, 6 | 8)
    }
}

/// Looks up the cell: the budget first, then the distance, then |∇L| and P. Pure, total, in whole micro-units.
#[must_use]
pub fn decide(inputs: &DecisionInputs, parameters: &Hyperparameters) -> Cell {
    let spent = inputs.omega.micros() >= micros(parameters.theta);
    let far = inputs.required_unmet || inputs.d.micros() > micros(parameters.delta);
    let wrong = inputs.p.micros() > micros(parameters.rho);
    let trend = Trend::of(inputs.gradient, parameters);
    let choice = if spent {
        Choice::Abandon
    } else if !far {
        Choice::Success
    } else {
        Choice::Replan(match (trend, wrong) {
            (Trend::Plateau, true) => Action::BreakSymmetry,
            (Trend::Plateau, false) => Action::ChangePath,
            (Trend::Improving | Trend::Worsening, true) => Action::ChangeApproach,
            (Trend::Improving | Trend::Worsening, false) => Action::Refine,
        })
    };
    let row = match trend {
        Trend::Improving => 0,
        Trend::Plateau => 8,
        Trend::Worsening => 16,
    };
    let number = row + 4 * u8::from(far) + 2 * u8::from(spent) + u8::from(wrong) + 1;
    Cell { number, trend, choice }
}

/// The four thresholds a decision was measured against, in whole micro-units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Thresholds {
    /// ε.
    pub epsilon_micros: i64,
    /// δ.
    pub delta_micros: i64,
    /// ρ.
    pub rho_micros: i64,
    /// θ.
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

/// How far each quantity lies from its threshold, in whole micro-units: positive above, negative below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Margins {
    /// D − δ.
    pub d_micros: i64,
    /// P − ρ.
    pub p_micros: i64,
    /// Ω − θ.
    pub omega_micros: i64,
    /// |∇L| − ε.
    pub gradient_micros: i64,
}

impl Margins {
    /// The margins of a measured loss.
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
