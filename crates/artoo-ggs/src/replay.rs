//! Replay: what a controller was told, as a log that brings every decision back.

use crate::config::ConfigHash;
use crate::controller::{ControlError, Controller};
use crate::measurement::Round;
use crate::outcome::Decision;
use crate::profile::Profile;

/// One call of a [`Controller`], as data.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Event<K> {
    /// The caller's clock.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::named::at_ms"))]
    pub at_ms: u64,
    /// What was called.
    pub call: Call<K>,
}

/// A method of [`Controller`] with its arguments, the time left out.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
pub enum Call<K> {
    /// [`Controller::begin`].
    Begin(K),
    /// [`Controller::pause`].
    Pause(K),
    /// [`Controller::resume`].
    Resume(K),
    /// [`Controller::round`].
    Round {
        /// The task.
        task: K,
        /// What was measured.
        round: Round,
    },
    /// [`Controller::accept`].
    Accept {
        /// The task.
        task: K,
        /// What was measured, where it was.
        round: Option<Round>,
    },
    /// [`Controller::stop`].
    Stop {
        /// The task.
        task: K,
        /// What was measured, where it was.
        round: Option<Round>,
    },
    /// [`Controller::end`].
    End(K),
    /// [`Controller::evict_ended`].
    EvictEnded {
        /// How long ended tasks stay.
        #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::named::keep_ms"))]
        keep_ms: u64,
    },
    /// [`Controller::rebase`].
    Rebase,
}

/// What came of an event.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Answer {
    /// A decision.
    Decided(Box<Decision>),
    /// It was done; nothing was to be decided.
    Done,
    /// It can't be done, and nothing but the clock changed.
    Refused(ControlError),
}

/// One line of a log.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Record<K> {
    /// What the controller was told.
    pub event: Event<K>,
    /// What it answered.
    pub answer: Answer,
}

/// The first line of a log: the configuration that all its decisions were made under.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "HeadingDraft", into = "HeadingDraft")
)]
pub struct Heading {
    profile: Profile,
}

/// A heading whose hash is not that of its profile: the numbers were changed, or the mathematics were.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("config is {stated}, but the profile hashes to {computed}")]
pub struct ConfigMismatch {
    /// As written.
    pub stated: ConfigHash,
    /// As computed.
    pub computed: ConfigHash,
}

impl Heading {
    /// The heading of a log kept under `profile`.
    #[must_use]
    pub fn new(profile: Profile) -> Self {
        Self { profile }
    }

    /// The profile.
    #[must_use]
    pub fn into_profile(self) -> Profile {
        self.profile
    }
}

impl<K: Ord + Clone> Controller<K> {
    /// Does what `event` says.
    ///
    /// # Errors
    /// As the method that the event stands for.
    pub fn apply(&mut self, event: &Event<K>) -> Result<Option<Decision>, ControlError> {
        let now_ms = event.at_ms;
        match &event.call {
            Call::Begin(task) => self.begin(task.clone(), now_ms).map(|()| None),
            Call::Pause(task) => self.pause(task, now_ms).map(|()| None),
            Call::Resume(task) => self.resume(task, now_ms).map(|()| None),
            Call::Round { task, round } => self.round(task, now_ms, round).map(Some),
            Call::Accept { task, round } => self.accept(task, now_ms, round.as_ref()).map(Some),
            Call::Stop { task, round } => self.stop(task, now_ms, round.as_ref()).map(Some),
            Call::End(task) => {
                self.end(task);
                Ok(None)
            }
            Call::EvictEnded { keep_ms } => {
                self.evict_ended(now_ms, *keep_ms);
                Ok(None)
            }
            Call::Rebase => {
                self.rebase(now_ms);
                Ok(None)
            }
        }
    }

    /// Does what `event` says, and makes a line for the log of it.
    pub fn record(&mut self, event: Event<K>) -> Record<K> {
        let answer = match self.apply(&event) {
            Ok(Some(decision)) => Answer::Decided(Box::new(decision)),
            Ok(None) => Answer::Done,
            Err(error) => Answer::Refused(error),
        };
        Record { event, answer }
    }
}

/// Goes through `events` from an empty controller, refused ones included, and gives each with its answer.
///
/// The same profile and events give the same records, bit for bit. To check a log that was saved as text, compare each
/// record, saved again, with its line. Read JSON with a parser that returns floating-point numbers exactly (for
/// `serde_json` its feature `float_roundtrip`), or a profile's number may come back one bit off.
pub fn replay<K: Ord + Clone>(
    profile: Profile,
    events: impl IntoIterator<Item = Event<K>>,
) -> impl Iterator<Item = Record<K>> {
    let mut controller = Controller::new(profile);
    events.into_iter().map(move |event| controller.record(event))
}

#[cfg(feature = "serde")]
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct HeadingDraft {
    profile: Profile,
    config: ConfigHash,
}

#[cfg(feature = "serde")]
impl TryFrom<HeadingDraft> for Heading {
    type Error = ConfigMismatch;

    fn try_from(HeadingDraft { profile, config }: HeadingDraft) -> Result<Self, ConfigMismatch> {
        let computed = profile.config_hash();
        if config == computed { Ok(Self { profile }) } else { Err(ConfigMismatch { stated: config, computed }) }
    }
}

#[cfg(feature = "serde")]
impl From<Heading> for HeadingDraft {
    fn from(Heading { profile }: Heading) -> Self {
        let config = profile.config_hash();
        Self { profile, config }
    }
}
