//! Replay of recorded model calls without a network.
//!
//! A cassette is a file of JSON lines `{key, role, schema_name, reply | failure}`. The [key](Masks::key) is a hash of
//! the request, with texts masked that change from run to run; a repeated request takes the next line with its key.
//! Only JSON replies are recorded: recipes and abstentions are created by code, and a file must not be able to supply
//! them.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use artoo_proto::{ModelFailure, ModelReply, ModelRequest, ReplyBody, Role};
use async_trait::async_trait;
use serde::Deserialize;

use crate::reader::ReaderError;
use crate::{Model, schema};

pub use key::Masks;

mod key;

/// Why a cassette (a file with recorded model calls) can't be read.
#[derive(Debug, thiserror::Error)]
pub enum CassetteError {
    /// The file can't be opened or read.
    #[error("the cassette {path:?} can't be used")]
    File { path: PathBuf, source: io::Error },
    /// A line is not a valid entry.
    #[error("line {line} of the cassette is not a valid entry")]
    Line {
        /// Number of the invalid line, from 1.
        line: usize,
        source: serde_json::Error,
    },
    /// A line has both a reply and a failure, or neither.
    #[error("line {line} of the cassette must hold either a reply or a failure")]
    NotOneOutcome {
        /// Number of the line with both a reply and a failure, or with neither, from 1.
        line: usize,
    },
    /// A line's reply is not JSON but of a kind that only code may create.
    #[error("line {line} of the cassette holds a reply that is not a JSON value")]
    NotJson {
        /// Number of the line whose reply is not JSON, from 1.
        line: usize,
    },
}

/// One line of a cassette: the key of a request, with its reply or failure.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    key: String,
    #[serde(rename = "role")]
    _role: Role,
    #[serde(rename = "schema_name")]
    _schema_name: String,
    #[serde(default)]
    reply: Option<ModelReply>,
    #[serde(default)]
    failure: Option<ModelFailure>,
}

/// A model that answers each request with the reply or failure recorded for it in a cassette; without one the request
/// fails.
pub struct Player {
    /// The masks that the recording was made with.
    masks: Masks,
    /// Replies not played yet, by key. Locked while one is taken, never across an await.
    left: Mutex<HashMap<String, VecDeque<Result<ModelReply, ModelFailure>>>>,
}

impl Player {
    /// Reads a cassette; `masks` must be those of the recording.
    ///
    /// # Errors
    /// [`CassetteError`]
    pub fn open(path: impl AsRef<Path>, masks: Masks) -> Result<Self, CassetteError> {
        let path = path.as_ref();
        let text =
            std::fs::read_to_string(path).map_err(|source| CassetteError::File { path: path.to_owned(), source })?;
        Self::from_lines(&text, masks)
    }

    /// Reads a cassette from its text, one JSON entry a line.
    ///
    /// # Errors
    /// [`CassetteError`]
    pub fn from_lines(text: &str, masks: Masks) -> Result<Self, CassetteError> {
        let mut left: HashMap<String, VecDeque<_>> = HashMap::new();
        for (line, entry) in (1..).zip(text.lines()).filter(|(_, entry)| !entry.trim().is_empty()) {
            let entry: Entry = serde_json::from_str(entry).map_err(|source| CassetteError::Line { line, source })?;
            let outcome = match (entry.reply, entry.failure) {
                (Some(reply), None) if matches!(reply.body, ReplyBody::Json { .. }) => Ok(reply),
                (Some(_), None) => return Err(CassetteError::NotJson { line }),
                (None, Some(failure)) => Err(failure),
                (Some(_), Some(_)) | (None, None) => return Err(CassetteError::NotOneOutcome { line }),
            };
            left.entry(entry.key).or_default().push_back(outcome);
        }
        Ok(Self { masks, left: Mutex::new(left) })
    }

    /// Number of recorded replies and failures that no request has asked for yet.
    #[must_use]
    pub fn unplayed(&self) -> usize {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).values().map(VecDeque::len).sum()
    }
}

#[async_trait]
impl Model for Player {
    fn name(&self) -> String {
        "cassette".to_owned()
    }

    async fn ask(&self, request: &ModelRequest) -> Result<ModelReply, ModelFailure> {
        let key = self.masks.key(request);
        let taken =
            self.left.lock().unwrap_or_else(PoisonError::into_inner).get_mut(&key).and_then(VecDeque::pop_front);
        let Some(outcome) = taken else {
            let detail = format!("{} for {} (key {key})", request.schema_name, request.role);
            return Err(ModelFailure::NotRecorded { detail });
        };
        let reply = outcome?;
        // The schema may have changed since; a stale recording must not look like a good reply.
        if let ReplyBody::Json { value } = &reply.body
            && let Err(misfit) = schema::fit(value, &request.schema)
        {
            return Err(ReaderError::DoesNotFit { misfit }.into_failure(&value.to_string()).with_usage(reply.usage));
        }
        Ok(reply)
    }
}
