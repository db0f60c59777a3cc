//! Which search engines may be asked, in which order, and with what keys.

use std::fmt;

use reqwest::Url;

use crate::web::hosts;

/// What the network part of the tools may use. The default is nothing: then there is no `search` tool.
#[derive(Debug, Clone, Default)]
pub struct WebConfig {
    /// Engines in the order they are tried; the next one is asked only when one gives no answer.
    pub engines: Vec<Engine>,
    /// Names that lead to this machine. Only tests of this crate can set it.
    #[cfg(test)]
    pub(crate) loopback: hosts::Loopback,
}

/// A search engine and the way to it.
#[derive(Debug, Clone)]
pub struct Engine {
    pub(crate) kind: EngineKind,
    /// Where it is asked.
    pub(crate) base: Url,
    /// A person chose it, rather than it being the last resort.
    pub(crate) is_chosen: bool,
}

/// How an engine is spoken to.
#[derive(Debug, Clone)]
pub(crate) enum EngineKind {
    Searxng,
    Brave { key: ApiKey },
    Google { key: ApiKey, engine_id: String },
    DuckDuckGo,
}

/// A key that can't be printed.
#[derive(Clone)]
pub(crate) struct ApiKey(String);

/// Why an engine can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EngineProblem {
    /// The address of a SearXNG instance is none.
    #[error("{url:?} is no http(s) address: {problem}")]
    Address {
        /// As it was given, without what may be a password in it.
        url: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The key is empty or can't stand in a header.
    #[error("the key for {engine} is empty or holds characters that no key has")]
    Key {
        /// Whose key.
        engine: &'static str,
    },
}

impl ApiKey {
    fn new(engine: &'static str, key: &str) -> Result<Self, EngineProblem> {
        let key = key.trim();
        let is_one = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_graphic());
        if is_one { Ok(Self(key.to_owned())) } else { Err(EngineProblem::Key { engine }) }
    }

    /// The key itself, for the one header it goes into.
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
    /// A SearXNG instance with its JSON format switched on; it may stand on this machine or in the local network, since
    /// a person named it.
    ///
    /// # Errors
    /// When the address is no http(s) URL with a host, or carries a user name, a query or a fragment.
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
    /// When the key can't be one.
    pub fn brave(key: &str) -> Result<Self, EngineProblem> {
        let kind = EngineKind::Brave { key: ApiKey::new("Brave", key)? };
        fixed(kind, "https://api.search.brave.com/res/v1/web/search", true)
    }

    /// Google's Custom Search API, which its maker closes on 2027-01-01.
    ///
    /// # Errors
    /// When the key or the engine's id can't be one.
    pub fn google(key: &str, engine_id: &str) -> Result<Self, EngineProblem> {
        let engine_id = ApiKey::new("Google's engine id", engine_id)?.0;
        let kind = EngineKind::Google { key: ApiKey::new("Google", key)?, engine_id };
        fixed(kind, "https://customsearch.googleapis.com/customsearch/v1", true)
    }

    /// DuckDuckGo's page for browsers without scripts; it turns programs away after a few questions. With `is_chosen` a
    /// person named it; otherwise it is the last resort and every question is asked about.
    ///
    /// # Errors
    /// Never in practice: the address is fixed.
    pub fn duckduckgo(is_chosen: bool) -> Result<Self, EngineProblem> {
        fixed(EngineKind::DuckDuckGo, "https://html.duckduckgo.com/html/", is_chosen)
    }

    /// What it is called, with its host.
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

    /// The same engine at another address.
    #[cfg(test)]
    pub(crate) fn at(mut self, base: &str) -> Self {
        self.base = Url::parse(base).unwrap();
        self
    }
}

fn fixed(kind: EngineKind, base: &str, is_chosen: bool) -> Result<Engine, EngineProblem> {
    let problem = |error| EngineProblem::Address { url: base.to_owned(), problem: format!("{error}") };
    Ok(Engine { kind, base: Url::parse(base).map_err(problem)?, is_chosen })
}

/// An address for an error: what stands before an @ may be a password.
fn shown(url: &str) -> String {
    let kept = url.rsplit_once('@').map_or(url, |(_, rest)| rest);
    artoo_proto::escape::shorten(&artoo_proto::escape::one_line(kept), 200)
}
