//! The loss: a weighted sum of distance (D), blame (P) and cost (Ω).

use core::fmt;

use crate::params::Hyperparameters;
use crate::unit::Unit;

/// One of the three terms of the loss: D (distance), P (blame) or Ω (cost).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum LossTerm {
    /// Distance between intent and result.
    D,
    /// Share of failures blamed on the approach.
    P,
    /// Share of the budget used.
    Omega,
}

impl LossTerm {
    /// All three terms of the loss: D, P and Ω.
    pub const ALL: [Self; 3] = [Self::D, Self::P, Self::Omega];
}

impl fmt::Display for LossTerm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::D => "D",
            Self::P => "P",
            Self::Omega => "Ω",
        })
    }
}

/// The loss `L = α·D + β·(1 − Ω)·P + λ·Ω` with its three terms. The weight of P decreases as the budget is used.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Loss {
    /// D: distance between intent and result.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::field_readers::d"))]
    pub d: Unit,
    /// P: share of failures blamed on the approach.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::field_readers::p"))]
    pub p: Unit,
    /// Ω: share of the budget used.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::field_readers::omega"))]
    pub omega: Unit,
    /// L: the weighted sum, in 0..=α + β + λ.
    pub l: f64,
}

impl Loss {
    /// Computes the loss from D, P and Ω with these weights.
    #[must_use]
    pub fn new(d: Unit, p: Unit, omega: Unit, parameters: &Hyperparameters) -> Self {
        let l =
            parameters.alpha * d.value() + parameters.beta_eff(omega) * p.value() + parameters.lambda * omega.value();
        Self { d, p, omega, l }
    }
}

impl Hyperparameters {
    /// `β_eff = β·(1 − Ω)`: the weight of P at this Ω.
    #[must_use]
    pub fn beta_eff(&self, omega: Unit) -> f64 {
        self.beta * (1.0 - omega.value())
    }

    /// `Ω = w₁·replans/max_replans + w₂·elapsed/time_budget`, clamped to 0..=1.
    ///
    /// `replans` counts the directives already issued: 0 for the first execution of a plan.
    #[must_use]
    pub fn omega(&self, replans: u32, elapsed_ms: u64) -> Unit {
        let replan_share = f64::from(replans) / f64::from(self.max_replans);
        let time_share = elapsed_ms as f64 / self.time_budget_ms as f64;
        Unit::clamped(self.w1 * replan_share + self.w2 * time_share)
    }
}
