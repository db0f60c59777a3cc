//! Sends one HTTP request and reads its response, with limits on size and on silence.

use std::error::Error;
use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, LOCATION};
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url};
use serde_json::Value;
use tokio::time::timeout;

use super::Remote;
use super::decoder::{Decoder, Stage, shown_with, text_lossy, text_of, unreadable};
use super::try_failure::TryFailure;
use super::waits::retry_after;
use crate::structured;
use crate::wire::Fault;
use crate::wire::draft::Draft;

/// Maximum number of bytes read of the body of an error response.
const MAX_ERROR_BYTES: usize = 64 << 10;

/// How long to wait for the end of the body once the answer has ended, so that the connection can be reused.
const DRAIN_WITHIN: Duration = Duration::from_millis(200);

/// Status and body of a response as received so far, for the observer.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) status: Option<u16>,
    pub(super) body: Vec<u8>,
}

impl Remote {
    /// The HTTP client for this model's calls; it is built at the first call.
    pub(super) fn client(&self) -> Result<Client, TryFailure> {
        self.shared.pool.client(&self.settings).map_err(|detail| TryFailure::Unusable { detail })
    }

    /// Sends a call and decodes the response while it is received; `grown` is called after each piece. After an
    /// error the draft keeps what was received, since it was paid for.
    pub(super) async fn exchange(
        &self,
        request: RequestBuilder,
        draft: &mut Draft,
        seen: &mut Seen,
        grown: &(dyn Fn(&Draft) + Sync),
    ) -> Result<(), TryFailure> {
        let response = self.answered(request, seen).await?;
        let mut decoder = Decoder::new(self.config.protocol.wire(), content_type(&response), draft);
        let mut feed = |bytes: &[u8]| {
            if decoder.push(bytes)? {
                grown(decoder.draft);
            }
            Ok(decoder.stage())
        };
        let (wait, max_bytes) = (self.config.first_byte_timeout, self.config.max_body_bytes);
        let early = self.read(response, wait, max_bytes, &mut seen.body, &mut feed).await?;
        if early.is_none() {
            decoder.finish(&seen.body)?;
        }
        // Data after the end marker is not needed.
        early.filter(|_| !draft.closed).map_or(Ok(()), Err)
    }

    /// Requests the small JSON document at a URL, such as a list of models.
    pub(super) async fn get(&self, url: Url) -> Result<Value, TryFailure> {
        self.document(self.client()?.get(url)).await
    }

    /// Sends a request for a small JSON document, such as a list of models, and parses it.
    pub(super) async fn document(&self, request: RequestBuilder) -> Result<Value, TryFailure> {
        let mut seen = Seen::default();
        let response = self.answered(request, &mut seen).await?;
        let content_type = content_type(&response);
        let (wait, max_bytes) = (self.config.read_idle_timeout, self.config.max_body_bytes);
        let early = self.read(response, wait, max_bytes, &mut seen.body, &mut |_| Ok(Stage::Content)).await?;
        early.map_or(Ok(()), Err)?;
        serde_json::from_str(text_of(&seen.body, &content_type)?)
            .map_err(|error| unreadable(&format!("the response is not a valid JSON document: {error}"), &seen.body))
    }

    /// Sends a request; returns the response, or an error if its status or encoding is not acceptable.
    async fn answered(&self, request: RequestBuilder, seen: &mut Seen) -> Result<Response, TryFailure> {
        let request = request.header(ACCEPT, "application/json, text/event-stream").headers(self.headers.clone());
        let response = match timeout(self.config.first_byte_timeout, request.send()).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(no_connection(error)),
            Err(_) => return Err(TryFailure::Silence),
        };
        let status = response.status();
        seen.status = Some(status.as_u16());
        if status.is_redirection() {
            let target = response.headers().get(LOCATION).map(|target| text_lossy(target.as_bytes()));
            return Err(TryFailure::Redirect { status: status.as_u16(), target });
        }
        if !status.is_success() {
            return Err(self.refusal(status, response, seen).await);
        }
        let encoding = response.headers().get(CONTENT_ENCODING).map(|value| text_lossy(value.as_bytes()));
        if let Some(encoding) = encoding.filter(|encoding| !encoding.eq_ignore_ascii_case("identity")) {
            let detail = format!("the body is compressed ({encoding}) though none was asked for");
            return Err(TryFailure::Unreadable { detail, text: String::new() });
        }
        Ok(response)
    }

    /// Reads the body of a response with an error status, and makes the error of the try from it.
    async fn refusal(&self, status: StatusCode, response: Response, seen: &mut Seen) -> TryFailure {
        let retry_after = retry_after(response.headers());
        // The status counts however the body ends; the part that was read gives the reason.
        let (wait, feed) = (self.config.read_idle_timeout, &mut |_: &[u8]| Ok(Stage::Content));
        drop(self.read(response, wait, MAX_ERROR_BYTES, &mut seen.body, feed).await);
        TryFailure::Status {
            status: status.as_u16(),
            complaint: structured::complaint(&text_lossy(&seen.body)),
            retry_after,
        }
    }

    /// Reads a body to its end (at most `max_bytes`), passing pieces to `feed`; returns the error of an early end, else
    /// `None`. Before the first content a silence may last `wait`, later `read_idle_timeout`, after the end marker
    /// [`DRAIN_WITHIN`].
    async fn read(
        &self,
        mut response: Response,
        mut wait: Duration,
        max_bytes: usize,
        body: &mut Vec<u8>,
        feed: &mut (dyn FnMut(&[u8]) -> Result<Stage, Fault> + Send),
    ) -> Result<Option<TryFailure>, TryFailure> {
        loop {
            let piece = match timeout(wait, response.chunk()).await {
                Err(_) => return Ok(Some(TryFailure::Silence)),
                Ok(Err(error)) => {
                    let detail = format!("the body ended early: {}", chain(&error.without_url()));
                    return Ok(Some(TryFailure::Cut { detail }));
                }
                Ok(Ok(None)) => return Ok(None),
                Ok(Ok(Some(piece))) => piece,
            };
            let room = max_bytes - body.len();
            let is_too_long = piece.len() > room;
            let piece = piece.get(..room).unwrap_or(&piece);
            body.extend_from_slice(piece);
            match feed(piece).map_err(|fault| shown_with(fault, body))? {
                Stage::Begun => {}
                Stage::Content => wait = self.config.read_idle_timeout,
                Stage::Closed => wait = DRAIN_WITHIN,
            }
            if is_too_long {
                return Ok(Some(unreadable(&format!("the body is larger than {max_bytes} bytes"), body)));
            }
        }
    }
}

/// The content type of a response in lowercase, without parameters; empty if it has none.
fn content_type(response: &Response) -> String {
    let whole = response.headers().get(CONTENT_TYPE).map(|value| text_lossy(value.as_bytes())).unwrap_or_default();
    whole.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// The error for a request that got no response. It omits the URL, whose query may contain a key.
fn no_connection(error: reqwest::Error) -> TryFailure {
    let timed_out = error.is_timeout();
    let mut detail = chain(&error.without_url());
    if timed_out {
        detail.push_str(" (the connect timeout)");
    }
    TryFailure::NoConnection { detail }
}

/// The text of an error with its causes, outermost first.
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
