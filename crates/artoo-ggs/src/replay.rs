//! Replay: a log of controller calls from which every decision can be computed again.

use alloc::boxed::Box;

use crate::config::ConfigHash;
use crate::controller::{Controller, ControllerError};
use crate::measurement::Round;
use crate::outcome::{Decision, Replan};
use crate::profile::Profile;

/// One call of a [`Controller`] as data, with its time.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct ControllerEvent<K> {
    /// The time passed to the call, in milliseconds of the caller's clock.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::field_readers::at_ms"))]
    pub at_ms: u64,
    /// The method that was called, with its arguments.
    pub call: ControllerCall<K>,
}

/// A method of [`Controller`] with its arguments, without the time.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
#[non_exhaustive]
pub enum ControllerCall<K> {
    /// A call of [`Controller::begin`] for the task with this key.
    Begin(K),
    /// A call of [`Controller::pause`] for the task with this key.
    Pause(K),
    /// A call of [`Controller::resume`] for the task with this key.
    Resume(K),
    /// A call of [`Controller::observe`]; saved as `round`.
    #[cfg_attr(feature = "serde", serde(rename = "round", alias = "accept"))]
    Observe {
        /// Key of the task that was observed.
        task: K,
        /// The measurements of the round.
        round: Round,
    },
    /// A call of [`Controller::release`] for the task with this key.
    Release(K),
    /// A call of [`Controller::stop`].
    Stop {
        /// Key of the task that was stopped.
        task: K,
        /// The task's last round; `None` if it was not measured.
        round: Option<Round>,
    },
    /// A call of [`Controller::end`] for the task with this key.
    End(K),
    /// A call of [`Controller::evict_ended`].
    EvictEnded {
        /// How long tasks stay after their terminal decision, in milliseconds.
        #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::field_readers::keep_ms"))]
        keep_ms: u64,
    },
    /// A call of [`Controller::rebase`].
    Rebase,
}

/// What a [`Controller`] replied to a call: a decision, a directive, done, or an error.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum ControllerReply {
    /// The call returned a decision.
    Decided(Box<Decision>),
    /// The call released a target, and returned the last directive without it.
    Released(Box<Replan>),
    /// The call succeeded without a decision.
    Done,
    /// The call failed.
    Refused(ControllerError),
}

/// One line of a log: a call and its reply.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct LogEntry<K> {
    /// The call of a controller, with its time.
    pub event: ControllerEvent<K>,
    /// The reply to the call; saved as `answer`.
    #[cfg_attr(feature = "serde", serde(rename = "answer"))]
    pub reply: ControllerReply,
}

/// The first line of a log: the profile of all its decisions, saved with its hash.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "LogHeaderDraft", into = "LogHeaderDraft")
)]
pub struct LogHeader {
    profile: Profile,
}

/// The error of a log header whose hash is not that of its profile: either the numbers or the mathematics changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("config is {stated}, but the profile hashes to {computed}")]
#[non_exhaustive]
pub struct ConfigMismatch {
    /// The hash stated in the log's header.
    pub stated: ConfigHash,
    /// The hash computed from the header's profile.
    pub computed: ConfigHash,
}

impl LogHeader {
    /// Creates the header of a log of decisions made under `profile`.
    #[must_use]
    pub fn new(profile: Profile) -> Self {
        Self { profile }
    }

    /// Returns the profile stated in the header.
    #[must_use]
    pub fn into_profile(self) -> Profile {
        self.profile
    }
}

impl<K> ControllerEvent<K> {
    /// Creates the event of a call made at `at_ms`, in milliseconds.
    #[must_use]
    pub fn new(at_ms: u64, call: ControllerCall<K>) -> Self {
        Self { at_ms, call }
    }
}

impl<K: Ord + Clone> Controller<K> {
    /// Makes the call of `event`; returns its decision, or `None` if calls of that method make none.
    ///
    /// # Errors
    /// Those of the called method.
    pub fn apply(&mut self, event: &ControllerEvent<K>) -> Result<Option<Decision>, ControllerError> {
        match self.reply(event)? {
            ControllerReply::Decided(decision) => Ok(Some(*decision)),
            ControllerReply::Released(_) | ControllerReply::Done | ControllerReply::Refused(_) => Ok(None),
        }
    }

    /// Makes the call of `event`, and returns the reply to it; an error if the controller refuses the call.
    fn reply(&mut self, event: &ControllerEvent<K>) -> Result<ControllerReply, ControllerError> {
        let now_ms = event.at_ms;
        let decided = |decision| ControllerReply::Decided(Box::new(decision));
        match &event.call {
            ControllerCall::Begin(task) => self.begin(task.clone(), now_ms)?,
            ControllerCall::Pause(task) => self.pause(task, now_ms)?,
            ControllerCall::Resume(task) => self.resume(task, now_ms)?,
            ControllerCall::Observe { task, round } => return self.observe(task, round, now_ms).map(decided),
            ControllerCall::Stop { task, round } => return self.stop(task, round.as_ref(), now_ms).map(decided),
            ControllerCall::Release(task) => {
                let released = self.release(task, now_ms)?;
                return Ok(released.map_or(ControllerReply::Done, |replan| ControllerReply::Released(Box::new(replan))));
            }
            ControllerCall::End(task) => drop(self.end(task)),
            ControllerCall::EvictEnded { keep_ms } => drop(self.evict_ended(*keep_ms, now_ms)),
            ControllerCall::Rebase => self.rebase(now_ms),
        }
        Ok(ControllerReply::Done)
    }

    /// Makes the call of `event`, and returns the log line with the call and its reply.
    pub fn record(&mut self, event: ControllerEvent<K>) -> LogEntry<K> {
        let reply = self.reply(&event).unwrap_or_else(ControllerReply::Refused);
        LogEntry { event, reply }
    }
}

/// Makes the calls of `events`, from an empty controller, and returns each with its reply.
///
/// The same profile and events give the same entries, bit for bit. To check a saved log, serialize each entry again and
/// compare it with its line. Read JSON with a parser that returns floating-point numbers exactly (`serde_json` with its
/// feature `float_roundtrip`), or a number of the profile may come back one bit off.
pub fn replay<K: Ord + Clone>(
    profile: Profile,
    events: impl IntoIterator<Item = ControllerEvent<K>>,
) -> impl Iterator<Item = LogEntry<K>> {
    let mut controller = Controller::new(profile);
    events.into_iter().map(move |event| controller.record(event))
}

/// A log header as it is saved: the profile with its hash.
#[cfg(feature = "serde")]
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct LogHeaderDraft {
    profile: Profile,
    config: ConfigHash,
}

#[cfg(feature = "serde")]
impl TryFrom<LogHeaderDraft> for LogHeader {
    type Error = ConfigMismatch;

    fn try_from(LogHeaderDraft { profile, config }: LogHeaderDraft) -> Result<Self, ConfigMismatch> {
        let computed = profile.config_hash();
        if config == computed { Ok(Self { profile }) } else { Err(ConfigMismatch { stated: config, computed }) }
    }
}

#[cfg(feature = "serde")]
impl From<LogHeader> for LogHeaderDraft {
    fn from(LogHeader { profile }: LogHeader) -> Self {
        let config = profile.config_hash();
        Self { profile, config }
    }
}
