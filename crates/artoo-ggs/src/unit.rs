//! Numbers in 0..=1, and the micro-units in which thresholds are compared.

use alloc::format;
use core::fmt;

/// Micro-units in 1: fine enough to tell ratios of a task's counts apart, coarse enough to absorb rounding (`0.1 + 0.2`
/// and `0.3` are the same number of micro-units).
pub(crate) const MICROS: i64 = 1_000_000;

/// A finite number in 0..=1, such as a distance, a share or a cost.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(try_from = "f64", into = "f64"))]
pub struct Unit(f64);

/// The error of a number outside 0..=1.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("{value} is not a number from 0 to 1")]
pub struct UnitRangeError {
    /// The rejected number.
    pub value: f64,
}

impl Unit {
    /// The number 0 as a [`Unit`].
    pub const ZERO: Self = Self(0.0);
    /// The number 1 as a [`Unit`].
    pub const ONE: Self = Self(1.0);

    /// The number `value` as a [`Unit`], if it is in 0..=1.
    ///
    /// # Errors
    /// [`UnitRangeError`] for NaN, an infinity, or anything outside 0..=1.
    pub fn try_new(value: f64) -> Result<Self, UnitRangeError> {
        if (0.0..=1.0).contains(&value) { Ok(Self::clamped(value)) } else { Err(UnitRangeError { value }) }
    }

    /// Clamps `value` to 0..=1. NaN becomes 1: every quantity here is a cost, so the worst value is the safe one.
    #[must_use]
    pub fn clamped(value: f64) -> Self {
        // Adding zero turns -0.0 into 0.0, so equal values print alike.
        if value.is_nan() { Self::ONE } else { Self(value.clamp(0.0, 1.0) + 0.0) }
    }

    /// Converts a count of micro-units (millionths) to a number, clamped to 0..=1.
    #[must_use]
    pub(crate) fn from_micros(micros: i64) -> Self {
        Self::clamped(micros as f64 / MICROS as f64)
    }

    /// The ratio `part / whole`, clamped to 0..=1; 0 if `whole` is not above 0.
    #[must_use]
    pub(crate) fn ratio(part: f64, whole: f64) -> Self {
        if whole > 0.0 { Self::clamped(part / whole) } else { Self::ZERO }
    }

    /// The number as `f64`.
    #[must_use]
    pub fn value(self) -> f64 {
        self.0
    }

    /// The number in whole micro-units (millionths), 0..=1 000 000.
    #[must_use]
    pub fn micros(self) -> i64 {
        micros(self.0)
    }
}

impl TryFrom<f64> for Unit {
    type Error = UnitRangeError;

    fn try_from(value: f64) -> Result<Self, Self::Error> {
        Self::try_new(value)
    }
}

impl From<Unit> for f64 {
    fn from(unit: Unit) -> Self {
        unit.0
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Exact(self.micros()).fmt(f)
    }
}

/// `value` in whole micro-units, halves away from zero. Every threshold of the decision table compares these.
#[must_use]
pub(crate) fn micros(value: f64) -> i64 {
    let scaled = value * MICROS as f64;
    // Adds half a step and truncates: `f64::round` is not in `core`, and a library call on baseline processors.
    (scaled + 0.5_f64.copysign(scaled)) as i64
}

/// Displays micro-units as a decimal with two places, or more if they are not zero, so that `0.3001 > 0.30` is not
/// shown as `0.30 > 0.30`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Exact(pub(crate) i64);

impl fmt::Display for Exact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let size = self.0.unsigned_abs();
        let (whole, fraction) = (size / 1_000_000, format!("{:06}", size % 1_000_000));
        let (two, rest) = fraction.split_at(2);
        write!(f, "{sign}{whole}.{two}{}", rest.trim_end_matches('0'))
    }
}

/// Tests of numbers in 0..=1 and of comparisons in micro-units.
#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::{Exact, Unit, UnitRangeError};

    #[doc = "holds: design G3"]
    #[test]
    fn values_outside_zero_to_one_are_rejected() {
        for (given, kept) in [(-3.0, 0.0), (-0.0, 0.0), (0.25, 0.25), (1.4, 1.0), (f64::INFINITY, 1.0)] {
            assert_eq!(Unit::clamped(given).value().to_bits(), f64::to_bits(kept), "{given}");
        }
        assert_eq!(Unit::clamped(f64::NAN), Unit::ONE);
        for refused in [-0.1, 1.000_001, f64::INFINITY] {
            assert_eq!(Unit::try_new(refused), Err(UnitRangeError { value: refused }));
        }
        assert!(Unit::try_new(f64::NAN).is_err());
    }

    #[doc = "holds: design G5"]
    #[test]
    fn rounding_errors_vanish_in_micro_units() {
        assert_ne!(0.1 + 0.2, 0.3, "the trap");
        assert_eq!(Unit::clamped(0.1 + 0.2).micros(), Unit::clamped(0.3).micros());
        assert_ne!(0.3 - 0.2, 0.1, "the trap");
        assert_eq!(super::micros(0.3 - 0.2), super::micros(0.1));
    }

    #[test]
    fn trailing_zeros_of_decimals_are_omitted() {
        for (micros, shown) in [
            (0, "0.00"),
            (500_000, "0.50"),
            (300_100, "0.3001"),
            (333_333, "0.333333"),
            (-20_000, "-0.02"),
            (1_400_000, "1.40"),
        ] {
            assert_eq!(Exact(micros).to_string(), shown);
        }
    }
}
