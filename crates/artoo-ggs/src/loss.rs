//! The loss: how far, by what fault, at what cost.

use std::fmt;

use crate::params::Hyperparameters;
use crate::unit::Unit;

/// One of the three quantities that the loss is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Quantity {
    /// Intent-result distance.
    D,
    /// Process implausibility.
    P,
    /// Resource cost.
    Omega,
}

impl Quantity {
    /// All three, in the order in which they are named.
    pub const ALL: [Self; 3] = [Self::D, Self::P, Self::Omega];
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::D => "D",
            Self::P => "P",
            Self::Omega => "Ω",
        })
    }
}

/// `L = α·D + β·(1 − Omega)·P + λ·Omega`: the weight of P fades as the budget goes.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Loss {
    /// Intent-result distance.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::named::d"))]
    pub d: Unit,
    /// Process implausibility.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::named::p"))]
    pub p: Unit,
    /// Resource cost.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::named::omega"))]
    pub omega: Unit,
    /// The weighted sum, 0..=α + β + λ.
    pub l: f64,
}

impl Loss {
    /// Weighs the three parts.
    #[must_use]
    pub fn new(d: Unit, p: Unit, omega: Unit, parameters: &Hyperparameters) -> Self {
        let l =
            parameters.alpha * d.value() + beta_eff(omega, parameters) * p.value() + parameters.lambda * omega.value();
        Self { d, p, omega, l }
    }
}

/// `beta_eff = β·(1 − Omega)`, the weight that P has left.
#[must_use]
pub fn beta_eff(omega: Unit, parameters: &Hyperparameters) -> f64 {
    parameters.beta * (1.0 - omega.value())
}

/// `Omega = w₁·replans/max_replans + w₂·elapsed/time_budget`, clamped to 0..=1.
///
/// `replans` counts directives already issued, so it is 0 for the first execution of a plan.
#[must_use]
pub fn omega(replans: u32, elapsed_ms: u64, parameters: &Hyperparameters) -> Unit {
    let replan_share = f64::from(replans) / f64::from(parameters.max_replans);
    let time_share = elapsed_ms as f64 / parameters.time_budget_ms as f64;
    Unit::clamped(parameters.w1 * replan_share + parameters.w2 * time_share)
}
