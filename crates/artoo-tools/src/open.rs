//! Opens regular files for reading, without blocking on pipes and without opening devices, and makes private folders.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{Mode, OFlags};

/// Maximum number of random names tried for a new folder.
const TRIES: u32 = 16;

/// Why a path can't be opened for reading: it is not a regular file, or the system's error.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenProblem {
    /// The path is a folder, pipe, socket or device.
    #[error("it is {kind}, not a regular file")]
    NotRegular {
        /// Its kind.
        kind: &'static str,
    },
    /// A system call failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Opens a regular file for reading.
///
/// The type is checked before opening, since opening a device may have side effects, and again on the open file, since
/// the path may have been replaced in between. With `O_NONBLOCK`, a pipe without a writer does not block.
pub(crate) fn regular(path: &Path) -> Result<File, OpenProblem> {
    must_be_regular(&fs::metadata(path)?)?;
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty()).map_err(io::Error::from)?);
    must_be_regular(&file.metadata()?)?;
    Ok(file)
}

/// An error unless the opened file is a regular file.
fn must_be_regular(metadata: &fs::Metadata) -> Result<(), OpenProblem> {
    if metadata.is_file() { Ok(()) } else { Err(OpenProblem::NotRegular { kind: kind_name(metadata.file_type()) }) }
}

/// Creates a folder in `parent` whose name starts with `prefix`, with access for the user only.
pub(crate) fn private_folder(parent: &Path, prefix: &str) -> io::Result<PathBuf> {
    static MADE: AtomicU64 = AtomicU64::new(0);
    let mut last = io::ErrorKind::AlreadyExists.into();
    for _ in 0..TRIES {
        let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.subsec_nanos());
        let count = MADE.fetch_add(1, Ordering::Relaxed);
        let path = parent.join(format!("{prefix}{}-{count}-{nanos:08x}", std::process::id()));
        match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => return Ok(path),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// The name of a file type.
pub(crate) fn kind_name(kind: fs::FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    if kind.is_file() {
        "a file"
    } else if kind.is_dir() {
        "a folder"
    } else if kind.is_symlink() {
        "a symbolic link"
    } else if kind.is_fifo() {
        "a pipe"
    } else if kind.is_socket() {
        "a socket"
    } else if kind.is_char_device() || kind.is_block_device() {
        "a device"
    } else {
        "a special file"
    }
}
