//! The folder that keeps model files: one folder a model, with a record of what lies in it and why it is trusted.
//!
//! `NAME/NAME.gguf` is the file, `NAME/record.toml` says what it is; a file used where it lies has a record alone.
//! `NAME/download.part` and `NAME/download.toml` are a download that is not over, `NAME/lock` keeps two from one name.
//! A record is written before the file gets its name: whatever is interrupted, a file that does not fit its record shows.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use artoo_proto::Timestamp;
use serde::{Deserialize, Serialize};

use super::error::FilesError;
use super::name::ModelName;
use super::sum::Sum;

/// Its name in the data folder.
const FOLDER: &str = "models";

/// Only the owner may look in.
const FOLDER_MODE: u32 = 0o700;

/// Only the owner may read or write.
const FILE_MODE: u32 = 0o600;

/// Longest record read: some forty times what one holds.
const RECORD_MAX_BYTES: u64 = 64 * 1024;

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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

    fn lock(&self) -> PathBuf {
        self.folder.join("lock")
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
        if !self.exists()? {
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
        if !self.exists()? {
            return Ok(None);
        }
        Ok(match self.look(name.clone())? {
            Some(Found::Model(model)) => Some(*model),
            Some(Found::Part { .. } | Found::Problem(_)) | None => None,
        })
    }

    fn look(&self, name: ModelName) -> Result<Option<Found>, FilesError> {
        let home = self.home(&name);
        if !is_private(&home.folder)? {
            return Ok(None);
        }
        if let Some(record) = read::<Record>(&home.record())? {
            let path = record.path.clone().unwrap_or_else(|| home.file());
            let model = Model { name, path, record };
            let is_begun = model.record.path.is_none() && model.standing() == Standing::Gone && home.part().exists();
            if !is_begun {
                return Ok(Some(Found::Model(Box::new(model))));
            }
            return Ok(Some(Found::Part { bytes: size(&home.part()), name: model.name }));
        }
        let part = home.part();
        Ok(part.exists().then(|| Found::Part { bytes: size(&part), name }))
    }

    /// Records a file that is used where it lies.
    pub(super) fn record_in_place(&self, name: &ModelName, record: &Record) -> Result<(), FilesError> {
        let home = self.make_home(name)?;
        write(&home.record(), record)
    }

    /// Makes the folder of a model, private.
    pub(super) fn make_home(&self, name: &ModelName) -> Result<Home, FilesError> {
        for folder in [&self.data_dir, &self.path, &self.home(name).folder] {
            let made = DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(folder);
            made.map_err(FilesError::io(folder))?;
        }
        is_private(&self.path)?;
        let home = self.home(name);
        is_private(&home.folder)?;
        Ok(home)
    }

    pub(super) fn home(&self, name: &ModelName) -> Home {
        Home { folder: self.path.join(name.as_str()), name: name.clone() }
    }

    fn exists(&self) -> Result<bool, FilesError> {
        is_private(&self.path)
    }
}

/// Keeps everybody else from fetching the same model until it is dropped.
pub(super) fn lock(home: &Home, name: &ModelName) -> Result<File, FilesError> {
    let path = home.lock();
    let file = private_file(OpenOptions::new().write(true).create(true).truncate(false), &path)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(fs::TryLockError::WouldBlock) => Err(FilesError::Busy { name: name.clone() }),
        Err(fs::TryLockError::Error(source)) => Err(FilesError::Io { path, source }),
    }
}

/// Opens or makes a file of one's own; what a link leads to is not one.
pub(super) fn private_file(options: &mut OpenOptions, path: &Path) -> Result<File, FilesError> {
    let is_link = fs::symlink_metadata(path).is_ok_and(|found| !found.is_file());
    if is_link {
        return Err(FilesError::NotPrivate { path: path.to_path_buf(), problem: "is no plain file" });
    }
    options.mode(FILE_MODE).open(path).map_err(FilesError::io(path))
}

/// Whether a folder is there; one that is a link, or another's, or open to others, is an error.
fn is_private(folder: &Path) -> Result<bool, FilesError> {
    let problem = |problem| Err(FilesError::NotPrivate { path: folder.to_path_buf(), problem });
    let found = match fs::symlink_metadata(folder) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(source) => return Err(FilesError::Io { path: folder.to_path_buf(), source }),
    };
    if !found.is_dir() {
        return problem("is no folder of its own (a link, or a file)");
    }
    if found.uid() != rustix::process::geteuid().as_raw() {
        return problem("belongs to another user");
    }
    if found.mode() & 0o022 != 0 {
        return problem("can be changed by others than you; take that away: chmod go-w");
    }
    Ok(true)
}

/// Size and time of change of a plain file.
pub(super) fn stamp(path: &Path) -> io::Result<(u64, i64)> {
    let found = fs::metadata(path)?;
    if !found.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    Ok((found.len(), found.mtime().saturating_mul(1_000_000_000).saturating_add(found.mtime_nsec())))
}

fn size(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |found| found.len())
}

/// Reads a record; `None` where there is none.
pub(super) fn read<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<Option<T>, FilesError> {
    let problem = |problem: String| FilesError::Record { path: path.to_path_buf(), problem };
    match fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() => return Err(problem("it is no plain file".to_owned())),
        Ok(found) if found.len() > RECORD_MAX_BYTES => return Err(problem("it is too long".to_owned())),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(FilesError::Io { path: path.to_path_buf(), source }),
    }
    let text = fs::read_to_string(path).map_err(|error| problem(error.to_string()))?;
    toml::from_str(&text).map(Some).map_err(|error| problem(error.message().to_owned()))
}

/// Replaces a record in one step that outlives a power cut.
pub(super) fn write(path: &Path, record: &impl Serialize) -> Result<(), FilesError> {
    let text = toml::to_string(record)
        .map_err(|error| FilesError::Record { path: path.to_path_buf(), problem: error.to_string() })?;
    let new = path.with_extension("new");
    let mut file = private_file(OpenOptions::new().write(true).create(true).truncate(true), &new)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).and_then(|()| fs::rename(&new, path));
    written.and_then(|()| sync_folder(path)).map_err(FilesError::io(path))
}

/// Brings a change of names to the disk.
pub(super) fn sync_folder(of: &Path) -> io::Result<()> {
    File::open(of.parent().unwrap_or(Path::new("/")))?.sync_all()
}
