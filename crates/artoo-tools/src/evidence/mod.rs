//! The evidence store: what tools put out, whole up to a cap, under the digest of its content.
//!
//! A record names the digests; an item is verified when it is read. What programs say may hold secrets and is kept as
//! it came, so the folder and its files are the owner's alone, and nothing in it goes into a prompt, a log or memory.
//!
//! Items lie one behind the other in packs, a pack a day, and the pack is there before the first call: a store that made
//! files while it works would change what a count of the home folder counts. Items are not brought to the disk before a
//! call returns: loss of power may take the last ones, which then are missing or do not verify.

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

/// Longest item. A longer stream keeps its beginning and its end, with a mark that says how many bytes are missing.
#[doc(alias = "limit")]
pub const ITEM_MAX_BYTES: u64 = 128 * 1024 * 1024;

/// All packs together; the oldest go first.
#[doc(alias = "limit")]
pub const TOTAL_MAX_BYTES: u64 = 512 * 1024 * 1024;

/// Days a pack is kept after its last item.
#[doc(alias = "limit")]
pub const KEPT_DAYS: u32 = 30;

/// Size at which a day goes on in another pack: what goes is a small part of the whole.
const PACK_MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Packs of one day that are looked through for one with room.
const PACKS_A_DAY_MAX: u32 = 1_000;

/// Only the owner may look in.
const FOLDER_MODE: u32 = 0o700;

/// Only the owner may read.
const FILE_MODE: u32 = 0o600;

/// Letters of a digest in hex.
const DIGEST_CHARS: usize = 64;

/// Why an item can't be had.
#[derive(Debug, thiserror::Error)]
pub enum EvidenceProblem {
    /// The system refused.
    #[error("{path} can't be used")]
    Io {
        /// Which file or folder.
        path: PathBuf,
        /// What it said.
        #[source]
        source: io::Error,
    },
    /// It is no digest.
    #[error("{text:?} is no SHA-256 in hex")]
    NoDigest {
        /// What was given.
        text: String,
    },
    /// It was let go, or never kept.
    #[error("{sha256} is not kept (any more)")]
    Missing {
        /// Which.
        sha256: String,
    },
    /// It is not what was written.
    #[error("{path} does not hold what it says for {sha256}; it is no evidence")]
    Damaged {
        /// Which pack.
        path: PathBuf,
        /// Which item.
        sha256: String,
    },
}

/// A call whose output is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptCall {
    /// When it ended.
    pub at: Timestamp,
    /// Whose it was.
    pub task_id: TaskId,
    /// Under which it is cited.
    pub evidence_id: EvidenceId,
    /// Which tool.
    pub tool: String,
    /// What it put out.
    pub kept: Vec<KeptOutput>,
}

/// The store of one data folder. Cheap to clone; clones write into the same pack.
#[derive(Debug, Clone)]
pub struct EvidenceStore {
    folder: PathBuf,
    /// The pack written to, once there is one. Never held over an await.
    open: Arc<Mutex<Option<Pack>>>,
}

impl EvidenceStore {
    /// The store in this data folder; there need not be one yet.
    #[must_use]
    pub fn new(data_dir: &Path) -> Self {
        Self { folder: data_dir.join("evidence"), open: Arc::default() }
    }

    /// Where it lies.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// An item, verified.
    ///
    /// # Errors
    /// [`EvidenceProblem`] when it is not there, can't be read, or is not what was written.
    pub fn read(&self, sha256: &str) -> Result<Vec<u8>, EvidenceProblem> {
        let mut bytes = Vec::new();
        self.copy(sha256, &mut bytes)?;
        Ok(bytes)
    }

    /// Writes an item to `out` once it is verified, without holding all of it in memory.
    ///
    /// # Errors
    /// [`EvidenceProblem`] when it is not there, can't be read or written, or is not what was kept.
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

    /// The calls whose output was kept, oldest first.
    ///
    /// # Errors
    /// [`EvidenceProblem::Io`] when a pack can't be read.
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

    /// Makes today's pack ready, so that no call has to.
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

    /// Keeps a text that is all there at once.
    pub(crate) fn keep(&self, stream: &str, text: &str) -> io::Result<KeptOutput> {
        let mut spill = self.spill();
        spill.take(text.as_bytes());
        let bytes = text.as_bytes();
        spill.keep(stream, bytes.get(bytes.len().saturating_sub(spill::TAIL_BYTES)..).unwrap_or_default())
    }

    /// A place for a stream that is still coming.
    pub(crate) fn spill(&self) -> Spill {
        Spill::begin(self.clone())
    }

    /// Notes a call.
    pub(crate) fn note(&self, call: KeptCall) -> io::Result<()> {
        self.with_pack(|pack| pack.append(&Frame::Call(call), &mut io::empty()))
    }

    /// Puts an item into the pack, unless it is there already and sound.
    fn settle(&self, sha256: &str, mut item: impl Read, bytes: u64) -> io::Result<()> {
        self.with_pack(|pack| {
            if pack.holds(sha256) {
                return Ok(());
            }
            pack.append(&Frame::Item { sha256: sha256.to_owned(), bytes }, &mut item)
        })
    }

    fn with_pack<T>(&self, act: impl FnOnce(&mut Pack) -> io::Result<T>) -> io::Result<T> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        act(open.as_mut().ok_or(io::ErrorKind::NotFound)?)
    }

    /// The day's first pack with room and nothing of a later version in it.
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

    /// The packs, oldest first.
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

/// A file of ours, read and written by its owner alone.
fn open_own(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).append(true).create(true).mode(FILE_MODE).open(path)
}
