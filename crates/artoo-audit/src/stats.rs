//! `audit_stats.json`: the auditor's counts on disk, replaced whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use artoo_proto::Timestamp;

use crate::window::{AuditStats, STATS_VERSION};

/// Largest file read: the bounded lists of a window stay far below it.
const STATS_MAX_BYTES: u64 = 4 * 1024 * 1024;

/// Statistics that could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum StatsError {
    /// The file system said no.
    #[error("{path:?}")]
    Io {
        /// Which file.
        path: PathBuf,
        /// What it said.
        #[source]
        source: io::Error,
    },
    /// It is not what this program writes.
    #[error("{path:?} is not readable as statistics")]
    Format {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        #[source]
        source: serde_json::Error,
    },
    /// Another version of artoo wrote it.
    #[error("{path:?} has version {found}, not {STATS_VERSION}")]
    Version {
        /// Which file.
        path: PathBuf,
        /// The version it has.
        found: u32,
    },
}

/// Statistics to go on with.
#[derive(Debug)]
pub struct LoadedStats {
    /// The counts; empty ones where there were none or they could not be used.
    pub stats: AuditStats,
    /// Why counts that were there are not used.
    pub problem: Option<StatsError>,
}

impl LoadedStats {
    /// Loads the file, or starts anew at `now`; a file that can't be used is kept under another name, never overwritten.
    #[must_use]
    pub fn load_or_new(path: &Path, now: Timestamp) -> Self {
        match load_stats(path) {
            Ok(stats) => Self { stats, problem: None },
            Err(StatsError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Self { stats: AuditStats::new(now), problem: None }
            }
            Err(problem) => {
                // Should even that fail, the problem is told all the same and the next saving replaces the file.
                let _ = fs::rename(path, path.with_extension("json.unusable"));
                Self { stats: AuditStats::new(now), problem: Some(problem) }
            }
        }
    }
}

/// Reads the statistics.
///
/// # Errors
/// [`StatsError`] when there are none, or they are of another form or version.
pub fn load_stats(path: &Path) -> Result<AuditStats, StatsError> {
    let mut text = String::new();
    File::open(path)
        .and_then(|file| file.take(STATS_MAX_BYTES).read_to_string(&mut text))
        .map_err(|source| StatsError::Io { path: path.to_owned(), source })?;
    let format = |source| StatsError::Format { path: path.to_owned(), source };
    // The version first: another version's fields need not fit.
    let version: Version = serde_json::from_str(&text).map_err(format)?;
    if version.version != STATS_VERSION {
        return Err(StatsError::Version { path: path.to_owned(), found: version.version });
    }
    serde_json::from_str(&text).map_err(format)
}

/// Replaces the statistics: a crash leaves the old file or the new one, never a part.
///
/// # Errors
/// [`StatsError::Io`] when the file system says no; the old file then stands.
pub fn save_stats(path: &Path, stats: &AuditStats) -> Result<(), StatsError> {
    let text =
        serde_json::to_string_pretty(stats).map_err(|source| StatsError::Format { path: path.to_owned(), source })?;
    let fresh = path.with_extension("json.new");
    let write = || -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&fresh)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&fresh, path)?;
        path.parent().map_or(Ok(()), |dir| File::open(dir)?.sync_all())
    };
    write().map_err(|source| StatsError::Io { path: path.to_owned(), source })
}

/// The statistics that belong to a log, by its name: `audit.jsonl` has `audit_stats.json`; a full or set-aside file has
/// none.
#[must_use]
pub(crate) fn stats_path(log: &Path) -> Option<PathBuf> {
    let lane = log.file_name()?.to_str()?.strip_prefix("audit")?.strip_suffix(".jsonl")?;
    let known = lane.is_empty() || lane.strip_prefix('-').is_some_and(|n| n.parse::<u32>().is_ok());
    known.then(|| log.with_file_name(format!("audit_stats{lane}.json")))
}

#[derive(serde::Deserialize)]
struct Version {
    version: u32,
}
