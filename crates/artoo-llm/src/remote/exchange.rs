//! One HTTP request and its answer: bounded in bytes and in silence, read as it comes.

use std::error::Error;
use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, LOCATION};
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url};
use tokio::time::timeout;

use super::decoder::{Decoder, Stage};
use super::trouble::Trouble;
use super::waits::retry_after;
use crate::structured;
use crate::wire::draft::Draft;
use crate::wire::{Fault, Wire};

/// How much of an error's body is read: enough for its message.
const MAX_ERROR_BYTES: usize = 64 << 10;

/// How much of a strange body is kept to be shown, in bytes.
const KEPT_BYTES: usize = 1000;

/// How long the rest of an answer that has ended is awaited, so that its connection can be used again.
const DRAIN_WITHIN: Duration = Duration::from_millis(200);

/// What one try needs.
pub(super) struct Sent<'a> {
    pub(super) client: &'a Client,
    pub(super) headers: &'a HeaderMap,
    pub(super) first_byte_timeout: Duration,
    pub(super) read_idle_timeout: Duration,
    pub(super) max_body_bytes: usize,
}

/// What came of a try, for whoever looks on.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) status: Option<u16>,
    pub(super) body: Vec<u8>,
}

/// How reading a body ended.
enum End {
    Complete,
    Silence,
    TooLong,
    Broken(String),
}

impl Sent<'_> {
    /// Posts `body` and takes in the answer as it comes; `grown` hears of every piece. The draft keeps what came
    /// before a failure: it was paid for.
    pub(super) async fn exchange(
        &self,
        url: &Url,
        body: String,
        wire: &dyn Wire,
        draft: &mut Draft,
        seen: &mut Seen,
        grown: &(dyn Fn(&Draft) + Sync),
    ) -> Result<(), Trouble> {
        let request = self.client.post(url.clone()).header(CONTENT_TYPE, "application/json").body(body);
        let response = self.answered(request, seen).await?;
        let mut decoder = Decoder::new(wire, content_type(&response), draft);
        let mut feed = |bytes: &[u8]| {
            if decoder.push(bytes)? {
                grown(decoder.draft);
            }
            Ok(decoder.stage())
        };
        let end = self.read(response, self.first_byte_timeout, &mut seen.body, &mut feed).await?;
        if matches!(end, End::Complete) {
            decoder.finish(&seen.body)?;
        }
        // What follows the end marker is not waited for.
        if draft.closed { Ok(()) } else { self.check_end(end, &seen.body) }
    }

    /// Fetches a small JSON document: a list of models, say.
    pub(super) async fn document(&self, request: RequestBuilder) -> Result<serde_json::Value, Trouble> {
        let mut seen = Seen::default();
        let response = self.answered(request, &mut seen).await?;
        let content_type = content_type(&response);
        let end = self.read(response, self.read_idle_timeout, &mut seen.body, &mut |_| Ok(Stage::Content)).await?;
        self.check_end(end, &seen.body)?;
        let text = text_of(&seen.body, &content_type)?;
        serde_json::from_str(text)
            .map_err(|error| unreadable(&format!("this is no document that was asked for: {error}"), &seen.body))
    }

    async fn answered(&self, request: RequestBuilder, seen: &mut Seen) -> Result<Response, Trouble> {
        let request = request.header(ACCEPT, "application/json, text/event-stream").headers(self.headers.clone());
        let response = match timeout(self.first_byte_timeout, request.send()).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(no_connection(error)),
            Err(_) => return Err(Trouble::Silence),
        };
        let status = response.status();
        seen.status = Some(status.as_u16());
        if status.is_redirection() {
            let target = response.headers().get(LOCATION).map(|target| lossy(target.as_bytes()));
            return Err(Trouble::Redirect { status: status.as_u16(), target });
        }
        if !status.is_success() {
            return Err(self.refusal(status, response, seen).await);
        }
        let encoding = response.headers().get(CONTENT_ENCODING).map(|value| lossy(value.as_bytes()));
        if let Some(encoding) = encoding.filter(|encoding| !encoding.eq_ignore_ascii_case("identity")) {
            let detail = format!("the body is compressed ({encoding}) though none was asked for");
            return Err(Trouble::Unreadable { detail, text: String::new() });
        }
        Ok(response)
    }

    async fn refusal(&self, status: StatusCode, response: Response, seen: &mut Seen) -> Trouble {
        let retry_after = retry_after(response.headers());
        // However its body ends, the status stands; what was read of it is the reason given.
        let limits = Self { max_body_bytes: MAX_ERROR_BYTES, ..*self };
        drop(limits.read(response, self.read_idle_timeout, &mut seen.body, &mut |_| Ok(Stage::Content)).await);
        Trouble::Status { status: status.as_u16(), complaint: structured::complaint(&lossy(&seen.body)), retry_after }
    }

    /// Reads to the end of the body, or to the closing mark that `feed` sees. Each silence before the first content may
    /// last `wait`, later ones as long as between two pieces.
    async fn read(
        &self,
        mut response: Response,
        mut wait: Duration,
        body: &mut Vec<u8>,
        feed: &mut (dyn FnMut(&[u8]) -> Result<Stage, Fault> + Send),
    ) -> Result<End, Trouble> {
        loop {
            match timeout(wait, response.chunk()).await {
                Err(_) => return Ok(End::Silence),
                Ok(Err(error)) => return Ok(End::Broken(chain(&error.without_url()))),
                Ok(Ok(None)) => return Ok(End::Complete),
                Ok(Ok(Some(piece))) => {
                    let room = self.max_body_bytes - body.len();
                    let piece = piece.get(..room + 1).unwrap_or(&piece);
                    let is_too_long = piece.len() > room;
                    let piece = piece.get(..room).unwrap_or(piece);
                    body.extend_from_slice(piece);
                    match feed(piece).map_err(|fault| shown_with(fault, body))? {
                        Stage::Begun => {}
                        Stage::Content => wait = self.read_idle_timeout,
                        Stage::Closed => wait = DRAIN_WITHIN,
                    }
                    if is_too_long {
                        return Ok(End::TooLong);
                    }
                }
            }
        }
    }

    fn check_end(&self, end: End, body: &[u8]) -> Result<(), Trouble> {
        match end {
            End::Complete => Ok(()),
            End::Broken(how) => Err(Trouble::Cut { detail: format!("the body ended early: {how}") }),
            End::Silence => Err(Trouble::Silence),
            End::TooLong => Err(unreadable(&format!("the body is larger than {} bytes", self.max_body_bytes), body)),
        }
    }
}

fn content_type(response: &Response) -> String {
    let whole = response.headers().get(CONTENT_TYPE).map(|value| lossy(value.as_bytes())).unwrap_or_default();
    whole.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// The text of a whole body, if it can be JSON at all.
pub(super) fn text_of<'b>(body: &'b [u8], content_type: &str) -> Result<&'b str, Trouble> {
    let Ok(text) = str::from_utf8(body) else { return Err(unreadable("the body is not valid UTF-8", body)) };
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Err(unreadable("the body is empty", body));
    }
    if text.starts_with('<') {
        return Err(unreadable("a web page came instead of an answer", body));
    }
    if !is_json_like(content_type) {
        return Err(unreadable(&format!("the answer's type is {content_type}, not JSON"), body));
    }
    Ok(text)
}

/// JSON under its own name, and under the names that careless servers give it.
fn is_json_like(content_type: &str) -> bool {
    matches!(content_type, "" | "application/json" | "text/json" | "text/plain" | "application/octet-stream")
        || content_type.ends_with("+json")
}

fn unreadable(detail: &str, body: &[u8]) -> Trouble {
    Trouble::Unreadable { detail: detail.to_owned(), text: lossy(body.get(..KEPT_BYTES).unwrap_or(body)) }
}

/// A fault with the beginning of what it is about.
pub(super) fn shown_with(fault: Fault, body: &[u8]) -> Trouble {
    match fault {
        Fault::Cut(detail) => Trouble::Cut { detail },
        Fault::Unreadable(detail) => unreadable(&detail, body),
        Fault::Refused { status: Some(status), complaint } => Trouble::Status { status, complaint, retry_after: None },
        Fault::Refused { status: None, complaint } => {
            unreadable(&format!("an error came instead of an answer: {}", complaint.message), body)
        }
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Everything before a status line counts as no connection; an endpoint's address is not repeated, it may hold a query.
fn no_connection(error: reqwest::Error) -> Trouble {
    let timed_out = error.is_timeout();
    let mut detail = chain(&error.without_url());
    if timed_out {
        detail.push_str(" (the connect timeout)");
    }
    Trouble::NoConnection { detail }
}

/// An error with its causes, outermost first.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let said = inner.to_string();
        if !text.ends_with(&said) {
            text = format!("{text}: {said}");
        }
        cause = inner.source();
    }
    text
}
