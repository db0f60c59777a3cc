//! Whether a file is its owner's word: this user's or root's, and changed by nobody else.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Why a file's word is not taken.
#[derive(Debug, thiserror::Error)]
pub enum Distrust {
    /// It can't be read.
    #[error("{path} can't be read", path = path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// It is longer than it may be.
    #[error("{path} is larger than {max_bytes} bytes", path = path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The limit.
        max_bytes: u64,
    },
    /// Group or others may write it.
    #[error("{path} can be changed by others than you (mode {mode:o}); take that away: chmod go-w", path = path.display())]
    OpenToOthers {
        /// The file or folder.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// Others can read what only its owner may.
    #[error("{path} can be read by others than you (mode {mode:o}), and it holds a key", path = path.display())]
    OpenToRead {
        /// The file.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// It is neither this user's nor root's.
    #[error("{path} belongs to another user", path = path.display())]
    NotYours {
        /// The file or folder.
        path: PathBuf,
    },
}

/// Whether the file or folder is this user's (or root's) and nobody else can change it.
///
/// # Errors
/// Who else can.
pub fn check(path: &Path, found: &Metadata) -> Result<(), Distrust> {
    let mine = rustix::process::geteuid().as_raw();
    if found.uid() != mine && found.uid() != 0 {
        return Err(Distrust::NotYours { path: path.to_path_buf() });
    }
    if found.mode() & 0o022 != 0 {
        return Err(Distrust::OpenToOthers { path: path.to_path_buf(), mode: found.mode() & 0o7777 });
    }
    Ok(())
}

/// The text of a file that, with the folder it lies in, is to be trusted; `None` where there is none. `is_key`: nobody
/// else may even read it.
///
/// # Errors
/// Why it is not trusted.
pub fn text(path: &Path, max_bytes: u64, is_key: bool) -> Result<Option<String>, Distrust> {
    let unreadable = |source| Distrust::Unreadable { path: path.to_path_buf(), source };
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(error)),
    };
    let found = file.metadata().map_err(unreadable)?;
    if !found.is_file() {
        return Err(unreadable(io::ErrorKind::InvalidInput.into()));
    }
    check(path, &found)?;
    if let Some(folder) = path.parent() {
        check(folder, &fs::metadata(folder).map_err(unreadable)?)?;
    }
    if is_key && found.mode() & 0o077 != 0 {
        return Err(Distrust::OpenToRead { path: path.to_path_buf(), mode: found.mode() & 0o7777 });
    }
    let mut text = String::new();
    let read = file.take(max_bytes + 1).read_to_string(&mut text).map_err(unreadable)?;
    if read as u64 > max_bytes {
        return Err(Distrust::TooLarge { path: path.to_path_buf(), max_bytes });
    }
    Ok(Some(text))
}
