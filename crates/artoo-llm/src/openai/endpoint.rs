//! The one URL requests go to, from the many ways in which people write a base URL.

use reqwest::Url;

use crate::ConfigError;

/// What follows the base.
const CHAT: [&str; 2] = ["chat", "completions"];

/// Where Chat Completions are posted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Endpoint {
    url: Url,
}

impl Endpoint {
    /// Reads a base URL: slashes at the end or doubled, a doubled `/v1` or the full path make no difference, and a
    /// base without any version segment gets `/v1`.
    pub(crate) fn parse(base: &str) -> Result<Self, ConfigError> {
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
        while segments.ends_with(&CHAT) {
            segments.truncate(segments.len() - CHAT.len());
        }
        segments.dedup_by(|next, previous| next == previous && is_version(next));
        if !segments.iter().any(|segment| is_version(segment)) {
            segments.push("v1");
        }
        segments.extend(CHAT);
        url.set_path(&segments.join("/"));
        url.set_fragment(None);
        Ok(Self { url })
    }

    pub(crate) fn url(&self) -> &Url {
        &self.url
    }

    /// Where the models are listed.
    pub(crate) fn models(&self) -> Url {
        let mut url = self.url.clone();
        let base = url.path().trim_end_matches("/chat/completions").to_owned();
        url.set_path(&format!("{base}/models"));
        url
    }

    /// Whether the endpoint is this machine: then no proxy of the environment is in between.
    pub(crate) fn is_loopback(&self) -> bool {
        let host = self.url.host_str().unwrap_or_default();
        let ip = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
        host == "localhost" || ip.is_ok_and(|ip| ip.is_loopback())
    }

    /// Whether it is OpenAI's own, which answers nobody without a key.
    pub(crate) fn is_openai(&self) -> bool {
        self.url.host_str() == Some("api.openai.com")
    }
}

/// A URL for people: scheme, host and path, without user, password and query.
#[must_use]
pub fn shown(base: &str) -> String {
    match Url::parse(base.trim()) {
        Ok(url) => match url.host_str() {
            Some(host) => {
                let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
                format!("{}://{host}{port}{}", url.scheme(), url.path())
            }
            None => "(without a host)".to_owned(),
        },
        Err(_) => "(unreadable)".to_owned(),
    }
}

/// `v1`, `v4`, `v1beta` …
fn is_version(segment: &str) -> bool {
    segment.strip_prefix('v').is_some_and(|rest| {
        rest.starts_with(|c: char| c.is_ascii_digit()) && rest.chars().all(|c| c.is_ascii_alphanumeric())
    })
}

#[cfg(test)]
mod tests {
    use super::Endpoint;

    #[test]
    fn every_form_of_a_base_url_leads_to_one_endpoint() {
        let check = |base: &str, expected: &str| {
            let endpoint = Endpoint::parse(base).map(|endpoint| endpoint.url.to_string());
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

    #[test]
    fn models_are_listed_beside_the_chat() {
        let listed = |base: &str| Endpoint::parse(base).map(|endpoint| endpoint.models().to_string());
        assert_eq!(listed("http://127.0.0.1:8080").as_deref(), Ok("http://127.0.0.1:8080/v1/models"));
        assert_eq!(listed("https://x.example/v4/?a=b").as_deref(), Ok("https://x.example/v4/models?a=b"));
    }

    #[test]
    fn an_unusable_base_url_is_refused_without_showing_its_secrets() {
        for base in
            ["", "127.0.0.1:8080", "localhost:8080", "ftp://x.example", "https://", "https://me:canary@x.example"]
        {
            let error = Endpoint::parse(base).map(|_| ()).expect_err(base).to_string();
            assert!(!error.contains("canary"), "{error}");
        }
    }

    #[test]
    fn a_proxy_never_stands_before_this_machine() {
        let check = |base: &str, expected: bool| {
            assert_eq!(Endpoint::parse(base).map(|endpoint| endpoint.is_loopback()), Ok(expected), "{base}");
        };
        check("http://127.9.9.9:1", true);
        check("http://localhost", true);
        check("http://[::1]", true);
        check("http://192.168.0.1", false);
        check("https://localhost.example", false);
    }
}
