//! What a person asks for: a name of the catalog, an address, or a file that is there already.

use std::path::{Path, PathBuf};

use super::address::Address;
use super::catalog::{self, Entry};
use super::error::FilesError;
use super::name::ModelName;
use super::sum::Sum;

/// What is to be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// An entry of the catalog.
    Entry(&'static Entry),
    /// A file behind an address.
    Address {
        /// Where.
        address: Address,
        /// What it is to be called.
        name: ModelName,
        /// What its sum is to be.
        sum: Option<Sum>,
    },
    /// A file on this machine, used where it lies.
    File {
        /// Where, in full.
        path: PathBuf,
        /// What it is to be called.
        name: ModelName,
        /// What its sum is to be.
        sum: Option<Sum>,
    },
}

impl Wanted {
    /// Reads what was given: with `://` it is an address, with a slash or the ending `.gguf` a path, else a name.
    ///
    /// # Errors
    /// When there is no such entry, the address can't be used, or no name can be made of it.
    pub fn read(given: &str, name: Option<ModelName>, sum: Option<Sum>, here: &Path) -> Result<Self, FilesError> {
        if given.contains("://") {
            let address = Address::parse(given)?;
            let name = named(name, &address.file_name())?;
            return Ok(Self::Address { address, name, sum });
        }
        if is_path(given) {
            let path = here.join(given);
            let path = path.canonicalize().map_err(FilesError::io(path))?;
            let name = named(name, &path.file_name().unwrap_or_default().to_string_lossy())?;
            return Ok(Self::File { path, name, sum });
        }
        let entry = catalog::entry(given).ok_or_else(|| FilesError::Unknown { name: given.to_owned() })?;
        match (&entry.sha256, sum) {
            (Some(catalog), Some(given)) if *catalog != given => {
                Err(FilesError::TwoSums { name: entry.name.clone(), catalog: catalog.clone(), given })
            }
            _ => Ok(Self::Entry(entry)),
        }
    }

    /// What it is, or is to be, called.
    #[must_use]
    pub fn name(&self) -> &ModelName {
        match self {
            Self::Entry(entry) => &entry.name,
            Self::Address { name, .. } | Self::File { name, .. } => name,
        }
    }
}

/// Whether a word is a path and no name.
#[must_use]
pub fn is_path(given: &str) -> bool {
    given.contains('/') || given.to_ascii_lowercase().ends_with(".gguf")
}

/// The name given, or one made of the file's; names of the catalog are its own.
fn named(name: Option<ModelName>, file: &str) -> Result<ModelName, FilesError> {
    let nameless = || FilesError::Nameless { given: file.to_owned() };
    let name = name.or_else(|| ModelName::from_file_name(file)).ok_or_else(nameless)?;
    match catalog::entry(name.as_str()) {
        Some(entry) => Err(FilesError::Taken { name, by: format!("the catalog ({})", entry.title) }),
        None => Ok(name),
    }
}
