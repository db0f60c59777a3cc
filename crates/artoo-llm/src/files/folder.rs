//! The folder of installed models: one subfolder a model, with the model file and a record of its origin and checksum.
//!
//! `NAME/NAME.gguf` is the model file and `NAME/record.toml` its record; a file used in place has a record only.
//! `NAME/download.part` and `NAME/download.toml` are an unfinished download, `NAME/lock` excludes a second one.
//! The record is written before the file is renamed into place, so an interrupted install shows as a changed file.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use artoo_proto::Timestamp;
use serde::{Deserialize, Serialize};

use super::checksum::Checksum;
use super::error::FilesError;
use super::name::ModelName;
use super::private;

/// Name of the model folder in the data folder.
const FOLDER: &str = "models";

/// Maximum number of installed models listed.
const MODELS_MAX: usize = 1_000;

/// Origin, checksum and timestamp of a model file, stored as `record.toml`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Where the model file came from: a URL without its query, or a path.
    pub from: String,
    /// When the model was installed.
    pub at: Timestamp,
    pub sha256: Checksum,
    pub bytes: u64,
    /// Modification time of the file, in nanoseconds since 1970.
    pub modified_ns: i64,
    pub licence: Option<String>,
    /// Path of the file if it is used in place.
    pub path: Option<PathBuf>,
}

/// Whether a model file still has the size and modification time of its record: unchanged, changed or missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FileState {
    #[serde(rename = "kept")]
    Unchanged,
    Changed,
    #[serde(rename = "gone")]
    Missing,
}

/// An installed model: its name, file and record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    pub name: ModelName,
    /// Path of the model file.
    pub path: PathBuf,
    pub record: Record,
}

impl Model {
    /// Compares the file's size and modification time with the record; doesn't read the content.
    #[must_use]
    pub fn state(&self) -> FileState {
        match size_and_time(&self.path) {
            Ok(found) if found == (self.record.bytes, self.record.modified_ns) => FileState::Unchanged,
            Ok(_) => FileState::Changed,
            Err(_) => FileState::Missing,
        }
    }

    /// An error if the model file was changed or removed since it was recorded.
    ///
    /// # Errors
    /// [`FilesError::Changed`].
    pub fn check_unchanged(&self) -> Result<(), FilesError> {
        let problem = match self.state() {
            FileState::Unchanged => return Ok(()),
            FileState::Changed => "has changed since it was recorded",
            FileState::Missing => "is gone",
        };
        Err(FilesError::Changed { name: self.name.clone(), path: self.path.clone(), problem })
    }
}

/// What one model's subfolder contains: an installed model, an unfinished download, or a problem.
#[derive(Debug)]
pub enum Found {
    Model(Box<Model>),
    /// An unfinished download of `bytes` bytes so far.
    Part {
        name: ModelName,
        bytes: u64,
    },
    /// A model whose record or folder can't be read.
    Problem(FilesError),
}

/// The folder of installed models in a data folder.
#[derive(Debug, Clone)]
pub struct ModelFolder {
    path: PathBuf,
}

/// The subfolder of one model, with the paths of its files.
#[derive(Debug, Clone)]
pub(super) struct ModelDir {
    path: PathBuf,
    name: ModelName,
}

impl ModelDir {
    /// Path of the installed model file.
    pub(super) fn file(&self) -> PathBuf {
        self.path.join(format!("{}.gguf", self.name))
    }

    /// Path of the file that records origin and checksum of the installed model file.
    pub(super) fn record(&self) -> PathBuf {
        self.path.join("record.toml")
    }

    /// Path of the file with the bytes received so far of an unfinished download.
    pub(super) fn part(&self) -> PathBuf {
        self.path.join("download.part")
    }

    /// Path of the file that records the source of an unfinished download.
    pub(super) fn part_record(&self) -> PathBuf {
        self.path.join("download.toml")
    }

    /// Path of a model file that was extracted from an archive and is not verified yet.
    pub(super) fn extracted(&self) -> PathBuf {
        self.path.join("unpacked.part")
    }

    /// Size of the unfinished download in bytes; 0 if there is none.
    pub(super) fn part_bytes(&self) -> u64 {
        fs::metadata(self.part()).map_or(0, |found| found.len())
    }

    /// Removes the files of an unfinished download: its bytes, its record, and an extracted file.
    pub(super) fn remove_part(&self) -> Result<(), FilesError> {
        [self.part_record(), self.part(), self.extracted()].iter().try_for_each(|path| private::remove(path))
    }

    /// Locks the model's subfolder against other processes until the returned file is dropped; an error if another one
    /// has the lock.
    pub(super) fn lock(&self) -> Result<File, FilesError> {
        let path = self.path.join("lock");
        let file = private::open(OpenOptions::new().write(true).create(true).truncate(false), &path)?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => Err(FilesError::Busy { name: self.name.clone() }),
            Err(TryLockError::Error(source)) => Err(FilesError::Io { path, source }),
        }
    }
}

impl ModelFolder {
    /// The model folder of a data folder; neither needs to exist.
    #[must_use]
    pub fn new(data_dir: &Path) -> Self {
        Self { path: data_dir.join(FOLDER) }
    }

    /// The path of the folder of installed models.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Lists all models, unfinished downloads and problems, sorted by name.
    ///
    /// # Errors
    /// If the folder can't be read, or another user can change it.
    pub fn list(&self) -> Result<Vec<Found>, FilesError> {
        if !private::is_folder(&self.path)? {
            return Ok(Vec::new());
        }
        let entries = fs::read_dir(&self.path).map_err(FilesError::io(&self.path))?;
        let mut names: Vec<ModelName> =
            entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).take(MODELS_MAX).collect();
        names.sort();
        let found = names.into_iter().filter_map(|name| self.read_model_folder(name).transpose());
        Ok(found.map(|found| found.unwrap_or_else(Found::Problem)).collect())
    }

    /// Finds the installed model of this name; `None` if there is none, or only an unfinished download.
    ///
    /// # Errors
    /// If its record can't be read, or another user can change the folder.
    pub fn find(&self, name: &ModelName) -> Result<Option<Model>, FilesError> {
        if !private::is_folder(&self.path)? {
            return Ok(None);
        }
        Ok(match self.read_model_folder(name.clone())? {
            Some(Found::Model(model)) => Some(*model),
            Some(Found::Part { .. } | Found::Problem(_)) | None => None,
        })
    }

    /// Reads a model's subfolder; `None` if it contains neither a model nor an unfinished download.
    fn read_model_folder(&self, name: ModelName) -> Result<Option<Found>, FilesError> {
        let dir = self.dir(&name);
        if !private::is_folder(&dir.path)? {
            return Ok(None);
        }
        let has_part = dir.part().exists();
        if let Some(record) = private::read::<Record>(&dir.record())? {
            let path = record.path.clone().unwrap_or_else(|| dir.file());
            let model = Model { name: name.clone(), path, record };
            if !has_part || model.record.path.is_some() || model.state() != FileState::Missing {
                return Ok(Some(Found::Model(Box::new(model))));
            }
        }
        Ok(has_part.then(|| Found::Part { bytes: dir.part_bytes(), name }))
    }

    /// The subfolder of a model, which may not exist.
    pub(super) fn dir(&self, name: &ModelName) -> ModelDir {
        ModelDir { path: self.path.join(name.as_str()), name: name.clone() }
    }

    /// Creates a model's subfolder if it is missing; an error if another user can change it or the model folder.
    pub(super) fn make_dir(&self, name: &ModelName) -> Result<ModelDir, FilesError> {
        let dir = self.dir(name);
        private::make_folder(&dir.path)?;
        private::is_folder(&self.path)?;
        private::is_folder(&dir.path)?;
        Ok(dir)
    }
}

/// Size in bytes and modification time in nanoseconds since 1970; an error if the path is not a regular file.
pub(super) fn size_and_time(path: &Path) -> io::Result<(u64, i64)> {
    let found = fs::metadata(path)?;
    if !found.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    Ok((found.len(), found.mtime().saturating_mul(1_000_000_000).saturating_add(found.mtime_nsec())))
}
