//! Repair of a damaged journal: valid entries are kept, damaged bytes are moved to a file beside the journal.

use std::{
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::{Deserialize, Serialize};

use crate::{
    disk::{Disk, OpenMode, folder_of},
    journal::{
        JournalError, JournalStep,
        format::{self, Entry, HEADER_BYTES, Note},
        scan::{self, FileBytes, Next, Reader},
        seal::{self, FileEnd, Seal},
    },
    record::FrameProblem,
};

/// The kind and version of the sealed file with the damaged bytes.
const ASIDE: Seal = Seal { magic: *b"ARTOMKDM", version: 1 };

/// A range of bytes of a journal that are not valid entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DamagedRange {
    /// Offset of the range's first byte, from the start of the journal.
    pub offset: u64,
    /// Length of the range in bytes.
    pub bytes: u64,
    /// What is wrong with the first entry in the range.
    pub problem: FrameProblem,
}

/// The damage that a check or a repair of a journal found.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Damage {
    /// Number of valid entries in the journal.
    pub sound_entries: usize,
    /// The damaged ranges in order of their offsets; an unfinished write at the end counts as one.
    pub ranges: Vec<DamagedRange>,
    /// Path of the file with the damaged bytes; `None` before a repair, and if there was no damage.
    pub set_aside: Option<PathBuf>,
}

/// Lists the damage of a journal; changes nothing.
pub(crate) fn inspect(disk: &dyn Disk, path: &Path) -> Result<Damage, JournalError> {
    walk(disk, path, &mut |_| Ok(()))
}

/// Replaces a damaged journal by one with its valid entries, and returns the damage found.
///
/// An entry whose checksum is right but whose content is unknown is an error, not damage.
pub(crate) fn repair(disk: &dyn Disk, path: &Path) -> Result<Damage, JournalError> {
    let at = |step| JournalError::at(path, step);
    let beside = seal::beside(path);
    let file = disk.open(&beside, OpenMode::Truncate).map_err(at(JournalStep::Open))?;
    file.write_at(&format::header(), 0).map_err(at(JournalStep::Write))?;
    let mut out = io::BufWriter::new(FileEnd { file: Arc::clone(&file), at: HEADER_BYTES as u64 });
    let mut damage = walk(disk, path, &mut |bytes| out.write_all(bytes))?;
    if damage.ranges.is_empty() {
        disk.remove(&beside).map_err(at(JournalStep::Write))?;
        return Ok(damage);
    }
    out.flush().map_err(at(JournalStep::Write))?;
    file.sync().map_err(at(JournalStep::Sync))?;
    // The damaged bytes are saved before the file that contains them is replaced.
    let aside = free_name(disk, path);
    let damaged = disk.open(path, OpenMode::Read).map_err(at(JournalStep::Open))?;
    seal::write(disk, &aside, ASIDE, &damage, |out| {
        damage.ranges.iter().try_for_each(|range| {
            io::copy(&mut FileBytes { file: damaged.as_ref(), at: range.offset }.take(range.bytes), out).map(drop)
        })
    })
    .map_err(at(JournalStep::Write))?;
    disk.rename(&beside, path).map_err(at(JournalStep::Write))?;
    disk.sync_folder(folder_of(path)).map_err(at(JournalStep::Sync))?;
    damage.set_aside = Some(aside);
    Ok(damage)
}

/// Reads all entries of a journal and returns the damage; passes the bytes of valid entries, except notes about syncs
/// and cuts, to `keep`.
fn walk(disk: &dyn Disk, path: &Path, keep: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> Result<Damage, JournalError> {
    let at = |step| JournalError::at(path, step);
    let file = disk.open(path, OpenMode::Read).map_err(at(JournalStep::Open))?;
    let length = file.length().map_err(at(JournalStep::Read))?;
    let mut damage = Damage::default();
    let mut from = HEADER_BYTES as u64;
    match scan::check_header(file.as_ref(), path, length) {
        Err(JournalError::NotAJournal { .. }) => {
            // Either not a journal, or one whose header alone is damaged, which still has valid entries.
            let first = scan::next_sound(file.as_ref(), 0, length).map_err(at(JournalStep::Read))?;
            let Some((first, ..)) = first else { return Err(JournalError::NotAJournal { path: path.to_owned() }) };
            damage.ranges.push(DamagedRange { offset: 0, bytes: first, problem: FrameProblem::Marker });
            from = first;
        }
        header => drop(header?),
    }
    let mut reader = Reader::new(file.as_ref(), from, length);
    loop {
        let problem = match reader.entry().map_err(at(JournalStep::Read))? {
            Next::End => return Ok(damage),
            Next::Bad(problem) => problem,
            Next::Sound(header, payload) => {
                damage.sound_entries += 1;
                match header.decode(payload) {
                    // These notes name offsets in the damaged file, so they are dropped.
                    Ok(Entry::Note(Note::Synced { .. } | Note::Cut { .. })) => {}
                    Ok(Entry::Frame(_) | Entry::Note(Note::Compacted { .. }) | Entry::Erased(_)) => {
                        keep(&header.bytes()).and_then(|()| keep(payload)).map_err(at(JournalStep::Write))?;
                    }
                    Err(problem) => {
                        let path = path.to_owned();
                        return Err(JournalError::Corrupt { path, offset: from, problem, next_sound: None });
                    }
                }
                from += header.entry_bytes();
                continue;
            }
        };
        let next = scan::next_sound(file.as_ref(), from + 1, length).map_err(at(JournalStep::Read))?;
        let next = next.map_or(length, |(next, ..)| next);
        damage.ranges.push(DamagedRange { offset: from, bytes: next - from, problem });
        from = next;
        reader = Reader::new(file.as_ref(), from, length);
    }
}

/// An unused path for the file with the damaged bytes: the journal's path with `.damaged-1`, `.damaged-2` … appended.
fn free_name(disk: &dyn Disk, path: &Path) -> PathBuf {
    let numbered = |number: u32| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".damaged-{number}"));
        PathBuf::from(name)
    };
    let mut number = 1;
    while disk.open(&numbered(number), OpenMode::Read).is_ok() {
        number += 1;
    }
    numbered(number)
}
