//! Sums over simulated tasks, all integers, so that the order in which threads finish does not matter.

use super::episode::Episode;
use super::policy::EXECUTIONS_MAX;
use super::utility::{Ending, Utility};

/// Count, sum and sum of squares of values in micro-units.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Moments {
    count: i64,
    sum: i128,
    squares: i128,
}

impl Moments {
    /// Adds a value, in micro-units.
    pub(super) fn add(&mut self, value_micros: i64) {
        self.count += 1;
        self.sum += i128::from(value_micros);
        self.squares += i128::from(value_micros) * i128::from(value_micros);
    }

    /// Adds the sums of another thread.
    pub(super) fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += other.sum;
        self.squares += other.squares;
    }

    /// The mean of the values, in units; 0 if there are none.
    pub(super) fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum as f64 / self.count as f64 / 1e6 }
    }

    /// The standard error of the mean, in units; 0 for fewer than two values.
    pub(super) fn standard_error(&self) -> f64 {
        if self.count < 2 {
            return 0.0;
        }
        let count = i128::from(self.count);
        // Integers avoid the cancellation in n·Σx² − (Σx)².
        let scaled = (count * self.squares - self.sum * self.sum) as f64;
        (scaled / (count as f64 * (count - 1) as f64) / count as f64).sqrt() / 1e6
    }
}

/// Counts and sums over the tasks of one policy on one family.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) full: u64,
    pub(super) partial: u64,
    pub(super) false_delivery: u64,
    pub(super) executions: u64,
    pub(super) wasted: u64,
    pub(super) kills: u64,
    pub(super) kills_without_worsening: u64,
    pub(super) utility: Moments,
    /// Utility minus that of the reference policy on the same task.
    pub(super) difference: Moments,
    pub(super) losses: [i64; EXECUTIONS_MAX],
}

impl Tally {
    /// Adds the result of a task; `reference_micros` is the utility of the reference policy in the same task.
    pub(super) fn add(&mut self, episode: &Episode, weights: &Utility, reference_micros: Option<i64>) {
        match episode.ending {
            Ending::Full => self.full += 1,
            Ending::Partial { .. } => self.partial += 1,
            Ending::FalseDelivery => self.false_delivery += 1,
            Ending::Nothing => {}
        }
        self.executions += episode.executions as u64;
        self.wasted += u64::from(episode.wasted);
        self.kills += u64::from(episode.kill.is_some());
        self.kills_without_worsening += u64::from(episode.kill.is_some_and(|kill| !kill.distance_rose));
        let utility = episode.utility_micros(weights);
        self.utility.add(utility);
        self.difference.add(reference_micros.map_or(0, |reference| utility - reference));
        for (sum, loss) in self.losses.iter_mut().zip(episode.losses) {
            *sum += loss;
        }
    }

    /// Adds the sums of another thread.
    pub(super) fn merge(&mut self, other: &Self) {
        self.full += other.full;
        self.partial += other.partial;
        self.false_delivery += other.false_delivery;
        self.executions += other.executions;
        self.wasted += other.wasted;
        self.kills += other.kills;
        self.kills_without_worsening += other.kills_without_worsening;
        self.utility.merge(&other.utility);
        self.difference.merge(&other.difference);
        for (sum, loss) in self.losses.iter_mut().zip(other.losses) {
            *sum += loss;
        }
    }
}

/// Tests of the sums.
#[cfg(test)]
mod tests {
    use super::Moments;

    #[test]
    fn mean_and_standard_error_match_known_values() {
        let mut moments = Moments::default();
        assert_eq!((moments.mean(), moments.standard_error()), (0.0, 0.0));
        for value in [1_000_000, 2_000_000, 3_000_000, 4_000_000] {
            moments.add(value);
        }
        assert!((moments.mean() - 2.5).abs() < 1e-12);
        // The sample variance is 5/3; the standard error is the root of a fourth of it.
        assert!((moments.standard_error() - (5.0_f64 / 12.0).sqrt()).abs() < 1e-12);
    }

    /// Merging the sums of two threads gives the same as adding all values in one.
    #[test]
    fn merge_equals_adding_all_values() {
        let (mut all, mut left, mut right) = (Moments::default(), Moments::default(), Moments::default());
        for value in [-7, 12, 5, 900_000] {
            all.add(value);
            if value > 6 { left.add(value) } else { right.add(value) }
        }
        left.merge(&right);
        assert_eq!(left, all);
    }
}
