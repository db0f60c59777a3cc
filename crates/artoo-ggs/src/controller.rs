//! The controller: one state per task, a decision per round, time passed in.

mod clock;
mod directive;
#[cfg(feature = "serde")]
mod exact;
#[cfg(feature = "serde")]
mod saved;
mod state;

use std::collections::BTreeMap;

use crate::measurement::{Place, Round, RoundError, Unmet};
use crate::outcome::Decision;
use crate::profile::Profile;
use state::{Seen, TaskState};

/// What the controller was asked and can't do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum ControlError {
    /// `begin` was never called for it, or `end` was.
    #[error("the task is not known")]
    UnknownTask,
    /// `begin` was called before.
    #[error("the task has begun already")]
    AlreadyBegun,
    /// It got its terminal decision.
    #[error("the task has ended already")]
    AlreadyEnded,
    /// `resume` without a `pause`.
    #[error("the task is not paused")]
    NotPaused,
    /// A round to replan on in which everything was met: either it should have been accepted, or what was rejected is
    /// missing from it.
    #[error("nothing in the round is unmet")]
    NothingUnmet,
    /// A round to accept in which something was not met.
    #[error("not acceptable: {place} does not meet {claim:?}")]
    NotMet {
        /// Where.
        place: Place,
        /// What.
        claim: String,
    },
    /// The round can't have happened.
    #[error("the round can't be measured")]
    Round(#[from] RoundError),
}

/// Decides for any number of tasks under one profile.
///
/// The caller passes the time as milliseconds of any one clock; only differences count, and a clock that goes back counts
/// as standing still. After its terminal decision a task stays until [`Controller::end`] or
/// [`Controller::evict_ended`]. A key is any ordered type of the caller's:
///
/// ```
/// use artoo_ggs::{Controller, Profile};
///
/// #[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
/// struct TaskId(u64);
///
/// let mut controller = Controller::new(Profile::v0_8());
/// controller.begin(TaskId(7), 0).unwrap();
/// assert_eq!(controller.elapsed_ms(&TaskId(7)), Some(0));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Controller<K> {
    profile: Profile,
    tasks: BTreeMap<K, TaskState>,
}

impl<K: Ord + Clone> Controller<K> {
    /// A controller without tasks.
    #[must_use]
    pub fn new(profile: Profile) -> Self {
        Self { profile, tasks: BTreeMap::new() }
    }

    /// The profile every decision is made under.
    #[must_use]
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Tasks begun and not yet ended with [`Controller::end`].
    pub fn tasks(&self) -> impl Iterator<Item = &K> {
        self.tasks.keys()
    }

    /// Starts a task's clock.
    ///
    /// # Errors
    /// [`ControlError::AlreadyBegun`].
    pub fn begin(&mut self, task: K, now_ms: u64) -> Result<(), ControlError> {
        match self.tasks.entry(task) {
            std::collections::btree_map::Entry::Occupied(_) => Err(ControlError::AlreadyBegun),
            std::collections::btree_map::Entry::Vacant(vacant) => {
                vacant.insert(TaskState::begun_at(now_ms));
                Ok(())
            }
        }
    }

    /// Stops a task's clock while it waits for a person. Pauses nest: two open questions need two answers.
    ///
    /// # Errors
    /// [`ControlError::UnknownTask`], [`ControlError::AlreadyEnded`].
    pub fn pause(&mut self, task: &K, now_ms: u64) -> Result<(), ControlError> {
        running(&mut self.tasks, task)?.clock.pause(now_ms);
        Ok(())
    }

    /// Takes one [`Controller::pause`] back.
    ///
    /// # Errors
    /// As `pause`, and [`ControlError::NotPaused`].
    pub fn resume(&mut self, task: &K, now_ms: u64) -> Result<(), ControlError> {
        if running(&mut self.tasks, task)?.clock.resume(now_ms) { Ok(()) } else { Err(ControlError::NotPaused) }
    }

    /// For a process that went on from a saved state under another clock: the time in between doesn't count.
    pub fn rebase(&mut self, now_ms: u64) {
        for state in self.tasks.values_mut() {
            state.clock.rebase(now_ms);
        }
    }

    /// Time a task has used, waiting for people left out, as of its last event.
    #[must_use]
    pub fn elapsed_ms(&self, task: &K) -> Option<u64> {
        self.tasks.get(task).map(|state| state.clock.elapsed_ms())
    }

    /// Decides on a round that fell short. An error changes nothing but the clock.
    ///
    /// # Errors
    /// [`ControlError::NothingUnmet`] for a round that did not, [`ControlError::Round`] for one that can't have happened,
    /// and as `pause`.
    pub fn round(&mut self, task: &K, now_ms: u64, round: &Round) -> Result<Decision, ControlError> {
        let profile = &self.profile;
        let state = running(&mut self.tasks, task)?;
        let seen = Seen::new(round, profile)?;
        if seen.measured.unmet == 0 {
            return Err(ControlError::NothingUnmet);
        }
        state.clock.advance(now_ms);
        Ok(state.round(profile, &seen))
    }

    /// Ends a task whose every criterion is met: D = 0, the table is not asked. The round, where given, must agree, and
    /// earns a waiting credit.
    ///
    /// # Errors
    /// [`ControlError::NotMet`] for a round with an unmet criterion, and as `round`.
    pub fn accept(&mut self, task: &K, now_ms: u64, round: Option<&Round>) -> Result<Decision, ControlError> {
        let profile = &self.profile;
        let state = running(&mut self.tasks, task)?;
        let seen = round.map(|round| Seen::new(round, profile)).transpose()?;
        if let Some(Unmet { place, claim, .. }) = seen.as_ref().and_then(Seen::first_unmet) {
            return Err(ControlError::NotMet { place, claim });
        }
        state.clock.advance(now_ms);
        Ok(state.accept(profile, seen.as_ref()))
    }

    /// Ends a task from outside. Without a round the decision carries the last one's loss; where there never was one, D = 1.
    ///
    /// # Errors
    /// [`ControlError::Round`] for a round that can't have happened (stop again without it), and as `pause`.
    pub fn stop(&mut self, task: &K, now_ms: u64, round: Option<&Round>) -> Result<Decision, ControlError> {
        let profile = &self.profile;
        let state = running(&mut self.tasks, task)?;
        let seen = round.map(|round| Seen::new(round, profile)).transpose()?;
        state.clock.advance(now_ms);
        Ok(state.stop(profile, seen.as_ref()))
    }

    /// Forgets a task, ended or not; says whether there was one.
    pub fn end(&mut self, task: &K) -> bool {
        self.tasks.remove(task).is_some()
    }

    /// Forgets every task that got its terminal decision `keep_ms` ago or longer, and names them.
    pub fn evict_ended(&mut self, now_ms: u64, keep_ms: u64) -> Vec<K> {
        let is_old = |state: &TaskState| state.ended && now_ms.saturating_sub(state.clock.since_ms()) >= keep_ms;
        let old: Vec<K> = self.tasks.iter().filter(|(_, state)| is_old(state)).map(|(key, _)| key.clone()).collect();
        for key in &old {
            self.tasks.remove(key);
        }
        old
    }
}

fn running<'a, K: Ord>(tasks: &'a mut BTreeMap<K, TaskState>, task: &K) -> Result<&'a mut TaskState, ControlError> {
    match tasks.get_mut(task) {
        None => Err(ControlError::UnknownTask),
        Some(state) if state.ended => Err(ControlError::AlreadyEnded),
        Some(state) => Ok(state),
    }
}
