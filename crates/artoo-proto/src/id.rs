//! Ids as types of their own, so that a task id can't be passed as a message id.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};
use uuid::Uuid;

/// Defines an id type that wraps a UUID.
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
    /// The id of a message on the bus.
    MessageId
);
uuid_id!(
    /// The id of a subtask of one round. The dispatcher assigns it, never a model.
    SubTaskId
);
uuid_id!(
    /// The id of work outside the System; its result carries the same id.
    EffectId
);
uuid_id!(
    /// The id of a memory record.
    MegramId
);

/// Maximum length of the readable part (the slug) of a task id, in characters.
const SLUG_MAX_CHARS: usize = 40;

/// The id of a task: `<slug>-<uuid>`, safe as a file name and as a key. Cheap to clone.
///
/// The slug is for people; the lowercase UUID makes it unique. A model never chooses it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct TaskId(Arc<str>);

/// The error for a text that is not a task id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a task id: {text:?} (expected `<slug>-<uuid>` with letters, digits, `_` and `-` only)")]
pub struct InvalidTaskId {
    /// The rejected text.
    pub text: String,
}

impl TaskId {
    /// Builds an id from words that the user will recognise, and a UUID.
    ///
    /// Characters other than letters and digits become `_`; the slug has at most 40 characters.
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

/// Defines an id type that wraps a text.
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
    /// The id of a recorded tool call, by which verdicts cite it: `1a2b3c4d.e1`, from the subtask's id and a number.
    /// Unique within a task.
    EvidenceId
);
text_id!(
    /// Digest of exactly what the user is asked to approve: command, working folder, environment, files.
    ConsentHash
);
