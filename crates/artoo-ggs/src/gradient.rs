//! The gradient: how the loss moved since the round before, and through which of its parts.

use crate::loss::{Loss, Quantity};
use crate::params::Hyperparameters;
use crate::unit::micros;

/// `∇L = L − L_previous` and its parts.
///
/// D's part is `α·ΔD`. The product `β·(1 − Omega)·P` moves through both factors; each change is weighed with the mean of
/// the other factor, which is exact and favours neither:
///
/// ```text
/// d     = α·ΔD
/// p     = β·(1 − mean Omega)·ΔP
/// omega = (λ − β·mean P)·ΔOmega
/// ```
///
/// The parts sum to `total` within 4 ulp of 1.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Gradient {
    /// `L − L_previous`, exactly as the two losses subtract.
    pub total: f64,
    /// What came from the distance.
    pub d: f64,
    /// What came from the blame.
    pub p: f64,
    /// What came from the budget.
    pub omega: f64,
}

impl Gradient {
    /// The first round's: there is nothing to compare with.
    pub const ZERO: Self = Self { total: 0.0, d: 0.0, p: 0.0, omega: 0.0 };

    /// From one loss to the next.
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

    /// What came from `quantity`.
    #[must_use]
    pub fn part(&self, quantity: Quantity) -> f64 {
        match quantity {
            Quantity::D => self.d,
            Quantity::P => self.p,
            Quantity::Omega => self.omega,
        }
    }

    /// The quantity whose part is largest in size, whichever its sign; of equals the first. `None` where nothing moved
    /// by as much as a micro-unit.
    #[must_use]
    pub fn dominant(&self) -> Option<Quantity> {
        let size = |quantity: &Quantity| micros(self.part(*quantity)).saturating_abs();
        let largest = Quantity::ALL.into_iter().rev().max_by_key(size)?;
        (size(&largest) > 0).then_some(largest)
    }

    /// `total` without what the budget alone did: the trend of the gap.
    #[must_use]
    pub fn without_omega(&self) -> f64 {
        self.total - self.omega
    }
}
