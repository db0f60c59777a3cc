//! The index: a copy of what stands in memory, under the keys that other programs know to read.
//!
//! `m|<id>` → the record, `x|<space>|<entity>|<id>` → nothing, `l|<level>|<id>` → nothing, `r|<id>` → RFC 3339 time of the
//! last recall. It lags behind the journal, is made anew whenever it doubts itself, answers no potentials and
//! acknowledges nothing.

use std::{fmt, io, ops::ControlFlow, path::Path, sync::Arc};

use crate::disk::Disk;

pub use memory::MemoryStore;

#[cfg(feature = "leveldb")]
pub use leveldb::LevelDbStore;

#[cfg(feature = "leveldb")]
mod env;
pub(crate) mod index;
#[cfg(feature = "leveldb")]
mod leveldb;
mod memory;
mod rfc3339;

/// Ordered keys and values; used by one thread alone.
pub trait Store {
    /// The values of these keys, in their order.
    ///
    /// # Errors
    /// The first error is the last word: the store takes no more.
    fn get(&mut self, keys: &[Vec<u8>]) -> Result<Vec<Option<Vec<u8>>>, StoreError>;

    /// Visits the keys that begin with `prefix`, in order.
    ///
    /// # Errors
    /// As [`Store::get`].
    fn scan(&mut self, prefix: &[u8], visit: &mut Visit<'_>) -> Result<(), StoreError>;

    /// Makes all changes or none; they are on the disk when this returns.
    ///
    /// # Errors
    /// As [`Store::get`].
    fn write(&mut self, changes: Vec<Change>) -> Result<(), StoreError>;

    /// Closes it and checks that all is well.
    ///
    /// # Errors
    /// As [`Store::get`].
    fn close(self: Box<Self>) -> Result<(), StoreError>;
}

/// What a scan shows each key and value to.
pub type Visit<'a> = dyn FnMut(&[u8], &[u8]) -> ControlFlow<()> + 'a;

/// Opens or makes a store in a folder.
pub type OpenStore = Arc<dyn Fn(&Arc<dyn Disk>, &Path) -> Result<Box<dyn Store>, StoreError> + Send + Sync>;

/// One change of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A key gets a value.
    Put {
        /// The key.
        key: Vec<u8>,
        /// Its value.
        value: Vec<u8>,
    },
    /// A key goes.
    Delete {
        /// The key.
        key: Vec<u8>,
    },
}

/// Why a store failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The system refused.
    #[error("the index cannot be reached")]
    Io(#[from] io::Error),
    /// The library underneath said no.
    #[error("the index failed: {reason}")]
    Backend {
        /// In its words.
        reason: String,
    },
    /// The library underneath panicked.
    #[error("the index panicked: {reason}")]
    Panicked {
        /// In its words.
        reason: String,
    },
    /// An earlier error was the last word.
    #[error("the index failed earlier and takes no more")]
    Poisoned,
    /// What it holds is not what the journal says.
    #[error("the index does not match the journal: {reason}")]
    Mismatch {
        /// In which way.
        reason: String,
    },
}

/// Which index a memory keeps beside its journal.
#[derive(Clone, Default)]
pub enum IndexChoice {
    /// LevelDB where this library was built with it, else none.
    #[default]
    LevelDb,
    /// None.
    None,
    /// One of the embedder's own.
    Custom(OpenStore),
}

impl IndexChoice {
    pub(crate) fn opener(&self) -> Option<OpenStore> {
        match self {
            #[cfg(feature = "leveldb")]
            Self::LevelDb => Some(Arc::new(|disk, folder| {
                LevelDbStore::open(disk, folder).map(|store| Box::new(store) as Box<dyn Store>)
            })),
            #[cfg(not(feature = "leveldb"))]
            Self::LevelDb => None,
            Self::None => None,
            Self::Custom(open) => Some(Arc::clone(open)),
        }
    }
}

impl fmt::Debug for IndexChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LevelDb => "LevelDb",
            Self::None => "None",
            Self::Custom(_) => "Custom",
        })
    }
}
