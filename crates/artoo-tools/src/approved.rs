//! Places that may be changed directly, as they were when the user was asked.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::paths;

/// A path that an approval allows to be changed, with its real path and its nearest existing folder (device, inode) as
/// they were when the user was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ApprovedPlace {
    path: PathBuf,
    real: PathBuf,
    /// The nearest folder that existed, with device and inode.
    folder: Option<(PathBuf, u64, u64)>,
}

impl ApprovedPlace {
    /// The place of a path as it is now: its real path, and the nearest folder that exists (itself or above) with
    /// device and inode. Folders in `created`, which is made anew for each run, are skipped.
    pub(crate) fn new(path: PathBuf, created: Option<&Path>) -> Self {
        let real = paths::real(&path);
        let existing = real.ancestors().filter(|folder| created.is_none_or(|created| !folder.starts_with(created)));
        let folder = existing.filter(|folder| folder.is_dir()).find_map(|folder| {
            let (device, inode) = identity(folder).ok()?;
            Some((folder.to_path_buf(), device, inode))
        });
        Self { path, real, folder }
    }

    /// The approved path as it was written.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The approved path with all symlinks resolved.
    pub(crate) fn real(&self) -> &Path {
        &self.real
    }

    /// Whether the approved path still has the same real path, and its nearest folder then the same device and inode.
    pub(crate) fn is_unchanged(&self) -> bool {
        let is_same = |(folder, device, inode): &(PathBuf, u64, u64)| {
            identity(folder).is_ok_and(|found| found == (*device, *inode))
        };
        paths::real(&self.path) == self.real && self.folder.as_ref().is_some_and(is_same)
    }
}

/// Device and inode of a file or folder; of a symlink itself, not of its target.
fn identity(folder: &Path) -> io::Result<(u64, u64)> {
    let found = folder.symlink_metadata()?;
    Ok((found.dev(), found.ino()))
}
