//! Decayed sums that answer in constant time: one accumulator per decay rate, whatever the history.
//!
//! exp(−k·(now−tᵢ)) = exp(−k·(now−r))·exp(k·(tᵢ−r)), so one weighted sum per k, taken at a reference time r, is all a
//! query needs. The reference stays put until exponents grow, so a long burst costs one rounding a record, and the
//! sums carry their rounding error along (Neumaier), so a million equal terms do not drift.

use serde::{Deserialize, Serialize};

use crate::engine::potential::{days_between, decay};

/// Largest exponent of a weight before the reference time moves: far from overflow, and large enough that moves (which
/// round) are rare.
const REBASE_EXPONENT: f64 = 16.0;

/// Magnitude, valence, decay rate and time of one record, as input of the sums.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Term {
    /// When the decay of the record began, Unix milliseconds.
    pub(crate) at_ms: i64,
    /// Magnitude, 0..=1.
    pub(crate) f: f64,
    /// Valence, −1..=1.
    pub(crate) sigma: f64,
    /// Decay rate per day.
    pub(crate) k: f64,
    /// Whether the environment was at fault; then a negative valence is not evidence against the approach.
    pub(crate) environmental: bool,
}

impl Term {
    /// Whether the record is a failure that the environment caused.
    fn is_excused(&self) -> bool {
        self.environmental && self.sigma < 0.0
    }
}

/// Attention and decision of an aggregate at one moment.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sums {
    /// Σ f·exp(−k·Δt) over the records, Δt in days: how much is known.
    pub(crate) attention: f64,
    /// Σ σ·f·exp(−k·Δt) over the records: whether it worked (positive) or failed (negative).
    pub(crate) decision: f64,
    /// The part of `decision` that comes from failures caused by the environment; zero or negative.
    pub(crate) excused: f64,
}

/// A sum with its accumulated rounding error (Neumaier summation).
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Compensated {
    /// The sum, as rounded at each addition.
    pub(crate) sum: f64,
    /// What the roundings have lost; added to `sum`, it gives the corrected sum.
    pub(crate) error: f64,
}

impl Compensated {
    /// Adds a number to the sum, and its rounding error to `error`.
    pub(crate) fn add(&mut self, x: f64) {
        let total = self.sum + x;
        self.error += if self.sum.abs() >= x.abs() { (self.sum - total) + x } else { (x - total) + self.sum };
        self.sum = total;
    }

    /// The sum, corrected by the rounding error.
    pub(crate) fn value(&self) -> f64 {
        self.sum + self.error
    }

    /// Multiplies the sum and its rounding error by a factor.
    fn scale(&mut self, factor: f64) {
        self.sum *= factor;
        self.error *= factor;
    }

    /// Adds another sum, multiplied by a factor.
    fn merge(&mut self, other: &Self, factor: f64) {
        self.add(other.sum * factor);
        self.add(other.error * factor);
    }
}

/// The sums of all records that share one decay rate, weighted as of `reference_ms`.
///
/// Failures caused by the environment have an accumulator of their own.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Accumulator {
    /// Decay rate of the records, per day.
    pub(crate) k: f64,
    /// Whether the records are failures caused by the environment.
    pub(crate) excused: bool,
    /// The moment at which the sums are weighted, Unix milliseconds.
    pub(crate) reference_ms: i64,
    /// Sum of the magnitudes of the records, weighted as of `reference_ms`.
    pub(crate) attention: Compensated,
    /// Sum of valence × magnitude of the records, weighted as of `reference_ms`.
    pub(crate) decision: Compensated,
}

impl Accumulator {
    /// An accumulator without records for the decay rate `k`, weighted as of `reference_ms`.
    fn new(k: f64, excused: bool, reference_ms: i64) -> Self {
        let zero = Compensated::default();
        Self { k, excused, reference_ms, attention: zero, decision: zero }
    }

    /// The weight of a record of time `at_ms` at the reference time, which moves if the weight would be too large.
    fn weight(&mut self, at_ms: i64) -> f64 {
        if at_ms < self.reference_ms {
            return decay(self.k, days_between(at_ms, self.reference_ms));
        }
        let days = days_between(self.reference_ms, at_ms);
        if self.k * days <= REBASE_EXPONENT {
            return (self.k * days).exp();
        }
        let factor = decay(self.k, days);
        self.attention.scale(factor);
        self.decision.scale(factor);
        self.reference_ms = at_ms;
        1.0
    }

    /// Adds a record of this accumulator's decay rate to its weighted sums.
    fn add(&mut self, term: &Term) {
        let weight = self.weight(term.at_ms);
        self.attention.add(term.f * weight);
        self.decision.add(term.sigma * term.f * weight);
    }

    /// Adds another accumulator of the same decay rate.
    fn merge(&mut self, other: &Self) {
        let factor = self.weight(other.reference_ms);
        self.attention.merge(&other.attention, factor);
        self.decision.merge(&other.decision, factor);
    }
}

/// The decayed sums of one tag, or of one tool over many tags.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Aggregate {
    /// One accumulator for each decay rate, and one for its failures caused by the environment.
    pub(crate) accumulators: Vec<Accumulator>,
    /// When the decay of the newest record began, Unix milliseconds; `None` without records.
    pub(crate) newest_ms: Option<i64>,
}

impl Aggregate {
    /// Sums `terms` from scratch, as a deletion does: subtracting would keep the rounding errors.
    pub(crate) fn of(terms: impl IntoIterator<Item = Term>) -> Self {
        let mut aggregate = Self::default();
        for term in terms {
            aggregate.add(&term);
        }
        aggregate
    }

    /// Adds a record to the accumulator of its decay rate.
    pub(crate) fn add(&mut self, term: &Term) {
        self.accumulator(term.k, term.is_excused(), term.at_ms).add(term);
        self.newest_ms = self.newest_ms.max(Some(term.at_ms));
    }

    /// Adds the sums of another aggregate.
    pub(crate) fn merge(&mut self, other: &Self) {
        for theirs in &other.accumulators {
            self.accumulator(theirs.k, theirs.excused, theirs.reference_ms).merge(theirs);
        }
        self.newest_ms = self.newest_ms.max(other.newest_ms);
    }

    /// `now_ms`, or the time of the newest record if that is later.
    pub(crate) fn clamp(&self, now_ms: i64) -> i64 {
        self.newest_ms.map_or(now_ms, |newest| now_ms.max(newest))
    }

    /// The sums at `now_ms`, or at the time of the newest record if that is later.
    pub(crate) fn at(&self, now_ms: i64) -> Sums {
        let now_ms = self.clamp(now_ms);
        let (mut attention, mut decision, mut excused) = (Compensated::default(), Compensated::default(), 0.0);
        for accumulator in &self.accumulators {
            let factor = decay(accumulator.k, days_between(accumulator.reference_ms, now_ms));
            attention.merge(&accumulator.attention, factor);
            decision.merge(&accumulator.decision, factor);
            if accumulator.excused {
                excused += accumulator.decision.value() * factor;
            }
        }
        Sums { attention: attention.value(), decision: decision.value(), excused }
    }

    /// The sums from `now_ms` on as exponential terms, one for each accumulator: weight in attention, weight in
    /// decision, decay rate per day. `now_ms` is clamped by [`Self::clamp`].
    pub(crate) fn exponentials(&self, now_ms: i64) -> Vec<(f64, f64, f64)> {
        let now_ms = self.clamp(now_ms);
        let left = |a: &Accumulator| decay(a.k, days_between(a.reference_ms, now_ms));
        self.accumulators.iter().map(|a| (a.attention.value() * left(a), a.decision.value() * left(a), a.k)).collect()
    }

    /// The accumulator of a decay rate (of failures caused by the environment, if `excused`); a missing one is added.
    fn accumulator(&mut self, k: f64, excused: bool, at_ms: i64) -> &mut Accumulator {
        let known = |a: &Accumulator| a.k.to_bits() == k.to_bits() && a.excused == excused;
        let position = self.accumulators.iter().position(known);
        let position = position.unwrap_or_else(|| {
            // Most tags have a single decay rate, and there may be a million tags.
            self.accumulators.reserve_exact(1);
            self.accumulators.push(Accumulator::new(k, excused, at_ms));
            self.accumulators.len() - 1
        });
        #[expect(clippy::indexing_slicing, reason = "found just above, or pushed just above")]
        &mut self.accumulators[position]
    }
}

#[cfg(test)]
mod tests;
