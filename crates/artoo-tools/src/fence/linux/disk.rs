//! How much a run adds to the disk, looked at while it goes on.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, fstat, fstatvfs, open, openat, statat};
use rustix::io::Errno;

/// Between two looks at the free space.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Folders within each other that are walked at most.
const DEPTH_MAX: usize = 256;

/// By how much the clock that dates changes may lie behind.
const TICK: Duration = Duration::from_millis(20);

/// Bytes of a block as files are counted in.
const BLOCK_BYTES: u64 = 512;

/// The disk space that a run may use.
#[derive(Debug)]
pub(crate) struct Disk {
    /// The file systems it may write to.
    systems: Vec<System>,
    /// What has been changed since then may be its own.
    since: Duration,
    next_look: Instant,
}

/// One file system.
#[derive(Debug)]
struct System {
    device: u64,
    /// Folders in it in which the run may write.
    folders: Vec<OwnedFd>,
    /// Bytes it may use.
    most: u64,
    free: u64,
    /// By how much the free space has shrunk, by this run or any other program.
    shrunk: u64,
    /// The folders are walked once it is more than this.
    walk_at: u64,
}

impl Disk {
    /// Of each file system that holds one of these folders, `most` bytes or half of what is free there.
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

    /// The amount of which the run has used more, if it is time to look. `is_of_run` knows its processes.
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
            // What can't be looked at is taken for its own.
            let is_full = system.used(since, &is_of_run).is_none_or(|used| used > system.most);
            is_full.then_some(system.most)
        })
    }
}

impl System {
    /// Bytes of what has been changed, and of deleted files that are still open; `None` if some can't be looked at.
    fn used(&self, since: Duration, is_of_run: &impl Fn(i32) -> bool) -> Option<u64> {
        let mut walk = Walk { device: self.device, since, seen: HashSet::new(), bytes: 0 };
        for folder in &self.folders {
            walk.folder(folder, 0)?;
        }
        walk.deleted(is_of_run);
        Some(walk.bytes)
    }
}

fn free(folder: &OwnedFd) -> u64 {
    fstatvfs(folder).map_or(0, |found| found.f_bavail.saturating_mul(found.f_frsize))
}

/// A sum under way.
struct Walk {
    device: u64,
    since: Duration,
    /// Files with several names, or none.
    seen: HashSet<u64>,
    bytes: u64,
}

impl Walk {
    fn folder(&mut self, folder: &OwnedFd, depth: usize) -> Option<()> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = match openat(folder, ".", flags, Mode::empty()) {
            Ok(folder) => folder,
            // A file, counted with its folder.
            Err(Errno::NOTDIR | Errno::NOENT) => return Some(()),
            Err(_) => return None,
        };
        for entry in Dir::read_from(&folder).ok()? {
            let entry = entry.ok()?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            // Gone again in the meantime.
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

    fn count(&mut self, found: &Stat) {
        let changed = Duration::new(
            u64::try_from(found.st_ctime).unwrap_or(u64::MAX),
            u32::try_from(found.st_ctime_nsec).unwrap_or_default(),
        );
        if changed >= self.since && (found.st_nlink == 1 || self.seen.insert(found.st_ino)) {
            self.add(u64::try_from(found.st_blocks).unwrap_or_default());
        }
    }

    /// Files without a name that the run's processes hold open.
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

    fn add(&mut self, blocks: u64) {
        self.bytes = self.bytes.saturating_add(blocks.saturating_mul(BLOCK_BYTES));
    }
}
