//! The gradient: the change of the loss since the previous round, split by its three terms.

use crate::loss::{Loss, LossTerm};
use crate::params::Hyperparameters;
use crate::unit::micros;

/// The gradient `∇L = L − L_previous`, with the part of each term.
///
/// The part of D is `α·ΔD`. The product `β·(1 − Ω)·P` changes through both factors; the change of each is weighed with
/// the mean of the other, so that the parts sum exactly:
///
/// ```text
/// d     = α·ΔD
/// p     = β·(1 − mean Ω)·ΔP
/// omega = (λ − β·mean P)·ΔΩ
/// ```
///
/// The parts sum to `total` within 4 ulp of 1.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Gradient {
    /// The whole change `L − L_previous`, by plain subtraction.
    pub total: f64,
    /// The part of the change that is due to D (distance from the goal).
    pub d: f64,
    /// The part of the change that is due to P (share of failures blamed on the approach).
    pub p: f64,
    /// The part of the change that is due to Ω (share of the budget used).
    pub omega: f64,
}

impl Gradient {
    /// The gradient of a first round, which has no previous loss.
    pub const ZERO: Self = Self { total: 0.0, d: 0.0, p: 0.0, omega: 0.0 };

    /// The gradient from the loss of one round to that of the next.
    #[must_use]
    pub fn between(previous: &Loss, current: &Loss, parameters: &Hyperparameters) -> Self {
        let (d0, d1) = (previous.d.value(), current.d.value());
        let (p0, p1) = (previous.p.value(), current.p.value());
        let (omega0, omega1) = (previous.omega.value(), current.omega.value());
        Self {
            total: current.l - previous.l,
            d: parameters.alpha * (d1 - d0),
            p: parameters.beta * (1.0 - (omega0 + omega1) / 2.0) * (p1 - p0),
            omega: (parameters.lambda - parameters.beta * (p0 + p1) / 2.0) * (omega1 - omega0),
        }
    }

    /// The part of the gradient that is due to one term of the loss.
    #[must_use]
    pub fn part(&self, term: LossTerm) -> f64 {
        match term {
            LossTerm::D => self.d,
            LossTerm::P => self.p,
            LossTerm::Omega => self.omega,
        }
    }

    /// The term whose part has the largest absolute value, the first of equals; `None` if no part reaches a micro-unit.
    #[must_use]
    pub fn dominant(&self) -> Option<LossTerm> {
        let size = |term: &LossTerm| micros(self.part(*term)).saturating_abs();
        let largest = LossTerm::ALL.into_iter().rev().max_by_key(size)?;
        (size(&largest) > 0).then_some(largest)
    }

    /// `total` without the part of Ω: the trend of the distance and the blame.
    #[must_use]
    pub fn without_omega(&self) -> f64 {
        self.total - self.omega
    }
}
