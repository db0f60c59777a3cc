//! Downloads one file from a URL, and resumes an interrupted download if the file on the server is still the same.

use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::time::Duration;

use reqwest::header::{ETAG, HeaderMap, HeaderName, IF_RANGE, LAST_MODIFIED, RANGE};
use reqwest::{Response, StatusCode};
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, timeout};

use super::error::FilesError;
use super::folder::ModelDir;
use super::http::{Failed, Http, broken, content_range, deepest, unexpected};
use super::private;
use super::url::FileUrl;

/// A step of progress while a model file is installed: bytes received, a wait, a restart, or verification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// `done` of `total` bytes are received, those of earlier connections included.
    Receiving { done: u64, total: Option<u64> },
    /// The next attempt begins after `wait`.
    Waiting { wait: Duration, why: String },
    /// The received bytes are of no use, so the download restarts.
    Restarted { why: &'static str },
    /// `done` of `total` bytes of the file are hashed.
    Verifying { done: u64, total: u64 },
}

/// Receives the progress of an installation; called often, from any thread.
pub trait Progress: Send + Sync {
    /// Reports one step of an installation.
    fn report(&self, step: Step);
}

/// The source of an unfinished download, stored as `download.toml`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct PartRecord {
    /// URL the file is downloaded from, without its query.
    from: String,
    etag: Option<String>,
    /// The `Last-Modified` header of the response, if any.
    modified: Option<String>,
    total: Option<u64>,
}

/// The download of one model file into the model's subfolder, with its expected size and limits.
pub(super) struct Download<'d> {
    pub(super) http: &'d Http,
    pub(super) url: &'d FileUrl,
    pub(super) dir: &'d ModelDir,
    /// Size of the file in bytes, if known from elsewhere than the host.
    pub(super) bytes: Option<u64>,
    /// Whether the checksum is known: then resuming without `ETag` and `Last-Modified` is sound.
    pub(super) has_checksum: bool,
    pub(super) max_bytes: u64,
    pub(super) progress: &'d dyn Progress,
}

/// Asks the host for a file's size by requesting its first byte; `None` if the host doesn't say.
pub(super) async fn size(http: &Http, url: &FileUrl) -> Result<Option<u64>, FilesError> {
    let size = || async {
        let response = http.get(url, &[(RANGE, "bytes=0-0".to_owned())]).await?;
        let range = content_range(response.headers());
        Ok(Some(range.map_or_else(|| response.content_length(), |(_, total)| total)))
    };
    http.retried(url.host(), || 0, |_, _| {}, size).await
}

impl Download<'_> {
    /// Downloads until the file is complete and on disk. If stopped early, the received bytes stay, with a record of
    /// their source.
    pub(super) async fn run(&self) -> Result<(), FilesError> {
        let on_wait = |wait, error: &FilesError| self.progress.report(Step::Waiting { wait, why: error.to_string() });
        self.http.retried(self.url.host(), || self.dir.part_bytes(), on_wait, || self.connect()).await
    }

    /// Makes one connection and receives the rest of the file; `None` if the download must restart.
    async fn connect(&self) -> Result<Option<()>, Failed> {
        let known = self.resumable()?;
        let have = if known.is_some() { self.dir.part_bytes() } else { 0 };
        if known.as_ref().is_some_and(|known| known.total == Some(have)) {
            // The process ended between the download and its verification.
            let synced = File::open(self.dir.part()).and_then(|file| file.sync_all());
            return Ok(synced.map(Some).map_err(FilesError::io(self.dir.part()))?);
        }
        let known = known.filter(|_| have > 0);
        let mut headers = Vec::new();
        if let Some(known) = &known {
            headers.push((RANGE, format!("bytes={have}-")));
            headers.extend(known.etag.clone().or_else(|| known.modified.clone()).map(|state| (IF_RANGE, state)));
        }
        let response = self.http.get(self.url, &headers).await?;
        match (response.status(), known) {
            (StatusCode::RANGE_NOT_SATISFIABLE, Some(_)) => self.restart("the host has another file now"),
            (StatusCode::PARTIAL_CONTENT, Some(known)) => {
                let (first, total) = content_range(response.headers()).unwrap_or_default();
                let etag = etag(response.headers());
                let is_same_file = etag.is_none() || known.etag.is_none() || etag == known.etag;
                if first != Some(have) || known.total.is_some_and(|known| total != Some(known)) || !is_same_file {
                    return self.restart("the host's file has changed");
                }
                self.check_size(total)?;
                self.receive(response, have, total).await
            }
            (StatusCode::OK, _) => {
                let total = response.content_length();
                // Before the received bytes are removed: this may be the page of a captive portal.
                self.check_size(total)?;
                if have > 0 {
                    self.restart("the host sends whole files only, or its file has changed")?;
                }
                self.begin(response.headers(), total)?;
                self.receive(response, 0, total).await
            }
            _ => Err(unexpected(self.url, "answers with something else than the file").into()),
        }
    }

    /// Removes the received bytes and reports why; returns `None`, so that the caller starts the download anew.
    fn restart(&self, why: &'static str) -> Result<Option<()>, Failed> {
        self.dir.remove_part()?;
        self.progress.report(Step::Restarted { why });
        Ok(None)
    }

    /// The record of the unfinished download, if it is of this URL and the server's file can be recognised; otherwise
    /// `None`.
    fn resumable(&self) -> Result<Option<PartRecord>, FilesError> {
        let record: Option<PartRecord> = private::read(&self.dir.part_record())?;
        Ok(record.filter(|record| {
            let has_validator = record.etag.is_some() || record.modified.is_some();
            let fits = record.total.is_none_or(|total| self.dir.part_bytes() <= total);
            record.from == self.url.shown() && fits && (has_validator || self.has_checksum)
        }))
    }

    /// Records the source of a new download, then creates its empty file.
    fn begin(&self, headers: &HeaderMap, total: Option<u64>) -> Result<(), FilesError> {
        self.dir.remove_part()?;
        let record =
            PartRecord { from: self.url.shown(), etag: etag(headers), modified: text(headers, LAST_MODIFIED), total };
        private::write(&self.dir.part_record(), &record)?;
        private::open(OpenOptions::new().write(true).create_new(true), &self.dir.part()).map(drop)
    }

    /// Appends a response's body to the unfinished download, which has `have` bytes, and syncs the file. An error if
    /// the body ends before `total` bytes, is too long or comes too slowly; never `None`.
    async fn receive(&self, mut response: Response, have: u64, total: Option<u64>) -> Result<Option<()>, Failed> {
        let limits = &self.http.limits;
        let max_bytes = total.unwrap_or(self.max_bytes).min(self.max_bytes);
        let path = self.dir.part();
        let mut file = private::open(OpenOptions::new().write(true), &path)?;
        let failed = |source| FilesError::Io { path: path.clone(), source };
        file.seek(SeekFrom::Start(have)).map_err(failed)?;
        let mut done = have;
        let (mut interval, mut done_before) = (Instant::now(), have);
        loop {
            let piece = match timeout(limits.idle, response.chunk()).await {
                Ok(Ok(Some(piece))) => piece,
                Ok(Ok(None)) => break,
                Ok(Err(error)) => return Err(broken(self.url, deepest(&error))),
                Err(_) => return Err(broken(self.url, "nothing received for too long".to_owned())),
            };
            done = done.saturating_add(piece.len() as u64);
            if done > max_bytes {
                self.dir.remove_part()?;
                return Err(self.too_large(max_bytes).into());
            }
            file.write_all(&piece).map_err(failed)?;
            self.progress.report(Step::Receiving { done, total });
            if interval.elapsed() >= limits.slow_after {
                if done - done_before < limits.slow_bytes {
                    return Err(broken(self.url, "the host sends too slowly".to_owned()));
                }
                (interval, done_before) = (Instant::now(), done);
            }
        }
        if total.is_some_and(|total| done < total) {
            return Err(broken(self.url, "the connection broke".to_owned()));
        }
        file.sync_all().map_err(failed)?;
        Ok(Some(()))
    }

    /// An error if the file has another size than expected or more than `max_bytes`; an unknown size passes.
    fn check_size(&self, total: Option<u64>) -> Result<(), FilesError> {
        match (total, self.bytes) {
            (Some(total), Some(bytes)) if total != bytes => {
                Err(unexpected(self.url, format!("has a file of another size ({total} bytes, expected {bytes})")))
            }
            (Some(total), _) if total > self.max_bytes => Err(self.too_large(self.max_bytes)),
            _ => Ok(()),
        }
    }

    /// The error for a file that turns out larger than `max_bytes`.
    fn too_large(&self, max_bytes: u64) -> FilesError {
        unexpected(self.url, format!("sends more than {max_bytes} bytes"))
    }
}

/// The response's strong `ETag`, which identifies the file's exact bytes; `None` for a weak one or none.
fn etag(headers: &HeaderMap) -> Option<String> {
    text(headers, ETAG).filter(|etag| etag.starts_with('"'))
}

/// A header as text; `None` if it is missing or not ASCII.
fn text(headers: &HeaderMap, name: HeaderName) -> Option<String> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
}
