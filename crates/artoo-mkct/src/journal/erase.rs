//! Erasing records in place, so that forgetting does not wait for a compaction.
//!
//! The intent is synced before the first byte changes, so that an erasure interrupted by a crash is finished at the
//! next opening and never looks like damage.

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

/// The kind and version of a saved intent.
const SEAL: Seal = Seal { magic: *b"ARTOMKER", version: 1 };

/// The records that are about to be erased.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Intent {
    pub(crate) bodies: Vec<Body>,
    /// When it was requested, Unix milliseconds.
    pub(crate) at_ms: i64,
    /// The generation of the journal that the offsets belong to.
    pub(crate) generation: u64,
}

/// Where the text of a record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Body {
    pub(crate) id: MegramId,
    pub(crate) offset: Offset,
    pub(crate) payload_bytes: u32,
}

/// Finds the text of a record, if it is still at this offset.
pub(crate) fn find(file: &dyn DiskFile, id: MegramId, at: Offset) -> io::Result<Option<Body>> {
    let entry = source::read_entry(file, at.0)?;
    Ok(entry.ok().and_then(|(header, entry)| match entry {
        Entry::Frame(Frame::Written { megram: record } | Frame::Promoted { rule: record, .. }) if record.id == id => {
            Some(Body { id, offset: at, payload_bytes: header.length })
        }
        Entry::Frame(_) | Entry::Note(_) | Entry::Erased(_) => None,
    }))
}

/// Saves an intent.
pub(crate) fn intend(disk: &dyn Disk, path: &Path, intent: &Intent) -> io::Result<()> {
    seal::write(disk, path, SEAL, intent, |_| Ok(()))
}

/// Loads an unfinished intent.
pub(crate) fn pending(disk: &dyn Disk, path: &Path) -> Option<Intent> {
    seal::open::<Intent>(disk, path, SEAL).and_then(|(intent, payload)| payload.ends_sound().then_some(intent))
}

/// Overwrites the records. Repeating it changes nothing; a journal compacted since is not changed.
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
            // Overwritten in part already.
            Err(_) => true,
        };
        // The frame of a record is always longer than the entry that replaces it.
        if let Some(entry) = format::erased_entry(body.id, body.payload_bytes).filter(|_| stands) {
            file.write_at(&entry, body.offset.0)?;
        }
    }
    file.sync()
}

/// Removes the finished intent.
pub(crate) fn done(disk: &dyn Disk, path: &Path) -> io::Result<()> {
    match disk.remove(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => disk.sync_folder(folder_of(path)),
    }
}
