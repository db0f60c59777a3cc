//! Downward flow: rules that lost their trust become Knowledge, tags that faded go, and what somebody disowns goes.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{
    DeletionReason, Engine, ForgetError, Frame, Level, Megram, MegramId,
    engine::index::Tag,
    frame::MAX_IDS_PER_FRAME,
    promotion::{MIN_DISTINCT_TASKS, blames_the_environment},
};

/// A tag whose attention is below this goes, whole.
pub const FADED_ATTENTION: f64 = 0.1;

/// The part of all live tags that one sweep may delete, rounded up: a clock that lies costs a tenth, not everything.
pub const MAX_SWEEP_SHARE: f64 = 0.1;

/// The difference between the two clocks above which neither is trusted: one day.
pub const MAX_CLOCK_DISAGREEMENT_MS: i64 = 24 * 60 * 60 * 1_000;

/// Both clocks at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clocks {
    /// Unix milliseconds.
    pub wall_ms: i64,
    /// Milliseconds of a clock that nobody can set and that counts suspended time (on Linux `CLOCK_BOOTTIME`).
    pub uptime_ms: i64,
}

/// What a sweep did.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SweepReport {
    /// What to keep in the journal.
    pub frames: Vec<Frame>,
    /// Rules that became Knowledge.
    pub demoted: Vec<MegramId>,
    /// Tags deleted.
    pub faded_tags: usize,
    /// Records deleted with them.
    pub faded_megrams: usize,
    /// Faded tags left for the next sweep.
    pub deferred_tags: usize,
    /// Why nothing was done.
    pub skipped: Option<SweepSkipped>,
}

/// Why a sweep did nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum SweepSkipped {
    /// Since the last sweep the wall clock moved this much more (or less) than the other.
    ClocksDisagree {
        /// Wall minus uptime, milliseconds.
        by_ms: i64,
    },
}

impl Engine {
    /// Demotes rules that experience speaks against, then deletes tags that faded.
    ///
    /// While the clocks have moved apart by more than a day since the last sweep that trusted them, nothing happens;
    /// they are trusted again once they agree with that sweep. The first sweep of an engine has nothing to compare.
    pub fn sweep(&mut self, now: Clocks) -> SweepReport {
        if let Some(trusted) = self.trusted_clocks {
            let wall = now.wall_ms.saturating_sub(trusted.wall_ms);
            let by_ms = wall.saturating_sub(now.uptime_ms.saturating_sub(trusted.uptime_ms));
            if by_ms.saturating_abs() > MAX_CLOCK_DISAGREEMENT_MS {
                return SweepReport { skipped: Some(SweepSkipped::ClocksDisagree { by_ms }), ..SweepReport::default() };
            }
        }
        self.trusted_clocks = Some(now);
        let mut report = SweepReport::default();
        self.demote_bankrupt(now.wall_ms, &mut report);
        self.delete_faded(now.wall_ms, &mut report);
        report
    }

    /// Deletes one record of level M, K or C on request.
    ///
    /// # Errors
    /// When there is no such record, or it is of level T.
    pub fn forget(&mut self, id: MegramId, now_ms: i64) -> Result<Frame, ForgetError> {
        let megram = self.records.get(&id).ok_or(ForgetError::Unknown { id })?;
        if megram.level == Level::T {
            return Err(ForgetError::Immutable { id });
        }
        self.remove_records(&[id], DeletionReason::Forgotten);
        Ok(Frame::Deleted { ids: vec![id], at_ms: now_ms, reason: DeletionReason::Forgotten })
    }

    fn demote_bankrupt(&mut self, now_ms: i64, report: &mut SweepReport) {
        let bankrupt: Vec<(MegramId, i64)> = self
            .index
            .tags()
            .flat_map(|(_, _, tag)| tag.rules.values().map(move |id| (*id, tag)))
            .filter(|(id, tag)| self.records.get(id).is_some_and(|rule| self.is_bankrupt(rule, tag, now_ms)))
            .map(|(id, tag)| (id, tag.aggregate.clamp(now_ms)))
            .collect();
        for (id, at_ms) in bankrupt {
            self.demote(id, at_ms);
            report.frames.push(Frame::Demoted { id, at_ms });
            report.demoted.push(id);
        }
    }

    /// Whether live experience points the other way, and more than one task says so.
    fn is_bankrupt(&self, rule: &Megram, tag: &Tag, now_ms: i64) -> bool {
        let sums = tag.aggregate.at(now_ms);
        if rule.sigma.signum() * sums.decision >= 0.0 {
            return false;
        }
        let contrary: BTreeSet<&str> = tag
            .live
            .iter()
            .filter_map(|place| self.records.get(&place.id))
            .filter(|megram| megram.sigma * rule.sigma < 0.0 && !blames_the_environment(megram))
            .filter_map(|megram| megram.task.as_deref())
            .collect();
        contrary.len() >= MIN_DISTINCT_TASKS
    }

    fn delete_faded(&mut self, now_ms: i64, report: &mut SweepReport) {
        let live = self.index.tags().filter(|(_, _, tag)| !tag.live.is_empty());
        let mut tags = 0_usize;
        let mut faded: Vec<(f64, &str, &str)> = Vec::new();
        for (space, entity, tag) in live {
            tags += 1;
            let attention = tag.aggregate.at(now_ms).attention;
            if attention < FADED_ATTENTION {
                faded.push((attention, space, entity));
            }
        }
        faded.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| (a.1, a.2).cmp(&(b.1, b.2))));
        let allowed = (tags as f64 * MAX_SWEEP_SHARE).ceil() as usize;
        report.deferred_tags = faded.len().saturating_sub(allowed);
        report.faded_tags = faded.len().min(allowed);
        let ids: Vec<MegramId> = faded
            .iter()
            .take(allowed)
            .filter_map(|(_, space, entity)| self.index.tag(space, entity))
            .flat_map(|tag| tag.live.iter().map(|place| place.id))
            .collect();
        report.faded_megrams = ids.len();
        self.remove_records(&ids, DeletionReason::Faded);
        report.frames.extend(ids.chunks(MAX_IDS_PER_FRAME).map(|ids| Frame::Deleted {
            ids: ids.to_vec(),
            at_ms: now_ms,
            reason: DeletionReason::Faded,
        }));
    }
}
