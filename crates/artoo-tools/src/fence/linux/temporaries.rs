//! Temporary files beside a file that a program may change: many programs write a new file first, and rename it onto the
//! old one.

use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use rustix::fs::{AtFlags, fstat, statat, unlinkat};

use super::caller::DirEntry;

/// Maximum number of temporary files that a program may have at once beside an approved file.
const TEMPORARIES_MAX: usize = 256;

/// The temporary files of one run. Those that still exist at its end are removed.
#[derive(Debug, Default)]
pub(crate) struct Temporaries {
    made: Vec<Made>,
    is_over: bool,
}

/// A temporary file that a program made: its directory entry, its open descriptor, and its device and inode.
#[derive(Debug)]
struct Made {
    entry: DirEntry,
    /// Held open, so that no other file gets its inode.
    _file: OwnedFd,
    identity: (u64, u64),
}

impl Temporaries {
    /// Whether a file with this device and inode is one of the run's temporary files.
    pub(super) fn holds(&self, identity: (u64, u64)) -> bool {
        self.made.iter().any(|made| made.identity == identity)
    }

    /// Whether the file at a directory entry is a temporary file of the run.
    pub(super) fn stands_at(&self, entry: &DirEntry) -> bool {
        let found = statat(&entry.folder, &entry.name, AtFlags::SYMLINK_NOFOLLOW);
        found.is_ok_and(|found| self.holds((found.st_dev, found.st_ino)))
    }

    /// Creates a temporary file by calling `make`, and records it so that it is removed after the run.
    ///
    /// # Errors
    /// When it can't be made, when there are too many, or when the run is over.
    pub(super) fn make(
        &mut self,
        entry: DirEntry,
        make: impl FnOnce(&DirEntry) -> io::Result<OwnedFd>,
    ) -> io::Result<OwnedFd> {
        if self.made.len() >= TEMPORARIES_MAX {
            // The others were removed or have their final names.
            let standing: Vec<bool> = self.made.iter().map(|made| self.stands_at(&made.entry)).collect();
            let mut standing = standing.into_iter();
            self.made.retain(|_| standing.next().unwrap_or(true));
        }
        if self.is_over || self.made.len() >= TEMPORARIES_MAX {
            return Err(io::Error::from_raw_os_error(libc::EACCES));
        }
        let file = make(&entry)?;
        let found = fstat(&file)?;
        self.made.push(Made { entry, _file: file.try_clone()?, identity: (found.st_dev, found.st_ino) });
        Ok(file)
    }

    /// Removes the temporary files that still have the names they were created with, and returns these names.
    pub(crate) fn remove_all(&mut self) -> Vec<PathBuf> {
        self.is_over = true;
        let standing = self.made.iter().filter(|made| self.stands_at(&made.entry));
        standing
            .map(|made| {
                let _ = unlinkat(&made.entry.folder, &made.entry.name, AtFlags::empty());
                made.entry.path.clone()
            })
            .collect()
    }
}
