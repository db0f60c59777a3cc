//! The audit log on disk: append-only lines, each of which contains the hash of the line before.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::slice;

use artoo_proto::Timestamp;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::event::{AuditEvent, Note};
use crate::verify::{
    Damage, NO_HASH, Scan, VerifyError, compressed, hash_suffix, read_compressed, read_plain, scan, sha256,
};
use crate::window::LogHead;

/// Size in bytes at which the log continues in a new file and the full one is compressed. Every start verifies the
/// whole file, so it must stay small.
#[doc(alias = "limit")]
pub const SEGMENT_MAX_BYTES: u64 = 112 * 1024;

/// Compression level of full log files. Level 6 makes them some 4 % smaller, but compares up to eight times as many
/// candidates for a match.
const LOG_COMPRESSION: u32 = 4;

/// Permission bits of log files: only the owner may read them.
const FILE_MODE: u32 = 0o600;

/// Maximum number of names tried for a full or damaged log file that is renamed.
const NAMES_MAX: u32 = 10_000;

/// The error of a log file that could not be opened, read, renamed, written or synced.
#[derive(Debug, thiserror::Error)]
#[error("can't {action} {path:?}")]
pub struct LogError {
    /// What failed: `open`, `read`, `rename`, `write to` or `sync`.
    pub action: &'static str,
    /// The log file.
    pub path: PathBuf,
    /// The I/O error.
    #[source]
    pub source: io::Error,
}

impl LogError {
    /// Returns a function that turns the I/O error of `action` on `path` into a `LogError`.
    fn of(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self { action, path, source }
    }
}

/// The audit log, open for writing. Only one process may write it at a time; [`crate::spawn`] holds the lock file.
#[derive(Debug)]
pub struct AuditLog {
    path: PathBuf,
    file: File,
    /// Number of lines in the file.
    lines: u64,
    /// Length of the complete lines in the file, in bytes.
    bytes: u64,
    /// Hash of the last line.
    hash: String,
    /// Length in bytes at which the log continues in a new file.
    segment_max: u64,
    /// Buffer for the lines being written.
    written: Vec<u8>,
    /// A write failed in the middle, so the file may be longer than `bytes`.
    torn: bool,
    /// Number of events lost and not reported in the log yet, and the first error.
    lost: Option<(u64, String)>,
    /// Number of events lost since the log was opened.
    lost_total: u64,
}

impl AuditLog {
    /// Opens or creates a log and continues its chain of hashes; `known` is a line that it must contain. The notes
    /// returned name the problems found; the log has them too.
    ///
    /// An incomplete last line is removed. A log with a broken chain is renamed (`….broken-0001.jsonl`) and a new one
    /// begins with a note of it: refusing to run would let anyone who can write the file stop artoo, and continuing in
    /// it would hide the damage. `known` is a line that the log must still contain.
    ///
    /// # Errors
    /// [`LogError`] if the file can't be opened, read or renamed. If the disk is full, lost events are counted instead.
    pub fn open(path: &Path, at: Timestamp, known: Option<&LogHead>) -> Result<(Self, Vec<Note>), LogError> {
        let file = open_file(path)?;
        let mut scan = scan(read_plain(&file), known);
        let mut notes = Vec::new();
        let mut log = match scan.damage.take() {
            None => Self::new(path, file, &scan),
            Some(VerifyError { what: Damage::Torn, .. }) => {
                let length = file.metadata().map_or(scan.bytes, |metadata| metadata.len());
                notes.push(Note::TornTail { bytes: length.saturating_sub(scan.bytes) });
                Self { torn: true, ..Self::new(path, file, &scan) }
            }
            Some(VerifyError { what: Damage::Unreadable(source), .. }) => {
                return Err(LogError::of("read", path)(source));
            }
            Some(damage) => {
                let name = rename_numbered(path, ".broken-").map_err(LogError::of("rename", path))?;
                notes.push(Note::SetAside { file: name, line: damage.line, problem: damage.what.to_string() });
                Self::empty(path, open_file(path)?)
            }
        };
        if let Some(head) = known
            && !matches!(notes.last(), Some(Note::SetAside { .. }))
            && !scan.contains(path, head)
        {
            notes.push(Note::CutShort { expected: head.lines, found: scan.lines, whole_at: head.at });
        }
        notes.push(Note::LogOpened { lines: log.lines });
        for note in &notes {
            let written = log.append(&AuditEvent::note(at, note.clone()));
            if note.is_gap() {
                // Without this line, the statistics could forget the gap.
                written?;
            }
            // Any other failure is counted, and the next successful write reports it.
        }
        Ok((log, notes))
    }

    /// Appends an event as a line to the log; an error if it could not be written. Lost events are counted and reported
    /// later.
    ///
    /// # Errors
    /// [`LogError`] if it could not be written. The event is then lost and counted; a partial line is removed,
    /// and the next successful write is preceded by a note with the number of lost events.
    pub fn append(&mut self, event: &AuditEvent) -> Result<(), LogError> {
        let result = self.try_append(event);
        if let Err(source) = &result {
            // Later errors are often only consequences of the first.
            let (missing, _) = self.lost.get_or_insert_with(|| (0, source.to_string()));
            *missing += 1;
            self.lost_total += 1;
        }
        result.map_err(LogError::of("write to", &self.path))
    }

    /// Syncs the written lines to the disk.
    ///
    /// # Errors
    /// [`LogError`]; lines written since the last success may then be lost, and a second sync would not show it.
    pub fn sync(&mut self) -> Result<(), LogError> {
        self.file.sync_data().map_err(LogError::of("sync", &self.path))
    }

    /// The number and hash of the log's last line.
    #[must_use]
    pub fn head(&self) -> LogHead {
        LogHead { lines: self.lines, hash: self.hash.clone(), at: None }
    }

    /// Number of events that could not be written since this log was opened.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost_total
    }

    /// Events lost (not written) since the log last reported such a loss: their number and the first error; `None` if
    /// there are none.
    #[must_use]
    pub fn unreported(&self) -> Option<(u64, &str)> {
        self.lost.as_ref().map(|(missing, problem)| (*missing, problem.as_str()))
    }

    /// A log object that continues after the undamaged lines of a scanned file.
    fn new(path: &Path, file: File, scan: &Scan) -> Self {
        Self { lines: scan.lines, bytes: scan.bytes, hash: scan.hash.clone(), ..Self::empty(path, file) }
    }

    /// A log object for a file without lines.
    fn empty(path: &Path, file: File) -> Self {
        Self {
            path: path.to_owned(),
            file,
            lines: 0,
            bytes: 0,
            hash: NO_HASH.to_owned(),
            segment_max: SEGMENT_MAX_BYTES,
            written: Vec::new(),
            torn: false,
            lost: None,
            lost_total: 0,
        }
    }

    /// Appends an event; first removes an incomplete line, starts a new file, or reports lost events, if needed.
    fn try_append(&mut self, event: &AuditEvent) -> io::Result<()> {
        if self.torn {
            if self.file.metadata()?.len() != self.bytes {
                self.file.set_len(self.bytes)?;
            }
            self.torn = false;
        }
        if self.bytes >= self.segment_max {
            self.next_segment(event.at)?;
        }
        if let Some((missing, problem)) = self.lost.clone() {
            self.write_line(&AuditEvent::note(event.at, Note::WriteLost { missing, problem }))?;
            self.lost = None;
        }
        self.write_line(event)
    }

    /// Renames and compresses the full log file, and continues the log in a new one.
    fn next_segment(&mut self, at: Timestamp) -> io::Result<()> {
        self.file.sync_data()?;
        let follows = rename_numbered(&self.path, ".")?;
        let (full, lines) = (self.path.with_file_name(&follows), self.lines);
        let started = file_options().open(&self.path).and_then(|file| {
            let mut next = Self { hash: self.hash.clone(), ..Self::empty(&self.path, file) };
            next.write_line(&AuditEvent::note(at, Note::SegmentStarted { follows, lines }))?;
            Ok(next)
        });
        match started {
            Ok(Self { file, lines, bytes, hash, .. }) => {
                (self.file, self.lines, self.bytes, self.hash) = (file, lines, bytes, hash);
            }
            Err(error) => {
                // Restore the name of the open file, so that the next event can try again.
                fs::rename(full, &self.path)?;
                return Err(error);
            }
        }
        // If this fails, the full file stays uncompressed; every reader accepts that too.
        let _ = compress(&full).or_else(|_| fs::remove_file(full.with_extension("part")));
        Ok(())
    }

    /// Appends several events in one write. False, with none appended, if that failed, or if the log must first remove
    /// an incomplete line, report lost events or continue in a new file.
    ///
    /// After a crash there are complete lines and at most one incomplete one, as after single writes.
    pub(crate) fn append_batch(&mut self, events: &[AuditEvent]) -> bool {
        let is_ready = !self.torn && self.lost.is_none() && self.bytes < self.segment_max;
        is_ready && self.write_lines(events).is_ok()
    }

    /// Writes one event as a line.
    fn write_line(&mut self, event: &AuditEvent) -> io::Result<()> {
        self.write_lines(slice::from_ref(event))
    }

    /// Writes events as lines with numbers and hashes, all in one write.
    fn write_lines(&mut self, events: &[AuditEvent]) -> io::Result<()> {
        let (mut lines, mut hash) = (self.lines, None);
        self.written.clear();
        for event in events {
            let start = self.written.len();
            lines += 1;
            write!(self.written, r#"{{"n":{lines},"#)?;
            event.write(&mut self.written)?;
            write!(self.written, r#","prev":"{}""#, hash.as_ref().unwrap_or(&self.hash))?;
            let own = sha256(self.written.get(start..).unwrap_or_default());
            self.written.extend_from_slice(hash_suffix(&own).as_bytes());
            self.written.push(b'\n');
            hash = Some(own);
        }
        // One write for complete lines, so that a crash leaves at most the last one incomplete.
        if let Err(error) = self.file.write_all(&self.written) {
            self.torn = true;
            return Err(error);
        }
        self.lines = lines;
        self.bytes += self.written.len() as u64;
        self.hash = hash.unwrap_or_else(|| self.hash.clone());
        Ok(())
    }
}

/// Replaces a full file by its compressed form, after checking that it decompresses to the same bytes.
fn compress(full: &Path) -> io::Result<()> {
    let (part, lines) = (full.with_extension("part"), fs::read(full)?);
    let file = OpenOptions::new().write(true).create(true).truncate(true).mode(FILE_MODE).open(&part)?;
    let mut encoder = GzEncoder::new(file, Compression::new(LOG_COMPRESSION));
    encoder.write_all(&lines)?;
    encoder.finish()?.sync_data()?;
    let mut read_back = Vec::new();
    read_compressed(&part)?.read_to_end(&mut read_back)?;
    if read_back != lines {
        return Err(io::ErrorKind::InvalidData.into());
    }
    fs::rename(&part, compressed(full))?;
    fs::remove_file(full)
}

/// The options with which log files are opened: read and append, created for the owner only.
fn file_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true).mode(FILE_MODE);
    options
}

/// Opens or creates a log file for appending, and restricts its permissions to the owner.
fn open_file(path: &Path) -> Result<File, LogError> {
    let open = || -> io::Result<File> {
        let file = file_options().open(path)?;
        let metadata = file.metadata()?;
        if metadata.is_file() && metadata.permissions().mode() & 0o077 != 0 {
            file.set_permissions(Permissions::from_mode(FILE_MODE))?;
        }
        Ok(file)
    };
    open().map_err(LogError::of("open", path))
}

/// Renames `audit.jsonl` to `audit<mark>0001.jsonl` or the next free number, and returns the new name.
fn rename_numbered(path: &Path, mark: &str) -> io::Result<String> {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("audit");
    for number in 1..=NAMES_MAX {
        let name = format!("{stem}{mark}{number:04}.jsonl");
        let target = path.with_file_name(&name);
        if !target.try_exists()? && !compressed(&target).try_exists()? {
            fs::rename(path, target)?;
            return Ok(name);
        }
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, "no free name for the renamed log"))
}

#[cfg(test)]
mod tests;
