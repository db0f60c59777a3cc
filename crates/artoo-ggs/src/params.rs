//! The twelve numbers of the loss and the decision table, unchecked and checked.

use core::ops::Deref;

use crate::unit::micros;

/// Largest `max_replans` a table may have, so that a task's history stays small enough to keep in memory and to read.
pub const MAX_REPLANS: u32 = 1_000;

/// The twelve numbers of a configuration, unchecked: start from [`ParameterTable::DEFAULT`], change fields, and
/// convert to [`Hyperparameters`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct ParameterTable {
    /// α, weight of D (distance from the goal) in the loss; above 0, at most 1.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::field_readers::alpha"))]
    pub alpha: f64,
    /// β, weight of P (share of failures blamed on the approach) in the loss while Ω = 0; 0..=1.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::field_readers::beta"))]
    pub beta: f64,
    /// λ, weight of Ω (share of the budget used) in the loss; 0..=1.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::field_readers::lambda"))]
    pub lambda: f64,
    /// w₁, weight of the share of replans used in Ω (share of the budget used); 0..=1.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::field_readers::w1"))]
    pub w1: f64,
    /// w₂, weight of the share of time used in Ω (share of the budget used); 0..=1.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::field_readers::w2"))]
    pub w2: f64,
    /// ε, the smallest size of the gradient that counts as a change of the loss; 0.000001..=1.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::field_readers::epsilon"))]
    pub epsilon: f64,
    /// δ, the largest D (distance from the goal) that counts as success; 0..=0.999999.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::field_readers::delta"))]
    pub delta: f64,
    /// ρ, the largest P (share of failures blamed on the approach) that still blames the environment; 0..=1.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::field_readers::rho"))]
    pub rho: f64,
    /// θ, the Ω (share of the budget used) at which a task is abandoned; 0.000001..=1.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::field_readers::theta"))]
    pub theta: f64,
    /// The time budget of a task in milliseconds; at least 1.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::field_readers::time_budget_ms"))]
    pub time_budget_ms: u64,
    /// Largest number of directives (replans) for one task; 1..=[`MAX_REPLANS`].
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::field_readers::max_replans"))]
    pub max_replans: u32,
    /// Number of worsening rounds in a row that ends a task (Law 2); at least 1.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::field_readers::kill_after"))]
    pub kill_after: u32,
}

impl ParameterTable {
    /// The default numbers, those of specification v0.8.
    pub const DEFAULT: Self = Self {
        alpha: 0.6,
        beta: 0.3,
        lambda: 0.4,
        w1: 0.6,
        w2: 0.4,
        epsilon: 0.1,
        delta: 0.3,
        rho: 0.5,
        theta: 0.8,
        time_budget_ms: 300_000,
        max_replans: 3,
        kill_after: 2,
    };
}

impl Default for ParameterTable {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// The error of a table with an unusable number, or a profile without a name.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ParameterError {
    /// The parameter is NaN or infinite.
    #[error("{field} is {value}, not a finite number")]
    NotFinite {
        /// Name of the parameter that is not finite.
        field: &'static str,
        /// The rejected value.
        value: f64,
    },
    /// The parameter is outside its range.
    #[error("{field} is {value}, expected {min} to {max}")]
    OutOfRange {
        /// Name of the parameter that is outside its range.
        field: &'static str,
        /// The rejected value.
        value: f64,
        /// Smallest allowed value of the parameter.
        min: f64,
        /// Largest allowed value of the parameter.
        max: f64,
    },
    /// The count is outside its range.
    #[error("{field} is {value}, expected {min} to {max}")]
    CountOutOfRange {
        /// Name of the parameter whose count is outside its range.
        field: &'static str,
        /// The rejected value.
        value: u64,
        /// Smallest allowed count.
        min: u64,
        /// Largest allowed count.
        max: u64,
    },
    /// The name of the profile is empty, so a log could not tell it from another.
    #[error("name is empty")]
    EmptyName,
}

/// The checked numbers of a configuration: dereferences to a [`ParameterTable`], but can't be changed.
///
/// ```
/// use artoo_ggs::{Hyperparameters, ParameterTable};
/// let mut table = ParameterTable::DEFAULT;
/// table.time_budget_ms = 900_000;
/// assert_eq!(Hyperparameters::try_from(table).unwrap().time_budget_ms, 900_000);
/// table.theta = 1.5;
/// assert_eq!(Hyperparameters::try_from(table).unwrap_err().to_string(), "theta is 1.5, expected 0.000001 to 1");
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "ParameterTable", into = "ParameterTable")
)]
pub struct Hyperparameters(ParameterTable);

impl Hyperparameters {
    /// The default numbers, those of specification v0.8.
    pub const DEFAULT: Self = Self(ParameterTable::DEFAULT);
}

impl Default for Hyperparameters {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl Deref for Hyperparameters {
    type Target = ParameterTable;

    fn deref(&self) -> &ParameterTable {
        &self.0
    }
}

impl From<Hyperparameters> for ParameterTable {
    fn from(parameters: Hyperparameters) -> Self {
        parameters.0
    }
}

/// One micro-unit: comparisons don't see smaller differences.
const ONE_MICRO: f64 = 0.000_001;

impl TryFrom<ParameterTable> for Hyperparameters {
    type Error = ParameterError;

    fn try_from(table: ParameterTable) -> Result<Self, Self::Error> {
        let below_one = 1.0 - ONE_MICRO;
        number("alpha", table.alpha, ONE_MICRO, 1.0)?;
        number("beta", table.beta, 0.0, 1.0)?;
        number("lambda", table.lambda, 0.0, 1.0)?;
        number("w1", table.w1, 0.0, 1.0)?;
        number("w2", table.w2, 0.0, 1.0)?;
        number("epsilon", table.epsilon, ONE_MICRO, 1.0)?;
        number("delta", table.delta, 0.0, below_one)?;
        number("rho", table.rho, 0.0, 1.0)?;
        number("theta", table.theta, ONE_MICRO, 1.0)?;
        count("time_budget_ms", table.time_budget_ms, u64::MAX)?;
        count("max_replans", u64::from(table.max_replans), u64::from(MAX_REPLANS))?;
        count("kill_after", u64::from(table.kill_after), u64::from(u32::MAX))?;
        Ok(Self(table))
    }
}

/// Checks that a parameter is finite and within its range.
fn number(field: &'static str, value: f64, min: f64, max: f64) -> Result<(), ParameterError> {
    if !value.is_finite() {
        Err(ParameterError::NotFinite { field, value })
    } else if !(0.0..=1.0).contains(&value) || micros(value) < micros(min) || micros(value) > micros(max) {
        Err(ParameterError::OutOfRange { field, value, min, max })
    } else {
        Ok(())
    }
}

/// Checks that a count is from 1 to `max`.
fn count(field: &'static str, value: u64, max: u64) -> Result<(), ParameterError> {
    if (1..=max).contains(&value) { Ok(()) } else { Err(ParameterError::CountOutOfRange { field, value, min: 1, max }) }
}
