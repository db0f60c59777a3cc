//! Verification of a log: the number, link and hash of every line.
//!
//! A line is `{"n":…,<event>,"prev":"<hash of the line before>","hash":"<SHA-256 of everything before this field>"}`.
//! The chain shows edits unless the editor recomputes it, which anyone who can write the file can do.

use std::borrow::Borrow;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Take};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use artoo_proto::Timestamp;

use crate::event::{EVENT_MAX_BYTES, Note};
use crate::stats::{StatsError, load_stats, stats_path};
use crate::window::LogHead;
use crate::words;

/// Maximum length of a log line, in bytes: an event of maximum length with number and hashes, and room for reports.
const LINE_MAX_BYTES: u64 = 4 * EVENT_MAX_BYTES as u64;

/// Maximum number of full log files searched for the line that the statistics name; fewer are filled between two writes
/// of them.
const SEGMENTS_FOLLOWED: usize = 1_024;

/// Milliseconds before a process was killed in which its events may not have been written; more than the interval
/// between syncs.
const KILLED_LOSES_MS: i64 = 10_000;

/// The hash that the first line of a log names as that of the line before it.
pub(crate) const NO_HASH: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// What a log that passed verification contains: number of lines, last line, gaps and tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// Number of lines in the log.
    pub lines: u64,
    /// The last line; `None` for an empty file.
    pub head: Option<LogHead>,
    /// The full file that this one continues.
    pub follows: Option<String>,
    /// Whether the file ends with an incomplete line, which is not counted: artoo is writing it, was killed, or the disk
    /// was full. The next start removes it.
    pub is_torn: bool,
    /// Missing parts that notes in the log describe.
    pub gaps: Vec<Gap>,
    /// [`Gap::id`] of the missing parts that the user accepted.
    pub accepted: Vec<String>,
    /// Tasks in which work outside the System was started.
    tasks: BTreeSet<String>,
    /// The last line's time of each process that did not close the log: it was killed, or still writes.
    unclosed: Vec<Timestamp>,
}

impl Verified {
    /// Whether the log has a line about an effect or tool call of `task`, or may lack it: the last line of a process
    /// that did not close the log is less than 10 seconds older than `at`.
    #[must_use]
    pub fn mentions(&self, task: &str, at: Timestamp) -> bool {
        let may_be_lost = |end: &Timestamp| (0..KILLED_LOSES_MS).contains(&(at.as_millis() - end.as_millis()));
        self.tasks.contains(task) || self.unclosed.iter().any(may_be_lost)
    }
}

/// Missing or damaged lines that a note in the log describes, or a full log file that the log continues and that can't
/// be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// The hash of the note; for a missing file, the hash of the file's last line.
    pub id: String,
    /// What is missing, for the user.
    pub problem: String,
}

/// The first damaged line of a log.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct VerifyError {
    /// Number of the damaged line, from 1.
    pub line: u64,
    /// What is wrong with the line.
    #[source]
    pub what: Damage,
}

/// The kind of damage of a line.
#[derive(Debug, thiserror::Error)]
pub enum Damage {
    /// The file could not be read.
    #[error("can't be read")]
    Unreadable(#[source] std::io::Error),
    /// The line has no end: the write or the file was cut.
    #[error("is incomplete")]
    Torn,
    /// The line is not a log entry.
    #[error("is not a log entry")]
    NotARecord,
    /// The line has another number: lines were removed, moved or added.
    #[error("has number {found}")]
    Number {
        /// The number that the damaged line contains.
        found: u64,
    },
    /// The line's `prev` is not the hash of the line before, or of the file it says it continues.
    #[error("does not follow the line before")]
    Link,
    /// The line's content does not match its hash.
    #[error("was changed after it was written")]
    Content,
    /// The line is missing, but was once written.
    #[error("{}", words::missing_lines(*.expected, *.found, *.whole_at))]
    CutShort {
        /// Number of lines the log once had, at least.
        expected: u64,
        /// Number of lines that the log has.
        found: u64,
        /// When the log still had those lines.
        whole_at: Option<Timestamp>,
    },
    /// The statistics that would show missing lines were deleted or damaged.
    #[error("the statistics beside the log were deleted or damaged")]
    Statistics,
}

/// Verifies a log: the number, link and content of every line; that it continues the file it names, if that exists; and
/// that it contains the line noted in the statistics beside it.
///
/// # Errors
/// [`VerifyError`] with the first damaged line.
pub fn verify(path: &Path) -> Result<Verified, VerifyError> {
    let unreadable = |source| VerifyError { line: 1, what: Damage::Unreadable(source) };
    let stats = stats_path(path).map(|stats| load_stats(&stats));
    let known = stats.as_ref().and_then(|stats| stats.as_ref().ok()?.head.clone());
    let lines = match open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && known.is_some() => Box::new(io::empty()),
        lines => lines.map_err(unreadable)?,
    };
    let mut scan = scan(lines, known.as_ref());
    let is_torn = matches!(scan.damage, Some(VerifyError { what: Damage::Torn, .. }));
    if let Some(error) = scan.damage.take_if(|_| !is_torn) {
        return Err(error);
    }
    if let Some(Follows { file, hash }) = &scan.follows {
        match open(&path.with_file_name(file)).map(|before| self::scan(before, None).hash) {
            Ok(last) if last == *hash => {}
            Ok(_) => return Err(VerifyError { line: 1, what: Damage::Link }),
            Err(error) => {
                let problem = format!("{file}, which this file continues, can't be read: {error}");
                scan.gaps.push(Gap { id: hash.clone(), problem });
            }
        }
    }
    let end = |what| Err(VerifyError { line: scan.lines + 1, what });
    if let Some(head) = &known
        && !scan.contains(path, head)
    {
        return end(Damage::CutShort { expected: head.lines, found: scan.lines, whole_at: head.at });
    }
    match stats {
        Some(Err(StatsError::Format { .. })) => return end(Damage::Statistics),
        // Every process that closes the log has written statistics before.
        Some(Err(StatsError::Io { source, .. })) if source.kind() == io::ErrorKind::NotFound && scan.is_closed => {
            return end(Damage::Statistics);
        }
        _ => {}
    }
    Ok(Verified {
        lines: scan.lines,
        head: (scan.lines > 0).then_some(LogHead { lines: scan.lines, hash: scan.hash, at: None }),
        follows: scan.follows.map(|follows| follows.file),
        is_torn,
        gaps: scan.gaps,
        accepted: scan.accepted,
        tasks: scan.tasks,
        unclosed: scan.unclosed,
    })
}

/// What was found by reading a log file up to its first damaged line.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    /// Number of undamaged lines.
    pub(crate) lines: u64,
    /// Length of the undamaged lines in bytes.
    pub(crate) bytes: u64,
    /// Hash of the last undamaged line.
    pub(crate) hash: String,
    /// The first damaged line.
    pub(crate) damage: Option<VerifyError>,
    /// Missing parts that notes in the file describe.
    gaps: Vec<Gap>,
    /// Ids of the accepted gaps.
    accepted: Vec<String>,
    /// Tasks in which work outside the System was started.
    tasks: BTreeSet<String>,
    /// The last line's time of each process that did not close the log.
    unclosed: Vec<Timestamp>,
    /// Whether a process closed the log.
    is_closed: bool,
    /// The full file that this one says it continues.
    follows: Option<Follows>,
    /// Whether the known line was found.
    found_known: bool,
}

/// The full log file that the current one says it continues, and the hash of its last line.
#[derive(Debug)]
struct Follows {
    /// Name of the full file.
    file: String,
    /// Hash of the full file's last line.
    hash: String,
}

impl Scan {
    /// Adds to the result of the scan what a log line says about gaps, its task, and the opening or closing of the log.
    fn note(&mut self, fields: &ChainFields, line: &[u8]) {
        match fields.event.as_str() {
            "log_opened" | "segment_started" => self.unclosed.push(fields.at),
            "log_closed" => self.is_closed |= self.unclosed.pop().is_some(),
            _ => self.unclosed.last_mut().into_iter().for_each(|end| *end = fields.at),
        }
        self.tasks.extend(fields.task_id.clone());
        let is_about_gaps = ["cut_short", "set_aside", "stats_set_aside", "log_missing", "gap_accepted"]
            .contains(&fields.event.as_str());
        match is_about_gaps.then(|| serde_json::from_slice(line)) {
            Some(Ok(Note::GapAccepted { gaps })) => self.accepted.extend(gaps),
            Some(Ok(note)) if note.is_gap() => {
                let problem = words::problem(&note).unwrap_or_default();
                let problem = format!("noticed at {} (line {}): {problem}", fields.at, fields.n);
                self.gaps.push(Gap { id: fields.hash.clone(), problem });
            }
            _ => {}
        }
    }

    /// Whether this log file, or one of the full files that it continues, contains the line `head`.
    pub(crate) fn contains(&self, path: &Path, head: &LogHead) -> bool {
        if self.found_known {
            return true;
        }
        let mut before = self.follows.as_ref().map(|follows| follows.file.clone());
        for _ in 0..SEGMENTS_FOLLOWED {
            let Some(file) = before.take().and_then(|name| open(&path.with_file_name(name)).ok()) else {
                return false;
            };
            let scan = scan(file, Some(head));
            if scan.found_known {
                return true;
            }
            before = scan.follows.map(|follows| follows.file);
        }
        false
    }
}

/// The path of the compressed form of a full log file.
pub(crate) fn compressed(full: &Path) -> PathBuf {
    full.with_added_extension("gz")
}

/// Opens a log file for reading its lines; of a full file, its compressed form if only that exists.
pub(crate) fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    if path.extension().is_some_and(|extension| extension == "gz") {
        return Ok(Box::new(read_compressed(path)?));
    }
    match File::open(path) {
        Ok(file) => Ok(Box::new(read_plain(file))),
        Err(error) => {
            read_compressed(&compressed(path)).map_or(Err(error), |lines| Ok(Box::new(lines) as Box<dyn Read>))
        }
    }
}

/// Reads no more than the current length of the file, so that a device in its place can't block the reader.
pub(crate) fn read_plain<F: Borrow<File> + Read>(file: F) -> Take<F> {
    let length = file.borrow().metadata().map_or(0, |metadata| metadata.len());
    file.take(length)
}

/// Opens a compressed full log file for reading its lines.
pub(crate) fn read_compressed(path: &Path) -> io::Result<impl Read + 'static> {
    File::open(path).map(|file| GzDecoder::new(read_plain(file)))
}

/// Reads a log's lines up to the first damaged one, and notes whether the line `known` is among them.
pub(crate) fn scan(lines: impl Read, known: Option<&LogHead>) -> Scan {
    scan_with(lines, known, |_, _| {})
}

/// Reads a log's lines like [`scan`], and calls `visit` with each undamaged line.
pub(crate) fn scan_with(lines: impl Read, known: Option<&LogHead>, mut visit: impl FnMut(&ChainFields, &[u8])) -> Scan {
    let mut scan = Scan { hash: NO_HASH.to_owned(), ..Scan::default() };
    let mut reader = BufReader::new(lines);
    let mut line = Vec::new();
    loop {
        line.clear();
        let number = scan.lines + 1;
        match (&mut reader).take(LINE_MAX_BYTES).read_until(b'\n', &mut line) {
            Ok(0) => return scan,
            Ok(read) => match check_line(&line, number, &scan.hash) {
                Ok(checked) => {
                    scan.note(&checked, &line);
                    visit(&checked, &line);
                    scan.lines = number;
                    scan.bytes += read as u64;
                    scan.hash = checked.hash;
                    if number == 1 {
                        scan.follows = checked.follows.map(|file| Follows { file, hash: checked.prev });
                    }
                    scan.found_known |= known.is_some_and(|known| known.lines == number && known.hash == scan.hash);
                }
                Err(what) => {
                    // A line beyond the maximum was not cut off: others may follow.
                    let what = if read as u64 == LINE_MAX_BYTES { Damage::NotARecord } else { what };
                    scan.damage = Some(VerifyError { line: number, what });
                    return scan;
                }
            },
            Err(source) => {
                scan.damage = Some(VerifyError { line: number, what: Damage::Unreadable(source) });
                return scan;
            }
        }
    }
}

/// The fields of a log line that verification needs: number, hashes, event, time and task.
#[derive(Deserialize)]
pub(crate) struct ChainFields {
    n: u64,
    prev: String,
    pub(crate) hash: String,
    event: String,
    pub(crate) at: Timestamp,
    task_id: Option<String>,
    #[serde(default)]
    follows: Option<String>,
}

/// Checks a log line: its number, the hash of its content, and that it names the hash of the line before.
fn check_line(line: &[u8], number: u64, before: &str) -> Result<ChainFields, Damage> {
    let Some(line) = line.strip_suffix(b"\n") else {
        // An incomplete record starts with a brace, and no record contains control characters.
        let is_begun = line.starts_with(b"{") && !line.iter().any(u8::is_ascii_control);
        return Err(if is_begun { Damage::Torn } else { Damage::NotARecord });
    };
    let mut fields: ChainFields = serde_json::from_slice(line).map_err(|_| Damage::NotARecord)?;
    let tail = hash_suffix(&fields.hash);
    let body = line.strip_suffix(tail.as_bytes()).ok_or(Damage::NotARecord)?;
    if fields.n != number {
        return Err(Damage::Number { found: fields.n });
    }
    if sha256(body) != fields.hash {
        return Err(Damage::Content);
    }
    fields.follows = fields.follows.filter(|file| fields.event == "segment_started" && !file.contains('/'));
    if fields.prev != before && !(number == 1 && fields.follows.is_some()) {
        return Err(Damage::Link);
    }
    Ok(fields)
}

/// The end of a log line: its hash field and the closing brace.
pub(crate) fn hash_suffix(hash: &str) -> String {
    format!(r#","hash":"{hash}"}}"#)
}

/// SHA-256 in lowercase hex.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        hex.extend([byte >> 4, byte & 0x0f].iter().filter_map(|digit| char::from_digit(u32::from(*digit), 16)));
    }
    hex
}

#[cfg(test)]
mod tests;
