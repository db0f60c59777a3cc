//! Stores a stream: a long one is written to disk while it is read, and its end is added when it is complete.

use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::sync::atomic::{AtomicU64, Ordering};

use artoo_proto::KeptOutput;
use sha2::{Digest, Sha256};

use super::{EvidenceStore, ITEM_MAX_BYTES, open_own};
use crate::digest;

/// Bytes stored of a long stream's end; its reader has as many in memory.
pub(super) const TAIL_BYTES: usize = 1024 * 1024;

/// Bytes stored of the beginning of a long stream, so that an item does not exceed its limit.
const HEAD_BYTES: u64 = ITEM_MAX_BYTES - TAIL_BYTES as u64 - 1024;

/// Bytes held in memory before a file is created for the stream; most programs print less.
const EARLY_BYTES: usize = 64 * 1024;

/// A stream of output that is being stored as evidence.
#[derive(Debug)]
pub(crate) struct Spill {
    store: EvidenceStore,
    /// All bytes, as long as there is no file.
    early: Vec<u8>,
    /// An unlinked file, so that it is removed with its last handle and never counted.
    file: Option<File>,
    hasher: Sha256,
    head: u64,
    total: u64,
    /// The error of a write; later bytes are counted but not stored.
    failed: Option<io::Error>,
}

impl Spill {
    /// Starts to store a stream of output of unknown length.
    pub(super) fn begin(store: EvidenceStore) -> Self {
        Self { store, early: Vec::new(), file: None, hasher: Sha256::new(), head: 0, total: 0, failed: None }
    }

    /// Adds the next bytes of the stream; beyond [`HEAD_BYTES`] they are only counted.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        self.total = self.total.saturating_add(bytes.len() as u64);
        let room = usize::try_from(HEAD_BYTES - self.head).unwrap_or(usize::MAX);
        let kept = bytes.get(..room.min(bytes.len())).unwrap_or_default();
        self.write(kept);
        self.head += kept.len() as u64;
    }

    /// Counts bytes that the stream has but that are not stored.
    pub(crate) fn skip(&mut self, bytes: u64) {
        self.total = self.total.saturating_add(bytes);
    }

    /// Writes bytes unless writing failed before; the first error is kept for [`Spill::keep`].
    fn write(&mut self, bytes: &[u8]) {
        if self.failed.is_none() {
            self.failed = self.try_write(bytes).err();
            self.hasher.update(bytes);
        }
    }

    /// Writes bytes to the file, which is created once [`EARLY_BYTES`] are exceeded.
    fn try_write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.file.is_none() && self.early.len() + bytes.len() <= EARLY_BYTES {
            self.early.extend_from_slice(bytes);
            return Ok(());
        }
        if self.file.is_none() {
            let mut file = unlinked_file(&self.store)?;
            file.write_all(&std::mem::take(&mut self.early))?;
            self.file = Some(file);
        }
        self.file.as_mut().map_or(Ok(()), |file| file.write_all(bytes))
    }

    /// Completes the stream with its end and commits it to the store; `tail`: the last bytes that its reader has.
    pub(crate) fn keep(mut self, stream: &str, tail: &[u8]) -> io::Result<KeptOutput> {
        let missing = self.total - self.head;
        let known = tail.len() as u64;
        let (left_out, end) = if known <= missing {
            (missing - known, tail)
        } else {
            let overlap = usize::try_from(known - missing).unwrap_or(usize::MAX);
            (0, tail.get(overlap..).unwrap_or_default())
        };
        if left_out > 0 {
            self.write(format!("\n… [{left_out} bytes left out] …\n").as_bytes());
        }
        self.write(end);
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let sha256 = digest::hex(&self.hasher.finalize());
        match self.file {
            Some(mut file) => {
                let bytes = file.stream_position()?;
                file.rewind()?;
                self.store.add(&sha256, file, bytes)?;
            }
            None => self.store.add(&sha256, self.early.as_slice(), self.early.len() as u64)?,
        }
        Ok(KeptOutput { stream: stream.to_owned(), sha256, bytes: self.head + end.len() as u64, left_out })
    }
}

/// Creates a file without a name in the store's folder, for a stream that is still being read.
fn unlinked_file(store: &EvidenceStore) -> io::Result<File> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let path = store.folder.join(format!(".new-{}-{number}", std::process::id()));
    // An earlier process with the same id may have left a file.
    drop(fs::remove_file(&path));
    let file = open_own(&path)?;
    fs::remove_file(&path)?;
    Ok(file)
}
