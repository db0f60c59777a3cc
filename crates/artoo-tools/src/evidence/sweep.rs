//! Removes expired packs, and the oldest ones if all together are too large.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::{EvidenceStore, KEPT_DAYS, TOTAL_MAX_BYTES};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

impl EvidenceStore {
    /// Removes expired packs, and the oldest ones if all together are too large.
    pub fn clean(&self) {
        self.sweep(SystemTime::now());
    }

    /// Removes expired pack files and those beyond the size limit; ignores errors.
    pub(crate) fn sweep(&self, now: SystemTime) {
        self.sweep_to(now, TOTAL_MAX_BYTES);
    }

    /// Removes expired pack files, then the oldest until all together have at most `total_max` bytes.
    pub(crate) fn sweep_to(&self, now: SystemTime, total_max: u64) {
        let look = |path: PathBuf| -> io::Result<(SystemTime, u64, PathBuf)> {
            let found = fs::metadata(&path)?;
            Ok((found.modified()?, found.len(), path))
        };
        let packs = self.packs().unwrap_or_default();
        let mut packs: Vec<_> = packs.into_iter().filter_map(|path| look(path).ok()).collect();
        // Newest first.
        packs.sort_by(|a, b| b.cmp(a));
        let mut total = 0_u64;
        for (modified, bytes, path) in packs {
            total = total.saturating_add(bytes);
            let is_old = now.duration_since(modified).unwrap_or_default() > DAY * KEPT_DAYS;
            if is_old || total > total_max {
                // Another process may have removed it.
                drop(fs::remove_file(path));
            }
        }
    }
}
