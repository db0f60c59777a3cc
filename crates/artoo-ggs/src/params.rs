//! The twelve numbers of the loss and the decision table: `ParameterTable` as written, `Hyperparameters` as checked.

use std::ops::Deref;

use crate::unit::micros;

/// Most replans a table may allow: a task's history must stay small enough to keep in memory and to read.
pub const MOST_REPLANS: u32 = 1_000;

/// The numbers as somebody wrote them; nothing is checked until they become [`Hyperparameters`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct ParameterTable {
    /// α, weight of D in the loss; above 0, at most 1.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::named::alpha"))]
    pub alpha: f64,
    /// β, weight of P before it fades with Omega; 0..=1.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::named::beta"))]
    pub beta: f64,
    /// λ, weight of Omega; 0..=1.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::named::lambda"))]
    pub lambda: f64,
    /// w₁, weight of replans in Omega; 0..=1.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::named::w1"))]
    pub w1: f64,
    /// w₂, weight of time in Omega; 0..=1.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::named::w2"))]
    pub w2: f64,
    /// ε, the least |∇L| that counts as a signal; 0.000001..=1.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::named::epsilon"))]
    pub epsilon: f64,
    /// δ, the greatest D that is close enough; 0..=0.999999.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::named::delta"))]
    pub delta: f64,
    /// ρ, the greatest P that still blames the environment; 0..=1.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::named::rho"))]
    pub rho: f64,
    /// θ, the Omega at which a task is given up; 0.000001..=1.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::named::theta"))]
    pub theta: f64,
    /// The time that counts as all of it, in milliseconds; at least 1.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::named::time_budget_ms"))]
    pub time_budget_ms: u64,
    /// Most directives for one task; 1..=[`MOST_REPLANS`].
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::named::max_replans"))]
    pub max_replans: u32,
    /// Worsening rounds in a row that end a task (Law 2); at least 1.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::named::kill_after"))]
    pub kill_after: u32,
}

impl ParameterTable {
    /// The defaults of version 0.8.
    pub const V0_8: Self = Self {
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
        Self::V0_8
    }
}

/// A number that can't be used, and the field it was in.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ParameterError {
    /// NaN or an infinity.
    #[error("{field} is {value}, not a finite number")]
    NotFinite {
        /// The field.
        field: &'static str,
        /// What it held.
        value: f64,
    },
    /// Outside its range.
    #[error("{field} is {value}, expected {min} to {max}")]
    OutOfRange {
        /// The field.
        field: &'static str,
        /// What it held.
        value: f64,
        /// Least allowed.
        min: f64,
        /// Greatest allowed.
        max: f64,
    },
    /// A count outside its range.
    #[error("{field} is {value}, expected {min} to {max}")]
    CountOutOfRange {
        /// The field.
        field: &'static str,
        /// What it held.
        value: u64,
        /// Least allowed.
        min: u64,
        /// Greatest allowed.
        max: u64,
    },
    /// A profile without a name can't be told from another in a log.
    #[error("name is empty")]
    EmptyName,
}

/// A checked [`ParameterTable`]; reads like one, can't be changed.
///
/// ```
/// use artoo_ggs::{Hyperparameters, ParameterTable};
/// let patient = Hyperparameters::try_from(ParameterTable { time_budget_ms: 900_000, ..ParameterTable::V0_8 }).unwrap();
/// assert_eq!(patient.time_budget_ms, 900_000);
/// let wrong = Hyperparameters::try_from(ParameterTable { theta: 1.5, ..ParameterTable::V0_8 });
/// assert_eq!(wrong.unwrap_err().to_string(), "theta is 1.5, expected 0.000001 to 1");
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "ParameterTable", into = "ParameterTable")
)]
pub struct Hyperparameters(ParameterTable);

impl Hyperparameters {
    /// The defaults of version 0.8.
    pub const V0_8: Self = Self(ParameterTable::V0_8);
}

impl Default for Hyperparameters {
    fn default() -> Self {
        Self::V0_8
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

/// The least step the comparisons see, and the nearest to 1 that is below it.
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
        count("max_replans", u64::from(table.max_replans), u64::from(MOST_REPLANS))?;
        count("kill_after", u64::from(table.kill_after), u64::from(u32::MAX))?;
        Ok(Self(table))
    }
}

fn number(field: &'static str, value: f64, min: f64, max: f64) -> Result<(), ParameterError> {
    if !value.is_finite() {
        Err(ParameterError::NotFinite { field, value })
    } else if !(0.0..=1.0).contains(&value) || micros(value) < micros(min) || micros(value) > micros(max) {
        Err(ParameterError::OutOfRange { field, value, min, max })
    } else {
        Ok(())
    }
}

fn count(field: &'static str, value: u64, max: u64) -> Result<(), ParameterError> {
    if (1..=max).contains(&value) { Ok(()) } else { Err(ParameterError::CountOutOfRange { field, value, min: 1, max }) }
}
