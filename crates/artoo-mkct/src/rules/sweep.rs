//! The sweep: demotes rules that events contradict, and deletes tags whose attention has faded.

use serde::{Deserialize, Serialize};

use crate::{
    clock::{Clocks, MAX_CLOCK_DISAGREEMENT_MS},
    engine::{Engine, index::TagEntry},
    record::{DeletionReason, ForgetError, Frame, Megram, MegramId, frame::MAX_IDS_PER_FRAME},
    rules::evidence::has_witnesses,
};

/// Attention below which a sweep may delete a tag's records of levels M and K; rules and laws of the tag stay.
pub const FADED_ATTENTION: f64 = 0.1;

/// Greatest share of the tags with records that one sweep may delete, rounded up: a wrong clock costs a tenth of the
/// tags at most.
pub const MAX_SWEEP_SHARE: f64 = 0.1;

/// What a sweep changed, or why it changed nothing.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct SweepReport {
    /// The frames of the changes, for the journal.
    pub frames: Vec<Frame>,
    /// Rules against which a record was added because newer events contradict them.
    pub contradicted: Vec<MegramId>,
    /// Rules that were demoted to Knowledge.
    pub demoted: Vec<MegramId>,
    /// Number of tags deleted because their attention had faded.
    pub faded_tags: usize,
    /// Number of records deleted with the faded tags.
    pub faded_megrams: usize,
    /// Number of faded tags left for the next sweep, because of `MAX_SWEEP_SHARE`.
    pub deferred_tags: usize,
    /// Why the sweep changed nothing; `None` if it ran.
    pub skipped: Option<SweepSkipped>,
}

/// Why a sweep changed nothing: the clocks disagree, or writes have times off the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
#[non_exhaustive]
pub enum SweepSkipped {
    /// Since the last sweep, the wall clock advanced more than a day more (or less) than the uptime.
    ClocksDisagree {
        /// How much more the wall clock advanced than the uptime, milliseconds; negative if less.
        by_ms: i64,
    },
    /// The time given with the last write was more than a day from the memory's clock: made-up times, or seconds
    /// instead of milliseconds. Only [`crate::Memory`] reports this.
    WritesOffClock {
        /// Time of the write minus time of the clock, milliseconds.
        by_ms: i64,
    },
}

impl Engine {
    /// Adds records against contradicted rules, demotes rules that events contradict, then deletes faded tags.
    ///
    /// Nothing is changed while the wall clock and the uptime have moved apart by more than a day since the last sweep;
    /// once they agree with that sweep again, sweeps change things again. The first sweep of an engine has no earlier
    /// clocks to compare with.
    pub fn sweep(&mut self, now: Clocks) -> SweepReport {
        if let Some(skipped) = self.distrusts(now) {
            return SweepReport { skipped: Some(skipped), ..SweepReport::default() };
        }
        self.note_sweep(now);
        let (contradicted, frames) = self.record_dissonance(now.wall_ms);
        let mut report = SweepReport { contradicted, frames, ..SweepReport::default() };
        self.demote_bankrupt(now.wall_ms, &mut report);
        self.delete_faded(now.wall_ms, &mut report);
        report
    }

    /// The report of [`Engine::sweep`] without its changes, for a caller that applies the frames in small steps and
    /// then calls [`Engine::note_sweep`].
    #[must_use]
    pub fn plan_sweep(&self, now: Clocks) -> SweepReport {
        self.clone().sweep(now)
    }

    /// Deletes one record of level M, K or C on request, or revokes a text of level T that was adopted from rules.
    ///
    /// # Errors
    /// [`ForgetError`] when the record does not exist, or is of level T.
    pub fn forget(&mut self, id: MegramId, now_ms: i64) -> Result<Frame, ForgetError> {
        if !self.contains(id) {
            return Err(ForgetError::Unknown { id });
        }
        if self.rules.get(&id).is_some_and(|rule| rule.is_law()) {
            return Err(ForgetError::Immutable { id });
        }
        let frame = Frame::Deleted { ids: vec![id], at_ms: now_ms, reason: DeletionReason::Forgotten };
        self.apply_own(&frame);
        Ok(frame)
    }

    /// Why a sweep must not change anything: the clocks disagree with those of the last sweep; `None` if they agree.
    fn distrusts(&self, now: Clocks) -> Option<SweepSkipped> {
        let trusted = self.trusted_clocks?;
        let wall = now.wall_ms.saturating_sub(trusted.wall_ms);
        let by_ms = wall.saturating_sub(now.uptime_ms.saturating_sub(trusted.uptime_ms));
        (by_ms.saturating_abs() > MAX_CLOCK_DISAGREEMENT_MS).then_some(SweepSkipped::ClocksDisagree { by_ms })
    }

    /// Demotes the rules that events contradict, and adds them to the report.
    fn demote_bankrupt(&mut self, now_ms: i64, report: &mut SweepReport) {
        let bankrupt: Vec<(MegramId, i64)> = self
            .rule_slots
            .iter()
            .filter_map(|((number, _), slot)| Some((slot.rule?, self.index.tag(*number)?)))
            .filter(|(id, tag)| self.rules.get(id).is_some_and(|rule| self.is_bankrupt(rule, tag, now_ms)))
            .map(|(id, tag)| (id, tag.aggregate.clamp(now_ms)))
            .collect();
        for (id, at_ms) in bankrupt {
            let frame = Frame::Demoted { id, at_ms };
            self.apply_own(&frame);
            report.frames.push(frame);
            report.demoted.push(id);
        }
    }

    /// Whether the decision of the tag, and the events of at least two tasks, contradict a rule.
    fn is_bankrupt(&self, rule: &Megram, tag: &TagEntry, now_ms: i64) -> bool {
        rule.sigma.signum() * tag.aggregate.at(now_ms).decision < 0.0 && self.is_opposed(rule, tag)
    }

    /// Whether the events of at least two tasks contradict a rule.
    pub(crate) fn is_opposed(&self, rule: &Megram, tag: &TagEntry) -> bool {
        let history = self.index.history(tag, &self.rows).map(|(_, row)| row);
        has_witnesses(history.filter(|row| row.sigma * rule.sigma < 0.0 && !row.blames_the_environment()), false)
    }

    /// Deletes tags whose attention has faded, lowest attention first, up to `MAX_SWEEP_SHARE` of all tags.
    fn delete_faded(&mut self, now_ms: i64, report: &mut SweepReport) {
        let attention = |tag: &TagEntry| tag.aggregate.at(now_ms).attention;
        let live = self.index.live().map(|(_, tag)| (attention(tag), tag));
        let mut faded: Vec<(f64, &TagEntry)> = live.filter(|(attention, _)| *attention < FADED_ATTENTION).collect();
        faded.sort_by(|a, b| {
            let names = (a.1.space(), a.1.entity()).cmp(&(b.1.space(), b.1.entity()));
            a.0.total_cmp(&b.0).then(names)
        });
        let allowed = (self.index.live_tags() as f64 * MAX_SWEEP_SHARE).ceil() as usize;
        report.deferred_tags = faded.len().saturating_sub(allowed);
        report.faded_tags = faded.len().min(allowed);
        let history = |tag: &TagEntry| {
            let mut ids: Vec<MegramId> = self.index.history(tag, &self.rows).map(|(_, row)| row.id).collect();
            ids.reverse();
            ids
        };
        let ids: Vec<MegramId> = faded.iter().take(allowed).flat_map(|(_, tag)| history(tag)).collect();
        report.faded_megrams = ids.len();
        for ids in ids.chunks(MAX_IDS_PER_FRAME) {
            let frame = Frame::Deleted { ids: ids.to_vec(), at_ms: now_ms, reason: DeletionReason::Faded };
            self.apply_own(&frame);
            report.frames.push(frame);
        }
    }
}
