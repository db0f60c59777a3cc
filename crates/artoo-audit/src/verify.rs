//! Reading a log back: whether every line is the one that was written, in its place.
//!
//! A line is `{"n":…,<event>,"prev":"<hash of the line before>","hash":"<SHA-256 of everything before this field>"}`.
//! Whoever can write the file can also recompute the chain; it shows edits by those who don't.

use std::borrow::Borrow;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Take};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::event::EVENT_MAX_BYTES;
use crate::stats::{load_stats, stats_path};
use crate::window::LogHead;

/// Longest line accepted: an event of the longest kind with its place in the chain, and room for reports.
const LINE_MAX_BYTES: u64 = 4 * EVENT_MAX_BYTES as u64;

/// Full files followed back in search of a line once written: more are never filled between two savings of the statistics.
const SEGMENTS_FOLLOWED: usize = 1_024;

/// `prev` of a log's very first line.
pub(crate) const NO_HASH: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// A log whose every line fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// Lines in it.
    pub lines: u64,
    /// The last one; `None` for an empty file.
    pub head: Option<LogHead>,
    /// The full file this one goes on from.
    pub follows: Option<String>,
}

/// The first line that does not fit.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct VerifyError {
    /// Its number, from 1.
    pub line: u64,
    /// What is wrong.
    #[source]
    pub what: Damage,
}

/// What is wrong with a line.
#[derive(Debug, thiserror::Error)]
pub enum Damage {
    /// The file could not be read.
    #[error("can't be read")]
    Unreadable(#[source] std::io::Error),
    /// It has no end: a write was cut off, or the file was.
    #[error("has no end")]
    Torn,
    /// It is no line of this log.
    #[error("is no record")]
    NotARecord,
    /// It is not the line that belongs here: lines are missing, moved or added.
    #[error("has number {found}")]
    Number {
        /// The number it carries.
        found: u64,
    },
    /// It does not go on from the line before, or from the file it says it follows.
    #[error("does not follow the line before")]
    Link,
    /// Its content is not what was written.
    #[error("is not what was written")]
    Content,
    /// The log ends, yet this line was once written.
    #[error("is missing: the log once had {expected} lines")]
    CutShort {
        /// Lines it had, at least.
        expected: u64,
    },
}

/// Checks a log: every line's number, link and content; that it goes on from the file it follows, where that is still
/// there; and that it reaches the line last noted in the statistics beside it.
///
/// Run on a log that is being written, it may find the last line torn.
///
/// # Errors
/// [`VerifyError`] with the first line that does not fit.
pub fn verify(path: &Path) -> Result<Verified, VerifyError> {
    let unreadable = |source| VerifyError { line: 1, what: Damage::Unreadable(source) };
    let known = stats_path(path).filter(|stats| stats.exists()).and_then(|stats| load_stats(&stats).ok()?.head);
    let scan = scan(open(path).map_err(unreadable)?, known.as_ref());
    if let Some(error) = scan.damage {
        return Err(error);
    }
    if let Some(follows) = &scan.follows
        && let Ok(before) = open(&path.with_file_name(&follows.file))
        && self::scan(before, None).hash != follows.hash
    {
        return Err(VerifyError { line: 1, what: Damage::Link });
    }
    if let Some(head) = &known
        && !scan.reaches(path, head)
    {
        return Err(VerifyError { line: scan.lines + 1, what: Damage::CutShort { expected: head.lines } });
    }
    let head = (scan.lines > 0).then(|| LogHead { lines: scan.lines, hash: scan.hash.clone() });
    Ok(Verified { lines: scan.lines, head, follows: scan.follows.map(|follows| follows.file) })
}

/// How far a file holds.
#[derive(Debug)]
pub(crate) struct Scan {
    /// Lines that fit.
    pub(crate) lines: u64,
    /// Their length in bytes.
    pub(crate) bytes: u64,
    /// The last one's hash.
    pub(crate) hash: String,
    /// The first line that does not fit.
    pub(crate) damage: Option<VerifyError>,
    /// The file this one says it follows.
    follows: Option<Follows>,
    /// Whether the line looked for was met.
    met: bool,
}

#[derive(Debug)]
struct Follows {
    file: String,
    hash: String,
}

impl Scan {
    /// Whether the log beginning here, or a full file it follows, has the line `head`.
    pub(crate) fn reaches(&self, path: &Path, head: &LogHead) -> bool {
        if self.met {
            return true;
        }
        let mut before = self.follows.as_ref().map(|follows| follows.file.clone());
        for _ in 0..SEGMENTS_FOLLOWED {
            let Some(file) = before.take().and_then(|name| open(&path.with_file_name(name)).ok()) else {
                return false;
            };
            let scan = scan(file, Some(head));
            if scan.met {
                return true;
            }
            before = scan.follows.map(|follows| follows.file);
        }
        false
    }
}

/// Where the compressed form of a full file lies.
pub(crate) fn compressed(full: &Path) -> PathBuf {
    full.with_added_extension("gz")
}

/// The lines of a log, or of the compressed form that a full file has.
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

/// Reads only as much as the file says it holds, so a device in its place can't keep the reader busy for ever.
pub(crate) fn read_plain<F: Borrow<File> + Read>(file: F) -> Take<F> {
    let length = file.borrow().metadata().map_or(0, |metadata| metadata.len());
    file.take(length)
}

/// The lines of a compressed full file.
pub(crate) fn read_compressed(path: &Path) -> io::Result<impl Read + 'static> {
    File::open(path).map(|file| GzDecoder::new(read_plain(file)))
}

/// Reads a log from its start to the first line that does not fit, looking out for `known`.
pub(crate) fn scan(lines: impl Read, known: Option<&LogHead>) -> Scan {
    let mut scan = Scan { lines: 0, bytes: 0, hash: NO_HASH.to_owned(), damage: None, follows: None, met: false };
    let mut reader = BufReader::new(lines);
    let mut line = Vec::new();
    loop {
        line.clear();
        let number = scan.lines + 1;
        match (&mut reader).take(LINE_MAX_BYTES).read_until(b'\n', &mut line) {
            Ok(0) => return scan,
            Ok(read) => match check_line(&line, number, &scan.hash) {
                Ok(checked) => {
                    scan.lines = number;
                    scan.bytes += read as u64;
                    scan.hash = checked.hash;
                    if number == 1 {
                        scan.follows = checked.follows.map(|file| Follows { file, hash: checked.prev });
                    }
                    scan.met |= known.is_some_and(|known| known.lines == number && known.hash == scan.hash);
                }
                Err(what) => {
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

/// A line's place in the chain.
#[derive(Deserialize)]
struct Place {
    n: u64,
    prev: String,
    hash: String,
    event: String,
    #[serde(default)]
    follows: Option<String>,
}

struct Checked {
    hash: String,
    prev: String,
    follows: Option<String>,
}

fn check_line(line: &[u8], number: u64, before: &str) -> Result<Checked, Damage> {
    let line = line.strip_suffix(b"\n").ok_or(Damage::Torn)?;
    let place: Place = serde_json::from_slice(line).map_err(|_| Damage::NotARecord)?;
    let tail = hash_field(&place.hash);
    let body = line.strip_suffix(tail.as_bytes()).ok_or(Damage::NotARecord)?;
    if place.n != number {
        return Err(Damage::Number { found: place.n });
    }
    if sha256(body) != place.hash {
        return Err(Damage::Content);
    }
    let follows = place.follows.filter(|file| place.event == "segment_started" && !file.contains('/'));
    if place.prev != before && !(number == 1 && follows.is_some()) {
        return Err(Damage::Link);
    }
    Ok(Checked { hash: place.hash, prev: place.prev, follows })
}

/// The end of a line: its hash field and the closing brace.
pub(crate) fn hash_field(hash: &str) -> String {
    format!(r#","hash":"{hash}"}}"#)
}

/// SHA-256 in lower-case hex.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        hex.extend([byte >> 4, byte & 0x0f].iter().filter_map(|digit| char::from_digit(u32::from(*digit), 16)));
    }
    hex
}

#[cfg(test)]
mod tests;
