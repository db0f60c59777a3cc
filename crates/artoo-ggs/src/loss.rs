//! The loss: how far, by what fault, at what cost.

use crate::params::Hyperparameters;
use crate::unit::Unit;

/// `L = α·D + β·(1 − Omega)·P + λ·Omega`: the weight of P fades as the budget goes.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Loss {
    /// Intent-result distance.
    pub d: Unit,
    /// Process implausibility.
    pub p: Unit,
    /// Resource cost.
    pub omega: Unit,
    /// The weighted sum, 0..=α + β + λ.
    pub l: f64,
}

impl Loss {
    /// Weighs the three parts.
    #[must_use]
    pub fn new(d: Unit, p: Unit, omega: Unit, parameters: &Hyperparameters) -> Self {
        let beta_eff = parameters.beta * (1.0 - omega.value());
        let l = parameters.alpha * d.value() + beta_eff * p.value() + parameters.lambda * omega.value();
        Self { d, p, omega, l }
    }
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
