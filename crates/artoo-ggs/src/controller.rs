//! The controller: a state per task, and a decision per round. The caller passes the time.

mod directive;
#[cfg(feature = "serde")]
mod exact_loss;
mod history;
mod measured;
#[cfg(feature = "serde")]
mod saved_state;
mod state;
mod stopwatch;

use alloc::collections::{BTreeMap, btree_map};
use alloc::vec::Vec;

use crate::measurement::{Round, RoundError};
use crate::outcome::{Decision, Replan};
use crate::profile::Profile;
use measured::MeasuredRound;
use state::TaskState;

/// The error of a call that a [`Controller`] refuses.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum ControllerError {
    /// The task is not known: `begin` was never called, or `end` was.
    #[error("the task is not known")]
    UnknownTask,
    /// `begin` was called for this task before.
    #[error("the task has begun already")]
    AlreadyBegun,
    /// The task has ended: its terminal decision was made.
    #[error("the task has ended already")]
    AlreadyEnded,
    /// `resume` was called without a `pause`.
    #[error("the task is not paused")]
    NotPaused,
    /// The round can't be measured.
    #[error("the round can't be measured")]
    Round(#[from] RoundError),
}

/// Makes decisions for any number of tasks under one profile.
///
/// The caller passes the time in milliseconds of any clock. Only differences count; a clock that goes back adds
/// nothing. After its terminal decision a task stays until [`Controller::end`] or [`Controller::evict_ended`]. Tasks
/// are identified by keys of any ordered type:
///
/// ```
/// use artoo_ggs::{Controller, Profile};
///
/// #[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
/// struct TaskId(u64);
///
/// let mut controller = Controller::new(Profile::default());
/// controller.begin(TaskId(7), 0).unwrap();
/// assert_eq!(controller.elapsed_ms(&TaskId(7)), Some(0));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Controller<K> {
    profile: Profile,
    tasks: BTreeMap<K, TaskState>,
}

impl<K: Ord + Clone> Controller<K> {
    /// Creates a controller without tasks.
    #[must_use]
    pub fn new(profile: Profile) -> Self {
        Self { profile, tasks: BTreeMap::new() }
    }

    /// The profile (numbers and rules) under which the controller decides every round.
    #[must_use]
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Keys of all tasks that have begun and were not removed yet.
    pub fn tasks(&self) -> impl Iterator<Item = &K> {
        self.tasks.keys()
    }

    /// Adds a task and starts its clock.
    ///
    /// # Errors
    /// [`ControllerError::AlreadyBegun`] if the task is known already.
    pub fn begin(&mut self, task: K, now_ms: u64) -> Result<(), ControllerError> {
        match self.tasks.entry(task) {
            btree_map::Entry::Occupied(_) => Err(ControllerError::AlreadyBegun),
            btree_map::Entry::Vacant(vacant) => {
                vacant.insert(TaskState::begun_at(now_ms));
                Ok(())
            }
        }
    }

    /// Stops a task's clock, for example while it waits for a person. Pauses nest: two calls need two resumes.
    ///
    /// # Errors
    /// [`ControllerError::UnknownTask`], [`ControllerError::AlreadyEnded`].
    pub fn pause(&mut self, task: &K, now_ms: u64) -> Result<(), ControllerError> {
        running(&mut self.tasks, task)?.stopwatch.pause(now_ms);
        Ok(())
    }

    /// Undoes one [`Controller::pause`].
    ///
    /// # Errors
    /// As `pause`, and [`ControllerError::NotPaused`] without a `pause`.
    pub fn resume(&mut self, task: &K, now_ms: u64) -> Result<(), ControllerError> {
        if running(&mut self.tasks, task)?.stopwatch.resume(now_ms) { Ok(()) } else { Err(ControllerError::NotPaused) }
    }

    /// Restarts all clocks at `now_ms`, for a state restored under another clock: the time in between doesn't count.
    pub fn rebase(&mut self, now_ms: u64) {
        for state in self.tasks.values_mut() {
            state.stopwatch.rebase(now_ms);
        }
    }

    /// Milliseconds a task has used as of its last event, without pauses; `None` if the task is unknown.
    #[must_use]
    pub fn elapsed_ms(&self, task: &K) -> Option<u64> {
        self.tasks.get(task).map(|state| state.stopwatch.elapsed_ms())
    }

    /// Decides on a round: deliver if everything is met, otherwise plan again, deliver with a list of what is unmet, or
    /// abandon. An error changes nothing.
    ///
    /// # Errors
    /// [`ControllerError::UnknownTask`], [`ControllerError::AlreadyEnded`], and [`ControllerError::Round`] if the round
    /// can't be measured.
    pub fn observe(&mut self, task: &K, round: &Round, now_ms: u64) -> Result<Decision, ControllerError> {
        let profile = &self.profile;
        let state = running(&mut self.tasks, task)?;
        let measured = MeasuredRound::new(round, profile)?;
        state.stopwatch.advance(now_ms);
        Ok(state.observe(profile, &measured))
    }

    /// Releases the oldest blocked target, for a planner that found no plan under the last directive; returns that
    /// directive without the target, `None` if there is none to release. Call it until a plan is found.
    ///
    /// `None` if no target is left to release, each being released at most once, or if the profile doesn't have
    /// [`Switch::ReleaseTargets`](crate::Switch::ReleaseTargets): then [`Controller::stop`] the task.
    ///
    /// # Errors
    /// [`ControllerError::UnknownTask`], [`ControllerError::AlreadyEnded`].
    pub fn release(&mut self, task: &K, now_ms: u64) -> Result<Option<Replan>, ControllerError> {
        let state = running(&mut self.tasks, task)?;
        state.stopwatch.advance(now_ms);
        Ok(state.history.release(&mut state.blocked))
    }

    /// Ends a task from outside, for example on a cancel or a deadline. Without a round the decision has the loss of
    /// the last one; if there never was one, D = 1.
    ///
    /// # Errors
    /// As [`Controller::observe`]. If the round can't be measured, call `stop` again without it.
    pub fn stop(&mut self, task: &K, round: Option<&Round>, now_ms: u64) -> Result<Decision, ControllerError> {
        let profile = &self.profile;
        let state = running(&mut self.tasks, task)?;
        let measured = round.map(|round| MeasuredRound::new(round, profile)).transpose()?;
        state.stopwatch.advance(now_ms);
        Ok(state.stop(profile, measured.as_ref()))
    }

    /// Removes a task, ended or not; returns whether it was known.
    pub fn end(&mut self, task: &K) -> bool {
        self.tasks.remove(task).is_some()
    }

    /// Removes every task whose terminal decision is at least `keep_ms` old; returns their keys.
    pub fn evict_ended(&mut self, keep_ms: u64, now_ms: u64) -> Vec<K> {
        let is_old = |state: &TaskState| state.ended && now_ms.saturating_sub(state.stopwatch.since_ms()) >= keep_ms;
        let old: Vec<K> = self.tasks.iter().filter(|(_, state)| is_old(state)).map(|(key, _)| key.clone()).collect();
        for key in &old {
            self.tasks.remove(key);
        }
        old
    }
}

/// The state of a task that has not ended; an error if the task is unknown or has ended.
fn running<'a, K: Ord>(tasks: &'a mut BTreeMap<K, TaskState>, task: &K) -> Result<&'a mut TaskState, ControllerError> {
    match tasks.get_mut(task) {
        None => Err(ControllerError::UnknownTask),
        Some(state) if state.ended => Err(ControllerError::AlreadyEnded),
        Some(state) => Ok(state),
    }
}
