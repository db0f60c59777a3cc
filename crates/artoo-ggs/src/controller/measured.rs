//! A validated round with its unmet criteria and its D and P.

use alloc::string::String;
use alloc::vec::Vec;

use crate::measurement::{CriterionScope, Failing, Measurement, Round, RoundError, failing, measure_failing};
use crate::profile::Profile;
use crate::unit::micros;

/// A valid round with its unmet criteria and its measurement.
pub(super) struct MeasuredRound<'a> {
    pub(super) round: &'a Round,
    pub(super) failing: Vec<Failing<'a>>,
    pub(super) measurement: Measurement,
}

impl<'a> MeasuredRound<'a> {
    /// Validates and measures a round; an error if it can't be measured.
    pub(super) fn new(round: &'a Round, profile: &Profile) -> Result<Self, RoundError> {
        round.validate()?;
        let failing: Vec<_> = failing(round).collect();
        let measurement = measure_failing(round, &failing, profile.rules());
        Ok(Self { round, failing, measurement })
    }

    /// The claim that contributes most to D: required before optional, then those of the part (subtasks or task) that D
    /// comes from, then the heaviest, then the first declared. `None` if every criterion is met.
    pub(super) fn primary_failed(&self) -> Option<String> {
        let from_task = self.measurement.d > self.measurement.subtask_distance;
        let rank = |f: &Failing<'_>| (f.required, (f.scope == CriterionScope::Task) == from_task, micros(f.weight));
        // `max_by_key` returns the last of equals, so the first declared has to come last.
        self.failing.iter().rev().max_by_key(|f| rank(f)).map(|f| f.claim.clone().into_owned())
    }
}
