//! One file from one address into a `.part`: gone on with where that is sound, begun anew where it is not.

use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::time::Duration;

use reqwest::StatusCode;
use serde::{Deserialize, Serialize};
use tokio::time::error::Elapsed;
use tokio::time::{Instant, sleep, timeout};

use super::address::Address;
use super::error::FilesError;
use super::folder::Home;
use super::http::{self, Answer, Http, Part, Trouble, Validators};
use super::private;
use super::progress::{Progress, Step};
use super::sum::Sum;
use crate::retry::{self, Decision, Why};

/// After so many new bytes a broken connection counts as the first again: long downloads break more than once.
const PROGRESS_BYTES: u64 = 1024 * 1024;

/// Connections for one file at most, however much each brings.
const CONNECTIONS_MAX: u32 = 200;

/// What a host says of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Announced {
    pub(super) bytes: Option<u64>,
    pub(super) sum: Option<Sum>,
}

/// What a connection came to.
enum Came {
    Whole(Announced),
    /// What has come so far does not belong to what the host has now.
    Other(&'static str),
}

/// What the `.part` belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PartRecord {
    from: String,
    etag: Option<String>,
    modified: Option<String>,
    total: Option<u64>,
}

/// What is fetched, and how much it may be.
pub(super) struct Fetch<'f> {
    pub(super) http: &'f Http,
    pub(super) address: &'f Address,
    pub(super) home: &'f Home,
    /// Its size, where somebody other than the host says it.
    pub(super) bytes: Option<u64>,
    /// Whether a sum is known: then going on without a validator is sound, since the whole is held against it.
    pub(super) is_pinned: bool,
    /// Bytes at most.
    pub(super) most: u64,
    pub(super) progress: &'f dyn Progress,
}

/// Asks a host for a file's size by asking for its first byte.
pub(super) async fn look(http: &Http, address: &Address) -> Result<Announced, FilesError> {
    let part = Part { range: Some("bytes=0-0".to_owned()), if_range: None };
    let (mut tries, began) = (0, Instant::now());
    loop {
        tries += 1;
        let trouble = match http.get(address, "*/*", &part).await {
            Ok(answer) => {
                let total = match http::content_range(answer.response.headers()) {
                    Some((_, total)) => total,
                    None => answer.response.content_length(),
                };
                return Ok(Announced { bytes: total, sum: answer.announced });
            }
            Err(trouble) => trouble,
        };
        let (_, wait) = next(http, trouble, tries, began.elapsed())?;
        sleep(wait).await;
    }
}

/// How long to wait for another try.
///
/// # Errors
/// The trouble, where no other try is made.
fn next(http: &Http, trouble: Trouble, tries: u32, elapsed: Duration) -> Result<(FilesError, Duration), FilesError> {
    match trouble {
        Trouble::Final(error) => Err(error),
        Trouble::Passing { error, outcome } => {
            match retry::next(&http.patience.retry, tries, outcome, elapsed, &mut retry::random_share) {
                Decision::Retry { after } => Ok((error, after)),
                Decision::GiveUp { why: Why::WaitTooLong { asked } } => {
                    Err(FilesError::AskedToWait { why: error.to_string(), seconds: asked.as_secs() })
                }
                Decision::GiveUp { why: Why::Pointless | Why::TriesSpent | Why::TimeSpent } => Err(error),
            }
        }
    }
}

impl Fetch<'_> {
    /// Fetches until the `.part` is whole and on the disk; what the host announced comes back.
    ///
    /// Whatever ends it early leaves what has come, with a note of what it belongs to.
    pub(super) async fn run(&self) -> Result<Announced, FilesError> {
        let (mut tries, mut began, mut farthest) = (0, Instant::now(), self.home.begun());
        for _ in 0..CONNECTIONS_MAX {
            tries += 1;
            let trouble = match self.once().await {
                Ok(Came::Whole(announced)) => return Ok(announced),
                Ok(Came::Other(why)) => {
                    self.forget()?;
                    self.progress.at(Step::StartedAnew { why });
                    continue;
                }
                Err(trouble) => trouble,
            };
            let so_far = self.home.begun();
            if so_far >= farthest.saturating_add(PROGRESS_BYTES) {
                (tries, began, farthest) = (1, Instant::now(), so_far);
            }
            let (error, wait) = next(self.http, trouble, tries, began.elapsed())?;
            self.progress.at(Step::Waiting { wait, why: error.to_string() });
            sleep(wait).await;
        }
        Err(FilesError::Connection { host: self.address.host(), detail: "it breaks off again and again".to_owned() })
    }

    /// Throws away what has come.
    fn forget(&self) -> Result<(), FilesError> {
        for path in [self.home.part_record(), self.home.part()] {
            private::remove(path)?;
        }
        Ok(())
    }

    /// One connection.
    async fn once(&self) -> Result<Came, Trouble> {
        let known = self.resumable()?;
        let begun = if known.is_some() { self.home.begun() } else { 0 };
        if known.as_ref().is_some_and(|known| known.total == Some(begun)) {
            return self.whole(begun);
        }
        let part = match &known {
            Some(record) if begun > 0 => Part {
                range: Some(format!("bytes={begun}-")),
                if_range: record.etag.clone().or_else(|| record.modified.clone()),
            },
            Some(_) | None => Part::default(),
        };
        let answer = self.http.get(self.address, "*/*", &part).await?;
        let headers = answer.response.headers();
        let range = http::content_range(headers);
        match answer.response.status() {
            StatusCode::RANGE_NOT_SATISFIABLE if begun > 0 => Ok(Came::Other("the host has another file now")),
            StatusCode::PARTIAL_CONTENT if begun > 0 => {
                let fits = range.is_some_and(|(first, total)| {
                    first == Some(begun)
                        && known.as_ref().and_then(|known| known.total).is_none_or(|known| total == Some(known))
                });
                let now = Validators::of(headers);
                let same =
                    known.is_none_or(|known| now.etag.is_none() || known.etag.is_none() || now.etag == known.etag);
                if !fits || !same {
                    return Ok(Came::Other("the host's file has changed"));
                }
                let total = range.and_then(|(_, total)| total);
                self.check_size(total)?;
                self.receive(answer, begun, total).await
            }
            StatusCode::OK => {
                let total = answer.response.content_length();
                // A page of somebody in between is no reason to throw away what has come.
                self.check_size(total)?;
                self.begin(&answer, total, begun)?;
                self.receive(answer, 0, total).await
            }
            _ => {
                let problem = "answers with something else than the file".to_owned();
                Err(FilesError::Answer { shown: self.address.shown(), problem }.into())
            }
        }
    }

    /// What the `.part` belongs to, if that is this address and it may be gone on with.
    fn resumable(&self) -> Result<Option<PartRecord>, FilesError> {
        let record: Option<PartRecord> = private::read(&self.home.part_record())?;
        let begun = self.home.begun();
        Ok(record.filter(|record| {
            let has_validator = record.etag.is_some() || record.modified.is_some();
            let fits = record.total.is_none_or(|total| begun <= total);
            record.from == self.address.shown() && fits && (has_validator || self.is_pinned)
        }))
    }

    /// A new `.part`, with the note of what it belongs to written before its first byte.
    fn begin(&self, answer: &Answer, total: Option<u64>, begun: u64) -> Result<(), Trouble> {
        if begun > 0 {
            self.progress.at(Step::StartedAnew { why: "the host gives the whole file only, or it has changed" });
        }
        self.forget()?;
        let Validators { etag, modified } = Validators::of(answer.response.headers());
        let record = PartRecord { from: self.address.shown(), etag, modified, total };
        private::write(&self.home.part_record(), &record)?;
        private::open(OpenOptions::new().write(true).create_new(true), &self.home.part())?;
        Ok(())
    }

    /// Takes in the body behind what has come.
    async fn receive(&self, answer: Answer, begun: u64, total: Option<u64>) -> Result<Came, Trouble> {
        let most = total.unwrap_or(self.most).min(self.most);
        let path = self.home.part();
        let mut file = private::open(OpenOptions::new().write(true), &path)?;
        let written = |source| Trouble::Final(FilesError::Io { path: path.clone(), source });
        file.seek(SeekFrom::Start(begun)).map_err(written)?;
        let Answer { mut response, announced, .. } = answer;
        let mut done = begun;
        let mut speed = Speed::new();
        while let Some(piece) = settled(timeout(self.http.patience.idle, response.chunk()).await, self.address)? {
            done = done.saturating_add(piece.len() as u64);
            if done > most {
                drop(file);
                self.forget()?;
                return Err(FilesError::TooLarge { shown: self.address.shown(), most }.into());
            }
            file.write_all(&piece).map_err(written)?;
            self.progress.at(Step::Receiving { done, total });
            speed.check(self.http, self.address, piece.len() as u64)?;
        }
        if total.is_some_and(|total| done < total) {
            return Err(http::passing(&self.address.host(), "the connection broke off".to_owned()));
        }
        file.sync_all().map_err(written)?;
        Ok(Came::Whole(Announced { bytes: Some(done), sum: announced }))
    }

    /// A `.part` that is whole: whoever fetched it ended before its checks.
    fn whole(&self, bytes: u64) -> Result<Came, Trouble> {
        let path = self.home.part();
        let synced = File::open(&path).and_then(|file| file.sync_all());
        synced.map_err(FilesError::io(path))?;
        Ok(Came::Whole(Announced { bytes: Some(bytes), sum: None }))
    }

    /// That the host's file is no other than expected, before any of it is taken.
    fn check_size(&self, total: Option<u64>) -> Result<(), FilesError> {
        let shown = self.address.shown();
        match (total, self.bytes) {
            (Some(total), Some(bytes)) if total != bytes => {
                Err(FilesError::Answer { shown, problem: "has a file of another size than it should have".to_owned() })
            }
            (Some(total), _) if total > self.most => Err(FilesError::TooLarge { shown, most: self.most }),
            _ => Ok(()),
        }
    }
}

/// A piece of a body, its end, or what became of it.
fn settled<T>(waited: Result<reqwest::Result<Option<T>>, Elapsed>, address: &Address) -> Result<Option<T>, Trouble> {
    let broken = |detail: String| http::passing(&address.host(), detail);
    match waited {
        Ok(read) => read.map_err(|error| broken(http::deepest(&error))),
        Err(_) => Err(broken("nothing has come for too long".to_owned())),
    }
}

/// Whether bytes come fast enough to ever be a file.
struct Speed {
    since: Instant,
    bytes: u64,
}

impl Speed {
    fn new() -> Self {
        Self { since: Instant::now(), bytes: 0 }
    }

    fn check(&mut self, http: &Http, address: &Address, came: u64) -> Result<(), Trouble> {
        self.bytes = self.bytes.saturating_add(came);
        if self.since.elapsed() < http.patience.slow_after {
            return Ok(());
        }
        if self.bytes < http.patience.slow_bytes {
            return Err(http::passing(&address.host(), "it sends too slowly to ever be done".to_owned()));
        }
        *self = Self::new();
        Ok(())
    }
}
