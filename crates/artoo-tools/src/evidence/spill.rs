//! A stream on its way into the store: a long one goes to disk as it comes, and its end is added when it is over.

use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::sync::atomic::{AtomicU64, Ordering};

use artoo_proto::KeptOutput;
use sha2::{Digest, Sha256};

use super::{EvidenceStore, ITEM_MAX_BYTES, open_own};
use crate::digest;

/// Bytes of a stream's end that are kept with its beginning; what whoever reads it holds in memory anyway.
pub(super) const TAIL_BYTES: usize = 1024 * 1024;

/// Bytes of its beginning: with the end and the mark between them no more than an item may have.
const HEAD_BYTES: u64 = ITEM_MAX_BYTES - TAIL_BYTES as u64 - 1024;

/// Bytes held in memory before a file is made for the stream: as much as a pipe holds, and more than most programs say.
const EARLY_BYTES: usize = 64 * 1024;

/// A stream being kept.
#[derive(Debug)]
pub(crate) struct Spill {
    store: EvidenceStore,
    /// All of it, while there is no file.
    early: Vec<u8>,
    /// Without a name: it is gone with its last holder, and no count of files ever sees it.
    file: Option<File>,
    hasher: Sha256,
    head: u64,
    total: u64,
    /// A write failed: the rest is counted and not kept.
    failed: Option<io::Error>,
}

impl Spill {
    pub(super) fn begin(store: EvidenceStore) -> Self {
        Self { store, early: Vec::new(), file: None, hasher: Sha256::new(), head: 0, total: 0, failed: None }
    }

    /// The next bytes of the stream.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        self.total = self.total.saturating_add(bytes.len() as u64);
        let room = usize::try_from(HEAD_BYTES - self.head).unwrap_or(usize::MAX);
        let kept = bytes.get(..room.min(bytes.len())).unwrap_or_default();
        self.write(kept);
        self.head += kept.len() as u64;
    }

    /// Bytes of the stream that are not read, behind a beginning as long as it may be.
    pub(crate) fn skip(&mut self, bytes: u64) {
        self.total = self.total.saturating_add(bytes);
    }

    fn write(&mut self, bytes: &[u8]) {
        if self.failed.is_none() {
            self.failed = self.try_write(bytes).err();
            self.hasher.update(bytes);
        }
    }

    fn try_write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.file.is_none() && self.early.len() + bytes.len() <= EARLY_BYTES {
            self.early.extend_from_slice(bytes);
            return Ok(());
        }
        if self.file.is_none() {
            let mut file = nameless(&self.store)?;
            file.write_all(&std::mem::take(&mut self.early))?;
            self.file = Some(file);
        }
        self.file.as_mut().map_or(Ok(()), |file| file.write_all(bytes))
    }

    /// The stream is over; `tail` is its last bytes, as many as are known.
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
                self.store.settle(&sha256, file, bytes)?;
            }
            None => self.store.settle(&sha256, self.early.as_slice(), self.early.len() as u64)?,
        }
        Ok(KeptOutput { stream: stream.to_owned(), sha256, bytes: self.head + end.len() as u64, left_out })
    }
}

/// A file of the store that is gone with its last holder.
fn nameless(store: &EvidenceStore) -> io::Result<File> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let path = store.folder.join(format!(".new-{}-{number}", std::process::id()));
    // What an earlier process of the same number left behind.
    drop(fs::remove_file(&path));
    let file = open_own(&path)?;
    fs::remove_file(&path)?;
    Ok(file)
}
