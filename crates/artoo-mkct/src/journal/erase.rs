//! Erasing bodies where they stand: what an operator wants forgotten does not wait for a rewrite.
//!
//! The intent is on the disk before the first byte changes, so that an erasure cut short by a crash is finished at the
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

const SEAL: Seal = Seal { magic: *b"ARTOMKER", version: 1 };

/// Bodies about to be erased.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Intent {
    pub(crate) bodies: Vec<Body>,
    /// When it was asked for, Unix milliseconds.
    pub(crate) at_ms: i64,
    /// The generation of the journal that the places are of.
    pub(crate) generation: u64,
}

/// Where a body stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Body {
    pub(crate) id: MegramId,
    pub(crate) offset: Offset,
    pub(crate) payload_bytes: u32,
}

/// The body of a record, where the place still holds it.
pub(crate) fn find(file: &dyn DiskFile, id: MegramId, at: Offset) -> io::Result<Option<Body>> {
    let entry = source::read_entry(file, at.0)?;
    Ok(entry.ok().and_then(|(header, entry)| match entry {
        Entry::Frame(Frame::Written { megram: record } | Frame::Promoted { rule: record, .. }) if record.id == id => {
            Some(Body { id, offset: at, payload_bytes: header.length })
        }
        Entry::Frame(_) | Entry::Note(_) | Entry::Erased(_) => None,
    }))
}

/// Writes down what is about to be erased.
pub(crate) fn intend(disk: &dyn Disk, path: &Path, intent: &Intent) -> io::Result<()> {
    seal::write(disk, path, SEAL, intent, |_| Ok(()))
}

/// An intent that was not finished.
pub(crate) fn pending(disk: &dyn Disk, path: &Path) -> Option<Intent> {
    seal::open::<Intent>(disk, path, SEAL).and_then(|(intent, payload)| payload.ends_sound().then_some(intent))
}

/// Overwrites the bodies; doing it again changes nothing, nor does doing it to a journal rewritten since.
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
            // Half overwritten already.
            Err(_) => true,
        };
        // A frame of a record is always longer than what is left of it.
        if let Some(entry) = format::erased_entry(body.id, body.payload_bytes).filter(|_| stands) {
            file.write_at(&entry, body.offset.0)?;
        }
    }
    file.sync()
}

/// Forgets the intent once it is done.
pub(crate) fn done(disk: &dyn Disk, path: &Path) -> io::Result<()> {
    match disk.remove(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => disk.sync_folder(folder_of(path)),
    }
}
