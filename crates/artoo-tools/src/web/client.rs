//! One HTTP request: bounded in time, size and redirects; no cookies, no proxy, no compression.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderMap, LOCATION};
use reqwest::redirect::Policy;
use reqwest::{Client, Request, StatusCode, Url};
use rustls::{ClientConfig, RootCertStore, crypto::ring};

use crate::web::hosts::{CheckedResolver, Hosts, Refused};

/// Largest response body in bytes; all of it is in memory.
#[doc(alias = "limit")]
pub(crate) const BODY_MAX_BYTES: usize = 5 * 1024 * 1024;

/// Maximum number of redirects followed: enough for http to https to www to the page itself.
const REDIRECTS_MAX: usize = 5;

/// Time limit for connecting to a server.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Time limit for one HTTP request; that of the call may be shorter.
#[doc(alias = "limit")]
const REQUEST_TIMEOUT: Duration = Duration::from_secs(20);

/// Longest URL in characters; a question shows it whole.
pub(crate) const URL_MAX_CHARS: usize = 1500;

const USER_AGENT: &str = concat!("artoo/", env!("CARGO_PKG_VERSION"), " (personal assistant; asks for one person)");

/// An HTTP response with its whole body.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The URL after all redirects.
    pub(crate) url: Url,
    pub(crate) status: StatusCode,
    pub(crate) content_type: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

/// The HTTP clients: one for the public internet, one for engines that the user named.
#[derive(Debug, Clone)]
pub(crate) struct Network {
    hosts: Arc<Hosts>,
    public: Client,
    chosen: Client,
}

impl Network {
    /// HTTP clients that check addresses by these hosts; an error if one can't be built.
    pub(crate) fn new(hosts: Hosts) -> Result<Self, String> {
        let hosts = Arc::new(hosts);
        let public = build(builder()?.dns_resolver(Arc::new(CheckedResolver(Arc::clone(&hosts)))))?;
        Ok(Self { public, chosen: build(builder()?)?, hosts })
    }

    /// Sends a request to an engine that the user named, also in a local network. Redirects are not followed.
    pub(crate) async fn ask_chosen(&self, request: Request) -> Result<Answer, String> {
        once(&self.chosen, request).await
    }

    /// Sends a request to a public host. Redirects are not followed.
    pub(crate) async fn ask_public(&self, request: Request) -> Result<Answer, String> {
        self.hosts.check(request.url()).map_err(|refused| refused.to_string())?;
        once(&self.public, request).await
    }

    /// Fetches a page with its redirects; each redirect is checked as the first URL is.
    pub(crate) async fn page(&self, url: Url) -> Result<Answer, String> {
        let mut url = url;
        for _ in 0..=REDIRECTS_MAX {
            url.set_fragment(None);
            let answer = self.ask_public(Request::new(reqwest::Method::GET, url.clone())).await?;
            let Some(next) = redirect(&answer)? else { return Ok(answer) };
            url = next;
        }
        Err(format!("{} redirected more than {REDIRECTS_MAX} times", host(&url)))
    }
}

/// The URL of a redirect; `None` if the response is not a redirect, an error if the URL is not valid or too long.
fn redirect(answer: &Answer) -> Result<Option<Url>, String> {
    if !answer.status.is_redirection() {
        return Ok(None);
    }
    let Some(location) = answer.headers.get(LOCATION) else { return Ok(None) };
    let text = location.to_str().ok().filter(|text| text.chars().count() <= URL_MAX_CHARS);
    let next = text.and_then(|text| answer.url.join(text).ok());
    next.map(Some).ok_or_else(|| format!("{} redirected to an invalid URL", host(&answer.url)))
}

/// Sends one HTTP request and reads the response; an error if it is larger than the limit.
async fn once(client: &Client, request: Request) -> Result<Answer, String> {
    let url = request.url().clone();
    let failed = |error: reqwest::Error| problem(&url, &error);
    let mut response = client.execute(request).await.map_err(failed)?;
    let too_large = || format!("{} sent more than {BODY_MAX_BYTES} bytes", host(&url));
    if response.content_length().is_some_and(|bytes| bytes > BODY_MAX_BYTES as u64) {
        return Err(too_large());
    }
    let content_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let content_type = content_type.to_ascii_lowercase();
    let (status, headers) = (response.status(), response.headers().clone());
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(failed)? {
        if body.len() + chunk.len() > BODY_MAX_BYTES {
            return Err(too_large());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Answer { url, status, content_type, headers, body })
}

/// A network error as text with its deepest cause, without the URL, which may contain the query.
fn problem(url: &Url, error: &reqwest::Error) -> String {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    let mut problem = if error.is_timeout() { "the time was up".to_owned() } else { "the request failed".to_owned() };
    while let Some(found) = cause {
        if let Some(refused) = found.downcast_ref::<Refused>() {
            return refused.to_string();
        }
        cause = found.source();
        if cause.is_none() && !found.is::<reqwest::Error>() {
            problem = format!("{problem}: {}", artoo_proto::escape::shorten(&found.to_string(), 200));
        }
    }
    format!("{} could not be asked: {problem}", host(url))
}

/// The host of a URL for an error message.
fn host(url: &Url) -> String {
    url.host_str().unwrap_or_default().to_owned()
}

/// An HTTP client builder with the settings of all requests.
fn builder() -> Result<reqwest::ClientBuilder, String> {
    let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("no client can be built: {error}"))?
        .with_root_certificates(RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() })
        .with_no_client_auth();
    // A proxy would resolve names itself, without the check of addresses.
    Ok(Client::builder()
        .tls_backend_preconfigured(tls)
        .no_proxy()
        .redirect(Policy::none())
        .referer(false)
        .connect_timeout(CONNECT_TIMEOUT)
        .timeout(REQUEST_TIMEOUT)
        .user_agent(USER_AGENT))
}

/// Builds an HTTP client from a builder; the error is text.
fn build(builder: reqwest::ClientBuilder) -> Result<Client, String> {
    builder.build().map_err(|error| format!("no client can be built: {error}"))
}
