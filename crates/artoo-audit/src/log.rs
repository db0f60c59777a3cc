//! The audit log on disk: append-only lines, each chained to the one before.

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
    Damage, NO_HASH, Scan, VerifyError, compressed, hash_field, read_compressed, read_plain, scan, sha256,
};
use crate::window::LogHead;

/// Size at which a log goes on in a new file and the full one is compressed. Every start verifies the whole file, which
/// is to be a small part of what a request costs; some six requests fit, and compressed they take a tenth.
pub const SEGMENT_MAX_BYTES: u64 = 192 * 1024;

/// Only the owner may read what was said and done.
const FILE_MODE: u32 = 0o600;

/// Names tried for a file that is put aside, before giving up.
const NAMES_MAX: u32 = 10_000;

/// The log could not be opened or written.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// It could not be opened.
    #[error("can't open {path:?}")]
    Open {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// It could not be read to its end.
    #[error("can't check {path:?}")]
    Check {
        /// Which file.
        path: PathBuf,
        /// What was found.
        #[source]
        source: VerifyError,
    },
    /// A damaged log could not be put aside.
    #[error("can't put {path:?} aside")]
    SetAside {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// An event could not be written.
    #[error("can't write to {path:?}")]
    Write {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// What was written may not be on the disk.
    #[error("can't bring {path:?} to the disk")]
    Sync {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

/// An open log. One process writes it at a time; the service sees to that.
#[derive(Debug)]
pub struct AuditLog {
    path: PathBuf,
    file: File,
    lines: u64,
    bytes: u64,
    hash: String,
    segment_max: u64,
    /// Room for the lines being written.
    written: Vec<u8>,
    /// A write was cut off; the file may be longer than `bytes`.
    torn: bool,
    /// Events lost and not yet told in the log, and why.
    lost: Option<(u64, String)>,
    lost_total: u64,
}

impl AuditLog {
    /// Opens or begins a log and goes on with its chain; everything found is returned and stands in the log too.
    ///
    /// A last line without an end is cut off. A log whose chain is broken is kept under another name
    /// (`….broken-0001.jsonl`) and a new one is begun that says so: refusing to run would let anyone who can write the
    /// file switch artoo off, and going on in it would bury the damage. `known` is a line the log must still reach.
    ///
    /// # Errors
    /// [`LogError`] when the file can't be opened, read, or put aside. A disk that is full is no error here: what can't be
    /// written is counted.
    pub fn open(path: &Path, at: Timestamp, known: Option<&LogHead>) -> Result<(Self, Vec<Note>), LogError> {
        let file = open_file(path)?;
        let scan = scan(read_plain(&file), known);
        let mut notes = Vec::new();
        let mut log = match &scan.damage {
            None => Self::new(path, file, &scan),
            Some(VerifyError { what: Damage::Torn, .. }) => {
                let length = file.metadata().map_or(scan.bytes, |metadata| metadata.len());
                notes.push(Note::TornTail { bytes: length.saturating_sub(scan.bytes) });
                Self { torn: true, ..Self::new(path, file, &scan) }
            }
            Some(VerifyError { what: Damage::Unreadable(_), .. }) => {
                let source = scan.damage.unwrap_or(VerifyError { line: 1, what: Damage::NotARecord });
                return Err(LogError::Check { path: path.to_owned(), source });
            }
            Some(damage) => {
                let name = put_aside(path, ".broken-")
                    .map_err(|source| LogError::SetAside { path: path.to_owned(), source })?;
                notes.push(Note::SetAside { file: name, line: damage.line, problem: damage.what.to_string() });
                Self::empty(path, open_file(path)?)
            }
        };
        if let Some(head) = known
            && !matches!(notes.last(), Some(Note::SetAside { .. }))
            && !scan.reaches(path, head)
        {
            notes.push(Note::CutShort { expected: head.lines, found: scan.lines });
        }
        notes.push(Note::LogOpened { lines: log.lines });
        for note in &notes {
            // A failure is counted in the log itself and told by the next write that succeeds.
            let _ = log.append(&AuditEvent::note(at, note.clone()));
        }
        Ok((log, notes))
    }

    /// Appends an event.
    ///
    /// # Errors
    /// [`LogError::Write`] when it could not be written. It is then lost and counted; a part that was written is cut off
    /// again, and the first event that can be written is preceded by a note of how many are missing.
    pub fn append(&mut self, event: &AuditEvent) -> Result<(), LogError> {
        let result = self.try_append(event);
        if let Err(source) = &result {
            // The first reason is the telling one; what follows may only be its echo.
            let (missing, _) = self.lost.get_or_insert_with(|| (0, source.to_string()));
            *missing += 1;
            self.lost_total += 1;
        }
        result.map_err(|source| LogError::Write { path: self.path.clone(), source })
    }

    /// Brings what was written to the disk.
    ///
    /// # Errors
    /// [`LogError::Sync`]; what was written since the last success may then be lost, and trying again would not show it.
    pub fn sync(&mut self) -> Result<(), LogError> {
        self.file.sync_data().map_err(|source| LogError::Sync { path: self.path.clone(), source })
    }

    /// The last line.
    #[must_use]
    pub fn head(&self) -> LogHead {
        LogHead { lines: self.lines, hash: self.hash.clone() }
    }

    /// Events that could not be written since this log was opened.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost_total
    }

    /// Events that could not be written and that the log does not tell of yet, and why the first of them was lost.
    #[must_use]
    pub fn untold(&self) -> Option<(u64, &str)> {
        self.lost.as_ref().map(|(missing, problem)| (*missing, problem.as_str()))
    }

    fn new(path: &Path, file: File, scan: &Scan) -> Self {
        Self { lines: scan.lines, bytes: scan.bytes, hash: scan.hash.clone(), ..Self::empty(path, file) }
    }

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

    fn next_segment(&mut self, at: Timestamp) -> io::Result<()> {
        self.file.sync_data()?;
        let follows = put_aside(&self.path, ".")?;
        let lines = self.lines;
        self.file = match file_options().open(&self.path) {
            Ok(file) => file,
            Err(error) => {
                // The open file goes on under its own name, so that the next event can try again.
                fs::rename(self.path.with_file_name(&follows), &self.path)?;
                return Err(error);
            }
        };
        self.lines = 0;
        self.bytes = 0;
        // Where this fails the full file stays as it is, which every reader takes as well.
        let _ = compress(&self.path.with_file_name(&follows));
        self.write_line(&AuditEvent::note(at, Note::SegmentStarted { follows, lines }))
    }

    /// Appends several events by one write; false where it did not come to that, and nothing was appended or lost.
    ///
    /// A crash in the middle of it leaves whole lines and at most one torn one, as if they had been written one by one.
    pub(crate) fn append_together(&mut self, events: &[AuditEvent]) -> bool {
        let is_usual = !self.torn && self.lost.is_none() && self.bytes < self.segment_max;
        is_usual && self.write_lines(events).is_ok()
    }

    fn write_line(&mut self, event: &AuditEvent) -> io::Result<()> {
        self.write_lines(slice::from_ref(event))
    }

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
            self.written.extend_from_slice(hash_field(&own).as_bytes());
            self.written.push(b'\n');
            hash = Some(own);
        }
        // One write for whole lines, so that a crash tears at most the last one.
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

/// Puts the compressed form of a full file in its place, once it is shown to hold the same bytes.
fn compress(full: &Path) -> io::Result<()> {
    let (part, lines) = (full.with_extension("part"), fs::read(full)?);
    let file = OpenOptions::new().write(true).create(true).truncate(true).mode(FILE_MODE).open(&part)?;
    let mut encoder = GzEncoder::new(file, Compression::default());
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

fn file_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true).mode(FILE_MODE);
    options
}

fn open_file(path: &Path) -> Result<File, LogError> {
    let open = || -> io::Result<File> {
        let file = file_options().open(path)?;
        let metadata = file.metadata()?;
        if metadata.is_file() && metadata.permissions().mode() & 0o077 != 0 {
            file.set_permissions(Permissions::from_mode(FILE_MODE))?;
        }
        Ok(file)
    };
    open().map_err(|source| LogError::Open { path: path.to_owned(), source })
}

/// Renames `audit.jsonl` to `audit<mark>0001.jsonl`, or the next number that is free; the new name is returned.
fn put_aside(path: &Path, mark: &str) -> io::Result<String> {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("audit");
    for number in 1..=NAMES_MAX {
        let name = format!("{stem}{mark}{number:04}.jsonl");
        let target = path.with_file_name(&name);
        if !target.try_exists()? && !compressed(&target).try_exists()? {
            fs::rename(path, target)?;
            return Ok(name);
        }
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, "too many files put aside"))
}

#[cfg(test)]
mod tests;
