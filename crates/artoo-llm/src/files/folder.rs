//! The folder that keeps model files: one folder a model, with a record of what lies in it and why it is trusted.
//!
//! `NAME/NAME.gguf` is the file, `NAME/record.toml` says what it is; a file used where it lies has a record alone.
//! `NAME/download.part` and `NAME/download.toml` are a download that is not over, `NAME/lock` keeps two from one name.
//! A record is written before the file gets its name: whatever is interrupted, a file that does not fit its record shows.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use artoo_proto::Timestamp;
use serde::{Deserialize, Serialize};

use super::error::FilesError;
use super::name::ModelName;
use super::private;
use super::sum::Sum;

/// Its name in the data folder.
const FOLDER: &str = "models";

/// Models shown at most: more is not a collection but a mistake.
const MODELS_MAX: usize = 1_000;

/// Who says that a file is what it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Vouched {
    /// The catalog's sum.
    Catalog,
    /// A sum that the user gave.
    User,
    /// Nobody: the sum is that of what came first.
    Nobody,
}

/// What is recorded of a model file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Where it came from: an address without query, a package, or the path itself.
    pub from: String,
    /// When it was recorded.
    pub at: Timestamp,
    /// Its sum.
    pub sha256: Sum,
    /// Who says that this is the right one.
    pub vouched: Vouched,
    /// Its size.
    pub bytes: u64,
    /// When it was last changed, in nanoseconds since 1970.
    pub modified_ns: i64,
    /// Its licence, where it is known.
    pub licence: Option<String>,
    /// Where it lies, if it is used in place.
    pub path: Option<PathBuf>,
}

/// How a file stands to its record, as its size and time of change show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// As recorded.
    Kept,
    /// Another size or time.
    Changed,
    /// Not there.
    Gone,
}

/// A model on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// What it is called.
    pub name: ModelName,
    /// Where its file lies.
    pub path: PathBuf,
    /// What is recorded of it.
    pub record: Record,
}

impl Model {
    /// How the file stands to its record, without reading it.
    #[must_use]
    pub fn standing(&self) -> Standing {
        match stamp(&self.path) {
            Ok(stamp) if stamp == (self.record.bytes, self.record.modified_ns) => Standing::Kept,
            Ok(_) => Standing::Changed,
            Err(_) => Standing::Gone,
        }
    }

    /// The file, if it is as recorded.
    ///
    /// # Errors
    /// [`FilesError::Gone`], [`FilesError::Changed`].
    pub fn usable(&self) -> Result<&Path, FilesError> {
        let (name, path) = (self.name.clone(), self.path.clone());
        match self.standing() {
            Standing::Kept => Ok(&self.path),
            Standing::Changed => Err(FilesError::Changed { name, path }),
            Standing::Gone => Err(FilesError::Gone { name, path }),
        }
    }

    /// Whether the whole content is what the record says; reads all of it.
    ///
    /// # Errors
    /// When it can't be read.
    pub fn verify(&self, grown: &dyn Fn(u64)) -> Result<bool, FilesError> {
        let found = Sum::of_file(&self.path, grown).map_err(FilesError::io(&self.path))?;
        Ok(found == self.record.sha256)
    }
}

/// What lies in a model's folder.
#[derive(Debug)]
pub enum Found {
    /// A model.
    Model(Box<Model>),
    /// A download that is not over, with its bytes so far.
    Part {
        /// What it is to become.
        name: ModelName,
        /// So far.
        bytes: u64,
    },
    /// Something that can't be used.
    Problem(FilesError),
}

/// The folder of model files in a data folder.
#[derive(Debug, Clone)]
pub struct ModelFolder {
    data_dir: PathBuf,
    path: PathBuf,
}

/// Paths of one model.
#[derive(Debug, Clone)]
pub(super) struct Home {
    folder: PathBuf,
    name: ModelName,
}

impl Home {
    pub(super) fn file(&self) -> PathBuf {
        self.folder.join(format!("{}.gguf", self.name))
    }

    pub(super) fn record(&self) -> PathBuf {
        self.folder.join("record.toml")
    }

    pub(super) fn part(&self) -> PathBuf {
        self.folder.join("download.part")
    }

    pub(super) fn part_record(&self) -> PathBuf {
        self.folder.join("download.toml")
    }

    /// What comes out of an archive before it is known to be right.
    pub(super) fn unpacked(&self) -> PathBuf {
        self.folder.join("unpacked.part")
    }

    /// Bytes of the download so far.
    pub(super) fn begun(&self) -> u64 {
        fs::metadata(self.part()).map_or(0, |found| found.len())
    }
}

impl ModelFolder {
    /// That of this data folder; there need not be one yet.
    #[must_use]
    pub fn new(data_dir: &Path) -> Self {
        Self { data_dir: data_dir.to_path_buf(), path: data_dir.join(FOLDER) }
    }

    /// Where it lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Everything in it, by name.
    ///
    /// # Errors
    /// When it can't be read, or is not this user's alone.
    pub fn list(&self) -> Result<Vec<Found>, FilesError> {
        if !private::is_folder(&self.path)? {
            return Ok(Vec::new());
        }
        let entries = fs::read_dir(&self.path).map_err(FilesError::io(&self.path))?;
        let mut names: Vec<ModelName> =
            entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).take(MODELS_MAX).collect();
        names.sort();
        let looks = names.into_iter().filter_map(|name| self.look(name).transpose());
        Ok(looks.map(|found| found.unwrap_or_else(Found::Problem)).collect())
    }

    /// The model of this name.
    ///
    /// # Errors
    /// When its record can't be read, or the folder is not this user's alone.
    pub fn find(&self, name: &ModelName) -> Result<Option<Model>, FilesError> {
        if !private::is_folder(&self.path)? {
            return Ok(None);
        }
        Ok(match self.look(name.clone())? {
            Some(Found::Model(model)) => Some(*model),
            Some(Found::Part { .. } | Found::Problem(_)) | None => None,
        })
    }

    fn look(&self, name: ModelName) -> Result<Option<Found>, FilesError> {
        let home = self.home(&name);
        if !private::is_folder(&home.folder)? {
            return Ok(None);
        }
        if let Some(record) = private::read::<Record>(&home.record())? {
            let path = record.path.clone().unwrap_or_else(|| home.file());
            let model = Model { name, path, record };
            let is_begun = model.record.path.is_none() && model.standing() == Standing::Gone && home.part().exists();
            if !is_begun {
                return Ok(Some(Found::Model(Box::new(model))));
            }
            return Ok(Some(Found::Part { bytes: home.begun(), name: model.name }));
        }
        Ok(home.part().exists().then(|| Found::Part { bytes: home.begun(), name }))
    }

    /// Makes the folder of a model, private.
    pub(super) fn make_home(&self, name: &ModelName) -> Result<Home, FilesError> {
        for folder in [&self.data_dir, &self.path, &self.home(name).folder] {
            private::make_folder(folder)?;
        }
        private::is_folder(&self.path)?;
        let home = self.home(name);
        private::is_folder(&home.folder)?;
        Ok(home)
    }

    pub(super) fn home(&self, name: &ModelName) -> Home {
        Home { folder: self.path.join(name.as_str()), name: name.clone() }
    }
}

/// Keeps everybody else from fetching the same model until it is dropped.
pub(super) fn lock(home: &Home, name: &ModelName) -> Result<File, FilesError> {
    let path = home.folder.join("lock");
    let file = private::open(OpenOptions::new().write(true).create(true).truncate(false), &path)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(fs::TryLockError::WouldBlock) => Err(FilesError::Busy { name: name.clone() }),
        Err(fs::TryLockError::Error(source)) => Err(FilesError::Io { path, source }),
    }
}

/// Size and time of change of a plain file.
pub(super) fn stamp(path: &Path) -> io::Result<(u64, i64)> {
    let found = fs::metadata(path)?;
    if !found.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    Ok((found.len(), found.mtime().saturating_mul(1_000_000_000).saturating_add(found.mtime_nsec())))
}
