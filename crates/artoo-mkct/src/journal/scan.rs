//! Reading a journal back, and telling a torn tail from damage.
//!
//! A bad frame with a sound frame anywhere behind it is damage, and loud; a bad frame with none behind it is what an
//! interrupted write leaves, and is cut.

use std::{
    fs::File,
    io::{BufReader, Read, Seek as _, SeekFrom},
    path::Path,
};

use crate::{
    Frame,
    journal::{
        error::{FrameProblem, JournalError, JournalStep},
        format::{self, FRAME_HEADER_BYTES, HEADER_BYTES, Header, MARKER},
    },
};

/// What a journal holds.
pub(super) struct Scanned {
    pub(super) frames: Vec<Frame>,
    /// Where the next frame goes.
    pub(super) end: u64,
    /// The file is empty, or its header was torn.
    pub(super) needs_header: bool,
}

/// Reads all `length` bytes of a journal.
pub(super) fn scan(file: &mut File, path: &Path, length: u64) -> Result<Scanned, JournalError> {
    let read_error = || JournalError::at(path, JournalStep::Read);
    file.rewind().map_err(read_error())?;
    let mut reader = BufReader::new(&mut *file);
    let mut header = Vec::with_capacity(HEADER_BYTES);
    reader.by_ref().take(HEADER_BYTES as u64).read_to_end(&mut header).map_err(read_error())?;
    match format::read_header(&header) {
        Header::Sound => {}
        Header::Torn => return Ok(Scanned { frames: Vec::new(), end: HEADER_BYTES as u64, needs_header: true }),
        Header::Foreign => return Err(JournalError::NotAJournal { path: path.to_owned() }),
        Header::Newer(found) => {
            let supported = format::FORMAT_VERSION;
            return Err(JournalError::NewerVersion { path: path.to_owned(), found, supported });
        }
    }
    let mut scanned = Scanned { frames: Vec::new(), end: HEADER_BYTES as u64, needs_header: false };
    while scanned.end < length {
        let offset = scanned.end;
        let problem = match read_payload(&mut reader, length - offset).map_err(read_error())? {
            Ok(payload) => match serde_json::from_slice(&payload) {
                Ok(frame) => {
                    scanned.frames.push(frame);
                    scanned.end += (FRAME_HEADER_BYTES + payload.len()) as u64;
                    continue;
                }
                // Written whole, checksum and all: this was never an interrupted write.
                Err(_) => return Err(corrupt(path, offset, FrameProblem::Content, None)),
            },
            Err(problem) => problem,
        };
        drop(reader);
        return match next_sound(file, offset, length).map_err(read_error())? {
            None => Ok(scanned),
            next_sound => Err(corrupt(path, offset, problem, next_sound)),
        };
    }
    Ok(scanned)
}

fn corrupt(path: &Path, offset: u64, problem: FrameProblem, next_sound: Option<u64>) -> JournalError {
    JournalError::Corrupt { path: path.to_owned(), offset, problem, next_sound }
}

/// Reads one frame's payload of which `left` bytes are left, header included.
fn read_payload(reader: &mut impl Read, left: u64) -> std::io::Result<Result<Vec<u8>, FrameProblem>> {
    let mut header = [0; FRAME_HEADER_BYTES];
    if left < FRAME_HEADER_BYTES as u64 {
        return Ok(Err(FrameProblem::Length));
    }
    reader.read_exact(&mut header)?;
    let (length, expected) = match format::read_frame_header(&header) {
        Ok(announced) => announced,
        Err(problem) => return Ok(Err(problem)),
    };
    if u64::from(length) > left - FRAME_HEADER_BYTES as u64 {
        return Ok(Err(FrameProblem::Length));
    }
    let mut payload = vec![0; length as usize];
    reader.read_exact(&mut payload)?;
    let sound = format::checksum(length, &payload) == expected;
    Ok(if sound { Ok(payload) } else { Err(FrameProblem::Checksum) })
}

/// The first sound frame behind a bad one.
fn next_sound(file: &mut File, bad: u64, length: u64) -> std::io::Result<Option<u64>> {
    let from = bad + 1;
    file.seek(SeekFrom::Start(from))?;
    let mut rest = Vec::new();
    file.take(length.saturating_sub(from)).read_to_end(&mut rest)?;
    for (position, window) in rest.windows(MARKER.len()).enumerate() {
        if window != MARKER {
            continue;
        }
        let mut candidate = rest.get(position..).unwrap_or_default();
        let left = candidate.len() as u64;
        if read_payload(&mut candidate, left)?.is_ok() {
            return Ok(Some(from + position as u64));
        }
    }
    Ok(None)
}
