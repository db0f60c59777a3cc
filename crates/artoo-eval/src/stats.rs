//! Confidence intervals of 95 %: Wilson's for proportions, the percentile bootstrap for means.

/// Quantile of the normal distribution for a confidence of 95 %.
const Z: f64 = 1.959_964;

/// Number of resamples of a bootstrap.
const SAMPLES: usize = 1000;

/// An estimate with its confidence interval of 95 %.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Estimate {
    pub(crate) value: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// The proportion `hits` / `trials` with Wilson's confidence interval; `None` without trials.
pub(crate) fn proportion(hits: usize, trials: usize) -> Option<Estimate> {
    if trials == 0 {
        return None;
    }
    let (n, p) = (trials as f64, hits as f64 / trials as f64);
    let scale = 1.0 + Z * Z / n;
    let (middle, half) =
        ((p + Z * Z / (2.0 * n)) / scale, Z / scale * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt());
    Some(Estimate { value: p, low: (middle - half).max(0.0), high: (middle + half).min(1.0) })
}

/// The mean of values with a bootstrap confidence interval, the same in every run; `None` without values.
pub(crate) fn mean(values: &[f64]) -> Option<Estimate> {
    let average = |values: &mut dyn Iterator<Item = f64>, count: usize| values.sum::<f64>() / count as f64;
    let count = values.len();
    let mut random = fastrand::Rng::with_seed(1);
    let resample = |_| average(&mut (0..count).filter_map(|_| values.get(random.usize(..count)).copied()), count);
    let mut means: Vec<f64> = if count == 0 { Vec::new() } else { (0..SAMPLES).map(resample).collect() };
    means.sort_by(f64::total_cmp);
    let at = |share: f64| means.get((share * (SAMPLES - 1) as f64).round() as usize).copied();
    Some(Estimate { value: average(&mut values.iter().copied(), count), low: at(0.025)?, high: at(0.975)? })
}

/// Tests of the confidence intervals.
#[cfg(test)]
mod tests {
    use super::*;

    /// Wilson's interval equals published values.
    #[test]
    fn wilson_interval_has_published_values() {
        let check = |hits, trials, low: f64, high: f64| {
            let estimate = proportion(hits, trials).unwrap();
            assert!((estimate.low - low).abs() < 5e-4 && (estimate.high - high).abs() < 5e-4, "{estimate:?}");
        };
        // Newcombe 1998, table I, method 3.
        check(81, 263, 0.2553, 0.3662);
        check(15, 148, 0.0624, 0.1605);
        check(0, 20, 0.0, 0.1611);
        check(1, 29, 0.0061, 0.1718);
        assert_eq!(proportion(0, 0), None);
    }

    #[test]
    fn bootstrap_interval_holds_the_mean() {
        assert_eq!(mean(&[]), None);
        assert_eq!(mean(&[2.0; 5]), Some(Estimate { value: 2.0, low: 2.0, high: 2.0 }));
        let values: Vec<f64> = (0..100).map(f64::from).collect();
        let estimate = mean(&values).unwrap();
        // The standard error is 2.9.
        assert!((estimate.low - 43.8).abs() < 1.2 && (estimate.high - 55.2).abs() < 1.2, "{estimate:?}");
    }
}
