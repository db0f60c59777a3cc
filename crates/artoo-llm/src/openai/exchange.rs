//! One HTTP request and its answer: bounded in bytes and in silence, nothing interpreted but status and length.

use std::error::Error;
use std::time::Duration;

use reqwest::header::{ACCEPT, RETRY_AFTER};
use reqwest::header::{
    AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, DATE, HeaderMap, HeaderName, HeaderValue, LOCATION,
};
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use tokio::time::timeout;

use super::endpoint::Endpoint;
use super::trouble::Trouble;
use crate::structured;

/// How much of an error's body is read: enough for its message.
const MAX_ERROR_BYTES: usize = 64 << 10;

/// What one try needs.
pub(super) struct Sent<'a> {
    pub(super) client: &'a Client,
    pub(super) endpoint: &'a Endpoint,
    pub(super) authorization: Option<&'a HeaderValue>,
    pub(super) first_byte_timeout: Duration,
    pub(super) read_idle_timeout: Duration,
    pub(super) max_body_bytes: usize,
}

/// The body of a success.
pub(super) struct Received {
    pub(super) content_type: String,
    pub(super) body: Vec<u8>,
    /// How the body ended before its end, where it did.
    pub(super) cut: Option<String>,
}

/// How reading a body ended.
enum End {
    Complete,
    Silence,
    TooLong,
    Broken(String),
}

impl Sent<'_> {
    /// Posts `body` and reads the answer.
    pub(super) async fn exchange(&self, body: String) -> Result<Received, Trouble> {
        let request = self.client.post(self.endpoint.url().clone()).header(CONTENT_TYPE, "application/json").body(body);
        self.answered(request).await
    }

    /// Asks for the list of models.
    pub(super) async fn models(&self) -> Result<Received, Trouble> {
        self.answered(self.client.get(self.endpoint.models())).await
    }

    async fn answered(&self, request: RequestBuilder) -> Result<Received, Trouble> {
        let mut request = request.header(ACCEPT, "application/json");
        if let Some(authorization) = self.authorization {
            request = request.header(AUTHORIZATION, authorization.clone());
        }
        let response = match timeout(self.first_byte_timeout, request.send()).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(no_connection(error)),
            Err(_) => return Err(Trouble::Silence),
        };
        let status = response.status();
        if status.is_redirection() {
            let target = response.headers().get(LOCATION).map(|target| lossy(target.as_bytes()));
            return Err(Trouble::Redirect { status: status.as_u16(), target });
        }
        if status.is_success() { self.success(response).await } else { Err(self.refusal(status, response).await) }
    }

    async fn success(&self, response: Response) -> Result<Received, Trouble> {
        let header = |name: HeaderName| response.headers().get(name).map(|value| lossy(value.as_bytes()));
        if let Some(encoding) = header(CONTENT_ENCODING).filter(|encoding| !encoding.eq_ignore_ascii_case("identity")) {
            let detail = format!("the body is compressed ({encoding}) though none was asked for");
            return Err(Trouble::Unreadable { detail, text: String::new() });
        }
        let content_type = header(CONTENT_TYPE).unwrap_or_default();
        let (body, end) = self.read(response, self.max_body_bytes).await;
        match end {
            End::Complete => Ok(Received { content_type, body, cut: None }),
            End::Broken(detail) => Ok(Received { content_type, body, cut: Some(detail) }),
            End::Silence => Err(Trouble::Silence),
            End::TooLong => {
                let detail = format!("the body is larger than {} bytes", self.max_body_bytes);
                Err(Trouble::Unreadable { detail, text: lossy(body.get(..1000).unwrap_or(&body)) })
            }
        }
    }

    async fn refusal(&self, status: StatusCode, response: Response) -> Trouble {
        let retry_after = retry_after(response.headers());
        // However its body ends, the status stands; what was read of it is the reason given.
        let (body, _) = self.read(response, MAX_ERROR_BYTES).await;
        Trouble::Status { status: status.as_u16(), complaint: structured::complaint(&lossy(&body)), retry_after }
    }

    async fn read(&self, mut response: Response, cap: usize) -> (Vec<u8>, End) {
        let mut body = Vec::new();
        loop {
            match timeout(self.read_idle_timeout, response.chunk()).await {
                Err(_) => return (body, End::Silence),
                Ok(Err(error)) => return (body, End::Broken(chain(&error.without_url()))),
                Ok(Ok(None)) => return (body, End::Complete),
                Ok(Ok(Some(piece))) => {
                    let room = cap - body.len();
                    body.extend_from_slice(piece.get(..room).unwrap_or(&piece));
                    if piece.len() > room {
                        return (body, End::TooLong);
                    }
                }
            }
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

/// The wait an endpoint asks for: `retry-after-ms`, or `retry-after` as seconds or as an HTTP date, which is taken
/// relative to the answer's own `date` where it has one, since the two clocks may differ.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &HeaderName| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let seconds = |text: &str| text.parse::<f64>().ok().and_then(|s| Duration::try_from_secs_f64(s).ok());
    let ms = headers.get("retry-after-ms").and_then(|value| value.to_str().ok()).and_then(seconds);
    if let Some(ms) = ms {
        return Some(ms / 1000);
    }
    let asked = text(&RETRY_AFTER)?;
    seconds(asked).or_else(|| {
        let now = text(&DATE).and_then(http_date).unwrap_or_else(jiff::Timestamp::now);
        let wait = http_date(asked)?.duration_since(now);
        Some(Duration::try_from(wait).unwrap_or_default())
    })
}

fn http_date(text: &str) -> Option<jiff::Timestamp> {
    jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text).ok()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

    use super::retry_after;

    #[test]
    fn l1_every_form_of_retry_after_is_understood() {
        let check = |headers: &[(&'static str, &'static str)], expected: Option<f64>| {
            let map: HeaderMap = headers
                .iter()
                .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
                .collect();
            assert_eq!(retry_after(&map), expected.map(Duration::from_secs_f64), "{headers:?}");
        };
        check(&[("retry-after", "7")], Some(7.0));
        check(&[("retry-after", " 0.5 ")], Some(0.5));
        check(&[("retry-after-ms", "1500"), ("retry-after", "9")], Some(1.5));
        let date = ("date", "Sun, 06 Nov 1994 08:49:00 GMT");
        check(&[date, ("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")], Some(37.0));
        check(&[date, ("retry-after", "Sun, 06 Nov 1994 08:48:00 GMT")], Some(0.0));
        check(&[("retry-after", "-3")], None);
        check(&[("retry-after", "soon")], None);
        check(&[("retry-after", "1e999")], None);
        check(&[], None);
    }
}
