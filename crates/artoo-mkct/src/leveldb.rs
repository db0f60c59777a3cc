//! A copy of a memory as a LevelDB, for programs that read nothing else (feature `leveldb`).
//!
//! Keys and values: `m|<id>` → the record as JSON, `x|<space>|<entity>|<id>` → nothing, `l|<level>|<id>` → nothing,
//! `r|<id>` → the time of the last recall in RFC 3339. The copy is written once, as a whole; it is not kept up to date.

use std::{
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use rusty_leveldb::{DB, Status};

use crate::{
    disk::{Disk, OpenMode},
    engine::Engine,
    record::ReadError,
};

mod rfc3339;

/// Name of the folder of the database while it is built in RAM. The LevelDB library also looks for this folder on the
/// disk, and never finds it: no file name on a disk contains a NUL.
const IN_RAM: &str = "in RAM\0";

/// The LevelDB file that names the other files; it is written last, so that an interrupted export is not a database.
const CURRENT: &str = "CURRENT";

/// Why a memory could not be written as a LevelDB.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// The target folder is not empty.
    #[error("{path:?} is not empty: name a new or an empty folder")]
    NotEmpty {
        /// The folder that is not empty.
        path: PathBuf,
    },
    /// The folder or a file in it cannot be used.
    #[error("{path:?} cannot be written: {source}")]
    Io {
        /// The folder or file that cannot be used.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The text of a record cannot be read back from the journal.
    #[error("a record cannot be read: {0}")]
    Record(#[from] ReadError),
    /// A record cannot be written as JSON.
    #[error("a record cannot be written as JSON: {0}")]
    Encode(#[from] serde_json::Error),
    /// The LevelDB library failed.
    #[error("LevelDB failed: {reason}")]
    Database {
        /// The message of the LevelDB library.
        reason: String,
    },
}

impl From<Status> for IndexError {
    fn from(status: Status) -> Self {
        Self::Database { reason: status.to_string() }
    }
}

/// Writes every record of a memory into a new LevelDB; returns the number of records.
///
/// The database is built in RAM first, which takes about as much RAM as the texts of all records.
///
/// # Errors
/// [`IndexError::NotEmpty`] without changing anything; the other variants may leave files behind.
pub fn export(engine: &Engine, disk: &dyn Disk, folder: &Path) -> Result<usize, IndexError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| IndexError::Io { path, source }
    };
    disk.create_folder(folder).map_err(failed(folder))?;
    if !disk.list(folder).map_err(failed(folder))?.is_empty() {
        return Err(IndexError::NotEmpty { path: folder.to_owned() });
    }
    let options = rusty_leveldb::in_memory();
    let env = std::rc::Rc::clone(&options.env);
    let mut db = DB::open(IN_RAM, options)?;
    let records = fill(engine, &mut db)?;
    db.close()?;
    let mut names = env.children(Path::new(IN_RAM))?;
    names.retain(|name| !matches!(name.to_str(), Some("LOCK" | "LOG")));
    names.sort_by_key(|name| name.to_str() == Some(CURRENT));
    for name in names {
        let mut bytes = Vec::new();
        let path = folder.join(&name);
        env.open_sequential_file(&Path::new(IN_RAM).join(&name))?.read_to_end(&mut bytes).map_err(failed(&path))?;
        let file = disk.open(&path, OpenMode::Truncate).map_err(failed(&path))?;
        file.write_at(&bytes, 0).and_then(|()| file.sync()).map_err(failed(&path))?;
    }
    disk.sync_folder(folder).map_err(failed(folder))?;
    Ok(records)
}

/// Puts all keys of all records into the database; returns the number of records.
fn fill(engine: &Engine, db: &mut DB) -> Result<usize, IndexError> {
    let mut records = 0;
    for head in engine.heads() {
        let Some(megram) = engine.get(head.id)? else { continue };
        let (id, space, entity) = (megram.id, &megram.space, &megram.entity);
        db.put(format!("m|{id}").as_bytes(), &serde_json::to_vec(&megram)?)?;
        db.put(format!("x|{space}|{entity}|{id}").as_bytes(), b"")?;
        db.put(format!("l|{:?}|{id}", megram.level).as_bytes(), b"")?;
        if let Some(at_ms) = megram.last_recalled_at_ms {
            db.put(format!("r|{id}").as_bytes(), rfc3339::format(at_ms).as_bytes())?;
        }
        records += 1;
    }
    Ok(records)
}

#[cfg(test)]
mod tests;
