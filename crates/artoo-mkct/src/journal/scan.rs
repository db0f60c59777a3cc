//! Reading a journal, and distinguishing an unfinished write from damage.
//!
//! A batch is written only after the previous batch was synced, and begins with a note that confirms that sync. An
//! entry that is not valid but precedes such a note was synced once, so it is damaged: an error. In a journal without
//! notes, an entry that is not valid is damaged if a valid entry follows. In all other cases it is an unfinished write,
//! which is cut off.

use std::{
    io::{self, Read},
    path::Path,
};

use crate::{
    disk::DiskFile,
    journal::{
        error::{JournalError, JournalStep},
        format::{self, ENTRY_HEADER_BYTES, Entry, EntryHeader, HEADER_BYTES, Header, Note},
    },
    record::{Frame, FrameProblem, Offset},
};

/// Size of the buffer for reading a journal, in bytes.
const READ_BYTES: usize = 256 * 1024;

/// The result of reading a journal, without its frames.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Scanned {
    /// Number of frames read.
    pub(crate) frames: usize,
    /// Offset of the end of the last valid entry before the first one that is not valid.
    pub(crate) end: u64,
    /// Number of valid entries after `end`: parts of a batch that was not fully synced.
    pub(crate) torn_entries: usize,
    /// Whether the file is empty or its header unfinished.
    pub(crate) needs_header: bool,
    /// Whether the journal contains notes about syncs.
    pub(crate) noted: bool,
    /// Offset and checksum of the last valid entry before `end`.
    pub(crate) last: Option<(Offset, u32)>,
    /// Number of times that the journal was compacted.
    pub(crate) generation: u64,
    /// Records deleted before this moment (Unix milliseconds) are missing; `None` if none is.
    pub(crate) complete_from_ms: Option<i64>,
}

/// Reads a journal of `length` bytes from `from` on, which is the offset of an entry or 0; calls `visit` for each
/// frame.
pub(crate) fn scan(
    file: &dyn DiskFile,
    path: &Path,
    from: Offset,
    length: u64,
    visit: &mut dyn FnMut(Offset, Frame),
) -> Result<Scanned, JournalError> {
    let at = |step| JournalError::at(path, step);
    if check_header(file, path, length)? == Header::Torn {
        return Ok(Scanned { end: HEADER_BYTES as u64, needs_header: true, ..Scanned::default() });
    }
    let begin = HEADER_BYTES as u64;
    // An offset is known only if the journal was opened before, and opening writes a note.
    let mut scanned = Scanned { end: from.0.max(begin), noted: from.0 > begin, ..Scanned::default() };
    let mut reader = Reader::new(file, scanned.end, length);
    loop {
        let offset = scanned.end;
        let (header, decoded) = match reader.entry().map_err(at(JournalStep::Read))? {
            Next::End => return Ok(scanned),
            Next::Bad(problem) => return end_of_sound(file, path, scanned, problem, length),
            Next::Sound(header, payload) => (header, header.decode(payload)),
        };
        match decoded {
            Ok(Entry::Frame(frame)) => {
                scanned.frames += 1;
                visit(Offset(offset), frame);
            }
            Ok(Entry::Note(note)) => scanned.take(&note),
            Ok(Entry::Erased(_)) => {}
            // The checksum is right, so this is not an unfinished write.
            Err(problem) => return Err(corrupt(path, offset, problem, None)),
        }
        scanned.last = Some((Offset(offset), header.checksum));
        scanned.end += header.entry_bytes();
    }
}

impl Scanned {
    /// Updates the result by a note: whether syncs are noted, and what a compaction left out.
    fn take(&mut self, note: &Note) {
        match note {
            Note::Synced { .. } => self.noted = true,
            Note::Cut { .. } => {}
            Note::Compacted { generation, complete_from_ms } => {
                self.generation = *generation;
                self.complete_from_ms = Some(*complete_from_ms);
            }
        }
    }
}

/// Checks the header of a journal; returns [`Header::Sound`] or [`Header::Torn`].
pub(crate) fn check_header(file: &dyn DiskFile, path: &Path, length: u64) -> Result<Header, JournalError> {
    let mut bytes = [0; HEADER_BYTES];
    let read = file.read_at(&mut bytes, 0).map_err(JournalError::at(path, JournalStep::Read))?;
    match format::read_header(bytes.get(..read).unwrap_or_default(), length) {
        Header::Foreign => Err(JournalError::NotAJournal { path: path.to_owned() }),
        Header::Newer(found) => {
            Err(JournalError::NewerVersion { path: path.to_owned(), found, supported: format::FORMAT_VERSION })
        }
        header @ (Header::Sound | Header::Torn) => Ok(header),
    }
}

/// Decides by the entries after a bad entry whether that entry is damage (an error) or an unfinished write.
fn end_of_sound(
    file: &dyn DiskFile,
    path: &Path,
    mut scanned: Scanned,
    problem: FrameProblem,
    length: u64,
) -> Result<Scanned, JournalError> {
    let bad = scanned.end;
    let mut first_behind = None;
    let mut at = bad + 1;
    while let Some((found, header, payload)) =
        next_sound(file, at, length).map_err(JournalError::at(path, JournalStep::Read))?
    {
        first_behind = first_behind.or(Some(found));
        scanned.torn_entries += 1;
        let promised = matches!(header.decode(&payload), Ok(Entry::Note(Note::Synced { end })) if end > bad);
        if promised || !scanned.noted {
            return Err(corrupt(path, bad, problem, first_behind));
        }
        at = found + header.entry_bytes();
    }
    Ok(scanned)
}

/// The error for a damaged entry at `offset`.
fn corrupt(path: &Path, offset: u64, problem: FrameProblem, next_sound: Option<u64>) -> JournalError {
    JournalError::Corrupt { path: path.to_owned(), offset, problem, next_sound }
}

/// The first valid entry at or after offset `from`: its offset, header and payload; `None` if there is none.
pub(crate) fn next_sound(
    file: &dyn DiskFile,
    from: u64,
    length: u64,
) -> io::Result<Option<(u64, EntryHeader, Vec<u8>)>> {
    let mut window = vec![0; READ_BYTES];
    let mut at = from;
    while at + (ENTRY_HEADER_BYTES as u64) < length {
        let read = file.read_at(&mut window, at)?;
        let bytes = window.get(..read).unwrap_or_default();
        for (position, candidate) in bytes.windows(ENTRY_HEADER_BYTES).enumerate() {
            if candidate.first() != Some(&b'M') || EntryHeader::read(candidate).is_err() {
                continue;
            }
            let found = at + position as u64;
            if let Next::Sound(header, payload) = Reader::new(file, found, length).entry()? {
                return Ok(Some((found, header, payload.to_vec())));
            }
        }
        // The windows overlap, since a header may cross the border between them.
        at += read.saturating_sub(ENTRY_HEADER_BYTES - 1).max(1) as u64;
    }
    Ok(None)
}

/// The result of reading the next entry of a journal.
pub(crate) enum Next<'a> {
    /// The journal has no more entries.
    End,
    /// The bytes are not a valid entry.
    Bad(FrameProblem),
    /// The header and payload of a valid entry.
    Sound(EntryHeader, &'a [u8]),
}

/// Reads the entries of a journal in order.
pub(crate) struct Reader<'a> {
    bytes: io::BufReader<FileBytes<'a>>,
    left: u64,
    payload: Vec<u8>,
}

impl<'a> Reader<'a> {
    /// A reader of a journal of `length` bytes that begins at offset `from`.
    pub(crate) fn new(file: &'a dyn DiskFile, from: u64, length: u64) -> Self {
        let left = length.saturating_sub(from);
        let capacity = READ_BYTES.min(left as usize + 1);
        let bytes = io::BufReader::with_capacity(capacity, FileBytes { file, at: from });
        Self { bytes, left, payload: Vec::new() }
    }

    /// Reads the next entry and checks its checksum.
    pub(crate) fn entry(&mut self) -> io::Result<Next<'_>> {
        if self.left == 0 {
            return Ok(Next::End);
        }
        if self.left < ENTRY_HEADER_BYTES as u64 {
            return Ok(Next::Bad(FrameProblem::Length));
        }
        let mut header = [0; ENTRY_HEADER_BYTES];
        self.bytes.read_exact(&mut header)?;
        let header = match EntryHeader::read(&header) {
            Ok(header) => header,
            Err(problem) => return Ok(Next::Bad(problem)),
        };
        if header.entry_bytes() > self.left {
            return Ok(Next::Bad(FrameProblem::Length));
        }
        self.payload.resize(header.length as usize, 0);
        self.bytes.read_exact(&mut self.payload)?;
        self.left -= header.entry_bytes();
        Ok(if header.is_of(&self.payload) {
            Next::Sound(header, &self.payload)
        } else {
            Next::Bad(FrameProblem::Checksum)
        })
    }
}

/// Reads a file sequentially from offset `at` on, as a [`std::io::Read`].
pub(crate) struct FileBytes<'a> {
    pub(crate) file: &'a dyn DiskFile,
    pub(crate) at: u64,
}

impl Read for FileBytes<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(bytes, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}
