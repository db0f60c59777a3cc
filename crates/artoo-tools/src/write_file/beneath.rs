//! Making a file below a folder so that no symlink, `..` or swapped folder leads out of it.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, open, openat, unlinkat};
use rustix::io::Errno;

/// New folders: for the owner, as the user's umask allows for others.
const FOLDER_MODE: Mode = Mode::from_raw_mode(0o777);

/// New files likewise.
const FILE_MODE: Mode = Mode::from_raw_mode(0o666);

/// A file that has just been made, and where.
pub(crate) struct Made {
    pub(crate) file: File,
    folder: OwnedFd,
    name: String,
}

impl Made {
    /// Takes the file away again: it is ours and nobody has used it yet.
    pub(crate) fn unmake(self) {
        // Where this fails the caller has already failed for a better reason.
        let _ = unlinkat(&self.folder, self.name.as_str(), AtFlags::empty());
    }
}

/// Makes the file `parts` names below `root`, with the folders on the way; it must not exist.
///
/// Every folder is opened from the one before it without following a link, so each step stays below the last.
pub(crate) fn create(root: &Path, parts: &[&str]) -> io::Result<Made> {
    let Some((name, folders)) = parts.split_last() else {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    };
    let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
    let mut folder = open(root, flags, Mode::empty())?;
    for part in folders {
        match mkdirat(&folder, *part, FOLDER_MODE) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        folder = beneath(&folder, part, flags, Mode::empty())?;
    }
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = File::from(beneath(&folder, name, flags, FILE_MODE)?);
    Ok(Made { file, folder, name: (*name).to_owned() })
}

/// Opens one name in a folder; a link there is an error.
fn beneath(folder: impl AsFd, name: &str, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
    let flags = flags | OFlags::NOFOLLOW;
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{ResolveFlags, openat2};
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        match openat2(folder.as_fd(), name, flags, mode, resolve) {
            // Kernels before 5.6, and sandboxes that hide the call.
            Err(Errno::NOSYS | Errno::PERM) => {}
            other => return other.map_err(io::Error::from),
        }
    }
    openat(folder, name, flags, mode).map_err(io::Error::from)
}
