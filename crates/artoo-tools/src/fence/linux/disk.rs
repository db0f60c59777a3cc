//! Measures the disk space that a run uses, while it runs and at its end.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, fstat, fstatvfs, open, openat, statat};
use rustix::io::Errno;

/// Interval between two checks of the disk space that a run uses.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Maximum depth of folders that are walked to measure how much disk space a run uses.
const DEPTH_MAX: usize = 256;

/// Resolution of the kernel's clock that sets a file's time of change.
const TICK: Duration = Duration::from_millis(20);

/// Bytes of a block in `st_blocks`.
const BLOCK_BYTES: u64 = 512;

/// The limit on the disk space of one run, with the file systems on which it is checked.
#[derive(Debug)]
pub(crate) struct Disk {
    /// File systems in which the run may write.
    systems: Vec<System>,
    /// Files changed since then count as the run's own.
    since: Duration,
    next_look: Instant,
}

/// A file system whose free space is limited, and the watched folders on it.
#[derive(Debug)]
struct System {
    device: u64,
    /// Folders in which the run may write.
    folders: Vec<OwnedFd>,
    /// Bytes that the run may use.
    most: u64,
    free: u64,
    /// How much the free space has shrunk, by any program.
    shrunk: u64,
    /// Shrinking beyond this amount leads to the next walk through the folders.
    walk_at: u64,
}

impl Disk {
    /// Limits the use of each file system with one of these folders to `most` bytes or half of its free space.
    pub(crate) fn new<'a>(folders: impl Iterator<Item = &'a Path>, most: u64) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut disk = Self { systems: Vec::new(), since: now.saturating_sub(TICK), next_look: Instant::now() };
        for folder in folders {
            let Ok(folder) = open(folder, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) else { continue };
            let Ok(found) = fstat(&folder) else { continue };
            if let Some(system) = disk.systems.iter_mut().find(|system| system.device == found.st_dev) {
                system.folders.push(folder);
            } else {
                let (device, free) = (found.st_dev, free(&folder));
                let most = most.min(free / 2);
                disk.systems.push(System { device, folders: vec![folder], most, free, shrunk: 0, walk_at: most });
            }
        }
        disk
    }

    /// Makes the next check of the disk space due at once.
    pub(super) fn check_now(&mut self) {
        self.next_look = Instant::now();
    }

    /// The disk space limit in bytes if the run exceeds it or a folder can't be read; `None` if not, or if no check is
    /// due. `is_of_run` tells whether a process belongs to the run.
    pub(super) fn exceeded(&mut self, is_of_run: impl Fn(i32) -> bool) -> Option<u64> {
        if Instant::now() < self.next_look {
            return None;
        }
        self.next_look = Instant::now() + LOOK_EVERY;
        let since = self.since;
        self.systems.iter_mut().find_map(|system| {
            let now = system.folders.first().map_or(system.free, free);
            system.shrunk = system.shrunk.saturating_add(system.free.saturating_sub(now));
            system.free = now;
            if system.shrunk <= system.walk_at {
                return None;
            }
            system.walk_at = system.shrunk.saturating_add(system.most / 4);
            // A file system that can't be walked counts as exceeded.
            let is_full = system.used(since, &is_of_run).is_none_or(|used| used > system.most);
            is_full.then_some(system.most)
        })
    }
}

impl System {
    /// Bytes that a run uses on one file system: changed files, and deleted ones still open; `None` if a folder can't
    /// be read.
    fn used(&self, since: Duration, is_of_run: &impl Fn(i32) -> bool) -> Option<u64> {
        let mut walk = Walk { device: self.device, since, seen: HashSet::new(), bytes: 0 };
        for folder in &self.folders {
            walk.folder(folder, 0)?;
        }
        walk.deleted(is_of_run);
        Some(walk.bytes)
    }
}

/// Free bytes on the file system of a folder.
fn free(folder: &OwnedFd) -> u64 {
    fstatvfs(folder).map_or(0, |found| found.f_bavail.saturating_mul(found.f_frsize))
}

/// Adds up the bytes of files that a run has changed on one file system, by walking the folders in which it may write.
struct Walk {
    device: u64,
    since: Duration,
    /// Numbers of counted files with several names or none.
    seen: HashSet<u64>,
    bytes: u64,
}

impl Walk {
    /// Adds the sizes of changed files in a folder and below it; `None` if a folder can't be read or lies too deep.
    fn folder(&mut self, folder: &OwnedFd, depth: usize) -> Option<()> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = match openat(folder, ".", flags, Mode::empty()) {
            Ok(folder) => folder,
            // A file is counted with its folder.
            Err(Errno::NOTDIR | Errno::NOENT) => return Some(()),
            Err(_) => return None,
        };
        for entry in Dir::read_from(&folder).ok()? {
            let entry = entry.ok()?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            // Deleted or ended since it was listed.
            let Ok(found) = statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            if name == "." || name == ".." || found.st_dev != self.device {
                continue;
            }
            self.count(&found);
            if FileType::from_raw_mode(found.st_mode).is_dir() {
                let inner = openat(&folder, name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty());
                match inner {
                    Ok(_) if depth == DEPTH_MAX => return None,
                    Ok(inner) => self.folder(&inner, depth + 1)?,
                    Err(Errno::NOENT) => {}
                    Err(_) => return None,
                }
            }
        }
        Some(())
    }

    /// Adds the size of a file that was changed since the run began, unless it was counted under another name.
    fn count(&mut self, found: &Stat) {
        let changed = Duration::new(
            u64::try_from(found.st_ctime).unwrap_or(u64::MAX),
            u32::try_from(found.st_ctime_nsec).unwrap_or_default(),
        );
        if changed >= self.since && (found.st_nlink == 1 || self.seen.insert(found.st_ino)) {
            self.add(u64::try_from(found.st_blocks).unwrap_or_default());
        }
    }

    /// Adds the sizes of deleted files that the run's processes still have open.
    fn deleted(&mut self, is_of_run: &impl Fn(i32) -> bool) {
        let entries = |path: &Path| std::fs::read_dir(path).into_iter().flatten().flatten();
        for process in entries(Path::new("/proc")) {
            let pid = process.file_name().to_str().and_then(|name| name.parse().ok());
            if !pid.is_some_and(is_of_run) {
                continue;
            }
            for file in entries(&process.path().join("fd")) {
                let found = std::fs::metadata(file.path()).ok().filter(|found| found.is_file() && found.nlink() == 0);
                if let Some(found) = found.filter(|found| self.seen.insert(found.ino())) {
                    self.add(found.blocks());
                }
            }
        }
    }

    /// Adds a file's disk blocks (512 bytes each) to the disk use measured so far.
    fn add(&mut self, blocks: u64) {
        self.bytes = self.bytes.saturating_add(blocks.saturating_mul(BLOCK_BYTES));
    }
}
