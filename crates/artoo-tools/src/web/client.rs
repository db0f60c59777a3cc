//! One request over the network: bounded in time, size and hops; no cookies, no proxy, no compression.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderMap, LOCATION};
use reqwest::redirect::Policy;
use reqwest::{Client, Request, StatusCode, Url};
use rustls::{ClientConfig, RootCertStore, crypto::ring};

use crate::web::reach::{CheckedResolver, Reach, Unreachable};

/// Largest body read: a page of text is far smaller, and all of it is held in memory.
#[doc(alias = "limit")]
pub(crate) const BODY_MAX_BYTES: usize = 5 * 1024 * 1024;

/// Hops followed: enough for http to https to www to the page itself.
const REDIRECTS_MAX: usize = 5;

/// A host that is there answers a connection within this time.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// One request and its answer; the call's own time may be shorter.
#[doc(alias = "limit")]
const REQUEST_TIMEOUT: Duration = Duration::from_secs(20);

/// Longest address: more than browsers' bars show, and short enough to be shown whole in a question.
pub(crate) const URL_MAX_CHARS: usize = 1500;

/// Honest: a program for one person, and which.
const USER_AGENT: &str = concat!("artoo/", env!("CARGO_PKG_VERSION"), " (personal assistant; asks for one person)");

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NetworkProblem {
    #[error("no client can be built: {problem}")]
    Client { problem: String },
    #[error(transparent)]
    Refused(#[from] Unreachable),
    #[error("{host} could not be asked: {problem}")]
    Failed { host: String, problem: String },
    #[error("{host} sent more than {BODY_MAX_BYTES} bytes")]
    TooLarge { host: String },
    #[error("{host} led on more than {REDIRECTS_MAX} times")]
    TooManyHops { host: String },
    #[error("{host} led to an address that is none")]
    BadHop { host: String },
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    /// Where it came from after all hops.
    pub(crate) url: Url,
    pub(crate) status: StatusCode,
    pub(crate) content_type: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

/// The ways out: one to the public internet, one to the engines that a person named.
#[derive(Debug, Clone)]
pub(crate) struct Network {
    reach: Arc<Reach>,
    public: Client,
    chosen: Client,
}

impl Network {
    pub(crate) fn new(reach: Reach) -> Result<Self, NetworkProblem> {
        let reach = Arc::new(reach);
        let public = build(builder()?.dns_resolver(Arc::new(CheckedResolver(Arc::clone(&reach)))))?;
        Ok(Self { public, chosen: build(builder()?)?, reach })
    }

    /// Asks an engine that a person named, wherever it stands; where it leads is not followed.
    pub(crate) async fn ask_chosen(&self, request: Request) -> Result<Answer, NetworkProblem> {
        once(&self.chosen, request).await
    }

    /// Asks a public host; where it leads is not followed.
    pub(crate) async fn ask_public(&self, request: Request) -> Result<Answer, NetworkProblem> {
        self.reach.check(request.url())?;
        once(&self.public, request).await
    }

    /// Fetches a page, following where it leads; every hop is checked like the first.
    pub(crate) async fn page(&self, url: Url) -> Result<Answer, NetworkProblem> {
        let mut url = url;
        for _ in 0..=REDIRECTS_MAX {
            url.set_fragment(None);
            let answer = self.ask_public(Request::new(reqwest::Method::GET, url.clone())).await?;
            let Some(next) = next_hop(&answer)? else { return Ok(answer) };
            url = next;
        }
        Err(NetworkProblem::TooManyHops { host: host(&url) })
    }
}

fn next_hop(answer: &Answer) -> Result<Option<Url>, NetworkProblem> {
    if !answer.status.is_redirection() {
        return Ok(None);
    }
    let Some(location) = answer.headers.get(LOCATION) else { return Ok(None) };
    let text = location.to_str().ok().filter(|text| text.chars().count() <= URL_MAX_CHARS);
    let next = text.and_then(|text| answer.url.join(text).ok());
    next.map(Some).ok_or_else(|| NetworkProblem::BadHop { host: host(&answer.url) })
}

async fn once(client: &Client, request: Request) -> Result<Answer, NetworkProblem> {
    let url = request.url().clone();
    let failed = |error: reqwest::Error| problem(&url, &error);
    let mut response = client.execute(request).await.map_err(failed)?;
    let too_large = || NetworkProblem::TooLarge { host: host(&url) };
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

/// The error without the address, which may hold what was asked, and with its deepest cause.
fn problem(url: &Url, error: &reqwest::Error) -> NetworkProblem {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    let mut told = if error.is_timeout() { "the time was up".to_owned() } else { "the request failed".to_owned() };
    while let Some(found) = cause {
        if let Some(refused) = found.downcast_ref::<Unreachable>() {
            return NetworkProblem::Refused(refused.clone());
        }
        cause = found.source();
        if cause.is_none() && !found.is::<reqwest::Error>() {
            told = format!("{told}: {}", artoo_proto::escape::shorten(&found.to_string(), 200));
        }
    }
    NetworkProblem::Failed { host: host(url), problem: told }
}

/// The host for a message.
pub(crate) fn host(url: &Url) -> String {
    url.host_str().unwrap_or_default().to_owned()
}

fn builder() -> Result<reqwest::ClientBuilder, NetworkProblem> {
    let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| NetworkProblem::Client { problem: error.to_string() })?
        .with_root_certificates(RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() })
        .with_no_client_auth();
    // A proxy would resolve names itself, past the check of the addresses.
    Ok(Client::builder()
        .tls_backend_preconfigured(tls)
        .no_proxy()
        .redirect(Policy::none())
        .referer(false)
        .connect_timeout(CONNECT_TIMEOUT)
        .timeout(REQUEST_TIMEOUT)
        .user_agent(USER_AGENT))
}

fn build(builder: reqwest::ClientBuilder) -> Result<Client, NetworkProblem> {
    builder.build().map_err(|error| NetworkProblem::Client { problem: error.to_string() })
}
