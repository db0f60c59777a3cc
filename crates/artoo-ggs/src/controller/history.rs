//! The state that a controller keeps of a task for the switches of its profile only, and the decision about each
//! subtask.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::measured::MeasuredRound;
use crate::blocked::{BlockedTarget, Blocklist};
use crate::macro_state::ReplanAction;
use crate::measurement::{CriterionScope, Failing, FailureClass, Round, SubtaskMeasure, SubtaskStatus, Verdict};
use crate::outcome::Replan;
use crate::profile::Profile;
use crate::switches::Switch;
use crate::table::Trend;
use crate::unit::Unit;

/// Maximum number of unchanged retries of a subtask that failed without a verdict.
const RETRIES_MAX: u32 = 2;
/// Largest share of unmet criteria at which a result is kept and refined.
const KEEP_MAX: f64 = 0.5;

/// State of a task for the switches of its profile; empty if all are off.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub(super) struct History {
    /// Subtasks of all rounds, recognized by their claims.
    pub(super) subtasks: Vec<SubtaskMemory>,
    /// The claims that failed with a verdict, in the last round and in the one before.
    judged: [BTreeSet<String>; 2],
    /// How often the task returned to the claims of two rounds ago.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::field_readers::cycles"))]
    pub(super) cycles: u32,
    /// The last directive, so that a released target can be taken out of it.
    pub(super) issued: Option<Replan>,
    /// Blocked targets, oldest first.
    targets: Vec<BlockedTarget>,
    /// Targets that were released; each is released at most once.
    released: BTreeSet<BlockedTarget>,
}

/// What a controller remembers of one subtask from round to round, for the switches of its profile.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub(super) struct SubtaskMemory {
    claims: BTreeSet<String>,
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::field_readers::retries"))]
    pub(super) retries: u32,
    /// The tools blocked for this subtask.
    pub(super) tools: Blocklist,
}

/// The change that a subtask, or with `subtask: None` the whole task, is told to make.
pub(super) struct AssignedChange {
    pub(super) subtask: Option<usize>,
    pub(super) action: ReplanAction,
    /// Whether nothing was judged, so that the same is to be done again.
    pub(super) same_again: bool,
    /// Whether the failures block nothing.
    pub(super) keeps: bool,
}

/// The measurements that one directive is decided from.
struct Subject {
    d: Unit,
    p: Unit,
    /// Whether the failure came without any verdict.
    is_unjudged: bool,
    retries: u32,
}

impl History {
    /// The index of each subtask's memory, recognised by a common claim; missing memories are created.
    pub(super) fn recognize(&mut self, round: &Round) -> Vec<usize> {
        let known = self.subtasks.iter().enumerate();
        let known = known.flat_map(|(at, memory)| memory.claims.iter().map(move |claim| (claim.clone(), at)));
        let mut known: BTreeMap<String, usize> = known.collect();
        let mut found = Vec::new();
        for (index, subtask) in round.subtasks.iter().enumerate() {
            let mut claims: Vec<String> = subtask.criteria.iter().map(|c| c.claim.clone()).collect();
            if claims.is_empty() {
                claims.push(CriterionScope::Subtask(index).to_string());
            }
            let at = claims.iter().find_map(|claim| known.get(claim)).copied().unwrap_or(self.subtasks.len());
            if at == self.subtasks.len() {
                self.subtasks.push(SubtaskMemory::default());
            }
            known.extend(claims.iter().map(|claim| (claim.clone(), at)));
            if let Some(memory) = self.subtasks.get_mut(at) {
                memory.claims.extend(claims);
            }
            found.push(at);
        }
        found
    }

    /// The subtask memories with these indices.
    pub(super) fn of(&self, indices: &[usize]) -> Vec<&SubtaskMemory> {
        indices.iter().filter_map(|at| self.subtasks.get(*at)).collect()
    }

    /// Records the claims that failed with a verdict; returns whether they are those of two rounds ago and not of the
    /// last, and counts such returns.
    pub(super) fn note_cycle(&mut self, failing: &[Failing<'_>]) -> bool {
        let judged = failing.iter().filter(|f| f.verdict == Verdict::Fail);
        let now: BTreeSet<String> = judged.map(|f| f.claim.clone().into_owned()).collect();
        let [last, before] = &self.judged;
        let returned = !now.is_empty() && now == *before && now != *last;
        let [last, _] = core::mem::take(&mut self.judged);
        self.judged = [now, last];
        self.cycles = self.cycles.saturating_add(u32::from(returned));
        returned
    }

    /// Counts a retry for each failed subtask among these.
    pub(super) fn count_retries(&mut self, round: &Round, memories: &[usize], subtasks: impl Iterator<Item = usize>) {
        let has_failed = |at: &usize| round.subtasks.get(*at).is_some_and(|s| s.status == SubtaskStatus::Failed);
        for at in subtasks.filter(has_failed).filter_map(|at| memories.get(at)) {
            if let Some(memory) = self.subtasks.get_mut(*at) {
                memory.retries = memory.retries.saturating_add(1);
            }
        }
    }

    /// The targets to block for a directive: none if each was released before and no other target could be released
    /// instead.
    pub(super) fn without_last(&self, targets: Vec<BlockedTarget>) -> Vec<BlockedTarget> {
        let is_released = |target: &BlockedTarget| self.released.contains(&target.clone().into_normalized());
        if self.targets.iter().chain(&targets).all(is_released) { Vec::new() } else { targets }
    }

    /// Records the targets that this round's directive blocked, oldest first, so that they can be released later.
    pub(super) fn note_blocked(&mut self, targets: &[BlockedTarget]) {
        self.targets.extend_from_slice(targets);
    }

    /// Releases the oldest blocked target that was never released, and returns the last directive without it; `None` if
    /// there is no directive or no such target.
    pub(super) fn release(&mut self, blocked: &mut Blocklist) -> Option<Replan> {
        let issued = self.issued.as_mut()?;
        let oldest = self.targets.iter().position(|target| !self.released.contains(target))?;
        let target = self.targets.remove(oldest);
        blocked.unblock(&target);
        self.released.insert(target.clone());
        issued.release(target);
        Some(issued.clone())
    }
}

/// The changes that the subtasks of a round are told to make, or the whole task unless the profile decides by subtask.
/// Empty if the profile has no switch that decides this. `memories` are those of the subtasks.
pub(super) fn assign_changes(
    profile: &Profile,
    measured: &MeasuredRound<'_>,
    memories: &[&SubtaskMemory],
    trend: Trend,
    is_suspect: bool,
    returned: bool,
) -> Vec<AssignedChange> {
    let MeasuredRound { round, failing, measurement } = measured;
    let told = |subtask: Option<usize>, subject: &Subject| {
        let is_met_mostly = subject.d.micros() <= Unit::clamped(KEEP_MAX).micros();
        let same_again = profile.has(Switch::Retry) && subject.is_unjudged && subject.retries < RETRIES_MAX;
        let breaks = returned && !subject.is_unjudged && !same_again;
        let keeps = same_again || (!breaks && profile.has(Switch::KeepMostlyMet) && is_met_mostly && !is_suspect);
        let action = match (keeps, breaks) {
            (true, _) => ReplanAction::Refine,
            (false, true) => ReplanAction::BreakSymmetry,
            (false, false) => trend.action(subject.p, profile.parameters()),
        };
        AssignedChange { subtask, action, same_again, keeps }
    };
    let decides = [Switch::Retry, Switch::BySubtask, Switch::KeepMostlyMet, Switch::StopCycles];
    if !decides.into_iter().any(|switch| profile.has(switch)) {
        return Vec::new();
    }
    let retries = |subtask: usize| memories.get(subtask).map_or(0, |memory| memory.retries);
    let by_subtask = profile.has(Switch::BySubtask);
    let failed = || round.subtasks.iter().enumerate().filter(|(_, s)| s.status != SubtaskStatus::Matched);
    if by_subtask && failed().next().is_some() {
        let own = |(index, subtask): (usize, &SubtaskMeasure)| {
            let own = || failing.iter().filter(move |f| f.scope == CriterionScope::Subtask(index));
            let of = |class| own().filter(|f| f.class == Some(class)).count() as f64;
            let count = subtask.criteria.len() + own().filter(|f| f.is_implied).count();
            let (logical, environmental) = (of(FailureClass::Logical), of(FailureClass::Environmental));
            let d = Unit::ratio(own().map(|f| f.weight).sum(), count as f64);
            let p = Unit::ratio(logical, logical + environmental);
            told(Some(index), &Subject { d, p, is_unjudged: is_unjudged(subtask), retries: retries(index) })
        };
        return failed().map(own).collect();
    }
    let whole = Subject {
        d: measurement.d,
        p: measurement.p,
        is_unjudged: failed().next().is_some() && failed().all(|(_, subtask)| is_unjudged(subtask)),
        retries: failed().map(|(index, _)| retries(index)).max().unwrap_or(0),
    };
    let each = if by_subtask { round.subtasks.len() } else { 0 };
    if each == 0 { [told(None, &whole)].into() } else { (0..each).map(|at| told(Some(at), &whole)).collect() }
}

/// Whether a subtask did not run, or failed by infrastructure or without a verdict.
fn is_unjudged(subtask: &SubtaskMeasure) -> bool {
    let has = |verdict| subtask.criteria.iter().any(|c| c.verdict == verdict);
    match subtask.status {
        SubtaskStatus::NotRun => true,
        SubtaskStatus::Failed => subtask.infrastructure || (has(Verdict::Missing) && !has(Verdict::Fail)),
        SubtaskStatus::Matched => false,
    }
}
