//! Reading single entries of a journal.

use std::{fmt::Debug, io, sync::Arc};

use crate::{
    disk::DiskFile,
    journal::format::{ENTRY_HEADER_BYTES, Entry, EntryHeader, HEADER_BYTES, Note},
    record::{Frame, FrameProblem, Megram, MegramId, Offset, ReadError, RecordSource},
};

/// Number of bytes of the first read of an entry: most entries fit.
const FIRST_READ_BYTES: usize = 2_048;

/// Bit of an [`Offset`] that is set if the offset is in the own journal of a guest, not in the main journal. (A guest
/// is a process that opened the memory while another process held its lock.)
pub(crate) const OWN: u64 = 1 << 63;

/// The journals from which a process reads the texts of records.
#[derive(Debug, Clone)]
pub(crate) struct Sources {
    /// The journal of the process that holds the memory's lock.
    pub(crate) main: Arc<dyn DiskFile>,
    /// The own journal of this process, if it is a guest.
    pub(crate) own: Option<Arc<dyn DiskFile>>,
}

impl RecordSource for Sources {
    fn record(&self, id: MegramId, at: Offset) -> Result<Megram, ReadError> {
        let file = if at.0 & OWN == 0 { Some(&self.main) } else { self.own.as_ref() };
        let file = file.ok_or(ReadError::Gone { id })?;
        let damaged = |problem| ReadError::Damaged { id, offset: at, problem };
        let entry = read_entry(file.as_ref(), at.0 & !OWN).map_err(|source| ReadError::Io { id, source })?;
        match entry.map_err(damaged)?.1 {
            Entry::Frame(Frame::Written { megram } | Frame::Promoted { rule: megram, .. }) if megram.id == id => {
                Ok(megram)
            }
            Entry::Frame(_) | Entry::Note(_) | Entry::Erased(_) => Err(ReadError::Gone { id }),
        }
    }
}

/// Number of times that a journal was compacted, read from its first entry; 0 if that entry is not a note about a
/// compaction.
pub(crate) fn generation(file: &dyn DiskFile) -> u64 {
    match read_entry(file, HEADER_BYTES as u64) {
        Ok(Ok((_, Entry::Note(Note::Compacted { generation, .. })))) => generation,
        Ok(_) | Err(_) => 0,
    }
}

/// Reads the entry at an offset; the inner error says what is wrong with it.
pub(crate) fn read_entry(file: &dyn DiskFile, at: u64) -> io::Result<Result<(EntryHeader, Entry), FrameProblem>> {
    let mut bytes = vec![0; FIRST_READ_BYTES];
    let read = file.read_at(&mut bytes, at)?;
    bytes.truncate(read);
    if read < ENTRY_HEADER_BYTES {
        return Ok(Err(FrameProblem::Length));
    }
    let header = match EntryHeader::read(&bytes) {
        Ok(header) => header,
        Err(problem) => return Ok(Err(problem)),
    };
    let wanted = header.entry_bytes() as usize;
    if read == FIRST_READ_BYTES && read < wanted {
        bytes.resize(wanted, 0);
        let rest = bytes.get_mut(read..).unwrap_or_default();
        let more = file.read_at(rest, at + read as u64)?;
        bytes.truncate(read + more);
    }
    let Some(payload) = bytes.get(ENTRY_HEADER_BYTES..wanted) else { return Ok(Err(FrameProblem::Length)) };
    if !header.is_of(payload) {
        return Ok(Err(FrameProblem::Checksum));
    }
    Ok(header.decode(payload).map(|entry| (header, entry)))
}
