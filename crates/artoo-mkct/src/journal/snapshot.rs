//! The snapshot: an engine's state at a place in the journal, so that opening reads only what came after.
//!
//! It is a copy: stale, damaged or missing, it is ignored and the journal read from its beginning.

use std::{io, path::Path, sync::Arc};

use crate::{
    disk::{Disk, DiskFile},
    engine::Engine,
    journal::{
        Resume,
        seal::{self, Seal},
        source::{self},
    },
    record::RecordSource,
};

const SEAL: Seal = Seal { magic: *b"ARTOMKSN", version: 1 };

/// Writes the state of an engine that applied everything before `resume`.
pub(crate) fn save(disk: &dyn Disk, path: &Path, engine: &Engine, resume: &Resume) -> io::Result<()> {
    seal::write(disk, path, SEAL, resume, |out| engine.encode_state(out))
}

/// Bytes that a journal had when its snapshot was taken and has no more: somebody cut it between two entries.
pub(crate) fn missing_bytes(disk: &dyn Disk, path: &Path, journal: &dyn DiskFile) -> u64 {
    let Some((resume, _)) = seal::open::<Resume>(disk, path, SEAL) else { return 0 };
    let length = journal.length().unwrap_or(0);
    if source::generation(journal) == resume.generation { resume.offset.0.saturating_sub(length) } else { 0 }
}

/// The state in a snapshot that was taken from this journal.
pub(crate) fn load(
    disk: &dyn Disk,
    path: &Path,
    journal: &Arc<dyn DiskFile>,
    source: Arc<dyn RecordSource>,
) -> Option<(Engine, Resume)> {
    let (resume, mut payload) = seal::open::<Resume>(disk, path, SEAL)?;
    if !resume.fits(journal.as_ref()) {
        return None;
    }
    let engine = Engine::decode_state(&mut payload, Some(source)).ok()?;
    payload.ends_sound().then_some((engine, resume))
}
