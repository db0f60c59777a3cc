//! The folders of a view on disk: where changes are stored, which process uses them, and when they are deleted.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use rustix::fs::{FlockOperation, Timespec, Timestamps, flock, futimens, getxattr, listxattr, setxattr};

use crate::open;
use crate::undo::remove_tree;

/// How long the changes of a view that [`State::keep`] has marked are stored after its process has ended, for a
/// question that is still open.
pub(crate) const KEPT_FOR: Duration = Duration::from_secs(30 * 60);

/// Maximum bytes of the names, and of one value, of a folder's extended attributes.
const ATTRIBUTES_MAX_BYTES: usize = 64 * 1024;

/// Name of the file that is locked as long as a process uses the view.
const LOCK: &str = "lock";

/// Name of the empty folder that is mounted over hidden folders in a view.
const EMPTY: &str = "empty";

/// Name of a marker file: if it exists, the changes of a view stay stored after the process has ended.
const KEPT: &str = "kept";

static MADE: AtomicU64 = AtomicU64::new(0);

/// The folder of one view on disk. Dropping it deletes the folder, unless [`State::keep`] was called.
#[derive(Debug)]
pub(super) struct State {
    folder: PathBuf,
    _lock: File,
    is_kept: AtomicBool,
}

impl State {
    /// Creates the folder of one view in `views`, which is created if missing.
    pub(super) fn new(views: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(views)?;
        let folder = open::private_folder(&views.canonicalize()?, "")?;
        let lock = OpenOptions::new().write(true).create_new(true).mode(0o600).open(folder.join(LOCK))?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
        let state = Self { folder, _lock: lock, is_kept: AtomicBool::new(false) };
        for (name, mode) in [("upper", 0o700), ("work", 0o700), (EMPTY, 0o0)] {
            DirBuilder::new().mode(mode).create(state.folder.join(name))?;
        }
        OpenOptions::new().write(true).create_new(true).mode(0o0).open(state.empty_file())?;
        Ok(state)
    }

    /// The folder that stores the state of one view.
    pub(super) fn path(&self) -> &Path {
        &self.folder
    }

    /// The empty folder of this view that is mounted over hidden folders.
    pub(super) fn empty_folder(&self) -> PathBuf {
        self.folder.join(EMPTY)
    }

    /// The path of the view's empty file that is mounted over hidden files.
    pub(super) fn empty_file(&self) -> PathBuf {
        self.folder.join("none")
    }

    /// Creates the upper folder of an overlay over `lower`, with the same mode and times, and owner and attributes as
    /// far as they can be set.
    pub(super) fn upper(&self, number: usize, lower: &Path) -> io::Result<PathBuf> {
        let upper = self.folder.join("upper").join(number.to_string());
        let found = fs::metadata(lower)?;
        DirBuilder::new().mode(0o700).create(&upper)?;
        let made = fs::metadata(&upper)?;
        if (made.uid(), made.gid()) != (found.uid(), found.gid()) {
            // Only root may set another owner; for other users the owner is their own.
            let _ = chown(&upper, Some(found.uid()), Some(found.gid()));
        }
        copy_attributes(lower, &upper);
        let folder = File::open(&upper)?;
        fs::set_permissions(&upper, Permissions::from_mode(found.mode() & 0o7777))?;
        let time = |tv_sec, tv_nsec| Timespec { tv_sec, tv_nsec };
        let last_access = time(found.atime(), found.atime_nsec());
        futimens(&folder, &Timestamps { last_access, last_modification: time(found.mtime(), found.mtime_nsec()) })?;
        Ok(upper)
    }

    /// Creates the work folder that an overlay needs for one run.
    pub(super) fn work(&self, number: usize) -> io::Result<PathBuf> {
        let work = self.folder.join("work").join(format!("{number}-{}", MADE.fetch_add(1, Ordering::Relaxed)));
        DirBuilder::new().mode(0o700).create(&work)?;
        Ok(work)
    }

    /// Marks the folder of the view to be kept after this value is dropped.
    pub(super) fn keep(&self) -> io::Result<()> {
        self.is_kept.store(true, Ordering::Relaxed);
        File::create(self.folder.join(KEPT)).map(drop)
    }
}

impl Drop for State {
    fn drop(&mut self) {
        if !self.is_kept.load(Ordering::Relaxed) {
            // The rest is deleted at the next start.
            let _ = remove(&self.folder);
        }
    }
}

/// Deletes the folders of views whose process has ended; those marked to be kept only after [`KEPT_FOR`].
pub(crate) fn clean(views: &Path) {
    for entry in fs::read_dir(views).into_iter().flatten().flatten() {
        let folder = entry.path();
        let lock = File::open(folder.join(LOCK));
        let is_used = lock.as_ref().is_ok_and(|lock| flock(lock, FlockOperation::NonBlockingLockExclusive).is_err());
        // Without a lock file the view may have been created just now.
        let is_lasting = lock.is_err() || folder.join(KEPT).exists();
        if !is_used && (!is_lasting || is_older(&folder, KEPT_FOR)) {
            // Tried again at the next start.
            let _ = remove(&folder);
        }
    }
}

/// Whether the folder was last modified longer ago than `age`.
fn is_older(folder: &Path, age: Duration) -> bool {
    let changed = fs::symlink_metadata(folder).and_then(|found| found.modified());
    changed.is_ok_and(|changed| SystemTime::now().duration_since(changed).is_ok_and(|since| since > age))
}

/// Copies access lists and user attributes, as far as they can be set.
fn copy_attributes(from: &Path, to: &Path) {
    let mut names = vec![0; ATTRIBUTES_MAX_BYTES];
    let count = listxattr(from, names.as_mut_slice()).unwrap_or(0);
    let names = names.get(..count).unwrap_or_default();
    for name in names.split(|byte| *byte == 0) {
        let is_copied =
            name.starts_with(b"user.") && !name.starts_with(b"user.overlay.") || name.starts_with(b"system.posix_acl_");
        if is_copied {
            let mut value = vec![0; ATTRIBUTES_MAX_BYTES];
            let length = getxattr(from, name, value.as_mut_slice()).unwrap_or(0);
            let value = value.get(..length).unwrap_or_default();
            let _ = setxattr(to, name, value, rustix::fs::XattrFlags::empty());
        }
    }
}

/// Deletes a folder with all below it, including folders whose mode denies their owner access.
fn remove(folder: &Path) -> io::Result<()> {
    // No program runs in the view any more that could replace a folder by a link.
    fs::remove_dir_all(folder).or_else(|_| remove_tree(folder))
}

/// Tests of a view's folders on disk: how they are created and deleted.
#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::time::UNIX_EPOCH;

    use tempfile::TempDir;

    use super::*;

    /// Creates a view's folder with changes in it, some of them inaccessible to their owner, and a symlink out of it.
    fn changed(views: &Path, lower: &Path) -> State {
        let state = State::new(views).unwrap();
        let upper = state.upper(0, lower).unwrap();
        fs::create_dir_all(upper.join("closed/inner")).unwrap();
        symlink(lower, upper.join("closed/link")).unwrap();
        fs::set_permissions(upper.join("closed"), Permissions::from_mode(0o0)).unwrap();
        state
    }

    /// The folder of a view is deleted after its process has ended, unless its changes are kept for a question.
    #[test]
    fn changes_are_deleted_with_their_process() {
        let dir = TempDir::new().unwrap();
        let (views, lower) = (dir.path().join("views"), dir.path().join("lower"));
        fs::create_dir(&lower).unwrap();
        fs::write(lower.join("f"), "held dear").unwrap();
        let count = || fs::read_dir(&views).map_or(0, Iterator::count);
        drop(changed(&views, &lower));
        assert_eq!(count(), 0);
        let used = changed(&views, &lower);
        clean(&views);
        assert_eq!(count(), 1, "it is in use");
        // In the state in which a killed process leaves it.
        let folder = used.folder.clone();
        fs::rename(&folder, views.join("x")).unwrap();
        drop(used);
        fs::rename(views.join("x"), &folder).unwrap();
        clean(&views);
        assert_eq!(count(), 0, "no process uses the view");
        let kept = changed(&views, &lower);
        kept.keep().unwrap();
        let folder = kept.folder.clone();
        drop(kept);
        clean(&views);
        assert_eq!(count(), 1, "it was kept");
        File::open(&folder).unwrap().set_modified(SystemTime::now() - KEPT_FOR * 2).unwrap();
        clean(&views);
        assert_eq!(count(), 0, "it is too old");
        assert_eq!(fs::read_to_string(lower.join("f")).unwrap(), "held dear");
    }

    /// A new upper folder of an overlay gets mode, owner and times of the real folder.
    #[test]
    fn upper_folder_matches_the_real_one() {
        let dir = TempDir::new().unwrap();
        let lower = dir.path().join("lower");
        fs::create_dir(&lower).unwrap();
        fs::set_permissions(&lower, Permissions::from_mode(0o1750)).unwrap();
        File::open(&lower).unwrap().set_modified(UNIX_EPOCH + Duration::from_secs(1_000_000)).unwrap();
        let state = State::new(&dir.path().join("views")).unwrap();
        let upper = state.upper(0, &lower).unwrap();
        let facts = |path: &Path| {
            let found = fs::metadata(path).unwrap();
            (found.mode(), found.uid(), found.gid(), found.modified().unwrap())
        };
        assert_eq!(facts(&upper), facts(&lower));
        let views = fs::metadata(dir.path().join("views")).unwrap();
        assert_eq!(views.mode() & 0o777, 0o700);
    }
}
