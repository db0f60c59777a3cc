//! Reading and changing the stored memory for a user, and loading a profile of decisions by its name.

use std::io;
use std::path::{Path, PathBuf};

use artoo_ggs::{ParameterTable, Profile};
use artoo_mkct::{
    Memory, Options,
    disk::SystemDisk,
    export::ExportError,
    leveldb::IndexError,
    memory::{DurabilityError, MaintenanceError, MemoryForgetError, MemoryWriteError, OpenError},
};

/// Why the memory of a data folder could not be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// The data folder holds no memory.
    #[error("there is no memory in {} yet", folder.display())]
    Missing {
        /// The data folder.
        folder: PathBuf,
    },
    /// The memory can't be opened.
    #[error(transparent)]
    Memory(#[from] OpenError),
    /// The target folder is not empty or can't be written, or LevelDB failed.
    #[error(transparent)]
    Target(#[from] IndexError),
    /// A record, or a line of an import, is not accepted.
    #[error(transparent)]
    Write(#[from] MemoryWriteError),
    /// A record can't be written to the disk.
    #[error(transparent)]
    Durability(#[from] DurabilityError),
    /// A record can't be forgotten, or its text not be erased now.
    #[error(transparent)]
    Forget(#[from] MemoryForgetError),
    /// The memory can't be verified, or not be read as it was.
    #[error(transparent)]
    Maintenance(#[from] MaintenanceError),
    /// The memory can't be exported.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// The file of an export can't be read or written.
    #[error("{} can't be used", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
}

/// Opens the memory of a data folder. If another artoo has it open, this one reads its state as of now, and what it
/// writes is passed to the other.
///
/// # Errors
/// [`MemoryError::Missing`] without a memory, unless `create` is true; [`MemoryError::Memory`] if it can't be opened.
pub fn open_memory(data_dir: &Path, create: bool) -> Result<Memory, MemoryError> {
    if !create && !data_dir.join("memory.journal").is_file() {
        return Err(MemoryError::Missing { folder: data_dir.to_owned() });
    }
    Ok(Memory::open(data_dir, Options::default().with(|options| options.dream = None))?.0)
}

/// Exports the memory of a data folder as a LevelDB into a new or empty folder; returns the number of records.
///
/// # Errors
/// [`MemoryError`]; a folder that is not empty is left unchanged.
pub fn export_memory_index(data_dir: &Path, target: &Path) -> Result<usize, MemoryError> {
    let memory = open_memory(data_dir, false)?;
    Ok(artoo_mkct::leveldb::export(&memory.engine(), &SystemDisk, target)?)
}

/// The profile of this name, or of this JSON object, with another time budget if one is given.
///
/// # Errors
/// What is wrong with the name or the JSON text.
pub fn profile(named: &str, time_budget_ms: Option<u64>) -> Result<Profile, String> {
    let unknown = || format!("give {}, or the path of a JSON file that begins with / or ~/", Profile::NAMES.join(", "));
    let built_in = || Profile::NAMES.iter().filter_map(|name| Some((*name, Profile::named(name)?)));
    let profile = match named.trim_start().starts_with('{') {
        true => serde_json::from_str(named).map_err(|error| error.to_string())?,
        false => built_in().find(|(name, profile)| [*name, profile.name()].contains(&named)).ok_or_else(unknown)?.1,
    };
    let Some(time_budget_ms) = time_budget_ms else { return Ok(profile) };
    let mut numbers = ParameterTable::from(*profile.parameters());
    numbers.time_budget_ms = time_budget_ms;
    let numbers = numbers.try_into().map_err(|error: artoo_ggs::ParameterError| error.to_string())?;
    Profile::new(profile.name(), numbers, *profile.rules()).map_err(|error| error.to_string())
}
