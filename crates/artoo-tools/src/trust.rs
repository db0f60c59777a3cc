//! Checks that only this user or root can change a file.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Why a file is not trusted: others could change it or its folder, or it can't be read.
#[derive(Debug, thiserror::Error)]
pub enum Distrust {
    /// The file can't be read.
    #[error("{path} can't be read", path = path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        #[source]
        source: io::Error,
    },
    /// The file is too large.
    #[error("{path} is larger than {max_bytes} bytes", path = path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The limit.
        max_bytes: u64,
    },
    /// The group or others can write to the path.
    #[error("{path} can be changed by others than you (mode {mode:o}); run chmod go-w on it", path = path.display())]
    OpenToOthers {
        /// The file or folder.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// Others can read a file with a key.
    #[error("{path} can be read by others than you (mode {mode:o}), and it holds a key", path = path.display())]
    OpenToRead {
        /// The file.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// The path belongs neither to this user nor to root.
    #[error("{path} belongs to another user", path = path.display())]
    NotYours {
        /// The file or folder.
        path: PathBuf,
    },
}

/// Checks the metadata of a path: it belongs to this user or root, and neither its group nor others can write to it.
///
/// # Errors
/// `NotYours` or `OpenToOthers` if another user owns the path or can write to it.
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

/// The text of a file, if only this user or root can change the file and its folder; `None` if it is missing. `is_key`:
/// no other user may read it either.
///
/// # Errors
/// [`Distrust`] if the file can't be read, is too large, or another user can change it (or read it, if it is a key).
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
