//! Newtype identifiers: a task id can never be passed where a message id is meant.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};
use uuid::Uuid;

macro_rules! uuid_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

uuid_id!(
    /// One message on the bus.
    MessageId
);
uuid_id!(
    /// One subtask of one round, assigned by the dispatcher, never by a model.
    SubTaskId
);
uuid_id!(
    /// One effect a machine asked for; its completion carries the same id.
    EffectId
);
uuid_id!(
    /// One memory record.
    MegramId
);

/// Longest slug kept inside a task id, in characters.
const SLUG_MAX_CHARS: usize = 40;

/// A task's identity: `<slug>-<uuid>`, safe as a file name and as a key. It stands in every message: a clone is cheap.
///
/// The slug is for people; the UUID, in lower case, is what makes it unique. A model never chooses it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct TaskId(Arc<str>);

/// A string that is not a task id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a task id: {text:?} (expected `<slug>-<uuid>` with letters, digits, `_` and `-` only)")]
pub struct InvalidTaskId {
    /// What was given.
    pub text: String,
}

impl TaskId {
    /// Builds an id from words a person will recognise and a fresh UUID.
    ///
    /// Characters other than letters, digits become `_`; at most 40 are kept.
    #[must_use]
    pub fn new(words: &str, uuid: Uuid) -> Self {
        let mut slug = String::new();
        for c in words.chars().flat_map(char::to_lowercase) {
            if slug.chars().count() >= SLUG_MAX_CHARS {
                break;
            }
            if c.is_alphanumeric() {
                slug.push(c);
            } else if !slug.is_empty() && !slug.ends_with('_') {
                slug.push('_');
            }
        }
        let slug = slug.trim_end_matches('_');
        let slug = if slug.is_empty() { "task" } else { slug };
        Self(format!("{slug}-{uuid}").into())
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Serialize for TaskId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for TaskId {
    type Error = InvalidTaskId;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let uuid_at = text.len().checked_sub(36).filter(|at| text.is_char_boundary(*at));
        let parts = uuid_at.map(|at| text.split_at(at));
        match parts {
            Some((slug, uuid))
                if slug.len() > 1
                    && slug.ends_with('-')
                    && slug.chars().count() <= SLUG_MAX_CHARS + 4
                    && slug.starts_with(char::is_alphanumeric)
                    && slug.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-')
                    && Uuid::try_parse(uuid).is_ok_and(|parsed| parsed.to_string() == uuid) =>
            {
                Ok(Self(text.into()))
            }
            Some(_) | None => Err(InvalidTaskId { text }),
        }
    }
}

impl From<TaskId> for String {
    fn from(id: TaskId) -> Self {
        id.as_str().to_owned()
    }
}

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

text_id!(
    /// A piece of evidence: what one tool call or one check measured. Short (`e1`, `e2` …), unique in a subtask.
    EvidenceId
);
text_id!(
    /// Digest of exactly what a person is asked to allow: command, working folder, environment, files.
    ConsentHash
);
