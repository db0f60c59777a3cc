//! LevelDB, kept on a short lead: it loses what it can lose, and nothing here minds.
//!
//! Logs and manifests are never reused, every batch is synced, keys are looked up with an iterator and compared (its
//! `get` misses live keys next to a deleted one), no iterator is open during a write, a panic counts as an error, and
//! the first error is the last word.

use std::{
    ops::ControlFlow,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    rc::Rc,
    sync::Arc,
};

use rusty_leveldb::{CompressorId, DB, LdbIterator as _, Options, Status, WriteBatch, compressor::SnappyCompressor};

use super::{Change, Store, StoreError, Visit, env::DiskEnv};
use crate::disk::Disk;

/// Open tables: an index of a million records has about a hundred.
const MAX_OPEN_FILES: usize = 64;

/// Memory for blocks read: the index is written far more often than read.
const CACHE_BYTES: usize = 1024 * 1024;

/// Memory gathered before a table is written.
const WRITE_BUFFER_BYTES: usize = 2 * 1024 * 1024;

/// The index on a disk, readable by any LevelDB.
pub struct LevelDbStore {
    /// `None` after the first error.
    db: Option<DB>,
}

impl LevelDbStore {
    /// Opens or makes a LevelDB in a folder.
    ///
    /// # Errors
    /// Where it is damaged (a panic of the library included) or in use.
    pub fn open(disk: &Arc<dyn Disk>, folder: &Path) -> Result<Self, StoreError> {
        disk.create_folder(folder)?;
        let options = Options {
            env: Rc::new(Box::new(DiskEnv::new(disk))),
            paranoid_checks: true,
            write_buffer_size: WRITE_BUFFER_BYTES,
            max_open_files: MAX_OPEN_FILES,
            block_cache_capacity_bytes: CACHE_BYTES,
            compressor: SnappyCompressor::ID,
            reuse_logs: false,
            reuse_manifest: false,
            ..Options::default()
        };
        let db = guarded(|| DB::open(folder, options))?;
        Ok(Self { db: Some(db) })
    }

    /// Lets the library do something; whatever goes wrong ends its use.
    fn with<T>(&mut self, act: impl FnOnce(&mut DB) -> Result<T, Status>) -> Result<T, StoreError> {
        let db = self.db.as_mut().ok_or(StoreError::Poisoned)?;
        let result = guarded(|| act(db));
        if result.is_err() {
            self.abandon();
        }
        result
    }

    /// Lets go of the database; dropping it writes, and may panic like everything else in it.
    fn abandon(&mut self) {
        if let Some(db) = self.db.take() {
            let _ = catch_unwind(AssertUnwindSafe(|| drop(db)));
        }
    }
}

impl Store for LevelDbStore {
    fn get(&mut self, keys: &[Vec<u8>]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        self.with(|db| {
            let mut cursor = db.new_iter()?;
            let mut look_up = |key: &Vec<u8>| {
                cursor.seek(key);
                cursor.current().filter(|(found, _)| found.as_ref() == key.as_slice()).map(|(_, value)| value.to_vec())
            };
            Ok(keys.iter().map(&mut look_up).collect())
        })
    }

    fn scan(&mut self, prefix: &[u8], visit: &mut Visit<'_>) -> Result<(), StoreError> {
        self.with(|db| {
            let mut cursor = db.new_iter()?;
            cursor.seek(prefix);
            while let Some((key, value)) = cursor.current().filter(|(key, _)| key.starts_with(prefix)) {
                if visit(&key, &value) == ControlFlow::Break(()) || !cursor.advance() {
                    break;
                }
            }
            Ok(())
        })
    }

    fn write(&mut self, changes: Vec<Change>) -> Result<(), StoreError> {
        let mut batch = WriteBatch::default();
        for change in &changes {
            match change {
                Change::Put { key, value } => batch.put(key, value),
                Change::Delete { key } => batch.delete(key),
            }
        }
        self.with(|db| db.write(batch, true))
    }

    fn close(mut self: Box<Self>) -> Result<(), StoreError> {
        self.with(DB::close)?;
        self.abandon();
        Ok(())
    }
}

impl Drop for LevelDbStore {
    fn drop(&mut self) {
        self.abandon();
    }
}

/// Runs the library's code; it panics on damage it did not expect.
fn guarded<T>(act: impl FnOnce() -> Result<T, Status>) -> Result<T, StoreError> {
    match catch_unwind(AssertUnwindSafe(act)) {
        Ok(result) => result.map_err(|status| StoreError::Backend { reason: status.to_string() }),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            Err(StoreError::Panicked { reason: text.unwrap_or("without a word").to_owned() })
        }
    }
}
