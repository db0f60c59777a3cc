//! Erasing records in place, so that forgetting need not wait for a compaction.
//!
//! The list of records to erase (the intent) is synced before the first byte changes, so that an erasure interrupted by
//! a crash is finished at the next opening and never looks like damage.

use std::{io, path::Path};

use serde::{Deserialize, Serialize};

use crate::{
    disk::{Disk, DiskFile, folder_of},
    journal::{
        format::{self, Entry},
        seal::{self, Seal},
        source,
    },
    record::{Frame, MegramId, Offset},
};

/// The kind and version of the sealed file that lists the records of an erasure in progress.
const SEAL: Seal = Seal { magic: *b"ARTOMKER", version: 1 };

/// The list of records that are about to be erased, as saved on disk before the erasure.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Intent {
    /// The frames to overwrite.
    pub(crate) bodies: Vec<Body>,
    /// When the erasure was requested, Unix milliseconds.
    pub(crate) at_ms: i64,
    /// How often the journal had been compacted when the offsets were taken.
    pub(crate) generation: u64,
}

/// The frame in the journal that has the text of a record: its offset and the length of its payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Body {
    /// The id of the record.
    pub(crate) id: MegramId,
    /// Offset of the frame in the journal.
    pub(crate) offset: Offset,
    /// Length of the frame's payload in bytes.
    pub(crate) payload_bytes: u32,
}

/// Where the frame with the text of a record is; `None` if the frame is not at this offset any more.
pub(crate) fn find(file: &dyn DiskFile, id: MegramId, at: Offset) -> io::Result<Option<Body>> {
    let entry = source::read_entry(file, at.0)?;
    Ok(entry.ok().and_then(|(header, entry)| match entry {
        Entry::Frame(Frame::Written { megram: record } | Frame::Promoted { rule: record, .. }) if record.id == id => {
            Some(Body { id, offset: at, payload_bytes: header.length })
        }
        Entry::Frame(_) | Entry::Note(_) | Entry::Erased(_) => None,
    }))
}

/// Saves which records are about to be erased to the disk, synced, so that a crash can't stop the erasure halfway.
pub(crate) fn intend(disk: &dyn Disk, path: &Path, intent: &Intent) -> io::Result<()> {
    seal::write(disk, path, SEAL, intent, |_| Ok(()))
}

/// The saved list of records of an erasure that was begun and not finished; `None` if there is none, or its file is
/// damaged.
pub(crate) fn pending(disk: &dyn Disk, path: &Path) -> Option<Intent> {
    seal::open::<Intent>(disk, path, SEAL).and_then(|(intent, payload)| payload.ends_sound().then_some(intent))
}

/// Overwrites the frames of the listed records in the journal and syncs it. Repeating this changes nothing; a journal
/// that was compacted since is not changed.
pub(crate) fn overwrite(file: &dyn DiskFile, intent: &Intent) -> io::Result<()> {
    if source::generation(file) != intent.generation {
        return Ok(());
    }
    for body in &intent.bodies {
        let stands = match source::read_entry(file, body.offset.0)? {
            Ok((header, Entry::Frame(Frame::Written { megram: record } | Frame::Promoted { rule: record, .. }))) => {
                record.id == body.id && header.length == body.payload_bytes
            }
            Ok((_, Entry::Frame(_) | Entry::Note(_) | Entry::Erased(_))) => false,
            // The frame was overwritten in part already.
            Err(_) => true,
        };
        // The frame of a record is always longer than the entry that replaces it.
        if let Some(entry) = format::erased_entry(body.id, body.payload_bytes).filter(|_| stands) {
            file.write_at(&entry, body.offset.0)?;
        }
    }
    file.sync()
}

/// Removes the saved list of records after their erasure is finished.
pub(crate) fn done(disk: &dyn Disk, path: &Path) -> io::Result<()> {
    match disk.remove(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => disk.sync_folder(folder_of(path)),
    }
}
