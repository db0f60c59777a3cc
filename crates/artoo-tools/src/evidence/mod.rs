//! The evidence store: the output of tools, complete up to a limit, stored by its digest.
//!
//! A record has the digests; an item is verified when it is read. Output may hold secrets and is stored unchanged, so
//! only the owner can read the folder, and nothing in it goes into a prompt, a log or memory.
//!
//! Items are appended to packs, one pack a day. The pack is created before the first call, so that a call that counts the
//! files of the home folder counts no new file of the store. Items are not synced before a call returns: a power failure
//! may lose the last ones, which are then missing or fail verification.

mod pack;
mod spill;
mod sweep;

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use artoo_proto::{EvidenceId, KeptOutput, TaskId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::digest;
use pack::{Frame, Pack};
pub(crate) use spill::Spill;

/// Largest stored output in bytes. Of a longer stream the beginning and the end are stored, with the number of bytes
/// left out.
#[doc(alias = "limit")]
pub const ITEM_MAX_BYTES: u64 = 128 * 1024 * 1024;

/// Maximum size of all pack files in bytes; beyond it the oldest are removed.
#[doc(alias = "limit")]
pub const TOTAL_MAX_BYTES: u64 = 512 * 1024 * 1024;

/// Days from the last item of a pack to the removal of the pack file.
#[doc(alias = "limit")]
pub const KEPT_DAYS: u32 = 30;

/// Size in bytes at which another pack of the day is started, so that a removed pack is a small part of all.
const PACK_MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Maximum number of pack files of one day.
const PACKS_A_DAY_MAX: u32 = 1_000;

const FOLDER_MODE: u32 = 0o700;

const FILE_MODE: u32 = 0o600;

/// Length of a SHA-256 digest in hex.
const DIGEST_CHARS: usize = 64;

/// Why an item or a call can't be read from the evidence store.
#[derive(Debug, thiserror::Error)]
pub enum EvidenceProblem {
    /// A system call failed.
    #[error("{path} can't be used")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The error of the system.
        #[source]
        source: io::Error,
    },
    /// The text is not a digest.
    #[error("{text:?} is not a SHA-256 digest in hex")]
    NoDigest {
        /// The text.
        text: String,
    },
    /// The item was removed or never stored.
    #[error("{sha256} is not stored, or was removed")]
    Missing {
        /// Its digest.
        sha256: String,
    },
    /// The item was changed after it was stored.
    #[error("{path}: the item {sha256} fails verification; it can't be used as evidence")]
    Damaged {
        /// The pack.
        path: PathBuf,
        /// Its digest.
        sha256: String,
    },
}

/// A call whose output is stored in the evidence store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptCall {
    /// When it ended.
    pub at: Timestamp,
    /// The task of the call.
    pub task_id: TaskId,
    /// The id of the evidence that cites it.
    pub evidence_id: EvidenceId,
    /// The tool.
    pub tool: String,
    /// Its stored output.
    pub kept: Vec<KeptOutput>,
}

/// The evidence store of one data folder. Cheap to clone; clones write into the same pack.
#[derive(Debug, Clone)]
pub struct EvidenceStore {
    folder: PathBuf,
    /// The pack that is written to, if there is one. The lock is never held across an await.
    open: Arc<Mutex<Option<Pack>>>,
}

impl EvidenceStore {
    /// The evidence store in this data folder, which may be missing.
    #[must_use]
    pub fn new(data_dir: &Path) -> Self {
        Self { folder: data_dir.join("evidence"), open: Arc::default() }
    }

    /// The folder of the evidence store's pack files.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Reads an item of stored output by its SHA-256, and verifies that the content still has it.
    ///
    /// # Errors
    /// [`EvidenceProblem`] if the item is missing, can't be read, or fails verification.
    pub fn read(&self, sha256: &str) -> Result<Vec<u8>, EvidenceProblem> {
        let mut bytes = Vec::new();
        self.copy(sha256, &mut bytes)?;
        Ok(bytes)
    }

    /// Writes an item with this SHA-256 to `out` after it was verified, without reading all of it into memory.
    ///
    /// # Errors
    /// [`EvidenceProblem`] if the item is missing, can't be read or written, or fails verification.
    pub fn copy(&self, sha256: &str, out: &mut dyn Write) -> Result<(), EvidenceProblem> {
        if sha256.len() != DIGEST_CHARS || !sha256.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(EvidenceProblem::NoDigest { text: sha256.to_owned() });
        }
        let mut damaged = None;
        for path in self.packs()?.into_iter().rev() {
            let failed = |source| EvidenceProblem::Io { path: path.clone(), source };
            let mut pack = File::open(&path).map_err(failed)?;
            for place in pack::places(&mut pack, sha256).map_err(failed)?.into_iter().rev() {
                let found = pack::item(&mut pack, place).and_then(digest::of_reader);
                if found.is_ok_and(|found| found == sha256) {
                    let item = pack::item(&mut pack, place);
                    return item.and_then(|mut item| io::copy(&mut item, out)).map(drop).map_err(failed);
                }
                damaged = Some(path.clone());
            }
        }
        let sha256 = sha256.to_owned();
        Err(match damaged {
            Some(path) => EvidenceProblem::Damaged { path, sha256 },
            None => EvidenceProblem::Missing { sha256 },
        })
    }

    /// The records of all calls in the evidence store, oldest first.
    ///
    /// # Errors
    /// [`EvidenceProblem::Io`] if a pack can't be read.
    pub fn calls(&self) -> Result<Vec<KeptCall>, EvidenceProblem> {
        let mut calls = Vec::new();
        for path in self.packs()? {
            let failed = |source| EvidenceProblem::Io { path: path.clone(), source };
            let (frames, _) = pack::scan(&mut File::open(&path).map_err(failed)?).map_err(failed)?;
            calls.extend(frames.into_iter().filter_map(|(frame, _)| match frame {
                Frame::Call(call) => Some(call),
                Frame::Item { .. } => None,
            }));
        }
        Ok(calls)
    }

    /// Opens or creates a pack of today unless one with room is open, so that no call has to create a file.
    pub(crate) fn prepare(&self, now: Timestamp) -> io::Result<()> {
        match DirBuilder::new().mode(FOLDER_MODE).create(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.as_ref().is_none_or(|pack| pack.bytes() > PACK_MAX_BYTES) {
            *open = Some(self.pack_of(now)?);
        }
        Ok(())
    }

    /// Stores a text (both ends of one above [`ITEM_MAX_BYTES`]) under the name of its stream; returns its digest and
    /// sizes.
    pub(crate) fn keep(&self, stream: &str, text: &str) -> io::Result<KeptOutput> {
        let mut spill = self.spill();
        spill.take(text.as_bytes());
        let bytes = text.as_bytes();
        spill.keep(stream, bytes.get(bytes.len().saturating_sub(spill::TAIL_BYTES)..).unwrap_or_default())
    }

    /// Starts to store a stream of unknown length.
    pub(crate) fn spill(&self) -> Spill {
        Spill::begin(self.clone())
    }

    /// Adds the record of a call to the pack that is being written.
    pub(crate) fn note(&self, call: KeptCall) -> io::Result<()> {
        self.with_pack(|pack| pack.append(&Frame::Call(call), &mut io::empty()))
    }

    /// Adds an output to the pack, unless the pack has it already and it verifies.
    fn add(&self, sha256: &str, mut item: impl Read, bytes: u64) -> io::Result<()> {
        self.with_pack(|pack| {
            if pack.holds(sha256) {
                return Ok(());
            }
            pack.append(&Frame::Item { sha256: sha256.to_owned(), bytes }, &mut item)
        })
    }

    /// Calls `act` with the open pack; fails with `NotFound` if no pack is open.
    fn with_pack<T>(&self, act: impl FnOnce(&mut Pack) -> io::Result<T>) -> io::Result<T> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        act(open.as_mut().ok_or(io::ErrorKind::NotFound)?)
    }

    /// Opens the day's first pack that is not full and has no frame of a later version.
    fn pack_of(&self, now: Timestamp) -> io::Result<Pack> {
        let day: String = now.to_string().chars().take(10).collect();
        for number in 0..PACKS_A_DAY_MAX {
            let path = self.folder.join(format!("{day}.{number:03}.pack"));
            if fs::metadata(&path).map_or(0, |found| found.len()) <= PACK_MAX_BYTES {
                match Pack::open(&path) {
                    Err(error) if error.kind() == io::ErrorKind::InvalidData => {}
                    opened => return opened,
                }
            }
        }
        Err(io::ErrorKind::StorageFull.into())
    }

    /// The paths of the pack files, oldest first.
    fn packs(&self) -> Result<Vec<PathBuf>, EvidenceProblem> {
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(EvidenceProblem::Io { path: self.folder.clone(), source }),
            Ok(entries) => entries,
        };
        let is_pack = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "pack");
        let mut packs: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(is_pack).collect();
        packs.sort();
        Ok(packs)
    }
}

/// Opens or creates a file of the evidence store that only its owner can read and write.
fn open_own(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).append(true).create(true).mode(FILE_MODE).open(path)
}
