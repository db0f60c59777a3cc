//! Experiments with `artoo-ggs`: [`simulation`] compares policies on artificial tasks whose truth is known,
//! [`calibration`] fits a profile's numbers to such tasks. Both use the controller through its public API alone.

pub mod calibration;
pub mod simulation;

/// Converts `value` to micro-units (millionths) as an integer, halves rounded away from zero: the unit in which the
/// controller compares.
pub(crate) fn micros(value: f64) -> i64 {
    let scaled = value * 1e6;
    (scaled + 0.5_f64.copysign(scaled)) as i64
}

/// Tests of the conversion to micro-units.
#[cfg(test)]
mod tests {
    use super::micros;

    #[test]
    fn micros_round_halves_away_from_zero() {
        for (value, expected) in [(0.3 - 0.2, 100_000), (-0.2, -200_000), (0.000_000_5, 1), (-0.000_000_5, -1)] {
            assert_eq!(micros(value), expected, "{value}");
        }
    }
}
