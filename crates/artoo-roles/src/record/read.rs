//! Reading records.
#![expect(clippy::wildcard_enum_match_arm, reason = "a reader looks for the few frames it needs")]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use artoo_proto::{FinalResult, Message, Role, TaskId, Timestamp, Usage, UserRequest};

use super::format::{Begun, FORMAT_VERSION, Frame, HEADER_BYTES, decode, version};
use crate::system::Input;

/// File extension of a record whose task has no result yet.
pub(super) const OPEN: &str = "open";
/// File extension of a record whose task has ended.
pub(super) const ENDED: &str = "record";

/// The record of a task as read from its file: all inputs, effects and messages, for resuming, replaying and reports.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The file.
    pub path: PathBuf,
    /// The configuration that the task began with.
    pub begun: Begun,
    /// All further frames in order.
    pub frames: Vec<Frame>,
    /// Length in bytes up to the last sound frame.
    pub sound_bytes: u64,
    /// Length in bytes of what follows it: an unfinished write, or damage.
    pub damaged_bytes: u64,
    request: UserRequest,
}

/// Why a record can't be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The file can't be read.
    #[error("the record {path} can't be read")]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
    /// The file is not a record, or its beginning is damaged.
    #[error("{path} is not a record of a task, or its beginning is damaged")]
    NotARecord {
        /// The file.
        path: PathBuf,
    },
    /// A later version of artoo wrote the record.
    #[error("{path} has format {version}; this artoo reads formats up to {FORMAT_VERSION} and leaves it as it is")]
    Later {
        /// The file.
        path: PathBuf,
        /// The version of the record's format.
        version: u32,
    },
    /// No record has this name, or more than one begins with it.
    #[error("{count} records of tasks begin with {given:?}")]
    NotOne {
        /// What was given.
        given: String,
        /// The number of records that fit.
        count: usize,
    },
}

impl Record {
    /// Reads a record. A damaged or unfinished end is left out and counted.
    ///
    /// # Errors
    /// [`RecordError`] if the file can't be read, is no record, or is of a later version.
    pub fn read(path: &Path) -> Result<Self, RecordError> {
        let bytes = fs::read(path).map_err(|source| RecordError::Io { path: path.to_owned(), source })?;
        let no_record = || RecordError::NotARecord { path: path.to_owned() };
        match version(&bytes).ok_or_else(no_record)? {
            FORMAT_VERSION => {}
            version => return Err(RecordError::Later { path: path.to_owned(), version }),
        }
        let mut at = HEADER_BYTES;
        let mut frames = Vec::new();
        while let Some((frame, length)) = bytes.get(at..).and_then(decode) {
            frames.push(frame);
            at += length;
        }
        let mut frames = frames.into_iter();
        let Some(Frame::Begun(begun)) = frames.next() else { return Err(no_record()) };
        let frames: Vec<Frame> = frames.collect();
        let request = frames.iter().find_map(|frame| match frame {
            Frame::Input { input, .. } => match &**input {
                Input::Operator { message: Message::UserRequest(request) } => Some(request.clone()),
                Input::Operator { .. } | Input::Completed { .. } | Input::MemoryChanged { .. } => None,
            },
            _ => None,
        });
        Ok(Self {
            path: path.to_owned(),
            begun: *begun,
            frames,
            sound_bytes: at as u64,
            damaged_bytes: (bytes.len() - at) as u64,
            request: request.ok_or_else(no_record)?,
        })
    }

    /// The user's request.
    #[must_use]
    pub fn request(&self) -> &UserRequest {
        &self.request
    }

    /// The task's id.
    #[must_use]
    pub fn task_id(&self) -> &TaskId {
        &self.request.task_id
    }

    /// The messages that were recorded for reports, each with its time.
    pub fn said(&self) -> impl Iterator<Item = (Timestamp, &Message)> {
        self.frames.iter().filter_map(|frame| match frame {
            Frame::Said { at, message } => Some((*at, &**message)),
            _ => None,
        })
    }

    /// The task's result; `None` if it has none yet.
    #[must_use]
    pub fn result(&self) -> Option<&FinalResult> {
        self.said().find_map(|(_, message)| match message {
            Message::FinalResult(result) => Some(result),
            _ => None,
        })
    }

    /// When the task ended, with its model calls and tokens by role; `None` if the record has no end.
    #[must_use]
    pub fn ended(&self) -> Option<(Timestamp, &[(Role, Usage)])> {
        self.frames.iter().rev().find_map(|frame| match frame {
            Frame::Ended { at, usage } => Some((*at, usage.as_slice())),
            _ => None,
        })
    }

    /// Whether a process (this one counts too) has the record open for writing, so that its task still runs.
    #[must_use]
    pub fn is_running(&self) -> bool {
        fs::File::open(&self.path).is_ok_and(|file| matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock)))
    }
}

/// The files of the records in a folder, newest first; with `open_only`, those of tasks without a result.
#[must_use]
pub fn list(folder: &Path, open_only: bool) -> Vec<PathBuf> {
    let is_record =
        |path: &PathBuf| path.extension().is_some_and(|ending| ending == OPEN || (ending == ENDED && !open_only));
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found: Vec<_> =
        entries.filter(is_record).map(|path| (path.metadata().and_then(|all| all.modified()).ok(), path)).collect();
    found.sort();
    found.into_iter().rev().map(|(_, path)| path).collect()
}

/// Reads the record of the task with this id, or of the only task whose id begins or ends with this text.
///
/// # Errors
/// [`RecordError`] if there is none or more than one, or if it can't be read.
pub fn find(folder: &Path, given: &str) -> Result<Record, RecordError> {
    let name = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let all = list(folder, false);
    let exact = all.iter().find(|path| name(path) == given);
    let fits = |path: &&PathBuf| !given.is_empty() && (name(path).starts_with(given) || name(path).ends_with(given));
    let fitting: Vec<&PathBuf> = exact.map_or_else(|| all.iter().filter(fits).collect(), |path| vec![path]);
    match fitting.as_slice() {
        [path] => Record::read(path),
        others => Err(RecordError::NotOne { given: given.to_owned(), count: others.len() }),
    }
}
