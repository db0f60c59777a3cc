//! `audit_stats.json`: the auditor's counts on disk, replaced atomically.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use artoo_proto::Timestamp;
use serde::Serialize;

use crate::window::{AuditStats, STATS_VERSION};

/// Maximum number of bytes read of a statistics file; real ones are far smaller.
const STATS_MAX_BYTES: u64 = 4 * 1024 * 1024;

/// The error of a statistics file that could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum StatsError {
    /// An I/O error, which `source` describes.
    #[error("can't read or write {path:?}")]
    Io {
        /// The statistics file.
        path: PathBuf,
        /// The I/O error.
        #[source]
        source: io::Error,
    },
    /// The file is not valid JSON of this form.
    #[error("{path:?} is not a valid statistics file")]
    Format {
        /// The statistics file.
        path: PathBuf,
        /// The error of the JSON parser.
        #[source]
        source: serde_json::Error,
    },
    /// Another version of artoo wrote the file.
    #[error("{path:?} has version {found}, not {STATS_VERSION}")]
    Version {
        /// The statistics file.
        path: PathBuf,
        /// The version that the file has.
        found: u32,
    },
}

/// Loads the auditor's counts. Without a usable file, empty counts that start at `now`; an unusable file is renamed,
/// and the error says why.
pub(crate) fn load_or_new(path: &Path, now: Timestamp) -> (AuditStats, Option<StatsError>) {
    match load_stats(path) {
        Ok(stats) => (stats, None),
        Err(StatsError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => (AuditStats::new(now), None),
        Err(problem) => {
            // If renaming fails, the problem is reported all the same, and the next write replaces the file.
            let _ = fs::rename(path, path.with_extension("json.unusable"));
            (AuditStats::new(now), Some(problem))
        }
    }
}

/// Reads the auditor's counts from their file.
///
/// # Errors
/// [`StatsError`] if there is no file, or it has another form or version.
pub fn load_stats(path: &Path) -> Result<AuditStats, StatsError> {
    let mut text = String::new();
    File::open(path)
        .and_then(|file| file.take(STATS_MAX_BYTES).read_to_string(&mut text))
        .map_err(|source| StatsError::Io { path: path.to_owned(), source })?;
    let format = |source| StatsError::Format { path: path.to_owned(), source };
    // The version first: the other fields may differ in another version.
    let version: Version = serde_json::from_str(&text).map_err(format)?;
    if version.version != STATS_VERSION {
        return Err(StatsError::Version { path: path.to_owned(), found: version.version });
    }
    serde_json::from_str(&text).map_err(format)
}

/// Replaces the file of the auditor's counts. A crash leaves the old file or the new one, never a part.
///
/// # Errors
/// [`StatsError::Io`] if the file can't be written; the old file is then unchanged.
pub fn save_stats(path: &Path, stats: &AuditStats) -> Result<(), StatsError> {
    replace(path, stats)
}

/// Replaces a file atomically by a value written as JSON.
pub(crate) fn replace(path: &Path, value: &impl Serialize) -> Result<(), StatsError> {
    let text =
        serde_json::to_string_pretty(value).map_err(|source| StatsError::Format { path: path.to_owned(), source })?;
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

/// The path of a log's statistics file: `audit_stats.json` for `audit.jsonl`. `None` for full and renamed log files,
/// which have none.
#[must_use]
pub fn stats_path(log: &Path) -> Option<PathBuf> {
    let number = log.file_name()?.to_str()?.strip_prefix("audit")?.strip_suffix(".jsonl")?;
    let known = number.is_empty() || number.strip_prefix('-').is_some_and(|n| n.parse::<u32>().is_ok());
    known.then(|| log.with_file_name(format!("audit_stats{number}.json")))
}

/// The version in a statistics file, read before the rest.
#[derive(serde::Deserialize)]
struct Version {
    version: u32,
}
