//! The prompt's history: a file in the data folder, readable by its owner only, with a size limit.

use std::fs::OpenOptions;
use std::io::{Error, ErrorKind};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustyline::error::ReadlineError;
use rustyline::history::{FileHistory, History as _};
use rustyline::{Editor, Helper};

/// Maximum number of inputs in the prompt's history.
#[doc(alias = "limit")]
pub(super) const ENTRIES_MAX: usize = 1_000;

/// Maximum length of an input in the history, in bytes; a longer input is not stored.
const ENTRY_MAX_BYTES: usize = 4_096;

/// Maximum size of the history file, in bytes; a larger file is not loaded.
const FILE_MAX_BYTES: u64 = 8 * 1_024 * 1_024;

/// The file with the history of the prompt's inputs, `history` in the data folder.
#[derive(Debug, Clone)]
pub(super) struct HistoryFile {
    path: PathBuf,
}

impl HistoryFile {
    /// The history file in a data folder.
    pub(super) fn of(data_dir: &Path) -> Self {
        Self { path: data_dir.join("history") }
    }

    /// Loads the history file into the line editor; creates the file if it does not exist.
    ///
    /// # Errors
    /// A message for the user if the file can't be opened or read, or is too large. The session continues without a
    /// history.
    pub(super) fn load<H: Helper>(&self, editor: &mut Editor<H, FileHistory>) -> Result<(), String> {
        let mut load = || -> Result<(), ReadlineError> {
            // Readable by its owner only from the start; the editor preserves this with each write.
            let file = OpenOptions::new().create(true).append(true).mode(0o600).open(&self.path)?;
            if file.metadata()?.len() > FILE_MAX_BYTES {
                return Err(Error::new(ErrorKind::FileTooLarge, "it is too large to be a history").into());
            }
            editor.load_history(&self.path)
        };
        load().map_err(|error| format!("the history {} can't be used: {error}; move it away", self.path.display()))
    }

    /// Appends an input to the history, in memory and in the file, unless it is too long.
    pub(super) fn keep<H: Helper>(&self, editor: &mut Editor<H, FileHistory>, input: &str) {
        if input.len() > ENTRY_MAX_BYTES {
            return;
        }
        let is_new = editor.history_mut().add(input).unwrap_or(false);
        if is_new && let Err(error) = editor.append_history(&self.path) {
            tracing::warn!(%error, "the history can't be written");
        }
    }
}
