//! Installation of a model: an offer with size and source, then download, verification, and the move into place.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use artoo_proto::Timestamp;

use super::archive;
use super::checksum::Checksum;
use super::download::{self, Download, Progress, Step};
use super::error::FilesError;
use super::folder::{FileState, Model, ModelDir, ModelFolder, Record, size_and_time};
use super::gguf::Gguf;
use super::http::{DownloadLimits, Http};
use super::private;
use super::wanted::{Location, Wanted};
use crate::pool::Pool;
use crate::whole_file::sync_folder;

/// Maximum size of a model file: twice that of the largest open models at four bits a weight.
#[doc(alias = "limit")]
const FILE_MAX_BYTES: u64 = 1 << 40;

/// Disk space in bytes that a download leaves free: without it the audit log, and with it every task, would stop.
const RESERVED_BYTES: u64 = 512 * 1024 * 1024;

/// A model that must be downloaded, with the size of its download.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    pub wanted: Wanted,
    /// Bytes to download in all, if known.
    pub bytes: Option<u64>,
    /// Bytes received by an earlier, unfinished download.
    pub received: u64,
    /// Free disk space in bytes, without the reserve.
    pub free: u64,
}

/// What installing a model takes: nothing if it is installed, else a download.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Offered {
    /// The model is installed and unchanged.
    Installed(Box<Model>),
    Download(Box<Offer>),
}

/// Installs model files into one folder: downloads, verifies and records them.
pub struct Puller {
    folder: ModelFolder,
    http: Http,
}

impl Puller {
    /// Creates a puller that trusts the certificates of `ca_file` (PEM) in addition to the bundled roots.
    #[must_use]
    pub fn new(folder: ModelFolder, ca_file: Option<PathBuf>, limits: DownloadLimits) -> Self {
        Self { folder, http: Http { limits, ca_file, pool: Pool::default() } }
    }

    /// Determines whether a model must be downloaded, and how large the download is. The host is only asked for the
    /// file's size. A local file that is not installed is an error: [`Self::register`] takes it.
    ///
    /// # Errors
    /// If the name is taken, the host refuses, or there is too little disk space.
    pub async fn offer(&self, wanted: Wanted) -> Result<Offered, FilesError> {
        if let Some(model) = self.installed(&wanted)? {
            return Ok(Offered::Installed(Box::new(model)));
        }
        let Location::Url(url) = &wanted.location else {
            return Err(FilesError::Unknown { name: wanted.shown() });
        };
        let host_bytes = download::size(&self.http, url).await?;
        let bytes = wanted.entry.map(|entry| entry.download_bytes()).or(host_bytes);
        let extracted = wanted.entry.filter(|entry| entry.archive.is_some()).map_or(0, |entry| entry.bytes);
        let received = self.folder.dir(&wanted.name).part_bytes();
        let free = free_bytes(self.folder.path())?;
        let needed = bytes.unwrap_or_default().saturating_sub(received).saturating_add(extracted + RESERVED_BYTES);
        if needed > free {
            return Err(FilesError::NoSpace { path: self.folder.path().to_path_buf(), needed, free });
        }
        let free = free - RESERVED_BYTES;
        Ok(Offered::Download(Box::new(Offer { wanted, bytes, received, free })))
    }

    /// Downloads, verifies and installs a model; a local file is verified and recorded. If a download ends early,
    /// another call resumes it.
    ///
    /// # Errors
    /// If the download or its verification fails; content that fails verification is deleted.
    pub async fn install(&self, offer: Offer, at: Timestamp, progress: Arc<dyn Progress>) -> Result<Model, FilesError> {
        let Offer { wanted, received, free, .. } = offer;
        let dir = self.folder.make_dir(&wanted.name)?;
        let _lock = dir.lock()?;
        if let Some(model) = self.installed(&wanted)? {
            return Ok(model);
        }
        let Location::Url(url) = &wanted.location else { return self.register(wanted, at, progress).await };
        let bytes = wanted.entry.map(|entry| entry.download_bytes());
        let download = Download {
            http: &self.http,
            url,
            dir: &dir,
            bytes,
            has_checksum: wanted.sha256.is_some(),
            max_bytes: free.saturating_add(received).min(bytes.unwrap_or(FILE_MAX_BYTES)),
            progress: &*progress,
        };
        download.run().await?;
        blocking(move || move_into_place(&wanted, &dir, at, &*progress)).await
    }

    /// Records a local model file under a name, after verifying it; the file is used where it is.
    ///
    /// # Errors
    /// If the file is not a model or has another checksum than given, or the name is taken.
    pub async fn register(
        &self,
        wanted: Wanted,
        at: Timestamp,
        progress: Arc<dyn Progress>,
    ) -> Result<Model, FilesError> {
        self.installed(&wanted)?;
        let folder = self.folder.clone();
        blocking(move || {
            let Location::File(path) = &wanted.location else {
                return Err(FilesError::Unknown { name: wanted.shown() });
            };
            let record = Record { path: Some(path.clone()), ..verified(path, &wanted, at, &*progress)? };
            private::write(&folder.make_dir(&wanted.name)?.record(), &record)?;
            Ok(Model { name: wanted.name.clone(), path: path.clone(), record })
        })
        .await
    }

    /// The installed model, if it is unchanged and has the expected checksum; an error if its name belongs to another
    /// model.
    fn installed(&self, wanted: &Wanted) -> Result<Option<Model>, FilesError> {
        let Some(model) = self.folder.find(&wanted.name)? else { return Ok(None) };
        // Names of the catalog can't be given to other models.
        if wanted.entry.is_none() && model.record.from != wanted.shown() {
            return Err(FilesError::Taken { name: model.name, by: model.record.from });
        }
        let is_expected = wanted.sha256.as_ref().is_none_or(|sha256| *sha256 == model.record.sha256);
        Ok((is_expected && model.state() == FileState::Unchanged).then_some(model))
    }
}

/// Verifies a finished download (extracting it from its archive if it has one), records it, and renames it to the model
/// file.
fn move_into_place(
    wanted: &Wanted,
    dir: &ModelDir,
    at: Timestamp,
    progress: &dyn Progress,
) -> Result<Model, FilesError> {
    let mut path = dir.part();
    let record = (|| {
        if let Some((entry, archive)) = wanted.entry.and_then(|entry| Some((entry, entry.archive.as_ref()?))) {
            verify(&path, Some(&archive.sha256), wanted, progress)?;
            archive::extract(&path, &archive.member, entry.bytes, &dir.extracted())?;
            path = dir.extracted();
        }
        verified(&path, wanted, at, progress)
    })();
    if matches!(&record, Err(error) if !matches!(error, FilesError::Io { .. })) {
        dir.remove_part()?;
    }
    let record = record?;
    private::write(&dir.record(), &record)?;
    let file = dir.file();
    fs::rename(&path, &file).and_then(|()| sync_folder(&file)).map_err(FilesError::io(&file))?;
    dir.remove_part()?;
    Ok(Model { name: wanted.name.clone(), path: file, record })
}

/// Verifies the checksum and header of a model file; returns its record.
fn verified(path: &Path, wanted: &Wanted, at: Timestamp, progress: &dyn Progress) -> Result<Record, FilesError> {
    let (bytes, modified_ns) = size_and_time(path).map_err(FilesError::io(path))?;
    let sha256 = verify(path, wanted.sha256.as_ref(), wanted, progress)?;
    let gguf = Gguf::read(path).map_err(|source| FilesError::NotModel { shown: wanted.shown(), source })?;
    let licence = wanted.entry.map(|entry| entry.licence.clone()).or(gguf.licence);
    Ok(Record { from: wanted.shown(), at, sha256, bytes, modified_ns, licence, path: None })
}

/// Hashes a file and returns its checksum; an error if another one is expected.
fn verify(
    path: &Path,
    expected: Option<&Checksum>,
    wanted: &Wanted,
    progress: &dyn Progress,
) -> Result<Checksum, FilesError> {
    let (total, _) = size_and_time(path).map_err(FilesError::io(path))?;
    let on_progress = |done| progress.report(Step::Verifying { done, total });
    let actual = Checksum::of_file(path, &on_progress).map_err(FilesError::io(path))?;
    match (expected.filter(|expected| **expected != actual).cloned(), &wanted.location) {
        (None, _) => Ok(actual),
        (Some(expected), Location::Url(_)) => Err(FilesError::Corrupt { shown: wanted.shown(), expected, actual }),
        (Some(expected), Location::File(_)) => Err(FilesError::Checksum { shown: wanted.shown(), expected, actual }),
    }
}

/// Free bytes on the disk of a folder, or of its nearest existing ancestor.
fn free_bytes(folder: &Path) -> Result<u64, FilesError> {
    let existing = folder.ancestors().find(|folder| folder.exists()).unwrap_or(folder);
    let found = rustix::fs::statvfs(existing).map_err(|error| FilesError::io(existing)(error.into()))?;
    Ok(found.f_bavail.saturating_mul(found.f_frsize))
}

/// Runs file work that may take seconds on a thread for blocking work, and waits for its result.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, FilesError> + Send + 'static,
) -> Result<T, FilesError> {
    let lost = |_| Err(FilesError::Client("the verification of the file was interrupted".to_owned()));
    tokio::task::spawn_blocking(work).await.unwrap_or_else(lost)
}
