//! The random numbers of one simulated task; each is addressed by its purpose, so that all policies meet the same luck.
//!
//! A stream would not do: a policy that draws one number more would shift all later ones, and two policies would no
//! longer get the same random numbers. Here the number for "criterion 2 of subtask 1, round 3" is the same for every
//! policy.

/// What a random number is used for; the variant's number is part of the random number's address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The numbers of subtasks and criteria, and the kinds of criteria.
    Shape = 1,
    /// Which tools are sound for a subtask, and which targets are open.
    Truth,
    /// Which tools and targets the planner prefers.
    Preference,
    /// How difficult a criterion is to meet.
    Difficulty,
    /// Whether the result of an attempt is random this time, and what it is.
    Jitter,
    /// Whether an attempt fails because of the environment alone.
    Flake,
    /// Whether a verifier errs in a verdict.
    Verifier,
    /// Whether a failure gets the wrong class.
    Label,
    /// Whether subtasks that are right don't fit together.
    Fit,
    /// How long an execution takes.
    Time,
    /// Whether the planner follows an instruction, and what it chooses without one.
    Planner,
}

/// Source of all random numbers of one simulated task; the same address always gives the same number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Draws {
    seed: u64,
}

impl Draws {
    /// Creates the random numbers of the task with the index `task` in a family, under the seed of a whole study.
    pub(super) fn of_task(seed: u64, family: u64, task: u64) -> Self {
        Self { seed: mix(mix(mix(0, seed), family), task) }
    }

    /// A uniform random number in 0..1 for a purpose. `address` tells apart the draws of one purpose; each part is
    /// below 256.
    pub(super) fn uniform(&self, purpose: Purpose, address: &[usize]) -> f64 {
        let packed = address.iter().fold(1_u64, |packed, part| (packed << 8) | (*part as u64 & 0xff));
        fastrand::Rng::with_seed(mix(mix(self.seed, purpose as u64), packed)).f64()
    }

    /// Whether a random event with this probability happens; the same address always gives the same answer.
    pub(super) fn chance(&self, probability: f64, purpose: Purpose, address: &[usize]) -> bool {
        probability > 0.0 && self.uniform(purpose, address) < probability
    }

    /// A random index below `count`, each equally likely.
    pub(super) fn index(&self, count: usize, purpose: Purpose, address: &[usize]) -> usize {
        ((self.uniform(purpose, address) * count as f64) as usize).min(count.saturating_sub(1))
    }

    /// A log-normal number with the given median; `sigma` is the standard deviation of its logarithm (Box and Muller).
    pub(super) fn log_normal(&self, median: f64, sigma: f64, purpose: Purpose, round: usize) -> f64 {
        // 1 − u lies in (0, 1]: its logarithm is finite.
        let radius = (-2.0 * (1.0 - self.uniform(purpose, &[round, 0])).ln()).sqrt();
        let angle = std::f64::consts::TAU * self.uniform(purpose, &[round, 1]);
        median * (sigma * radius * angle.cos()).exp()
    }
}

/// Mixes one part of an address into the state of a hash (Stafford's finalizer); a bijection, so that the same address
/// in two tasks of a family never has the same seed.
fn mix(state: u64, part: u64) -> u64 {
    // An odd constant (2⁶⁴ over the golden ratio) spreads small numbers over all bits.
    let mut z = state.wrapping_add(part.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Tests of the random numbers.
#[cfg(test)]
mod tests {
    use super::{Draws, Purpose};

    /// The same address gives the same random number, another address another one, evenly spread.
    #[test]
    fn random_numbers_depend_only_on_their_address() {
        let draws = Draws::of_task(7, 1, 2);
        assert_eq!(draws.uniform(Purpose::Truth, &[1, 2]), draws.uniform(Purpose::Truth, &[1, 2]));
        assert_ne!(draws.uniform(Purpose::Truth, &[1, 2]), draws.uniform(Purpose::Truth, &[2, 1]));
        assert_ne!(draws.uniform(Purpose::Truth, &[0]), draws.uniform(Purpose::Truth, &[0, 0]));
        assert_ne!(draws.uniform(Purpose::Truth, &[1]), draws.uniform(Purpose::Label, &[1]));
        let mut tenths = [0_u32; 10];
        let (mut logs, mut products, mut last) = (Vec::new(), 0.0, 0.5);
        for task in 0..20_000 {
            let draws = Draws::of_task(0, 0, task);
            let value = draws.uniform(Purpose::Jitter, &[0]);
            tenths[(value * 10.0) as usize] += 1;
            products += (value - 0.5) * (last - 0.5);
            last = value;
            logs.push(draws.log_normal(20.0, 0.5, Purpose::Time, 3).ln());
        }
        // 2000 ± 5 standard deviations of 42; the serial correlation of neighbouring tasks, ± 5 of 0.007.
        assert!(tenths.iter().all(|n| (1_790..2_210).contains(n)), "{tenths:?}");
        assert!((products / 20_000.0 * 12.0).abs() < 0.035);
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        let variance = logs.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / logs.len() as f64;
        assert!((mean - 20_f64.ln()).abs() < 0.02, "{mean}");
        assert!((variance.sqrt() - 0.5).abs() < 0.02, "{variance}");
    }
}
