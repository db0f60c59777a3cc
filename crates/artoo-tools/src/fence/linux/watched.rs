//! Folders and files watched for change by what the kernel notes of them, without any right or service for it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::stat;

/// A second change within one tick of the kernel's clock leaves the same time. What was changed as lately as this is not
/// relied on.
const TICK: Duration = Duration::from_millis(100);

/// The same for a file system that counts whole seconds, or two.
const COARSE_TICK: Duration = Duration::from_secs(3);

/// Which file a path leads to and when it was last changed: an entry made, removed or renamed, rights given or taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Facts {
    device: u64,
    number: u64,
    changed: (i64, u64),
}

/// Paths with what was found there.
#[derive(Debug)]
pub(super) struct Watched {
    facts: BTreeMap<PathBuf, Facts>,
    since: SystemTime,
}

impl Watched {
    /// Nothing yet.
    pub(super) fn new() -> Self {
        Self { facts: BTreeMap::new(), since: SystemTime::now() }
    }

    /// Watches a path, or the nearest above it that is there: in that folder it would appear.
    pub(super) fn add(&mut self, path: &Path) {
        if let Some((path, facts)) = path.ancestors().find_map(|path| facts(path).map(|facts| (path, facts))) {
            // What was noted first is older than whatever was looked at after it.
            self.facts.entry(path.to_path_buf()).or_insert(facts);
        }
    }

    /// Whether all of it is as it was.
    pub(super) fn is_unchanged(&self) -> bool {
        self.facts.iter().all(|(path, known)| facts(path).as_ref() == Some(known))
    }

    /// Whether every later change will show.
    pub(super) fn tells_changes(&self) -> bool {
        let since = self.since.duration_since(UNIX_EPOCH).unwrap_or_default();
        self.facts.values().all(|facts| {
            let (seconds, nanos) = facts.changed;
            let tick = if nanos == 0 { COARSE_TICK } else { TICK };
            let changed =
                u64::try_from(seconds).map(|seconds| Duration::from_secs(seconds) + Duration::from_nanos(nanos));
            // Some file systems note no time at all.
            changed.is_ok_and(|changed| !changed.is_zero() && changed + tick < since)
        })
    }
}

fn facts(path: &Path) -> Option<Facts> {
    let found = stat(path).ok()?;
    Some(Facts { device: found.st_dev, number: found.st_ino, changed: (found.st_ctime, found.st_ctime_nsec) })
}
