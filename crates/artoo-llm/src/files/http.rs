//! Asking for a file over HTTP: a few redirects, each looked at; no keys, no compression, no cookies; patience with bounds.

use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;

use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_RANGE, ETAG, HeaderMap, HeaderName, IF_RANGE, LAST_MODIFIED,
    LOCATION, RANGE,
};
use reqwest::{Response, StatusCode};
use tokio::time::timeout;

use super::address::Address;
use super::error::FilesError;
use super::sum::Sum;
use crate::pool::{self, Pool};
use crate::remote::{may_pass, retry_after};
use crate::retry::{Outcome, RetryPolicy};
use crate::transport::ClientSettings;

/// Redirects followed: hubs need one or two, to the network that delivers for them.
const HOPS_MAX: usize = 5;

/// Hubs say with this header of a redirect which SHA-256 the file behind it has.
const LINKED_ETAG: HeaderName = HeaderName::from_static("x-linked-etag");

/// How long to wait for a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patience {
    /// Until a connection stands, TLS included.
    pub connect: Duration,
    /// From a request to the head of its answer.
    pub first_byte: Duration,
    /// Between two pieces of an answer.
    pub idle: Duration,
    /// Time over which the speed is looked at …
    pub slow_after: Duration,
    /// … and bytes that must have come in it: a drip is no download.
    pub slow_bytes: u64,
    /// Tries and waits where a connection fails or breaks off; counted anew when enough has come since.
    pub retry: RetryPolicy,
}

impl Default for Patience {
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

/// What one try came to, if not to a file.
#[derive(Debug)]
pub(super) enum Trouble {
    /// Another try may help.
    Passing {
        error: FilesError,
        outcome: Outcome,
    },
    Final(FilesError),
}

impl From<FilesError> for Trouble {
    fn from(error: FilesError) -> Self {
        Self::Final(error)
    }
}

/// The part of a file that is asked for.
#[derive(Debug, Clone, Default)]
pub(super) struct Part {
    /// As a `Range` header has it.
    pub(super) range: Option<String>,
    /// Only if the file is still this one.
    pub(super) if_range: Option<String>,
}

/// An answer, and how it was come by.
pub(super) struct Answer {
    pub(super) response: Response,
    pub(super) address: Address,
    /// The sum that the host announced on the way.
    pub(super) announced: Option<Sum>,
}

/// What tells one state of a file from another.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Validators {
    /// Strong ones alone: a weak one does not promise the same bytes.
    pub(super) etag: Option<String>,
    pub(super) modified: Option<String>,
}

impl Validators {
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let etag = text(ETAG).filter(|etag| etag.starts_with('"'));
        Self { etag, modified: text(LAST_MODIFIED) }
    }
}

/// The one way to the hosts of model files.
pub(super) struct Http {
    pub(super) patience: Patience,
    pub(super) ca_file: Option<PathBuf>,
    pub(super) pool: Pool,
}

impl Http {
    /// Asks for a file or a part of it and follows redirects; a status other than success is trouble.
    pub(super) async fn get(&self, address: &Address, accept: &str, part: &Part) -> Result<Answer, Trouble> {
        let (mut address, mut announced) = (address.clone(), None);
        for _ in 0..=HOPS_MAX {
            let response = self.once(&address, accept, part).await?;
            let linked = response.headers().get(LINKED_ETAG).and_then(|value| value.to_str().ok());
            announced = announced.or_else(|| linked.and_then(|etag| etag.trim_matches('"').parse().ok()));
            if !response.status().is_redirection() {
                return checked(Answer { response, address, announced });
            }
            let target = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
            let nowhere =
                || FilesError::Answer { shown: address.shown(), problem: "redirects without saying where".to_owned() };
            address = address.leads_to(target.ok_or_else(nowhere)?)?;
        }
        Err(FilesError::Answer { shown: address.shown(), problem: "redirects again and again".to_owned() }.into())
    }

    async fn once(&self, address: &Address, accept: &str, part: &Part) -> Result<Response, Trouble> {
        let settings = ClientSettings {
            connect_timeout: self.patience.connect,
            ca_file: self.ca_file.clone(),
            direct: address.is_loopback(),
        };
        let slot = self.pool.client(&settings);
        let client = pool::built(&slot, &settings).map_err(FilesError::Client)?;
        let mut request = client.get(address.url().clone()).header(ACCEPT, accept).header(ACCEPT_ENCODING, "identity");
        if let Some(range) = &part.range {
            request = request.header(RANGE, range);
        }
        if let Some(state) = &part.if_range {
            request = request.header(IF_RANGE, state);
        }
        let host = address.host();
        match timeout(self.patience.first_byte, request.send()).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => Err(passing(&host, deepest(&error))),
            Err(_) => Err(passing(&host, "it does not answer".to_owned())),
        }
    }
}

/// A connection that failed or broke off.
pub(super) fn passing(host: &str, detail: String) -> Trouble {
    let error = FilesError::Connection { host: host.to_owned(), detail };
    Trouble::Passing { error, outcome: Outcome::NoConnection }
}

/// The words of the cause itself; those above it say no more, and may hold the whole address.
pub(super) fn deepest(error: &reqwest::Error) -> String {
    let mut cause = error.source();
    while let Some(next) = cause.and_then(Error::source) {
        cause = Some(next);
    }
    cause.map_or_else(|| "no connection".to_owned(), ToString::to_string)
}

fn checked(answer: Answer) -> Result<Answer, Trouble> {
    let status = answer.response.status();
    let encoding = answer.response.headers().get(CONTENT_ENCODING);
    if encoding.is_some_and(|encoding| encoding.as_bytes() != b"identity") {
        let problem = "gives it compressed, which was not asked for".to_owned();
        return Err(FilesError::Answer { shown: answer.address.shown(), problem }.into());
    }
    if status.is_success() || status == StatusCode::RANGE_NOT_SATISFIABLE {
        return Ok(answer);
    }
    let error = FilesError::Answer {
        shown: answer.address.shown(),
        problem: format!("answers with status {}", status.as_u16()),
    };
    if !may_pass(status.as_u16()) {
        return Err(error.into());
    }
    let outcome = Outcome::Busy { retry_after: retry_after(answer.response.headers()) };
    Err(Trouble::Passing { error, outcome })
}

/// `bytes FIRST-LAST/TOTAL` or `bytes */TOTAL`: the first byte and the whole, where they are said.
pub(super) fn content_range(headers: &HeaderMap) -> Option<(Option<u64>, Option<u64>)> {
    let text = headers.get(CONTENT_RANGE)?.to_str().ok()?;
    let (range, total) = text.trim().strip_prefix("bytes")?.trim().split_once('/')?;
    let first = match range.trim().split_once('-') {
        Some((first, _)) => Some(first.trim().parse().ok()?),
        None => None,
    };
    Some((first, total.trim().parse().ok()))
}
