//! Watches files and folders for changes by their times and inodes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::stat;

/// Minimum age of a path's last change for caching: a second change within one clock tick leaves the same time.
const TICK: Duration = Duration::from_millis(100);

/// How old a change must be to be noticed by its time on a file system whose times have a resolution of one or two
/// seconds.
const COARSE_TICK: Duration = Duration::from_secs(3);

/// Device and inode of the file at a path, and the time of its last change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Facts {
    device: u64,
    number: u64,
    changed: (i64, u64),
}

/// Watches paths for changes: their device, inode and time of change when they were added.
#[derive(Debug)]
pub(super) struct Watched {
    facts: BTreeMap<PathBuf, Facts>,
    since: SystemTime,
}

impl Watched {
    /// Watches no path yet; records the present time as the start.
    pub(super) fn new() -> Self {
        Self { facts: BTreeMap::new(), since: SystemTime::now() }
    }

    /// Watches a path, or the nearest existing folder above it, in which it would appear.
    pub(super) fn add(&mut self, path: &Path) {
        if let Some((path, facts)) = path.ancestors().find_map(|path| facts(path).map(|facts| (path, facts))) {
            // The first state is older than anything read afterwards.
            self.facts.entry(path.to_path_buf()).or_insert(facts);
        }
    }

    /// Whether no watched path has changed.
    pub(super) fn is_unchanged(&self) -> bool {
        self.facts.iter().all(|(path, known)| facts(path).as_ref() == Some(known))
    }

    /// Whether comparing times detects every later change of the paths: none was changed within the last clock tick.
    pub(super) fn tells_changes(&self) -> bool {
        let since = self.since.duration_since(UNIX_EPOCH).unwrap_or_default();
        self.facts.values().all(|facts| {
            let (seconds, nanos) = facts.changed;
            let tick = if nanos == 0 { COARSE_TICK } else { TICK };
            let changed =
                u64::try_from(seconds).map(|seconds| Duration::from_secs(seconds) + Duration::from_nanos(nanos));
            // Some file systems store no times.
            changed.is_ok_and(|changed| !changed.is_zero() && changed + tick < since)
        })
    }
}

/// Device, inode and time of change of a path, by which a change is noticed; `None` if it does not exist.
fn facts(path: &Path) -> Option<Facts> {
    let found = stat(path).ok()?;
    Some(Facts { device: found.st_dev, number: found.st_ino, changed: (found.st_ctime, found.st_ctime_nsec) })
}
