//! Snapshots: the state of an engine at an offset of the journal, so that opening replays only the frames after it.
//!
//! A snapshot is a copy: if it is out of date, damaged or missing, the whole journal is replayed.

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

/// The kind and version of the sealed file of a snapshot.
const SEAL: Seal = Seal { magic: *b"ARTOMKSN", version: 1 };

/// Writes a snapshot of an engine that applied all frames before `resume`.
pub(crate) fn save(disk: &dyn Disk, path: &Path, engine: &Engine, resume: &Resume) -> io::Result<()> {
    seal::write(disk, path, SEAL, resume, |out| engine.encode_state(out))
}

/// Number of bytes that the journal has lost at its end since its snapshot was taken; 0 without a snapshot, or if it
/// was compacted since.
pub(crate) fn missing_bytes(disk: &dyn Disk, path: &Path, journal: &dyn DiskFile) -> u64 {
    let Some((resume, _)) = seal::open::<Resume>(disk, path, SEAL) else { return 0 };
    let length = journal.length().unwrap_or(0);
    if source::generation(journal) == resume.generation { resume.offset.0.saturating_sub(length) } else { 0 }
}

/// The engine in a snapshot of this journal, and where to resume reading; `None` if the snapshot cannot be used.
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
