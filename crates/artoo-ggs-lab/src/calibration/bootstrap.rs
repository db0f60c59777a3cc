//! The bootstrap: by how much a mean of paired gains could vary by chance (Efron's percentile method, within each
//! family).

/// Probability that the true gain is below the lower confidence bound; the same for above the upper bound.
pub(super) const LEVEL: f64 = 0.05;

/// The mean over families of each family's mean, converted from micro-units to units.
pub(super) fn mean_of_means(families: &[Vec<i64>]) -> f64 {
    let mean = |values: &Vec<i64>| values.iter().sum::<i64>() as f64 / values.len().max(1) as f64 / 1e6;
    families.iter().map(mean).sum::<f64>() / families.len().max(1) as f64
}

/// Means over families of randomly resampled values, in units and sorted; one per resample.
pub(super) fn resample(families: &[Vec<i64>], resamples: u32, rng: &mut fastrand::Rng) -> Vec<f64> {
    let mut again = |values: &Vec<i64>| -> f64 {
        let drawn = (0..values.len()).filter_map(|_| values.get(rng.usize(0..values.len())));
        drawn.sum::<i64>() as f64 / values.len().max(1) as f64 / 1e6
    };
    let mut means: Vec<f64> =
        (0..resamples).map(|_| families.iter().map(&mut again).sum::<f64>() / families.len().max(1) as f64).collect();
    means.sort_by(f64::total_cmp);
    means
}

/// The value at this share (0..=1) of sorted values; 0 if there are none.
pub(super) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    sorted.get((share * last as f64).round() as usize).copied().unwrap_or(0.0)
}

/// Tests of means and resampling.
#[cfg(test)]
mod tests {
    use super::{LEVEL, mean_of_means, quantile, resample};

    /// In the mean over families each family counts the same, whatever its number of tasks.
    #[test]
    fn families_have_equal_weight_whatever_their_size() {
        assert_eq!(mean_of_means(&[vec![1_000_000; 9], vec![0]]), 0.5);
        assert_eq!(mean_of_means(&[]), 0.0);
    }

    /// The bootstrap's bounds for a fair coin are those of the normal approximation.
    #[test]
    fn fair_coin_bounds_match_normal_approximation() {
        let coin: Vec<i64> = (0..400).map(|i| if i % 2 == 0 { 1_000_000 } else { -1_000_000 }).collect();
        let means = resample(&[coin], 4_000, &mut fastrand::Rng::with_seed(1));
        // The standard error is 1/20, and the bounds are 1.645 of them from the mean.
        let (lower, upper) = (quantile(&means, LEVEL), quantile(&means, 1.0 - LEVEL));
        assert!((lower + 0.082).abs() < 0.008 && (upper - 0.082).abs() < 0.008, "{lower} {upper}");
    }

    /// The bootstrap's bounds for values without variation are their mean.
    #[test]
    fn constant_values_have_no_uncertainty() {
        let means = resample(&[vec![250_000; 30], vec![750_000; 30]], 50, &mut fastrand::Rng::with_seed(1));
        assert_eq!((quantile(&means, LEVEL), quantile(&means, 1.0 - LEVEL)), (0.5, 0.5));
    }
}
