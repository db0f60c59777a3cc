//! Letting go of evidence: what is older than its time, and the oldest where there is too much.

use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::io;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::{DIGEST_CHARS, EvidenceStore, KEPT_DAYS, KeptCall, TOTAL_MAX_BYTES};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// What an interrupted process left half written is older than any call takes.
const HALF_WRITTEN: Duration = DAY;

impl EvidenceStore {
    /// Removes what is too old or too much. What can't be removed stays; nothing else is touched.
    pub(crate) fn sweep(&self, now: SystemTime) -> io::Result<()> {
        self.sweep_to(now, TOTAL_MAX_BYTES)
    }

    pub(crate) fn sweep_to(&self, now: SystemTime, total_max: u64) -> io::Result<()> {
        let mut items: Vec<(SystemTime, PathBuf, u64)> = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let Ok(metadata) = entry.metadata() else { continue };
            let age = age(&metadata, now);
            if name.starts_with(".new-") && age > HALF_WRITTEN {
                drop(fs::remove_file(entry.path()));
            }
            if name.len() == DIGEST_CHARS && metadata.is_file() {
                items.push((metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH), entry.path(), metadata.len()));
            }
        }
        // Newest first: what comes after the cap, or after its time, goes.
        items.sort_by(|a, b| b.cmp(a));
        let mut total = 0_u64;
        let mut is_swept = false;
        for (modified, path, bytes) in items {
            total = total.saturating_add(bytes);
            let is_old =
                now.duration_since(modified).unwrap_or_default() > DAY * u32::try_from(KEPT_DAYS).unwrap_or(u32::MAX);
            if is_old || total > total_max {
                drop(fs::remove_file(path));
                is_swept = true;
            }
        }
        if is_swept { self.shorten_list() } else { Ok(()) }
    }

    /// Leaves out calls nothing of which is kept any more. A line that another process adds meanwhile is lost: it is a
    /// way to find an item, which its record names as well.
    fn shorten_list(&self) -> io::Result<()> {
        let Ok(calls) = self.calls() else { return Ok(()) };
        let entries = fs::read_dir(&self.folder)?.flatten();
        let there: BTreeSet<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        let is_kept = |call: &&KeptCall| call.kept.iter().any(|kept| there.contains(&kept.sha256));
        let mut text = Vec::new();
        for call in calls.iter().filter(is_kept) {
            serde_json::to_writer(&mut text, call)?;
            text.push(b'\n');
        }
        let beside = self.folder.join(format!(".new-{}-list", std::process::id()));
        drop(fs::remove_file(&beside));
        Self::append(&beside, &text)?;
        fs::rename(&beside, self.list())
    }
}

fn age(metadata: &Metadata, now: SystemTime) -> Duration {
    metadata.modified().ok().and_then(|modified| now.duration_since(modified).ok()).unwrap_or_default()
}
