//! The evidence store: what tools put out, whole up to a cap, under the digest of its content.
//!
//! A record names the digests; an item is verified when it is read. What programs say may hold secrets and is kept as
//! it came, so the folder and its files are the owner's alone, and nothing in it goes into a prompt, a log or memory.
//! Items are not brought to the disk before the call returns: loss of power may take the last ones, which then are
//! missing or do not verify.

mod calls;
mod spill;
mod sweep;

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use artoo_proto::KeptOutput;

use crate::digest;

pub use calls::KeptCall;
pub(crate) use spill::Spill;

/// Longest item. A longer stream keeps its beginning and its end, with a mark that says how many bytes are missing.
pub const ITEM_MAX_BYTES: u64 = 16 * 1024 * 1024;

/// All items together; the oldest go first.
pub const TOTAL_MAX_BYTES: u64 = 512 * 1024 * 1024;

/// Days an item is kept after a call last put it out.
pub const KEPT_DAYS: u64 = 30;

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
        /// Which file.
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
    /// It was swept, or never kept.
    #[error("{sha256} is not kept (any more)")]
    Missing {
        /// Which.
        sha256: String,
    },
    /// It is not what was written.
    #[error("{path} does not hold what its name says; it is no evidence")]
    Damaged {
        /// Which file.
        path: PathBuf,
    },
}

/// The store of one data folder.
#[derive(Debug, Clone)]
pub struct EvidenceStore {
    folder: PathBuf,
}

impl EvidenceStore {
    /// The store in this data folder; there need not be one yet.
    #[must_use]
    pub fn new(data_dir: &Path) -> Self {
        Self { folder: data_dir.join("evidence") }
    }

    /// Where it lies.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// An item, verified.
    ///
    /// # Errors
    /// [`EvidenceProblem`] when it is not there, can't be read, or is not what its name says.
    pub fn read(&self, sha256: &str) -> Result<Vec<u8>, EvidenceProblem> {
        if sha256.len() != DIGEST_CHARS || !sha256.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(EvidenceProblem::NoDigest { text: sha256.to_owned() });
        }
        let path = self.folder.join(sha256);
        let mut bytes = Vec::new();
        let opened = File::open(&path).and_then(|file| file.take(ITEM_MAX_BYTES * 2).read_to_end(&mut bytes));
        match opened {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(EvidenceProblem::Missing { sha256: sha256.to_owned() })
            }
            Err(source) => Err(EvidenceProblem::Io { path, source }),
            Ok(_) if digest::of_bytes(&bytes) == sha256 => Ok(bytes),
            Ok(_) => Err(EvidenceProblem::Damaged { path }),
        }
    }

    /// Keeps a text that is all there at once.
    pub(crate) fn keep(&self, stream: &str, text: &str) -> io::Result<KeptOutput> {
        let mut spill = self.spill()?;
        spill.take(text.as_bytes());
        let bytes = text.as_bytes();
        spill.keep(stream, bytes.get(bytes.len().saturating_sub(spill::TAIL_BYTES)..).unwrap_or_default())
    }

    /// A place for a stream that is still coming.
    pub(crate) fn spill(&self) -> io::Result<Spill> {
        self.make_folder()?;
        Spill::begin(self.clone())
    }

    fn make_folder(&self) -> io::Result<()> {
        match DirBuilder::new().mode(FOLDER_MODE).create(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(()),
        }
    }

    /// Puts a file that is complete under its digest. What is there already and sound stays, and counts as new.
    fn settle(&self, beside: &Path, sha256: &str) -> io::Result<()> {
        if self.read(sha256).is_ok() {
            File::options().write(true).open(self.folder.join(sha256))?.set_modified(SystemTime::now())?;
            return fs::remove_file(beside);
        }
        fs::rename(beside, self.folder.join(sha256))
    }

    /// A new file of ours.
    fn create(path: &Path) -> io::Result<File> {
        OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(path)
    }

    /// Adds a line to a file of ours.
    fn append(path: &Path, line: &[u8]) -> io::Result<()> {
        OpenOptions::new().append(true).create(true).mode(FILE_MODE).open(path)?.write_all(line)
    }
}
