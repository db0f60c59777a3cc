//! The search engines, their order and their keys.

use std::fmt;

use reqwest::Url;

use crate::web::hosts;

/// The configuration of `search`. Without an engine there is no such tool.
#[derive(Debug, Clone, Default)]
pub struct WebConfig {
    /// Engines in the order in which they are tried; the next one is asked only if one gives no answer.
    pub engines: Vec<Engine>,
    /// Host names that resolve to this machine, for tests.
    #[cfg(test)]
    pub(crate) loopback: hosts::Loopback,
}

/// A search engine with its address and key, and whether the user chose it.
#[derive(Debug, Clone)]
pub struct Engine {
    pub(crate) kind: EngineKind,
    /// The URL of its API or page.
    pub(crate) base: Url,
    /// Whether the user chose it; otherwise it is the fallback.
    pub(crate) is_chosen: bool,
}

/// The kind of a search engine, which decides its API and key.
#[derive(Debug, Clone)]
pub(crate) enum EngineKind {
    Searxng,
    Brave { key: ApiKey },
    Google { key: ApiKey, engine_id: String },
    DuckDuckGo,
}

/// An API key; `Debug` does not show it.
#[derive(Clone)]
pub(crate) struct ApiKey(String);

/// Why a search engine can't be used: an invalid address or key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EngineProblem {
    /// The URL of a SearXNG instance is not valid.
    #[error("{url:?} is not a valid http(s) URL: {problem}")]
    Address {
        /// The URL without the part that may be a password.
        url: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The key is empty or not valid in an HTTP header.
    #[error("the key for {engine} is empty or contains invalid characters")]
    Key {
        /// The engine.
        engine: &'static str,
    },
}

impl ApiKey {
    /// A search engine's key without blanks around it; an error if it can't be sent in a header.
    fn new(engine: &'static str, key: &str) -> Result<Self, EngineProblem> {
        let key = key.trim();
        let is_one = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_graphic());
        if is_one { Ok(Self(key.to_owned())) } else { Err(EngineProblem::Key { engine }) }
    }

    /// The secret key itself, to be sent in the HTTP header.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey([redacted])")
    }
}

impl Engine {
    /// A SearXNG instance with its JSON format enabled; it may be on this machine or in the local network.
    ///
    /// # Errors
    /// `Address` if it is not an http(s) URL with a host, or has a user name, a query or a fragment.
    pub fn searxng(base: &str) -> Result<Self, EngineProblem> {
        let problem = |problem: String| EngineProblem::Address { url: shown(base), problem };
        let mut url = Url::parse(base.trim()).map_err(|error| problem(error.to_string()))?;
        hosts::check_form(&url).map_err(|error| problem(error.to_string()))?;
        if url.query().is_some() || url.fragment().is_some() {
            return Err(problem("give it without ? and #".to_owned()));
        }
        if !url.path().ends_with('/') {
            url.set_path(&format!("{}/", url.path()));
        }
        Ok(Self { kind: EngineKind::Searxng, base: url, is_chosen: true })
    }

    /// Brave's search API.
    ///
    /// # Errors
    /// `Key` if the key is not valid.
    pub fn brave(key: &str) -> Result<Self, EngineProblem> {
        let kind = EngineKind::Brave { key: ApiKey::new("Brave", key)? };
        fixed(kind, "https://api.search.brave.com/res/v1/web/search", true)
    }

    /// Google's Custom Search API, which Google closes on 2027-01-01.
    ///
    /// # Errors
    /// `Key` if the key or the engine's id is not valid.
    pub fn google(key: &str, engine_id: &str) -> Result<Self, EngineProblem> {
        let engine_id = ApiKey::new("Google's engine id", engine_id)?.0;
        let kind = EngineKind::Google { key: ApiKey::new("Google", key)?, engine_id };
        fixed(kind, "https://customsearch.googleapis.com/customsearch/v1", true)
    }

    /// DuckDuckGo's page for browsers without scripts, which blocks programs after a few queries. Without `is_chosen` it is
    /// the fallback, and every query needs approval.
    ///
    /// # Errors
    /// `Address`; never in practice, since the URL is a constant.
    pub fn duckduckgo(is_chosen: bool) -> Result<Self, EngineProblem> {
        fixed(EngineKind::DuckDuckGo, "https://html.duckduckgo.com/html/", is_chosen)
    }

    /// The engine's name for users.
    #[must_use]
    pub fn name(&self) -> String {
        let host = self.base.host_str().unwrap_or_default();
        match &self.kind {
            EngineKind::Searxng => format!("SearXNG at {host}"),
            EngineKind::Brave { .. } => "Brave".to_owned(),
            EngineKind::Google { .. } => "Google".to_owned(),
            EngineKind::DuckDuckGo => "DuckDuckGo".to_owned(),
        }
    }

    /// The same engine at another address, for tests.
    #[cfg(test)]
    pub(crate) fn at(mut self, base: &str) -> Self {
        self.base = Url::parse(base).unwrap();
        self
    }
}

/// A search engine with a fixed address; `is_chosen`: the user chose it, so that queries need no further approval of
/// the engine.
fn fixed(kind: EngineKind, base: &str, is_chosen: bool) -> Result<Engine, EngineProblem> {
    let problem = |error| EngineProblem::Address { url: base.to_owned(), problem: format!("{error}") };
    Ok(Engine { kind, base: Url::parse(base).map_err(problem)?, is_chosen })
}

/// A URL for an error, without the part before an `@`, which may be a password.
fn shown(url: &str) -> String {
    let kept = url.rsplit_once('@').map_or(url, |(_, rest)| rest);
    artoo_proto::escape::shorten(&artoo_proto::escape::one_line(kept), 200)
}
