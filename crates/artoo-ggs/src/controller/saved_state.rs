//! Serialization of a controller: a version, the profile, and the tasks as pairs, so that keys can have any type.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use super::Controller;
use super::state::TaskState;
use crate::profile::Profile;

/// Version of the saved state; raised when an older state can't be read any more.
const VERSION: u32 = 1;

/// The saved form of a controller, borrowed for serialization.
#[derive(Serialize)]
struct SavedController<'a, K> {
    version: u32,
    profile: &'a Profile,
    tasks: Vec<(&'a K, &'a TaskState)>,
}

/// The saved form of a controller after deserialization, before its version and tasks are checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadController<K> {
    #[serde(deserialize_with = "crate::field_readers::version")]
    version: u32,
    profile: Profile,
    tasks: Vec<(K, TaskState)>,
}

/// The error of an invalid saved controller: wrong version, duplicate task, or counts that no task can reach.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum SavedError {
    #[error("version is {found}, this crate reads {VERSION}")]
    Version { found: u32 },
    #[error("tasks has a duplicate key")]
    DuplicateTask,
    #[error("{field} is {value}, expected 0 to {max}")]
    TooLarge { field: &'static str, value: u32, max: u32 },
    #[error("last is missing, but replans is {replans}")]
    NoLastRound { replans: u32 },
}

impl<K: Serialize> Serialize for Controller<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let tasks = self.tasks.iter().collect();
        SavedController { version: VERSION, profile: &self.profile, tasks }.serialize(serializer)
    }
}

impl<'de, K: Ord + Deserialize<'de>> Deserialize<'de> for Controller<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let ReadController { version, profile, tasks: pairs } = ReadController::deserialize(deserializer)?;
        if version != VERSION {
            return Err(D::Error::custom(SavedError::Version { found: version }));
        }
        let mut tasks = BTreeMap::new();
        for (key, state) in pairs {
            state.check(&profile).map_err(D::Error::custom)?;
            if tasks.insert(key, state).is_some() {
                return Err(D::Error::custom(SavedError::DuplicateTask));
            }
        }
        Ok(Self { profile, tasks })
    }
}

impl TaskState {
    /// Checks that the counts of a restored task are possible under `profile`.
    fn check(&self, profile: &Profile) -> Result<(), SavedError> {
        let max = profile.parameters().max_replans;
        let counts =
            [("replans", self.replans, max), ("worsening_rounds", self.worsening_rounds, max.saturating_add(1))];
        for (field, value, max) in counts.into_iter().chain(self.best_round().map(|r| ("round", r, self.replans))) {
            if value > max {
                return Err(SavedError::TooLarge { field, value, max });
            }
        }
        if self.last.is_none() && self.replans > 0 {
            return Err(SavedError::NoLastRound { replans: self.replans });
        }
        Ok(())
    }
}
