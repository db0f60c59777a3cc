//! HTTP requests for model files: few, checked redirects; no keys, cookies or compression; bounded waits and retries.

use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;

use reqwest::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_RANGE, HeaderMap, HeaderName, LOCATION};
use reqwest::{Response, StatusCode};
use tokio::time::{Instant, sleep, timeout};

use super::error::FilesError;
use super::url::FileUrl;
use crate::pool::Pool;
use crate::remote::{may_pass, retry_after};
use crate::retry::{self, Outcome, RetryPolicy, Why};
use crate::transport::ClientSettings;

/// Maximum number of redirects: model hubs need one or two.
const REDIRECTS_MAX: usize = 5;

/// Number of newly received bytes after which the count of failed tries restarts: long downloads break more than once.
const PROGRESS_BYTES: u64 = 1024 * 1024;

/// Maximum number of connections for one file.
const CONNECTIONS_MAX: u32 = 200;

/// Timeouts, minimum speed and retries of a download.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DownloadLimits {
    /// Timeout until the connection is established, TLS included.
    pub connect: Duration,
    /// Timeout between a request and the head of its response.
    pub first_byte: Duration,
    /// Timeout between two pieces of a response's body.
    pub idle: Duration,
    /// Interval over which the download speed is measured.
    pub slow_after: Duration,
    /// Minimum number of bytes received in each interval.
    pub slow_bytes: u64,
    pub retry: RetryPolicy,
}

impl Default for DownloadLimits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(60),
            idle: Duration::from_secs(30),
            slow_after: Duration::from_secs(60),
            slow_bytes: 64 * 1024,
            retry: RetryPolicy { connect_tries: 4, ..RetryPolicy::default() },
        }
    }
}

/// The error of one try of a request, and whether another try may succeed.
#[derive(Debug)]
pub(super) struct Failed(FilesError, Outcome);

impl From<FilesError> for Failed {
    fn from(error: FilesError) -> Self {
        Self(error, Outcome::Final)
    }
}

/// The HTTP client that downloads model files: its limits, certificates and connections.
pub(super) struct Http {
    pub(super) limits: DownloadLimits,
    /// Certificates in PEM to trust in addition to the bundled roots.
    pub(super) ca_file: Option<PathBuf>,
    pub(super) pool: Pool,
}

impl Http {
    /// Repeats a request while it fails in a way that may pass, or returns `None`. After `PROGRESS_BYTES` more of
    /// `received` the count of tries restarts. Calls `on_wait` before each wait.
    pub(super) async fn retried<T, F: Future<Output = Result<Option<T>, Failed>>>(
        &self,
        host: String,
        received: impl Fn() -> u64,
        on_wait: impl Fn(Duration, &FilesError),
        attempt: impl Fn() -> F,
    ) -> Result<T, FilesError> {
        let (mut tries, mut began, mut farthest) = (0, Instant::now(), received());
        for _ in 0..CONNECTIONS_MAX {
            tries += 1;
            let Failed(error, outcome) = match attempt().await {
                Ok(Some(value)) => return Ok(value),
                Ok(None) => continue,
                Err(failed) => failed,
            };
            if received() >= farthest.saturating_add(PROGRESS_BYTES) {
                (tries, began, farthest) = (1, Instant::now(), received());
            }
            match retry::next(&self.limits.retry, tries, outcome, began.elapsed(), retry::random_share()) {
                Ok(after) => {
                    on_wait(after, &error);
                    sleep(after).await;
                }
                Err(Why::WaitTooLong { asked }) => {
                    let problem = format!("{error}, and the host asks to be tried again in {} s", asked.as_secs());
                    return Err(FilesError::Connection { host, problem });
                }
                Err(Why::Pointless | Why::TriesSpent | Why::TimeSpent) => return Err(error),
            }
        }
        Err(FilesError::Connection { host, problem: "the connection breaks again and again".to_owned() })
    }

    /// Requests a file with these headers and follows redirects. Any status but success or 416 is an error.
    pub(super) async fn get(&self, url: &FileUrl, headers: &[(HeaderName, String)]) -> Result<Response, Failed> {
        let mut url = url.clone();
        for _ in 0..=REDIRECTS_MAX {
            let response = self.send(&url, headers).await?;
            if !response.status().is_redirection() {
                return checked(&url, response);
            }
            let target = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
            url = url.redirected(target.ok_or_else(|| unexpected(&url, "redirects without a target"))?)?;
        }
        Err(unexpected(&url, "redirects again and again").into())
    }

    /// Sends one request without following redirects.
    async fn send(&self, url: &FileUrl, headers: &[(HeaderName, String)]) -> Result<Response, Failed> {
        let settings = ClientSettings {
            connect_timeout: self.limits.connect,
            ca_file: self.ca_file.clone(),
            direct: url.is_loopback(),
        };
        let client = self.pool.client(&settings).map_err(FilesError::Client)?;
        let mut request = client.get(url.url().clone()).header(ACCEPT_ENCODING, "identity");
        for (name, value) in headers {
            request = request.header(name, value);
        }
        match timeout(self.limits.first_byte, request.send()).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => Err(broken(url, deepest(&error))),
            Err(_) => Err(broken(url, "no response".to_owned())),
        }
    }
}

/// The error for a response that is not the file that was requested.
pub(super) fn unexpected(url: &FileUrl, problem: impl Into<String>) -> FilesError {
    FilesError::Response { shown: url.shown(), problem: problem.into() }
}

/// The error for a connection that could not be made or broke; another try may succeed.
pub(super) fn broken(url: &FileUrl, problem: String) -> Failed {
    Failed(FilesError::Connection { host: url.host(), problem }, Outcome::NoConnection)
}

/// The text of an error's innermost cause; the outer causes may contain the whole URL.
pub(super) fn deepest(error: &reqwest::Error) -> String {
    let mut cause = error.source();
    while let Some(next) = cause.and_then(Error::source) {
        cause = Some(next);
    }
    cause.map_or_else(|| "no connection".to_owned(), ToString::to_string)
}

/// Checks a response: compression is an error, and so is any status but success or 416; transient ones may be retried.
fn checked(url: &FileUrl, response: Response) -> Result<Response, Failed> {
    let encoding = response.headers().get(CONTENT_ENCODING);
    if encoding.is_some_and(|encoding| encoding.as_bytes() != b"identity") {
        return Err(unexpected(url, "is compressed, though that was not requested").into());
    }
    let status = response.status();
    if status.is_success() || status == StatusCode::RANGE_NOT_SATISFIABLE {
        return Ok(response);
    }
    let error = unexpected(url, format!("answers with status {}", status.as_u16()));
    let busy = Outcome::Busy { retry_after: retry_after(response.headers()) };
    Err(Failed(error, if may_pass(status.as_u16()) { busy } else { Outcome::Final }))
}

/// Parses the `Content-Range` header into the first byte and the total size, each `None` if not given; `None` if
/// invalid.
pub(super) fn content_range(headers: &HeaderMap) -> Option<(Option<u64>, Option<u64>)> {
    let text = headers.get(CONTENT_RANGE)?.to_str().ok()?;
    let (range, total) = text.trim().strip_prefix("bytes")?.trim().split_once('/')?;
    let first = match range.trim().split_once('-') {
        Some((first, _)) => Some(first.trim().parse().ok()?),
        None => None,
    };
    Some((first, total.trim().parse().ok()))
}
