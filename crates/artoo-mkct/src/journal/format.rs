//! The bytes of a journal: a header, then frames.
//!
//! Header, 16 bytes: magic `ARTOMKCT`, version u32, CRC-32 of those twelve. The layout holds for every version.
//! Frame: marker `MKF1`, length u32, CRC-32 of length and payload u32, payload (JSON). Integers are little-endian.
//! The marker cannot occur in a sound payload together with a plausible length, since JSON text holds no NUL byte.

use std::path::Path;

use crate::{
    Frame,
    journal::error::{FrameProblem, JournalError},
};

/// The version this library writes.
pub const FORMAT_VERSION: u32 = 1;

/// Largest payload: content and tags at their bounds, each byte escaped, and the evidence of a rule still fit.
pub const MAX_FRAME_BYTES: usize = 1024 * 1024;

pub(super) const HEADER_BYTES: usize = 16;
pub(super) const FRAME_HEADER_BYTES: usize = 12;
pub(super) const MARKER: [u8; 4] = *b"MKF1";
const MAGIC: [u8; 8] = *b"ARTOMKCT";

/// What the first bytes of a file say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Header {
    /// A journal of this version.
    Sound,
    /// Empty, or the header was being written when the process died.
    Torn,
    /// A journal of a newer version.
    Newer(u32),
    /// Something else.
    Foreign,
}

/// Why a frame cannot be written.
pub(super) enum Unencodable {
    TooLarge(usize),
    Json(serde_json::Error),
}

impl Unencodable {
    pub(super) fn at(self, path: &Path) -> JournalError {
        let path = path.to_owned();
        match self {
            Self::TooLarge(bytes) => JournalError::TooLarge { path, bytes, max_bytes: MAX_FRAME_BYTES },
            Self::Json(source) => JournalError::Encode { path, source },
        }
    }
}

/// The header of a journal of this version.
pub(super) fn header() -> [u8; HEADER_BYTES] {
    header_of(FORMAT_VERSION)
}

pub(super) fn header_of(version: u32) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    let (signed, checksum) = header.split_at_mut(HEADER_BYTES - 4);
    let (magic, number) = signed.split_at_mut(MAGIC.len());
    magic.copy_from_slice(&MAGIC);
    number.copy_from_slice(&version.to_le_bytes());
    checksum.copy_from_slice(&crc32fast::hash(signed).to_le_bytes());
    header
}

/// Reads a header; `bytes` are at most the first 16 of the file, fewer only when the file is shorter.
pub(super) fn read_header(bytes: &[u8]) -> Header {
    if bytes.len() < HEADER_BYTES {
        return if header().starts_with(bytes) { Header::Torn } else { Header::Foreign };
    }
    let version = u32_at(bytes, MAGIC.len());
    if header_of(version) != bytes {
        return Header::Foreign;
    }
    match version {
        FORMAT_VERSION => Header::Sound,
        newer if newer > FORMAT_VERSION => Header::Newer(newer),
        _ => Header::Foreign,
    }
}

/// Appends a frame's bytes.
pub(super) fn encode(frame: &Frame, out: &mut Vec<u8>) -> Result<(), Unencodable> {
    let payload = serde_json::to_vec(frame).map_err(Unencodable::Json)?;
    let length = u32::try_from(payload.len()).ok().filter(|_| payload.len() <= MAX_FRAME_BYTES);
    let length = length.ok_or(Unencodable::TooLarge(payload.len()))?;
    out.extend_from_slice(&MARKER);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(&checksum(length, &payload).to_le_bytes());
    out.extend_from_slice(&payload);
    Ok(())
}

/// The payload's length and checksum that a frame header announces.
pub(super) fn read_frame_header(bytes: &[u8; FRAME_HEADER_BYTES]) -> Result<(u32, u32), FrameProblem> {
    if !bytes.starts_with(&MARKER) {
        return Err(FrameProblem::Marker);
    }
    let length = u32_at(bytes, 4);
    if length == 0 || length as usize > MAX_FRAME_BYTES {
        return Err(FrameProblem::Length);
    }
    Ok((length, u32_at(bytes, 8)))
}

/// The checksum of a frame: over its length too, so that a changed length cannot go unseen.
pub(super) fn checksum(length: u32, payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&length.to_le_bytes());
    hasher.update(payload);
    hasher.finalize()
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(|bytes| bytes.first_chunk()).map_or(0, |bytes| u32::from_le_bytes(*bytes))
}
