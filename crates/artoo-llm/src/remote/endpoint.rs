//! Derives the URLs of model requests from the base URL that the user gave, in its many spellings.

use reqwest::Url;

use crate::wire::Paths;
use crate::{ConfigError, Secret};

/// Path endings that users copy together with the base URL, and that are removed from it; longest first.
const TAILS: [&[&str]; 5] = [&["chat", "completions"], &["api", "chat"], &["responses"], &["messages"], &["api"]];

/// Minimum length of a value in the URL's query that is treated as a secret key, in characters: versions and regions
/// are shorter.
const SECRET_MIN_CHARS: usize = 16;

/// The base URL of an endpoint, with the URL of a protocol's calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Endpoint {
    base: Url,
    url: Url,
}

impl Endpoint {
    /// Reads a base URL: slashes at the end or doubled, a doubled `/v1` or the full path make no difference, and a
    /// base without a version segment gets `/v1` where the protocol has one, and loses it where it has none.
    pub(crate) fn parse(base: &str, paths: Paths) -> Result<Self, ConfigError> {
        let base = base.trim();
        let wrong = |problem| ConfigError::BaseUrl { shown: shown(base), problem };
        let mut url = Url::parse(base).map_err(|_| wrong("it is not a URL such as http://127.0.0.1:8080/v1"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(wrong("it must begin with http:// or https://"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong("it must not hold a user or a password"));
        }
        let path = url.path().to_owned();
        let mut segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
        let of_protocol = |tail: &&&[&str]| **tail != ["api"] || !paths.versioned;
        while let Some(tail) = TAILS.iter().filter(of_protocol).find(|tail| segments.ends_with(tail)) {
            segments.truncate(segments.len() - tail.len());
        }
        segments.dedup_by(|next, previous| next == previous && is_version(next));
        if !paths.versioned {
            segments.pop_if(|last| is_version(last));
        } else if !segments.iter().any(|segment| is_version(segment)) {
            segments.push("v1");
        }
        url.set_path(&segments.join("/"));
        url.set_fragment(None);
        Ok(Self { url: below(&url, paths.call), base: url })
    }

    /// The URL to which calls are sent.
    pub(crate) fn url(&self) -> &Url {
        &self.url
    }

    /// The URL of another path below the base URL, such as that of the list of models.
    pub(crate) fn at(&self, path: &[&str]) -> Url {
        below(&self.base, path)
    }

    /// The URL of a path at the root of the endpoint's server, not below the base URL.
    pub(crate) fn server_url(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        url.set_path(path);
        url.set_query(None);
        url
    }

    /// Scheme, host and port of the endpoint: what connections, limits and keys are bound to.
    pub(crate) fn origin(&self) -> String {
        self.base.origin().ascii_serialization()
    }

    /// Values in the base URL's query that are long enough to be keys.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = Secret> {
        let values = self.base.query_pairs().map(|(_, value)| value.into_owned());
        values.filter(|value| value.len() >= SECRET_MIN_CHARS).map(Secret::new)
    }

    /// Whether the endpoint is on this machine, so that no proxy is used.
    pub(crate) fn is_loopback(&self) -> bool {
        is_loopback(&self.url)
    }
}

/// Whether a URL's host is this machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let ip = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    host == "localhost" || ip.is_ok_and(|ip| ip.is_loopback())
}

/// Whether two base URLs have the same scheme, host and port, so that they may share a key.
#[must_use]
pub fn same_origin(one: &str, other: &str) -> bool {
    let origin = |base: &str| Url::parse(base.trim()).ok().map(|url| url.origin());
    origin(one).zip(origin(other)).is_some_and(|(one, other)| one.is_tuple() && one == other)
}

/// Appends a path to a base URL.
fn below(base: &Url, path: &[&str]) -> Url {
    let mut url = base.clone();
    let head = base.path().trim_end_matches('/').to_owned();
    url.set_path(&format!("{head}/{}", path.join("/")));
    url
}

/// A URL as text without user, password and query.
#[must_use]
pub fn shown(base: &str) -> String {
    let Ok(url) = Url::parse(base.trim()) else { return "(unreadable)".to_owned() };
    let Some(host) = url.host_str() else { return "(without a host)".to_owned() };
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}://{host}{port}{}", url.scheme(), url.path())
}

/// Whether a path segment of a URL is a version such as `v1` or `v1beta`.
fn is_version(segment: &str) -> bool {
    segment.strip_prefix('v').is_some_and(|rest| {
        rest.starts_with(|c: char| c.is_ascii_digit()) && rest.chars().all(|c| c.is_ascii_alphanumeric())
    })
}

/// Tests of the URLs that are derived from base URLs.
#[cfg(test)]
mod tests {
    use super::Endpoint;
    use crate::wire::Protocol;

    /// The endpoint of a Chat Completions base URL.
    fn parse(base: &str) -> Result<Endpoint, crate::ConfigError> {
        Endpoint::parse(base, Protocol::Chat.wire().paths())
    }

    /// Base URLs with and without `/v1`, slashes or the full path give the same URL for calls.
    #[doc = "holds: client C2"]
    #[test]
    fn spellings_of_a_base_url_are_equivalent() {
        let check = |base: &str, expected: &str| {
            let endpoint = parse(base).map(|endpoint| endpoint.url.to_string());
            assert_eq!(endpoint.as_deref(), Ok(expected), "{base}");
        };
        let local = "http://127.0.0.1:8080/v1/chat/completions";
        for base in [
            "http://127.0.0.1:8080",
            "http://127.0.0.1:8080/",
            "http://127.0.0.1:8080/v1",
            "http://127.0.0.1:8080/v1/",
            "http://127.0.0.1:8080//v1//",
            "http://127.0.0.1:8080/v1/v1",
            "  http://127.0.0.1:8080/v1\n",
            "http://127.0.0.1:8080/v1/chat/completions",
            "http://127.0.0.1:8080/v1/chat/completions/",
            "http://127.0.0.1:8080/v1/chat/completions/chat/completions",
        ] {
            check(base, local);
        }
        check("https://openrouter.ai/api", "https://openrouter.ai/api/v1/chat/completions");
        check("https://api.groq.com/openai/v1", "https://api.groq.com/openai/v1/chat/completions");
        check("https://x.example/v1beta/openai/", "https://x.example/v1beta/openai/chat/completions");
        check("https://x.example/api/paas/v4", "https://x.example/api/paas/v4/chat/completions");
        check("https://x.example/vault", "https://x.example/vault/v1/chat/completions");
        check("https://x.example/v1?api-version=2#f", "https://x.example/v1/chat/completions?api-version=2");
        check("http://[::1]:80/v1", "http://[::1]/v1/chat/completions");
    }

    /// Each protocol's calls go to its own path below the base URL.
    #[doc = "holds: client C2"]
    #[test]
    fn each_protocol_has_its_paths_below_base() {
        let check = |protocol: Protocol, base: &str, expected: &str| {
            let endpoint = Endpoint::parse(base, protocol.wire().paths()).map(|endpoint| endpoint.url.to_string());
            assert_eq!(endpoint.as_deref(), Ok(expected), "{base}");
        };
        for base in ["https://x.example", "https://x.example/v1", "https://x.example/v1/responses"] {
            check(Protocol::Responses, base, "https://x.example/v1/responses");
        }
        for base in ["https://x.example/", "https://x.example/v1/", "https://x.example/v1/messages"] {
            check(Protocol::Anthropic, base, "https://x.example/v1/messages");
        }
        let ollama = "http://127.0.0.1:11434/api/chat";
        for base in ["http://127.0.0.1:11434", "http://127.0.0.1:11434/v1", "http://127.0.0.1:11434/api", ollama] {
            check(Protocol::Ollama, base, ollama);
        }
        check(Protocol::Chat, "https://x.example/api", "https://x.example/api/v1/chat/completions");
    }

    /// The list of models is requested below the same base URL as the calls.
    #[test]
    fn model_list_url_is_beside_chat_url() {
        let listed = |base: &str| parse(base).map(|endpoint| endpoint.at(&["models"]).to_string());
        assert_eq!(listed("http://127.0.0.1:8080").as_deref(), Ok("http://127.0.0.1:8080/v1/models"));
        assert_eq!(listed("https://x.example/v4/?a=b").as_deref(), Ok("https://x.example/v4/models?a=b"));
    }

    #[test]
    fn invalid_base_url_error_omits_secrets() {
        for base in
            ["", "127.0.0.1:8080", "localhost:8080", "ftp://x.example", "https://", "https://me:canary@x.example"]
        {
            let error = parse(base).map(|_| ()).expect_err(base).to_string();
            assert!(!error.contains("canary"), "{error}");
        }
    }

    #[doc = "holds: client C3"]
    #[test]
    fn loopback_endpoints_bypass_the_proxy() {
        let check = |base: &str, expected: bool| {
            assert_eq!(parse(base).map(|endpoint| endpoint.is_loopback()), Ok(expected), "{base}");
        };
        check("http://127.9.9.9:1", true);
        check("http://localhost", true);
        check("http://[::1]", true);
        check("http://192.168.0.1", false);
        check("https://localhost.example", false);
    }
}
