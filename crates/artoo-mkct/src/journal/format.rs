//! The bytes of a journal: a header, then entries.
//!
//! Header, 16 bytes: magic `ARTOMKCT`, version u32, CRC-32 of those twelve. The layout is the same in every version.
//! Entry: marker of four bytes, length u32, CRC-32 of marker, length and payload u32, payload (JSON). Integers are
//! little-endian. The marker names the kind of payload: `MKF1` a frame, `MKN1` a note about the journal, `MKE1` the
//! rest of an erased frame. A marker followed by a plausible length cannot occur inside a sound payload, since JSON
//! text contains no NUL byte. (The checksum of `MKF1` does not cover the marker, for compatibility.)

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{
    journal::error::JournalError,
    record::{Frame, FrameProblem, MegramId, Offset},
};

/// The version of the journal format that this library writes.
pub const FORMAT_VERSION: u32 = 1;

/// Most bytes of an entry's payload: fits a record with all texts at their limits, each byte escaped.
pub const MAX_FRAME_BYTES: usize = 1024 * 1024;

/// Length in bytes of the header of a journal.
pub(crate) const HEADER_BYTES: usize = 16;
/// Length in bytes of the header of an entry.
pub(crate) const ENTRY_HEADER_BYTES: usize = 12;
/// The first bytes of a journal, which identify the format.
const MAGIC: [u8; 8] = *b"ARTOMKCT";

/// The kind of an entry of a journal, as its marker names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The entry is a change of the memory.
    Frame,
    /// The entry is a note about the journal itself.
    Note,
    /// The entry replaces a frame whose record was erased.
    Erased,
}

/// A journal entry about the journal itself: a sync, a cut-off write, or a compaction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "note", rename_all = "snake_case")]
pub(crate) enum Note {
    /// Everything before offset `end` was synced when this note was written.
    Synced { end: u64 },
    /// An unfinished write of `bytes` bytes, with `entries` valid entries, was cut off the end of the journal here.
    Cut { bytes: u64, entries: usize },
    /// The journal was compacted for the `generation`th time; records deleted before `complete_from_ms` are missing.
    Compacted { generation: u64, complete_from_ms: i64 },
}

/// One decoded entry of a journal: a frame, a note, or the trace of an erased frame.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "nearly every entry is a frame, and none is kept")]
pub(crate) enum Entry {
    Frame(Frame),
    Note(Note),
    Erased(Erased),
}

/// The content of an entry that replaces an erased frame: the id of the erased record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Erased {
    pub(crate) id: MegramId,
}

impl Kind {
    /// The first bytes of an entry of this kind.
    pub(crate) const fn marker(self) -> [u8; 4] {
        match self {
            Self::Frame => *b"MKF1",
            Self::Note => *b"MKN1",
            Self::Erased => *b"MKE1",
        }
    }

    /// The kind of an entry that begins with these bytes; `None` if they are not a marker.
    fn of(bytes: &[u8]) -> Option<Self> {
        [Self::Frame, Self::Note, Self::Erased].into_iter().find(|kind| bytes.starts_with(&kind.marker()))
    }

    /// The checksum of an entry, over length and payload, and over the marker for all kinds but `Kind::Frame`.
    pub(crate) fn checksum(self, length: u32, payload: &[u8]) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        if self != Self::Frame {
            hasher.update(&self.marker());
        }
        hasher.update(&length.to_le_bytes());
        hasher.update(payload);
        hasher.finalize()
    }
}

/// The header of an entry: kind, length of the payload in bytes, and checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EntryHeader {
    pub(crate) kind: Kind,
    pub(crate) length: u32,
    pub(crate) checksum: u32,
}

impl EntryHeader {
    /// Decodes the header of an entry; an error if the marker or the length is not valid.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, FrameProblem> {
        let kind = Kind::of(bytes).ok_or(FrameProblem::Marker)?;
        let length = u32_at(bytes, 4);
        if length == 0 || length as usize > MAX_FRAME_BYTES {
            return Err(FrameProblem::Length);
        }
        Ok(Self { kind, length, checksum: u32_at(bytes, 8) })
    }

    /// Encodes the entry header as bytes.
    pub(crate) fn bytes(self) -> [u8; ENTRY_HEADER_BYTES] {
        let mut bytes = [0; ENTRY_HEADER_BYTES];
        let (marker, numbers) = bytes.split_at_mut(4);
        let (length, checksum) = numbers.split_at_mut(4);
        marker.copy_from_slice(&self.kind.marker());
        length.copy_from_slice(&self.length.to_le_bytes());
        checksum.copy_from_slice(&self.checksum.to_le_bytes());
        bytes
    }

    /// Whether the checksum in the header matches the payload.
    pub(crate) fn is_of(self, payload: &[u8]) -> bool {
        self.kind.checksum(self.length, payload) == self.checksum
    }

    /// Length of the whole entry (header and payload) in bytes.
    pub(crate) fn entry_bytes(self) -> u64 {
        ENTRY_HEADER_BYTES as u64 + u64::from(self.length)
    }

    /// Decodes the payload of an entry; an error if this version does not know the content.
    pub(crate) fn decode(self, payload: &[u8]) -> Result<Entry, FrameProblem> {
        let decoded = match self.kind {
            Kind::Frame => serde_json::from_slice(payload).map(Entry::Frame),
            Kind::Note => serde_json::from_slice(payload).map(Entry::Note),
            Kind::Erased => serde_json::from_slice(payload).map(Entry::Erased),
        };
        decoded.map_err(|_| FrameProblem::Content)
    }
}

/// What the first bytes of a file show: a valid journal, an unfinished header, a newer version, or another file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Header {
    /// The file is a journal of this version.
    Sound,
    /// The file is empty, or its header was being written when the process died.
    Torn,
    /// The file is a journal of a newer version, given here.
    Newer(u32),
    /// The file does not begin with the header of a journal.
    Foreign,
}

/// Why an entry cannot be encoded.
#[derive(Debug)]
pub(crate) enum Unencodable {
    /// The payload has this many bytes, more than `MAX_FRAME_BYTES`.
    TooLarge(usize),
    /// The entry cannot be written as JSON.
    Json(serde_json::Error),
}

impl Unencodable {
    /// Converts this to the error to report for the journal at `path`.
    pub(crate) fn at(self, path: &Path) -> JournalError {
        let path = path.to_owned();
        match self {
            Self::TooLarge(bytes) => JournalError::TooLarge { path, bytes, max_bytes: MAX_FRAME_BYTES },
            Self::Json(source) => JournalError::Encode { path, source },
        }
    }
}

/// Encodes the header of a journal of this version.
pub(crate) fn header() -> [u8; HEADER_BYTES] {
    header_of(FORMAT_VERSION)
}

/// Encodes the header of a journal of a given version.
pub(crate) fn header_of(version: u32) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    let (signed, checksum) = header.split_at_mut(HEADER_BYTES - 4);
    let (magic, number) = signed.split_at_mut(MAGIC.len());
    magic.copy_from_slice(&MAGIC);
    number.copy_from_slice(&version.to_le_bytes());
    checksum.copy_from_slice(&crc32fast::hash(signed).to_le_bytes());
    header
}

/// Decodes the header of a file of `length` bytes; `bytes` are at most the first 16 of them.
pub(crate) fn read_header(bytes: &[u8], length: u64) -> Header {
    // A crash while the file was created may leave a part of the header, or zeros.
    if length <= HEADER_BYTES as u64 && bytes != header() {
        let unwritten = bytes.iter().zip(header()).all(|(found, sound)| *found == sound || *found == 0);
        if unwritten {
            return Header::Torn;
        }
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

/// Encoded entries, to be written to the journal at once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Encoded {
    /// The encoded entries, one after the other.
    pub(crate) bytes: Vec<u8>,
    /// Offset of each entry in `bytes`.
    pub(crate) starts: Vec<usize>,
}

impl Encoded {
    /// Encodes a frame and appends it; an error if it is too large.
    pub(crate) fn frame(&mut self, frame: &Frame) -> Result<(), Unencodable> {
        self.entry(Kind::Frame, frame)
    }

    /// Encodes a note and appends it.
    pub(crate) fn note(&mut self, note: &Note) -> Result<(), Unencodable> {
        self.entry(Kind::Note, note)
    }

    /// Offset of each entry in the journal if `bytes` are written at offset `base`.
    pub(crate) fn places(&self, base: u64) -> impl Iterator<Item = Offset> {
        self.starts.iter().map(move |start| Offset(base + *start as u64))
    }

    /// Encodes an entry of this kind and appends it.
    fn entry(&mut self, kind: Kind, payload: &impl Serialize) -> Result<(), Unencodable> {
        let payload = serde_json::to_vec(payload).map_err(Unencodable::Json)?;
        let bytes = entry_bytes(kind, &payload).ok_or(Unencodable::TooLarge(payload.len()))?;
        self.starts.push(self.bytes.len());
        self.bytes.extend_from_slice(&bytes);
        Ok(())
    }
}

/// The encoded entry that replaces an erased frame with `payload_bytes` of payload; `None` if the frame is too short.
pub(crate) fn erased_entry(id: MegramId, payload_bytes: u32) -> Option<Vec<u8>> {
    let mut payload = serde_json::to_vec(&Erased { id }).ok()?;
    if payload.len() > payload_bytes as usize {
        return None;
    }
    // Spaces after a JSON value are ignored.
    payload.resize(payload_bytes as usize, b' ');
    entry_bytes(Kind::Erased, &payload)
}

/// Encodes an entry; `None` if the payload is longer than `MAX_FRAME_BYTES`.
fn entry_bytes(kind: Kind, payload: &[u8]) -> Option<Vec<u8>> {
    let length = u32::try_from(payload.len()).ok().filter(|_| payload.len() <= MAX_FRAME_BYTES)?;
    let mut bytes = Vec::with_capacity(ENTRY_HEADER_BYTES + payload.len());
    bytes.extend_from_slice(&kind.marker());
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(&kind.checksum(length, payload).to_le_bytes());
    bytes.extend_from_slice(payload);
    Some(bytes)
}

/// The little-endian number at an offset of `bytes`; 0 beyond the end.
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(|bytes| bytes.first_chunk()).map_or(0, |bytes| u32::from_le_bytes(*bytes))
}
