//! Configuration of a client: defaults, environment variables, and checks.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use artoo_proto::escape;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use super::endpoint::{self, Endpoint};
use crate::ledger::Price;
use crate::retry::RetryPolicy;
use crate::structured::ReplyFormat;
use crate::wire::Protocol;
use crate::{ConfigError, Secret};

/// Default time limit for connecting to an endpoint: enough for a slow link and a TLS handshake.
#[doc(alias = "limit")]
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Default wait for the first byte: a slow machine reads a long prompt for minutes and may have to load the model
/// first.
#[doc(alias = "limit")]
const FIRST_BYTE_TIMEOUT: Duration = Duration::from_secs(180);

/// Default longest silence between two pieces of a response, after the first.
#[doc(alias = "limit")]
const READ_IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// Default time limit of a model call, including all its retries.
#[doc(alias = "limit")]
const TOTAL_DEADLINE: Duration = Duration::from_secs(300);

/// Default maximum size of a response body, in bytes: four times the longest text that the reader accepts.
const MAX_BODY_BYTES: usize = 4 << 20;

/// Default number of concurrent calls at one endpoint: more than the subtasks of several plans.
#[doc(alias = "limit")]
const PARALLEL: usize = 128;

/// Configuration of a client. `Debug` shows no key, and the URL without user and query.
#[derive(Clone)]
pub struct RemoteConfig {
    pub protocol: Protocol,
    /// `http(s)://host[:port][/path]`, with or without `/v1` or a slash at the end.
    pub base_url: String,
    /// API key, sent in the protocol's header; local servers need none.
    pub api_key: Option<Secret>,
    /// Additional headers; their values are treated as secrets.
    pub headers: Vec<(String, Secret)>,
    /// Name of the model at the endpoint.
    pub model: String,
    /// Timeout until the connection is established, TLS included.
    pub connect_timeout: Duration,
    /// Timeout between the request and the first byte of the response.
    pub first_byte_timeout: Duration,
    /// Timeout between two pieces of a response.
    pub read_idle_timeout: Duration,
    /// Time limit of one call, retries and waits included.
    pub total_deadline: Duration,
    /// Number and duration of retries after transport errors.
    pub retry: RetryPolicy,
    /// Maximum size of a response body, in bytes.
    pub max_body_bytes: usize,
    /// The first reply format to try; `None` is the strongest of the protocol.
    pub format: Option<ReplyFormat>,
    /// Whether native tool calls are used if the endpoint supports them; `None`: only if it doesn't enforce a
    /// schema.
    pub tool_calls: Option<bool>,
    /// Sampling temperature; 0 makes replies as repeatable as the endpoint allows.
    pub temperature: Option<f64>,
    /// Certificates in PEM to trust in addition to the bundled roots; read at the first call.
    pub ca_file: Option<PathBuf>,
    /// Whether to request streamed answers.
    pub stream: bool,
    /// Maximum number of concurrent calls at this endpoint.
    pub parallel: usize,
    /// Context size in tokens, if known: a prompt that doesn't fit is refused before it is sent. If the protocol
    /// lets the client set the context size, this is the size set.
    pub context_tokens: Option<u64>,
    /// Price of the model's tokens, if known.
    pub price: Option<Price>,
}

impl RemoteConfig {
    /// Default configuration for a model at a base URL, without a key.
    #[must_use]
    pub fn new(protocol: Protocol, base_url: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            protocol,
            base_url: base_url.into(),
            api_key: None,
            headers: Vec::new(),
            model: model.into(),
            connect_timeout: CONNECT_TIMEOUT,
            first_byte_timeout: FIRST_BYTE_TIMEOUT,
            read_idle_timeout: READ_IDLE_TIMEOUT,
            total_deadline: TOTAL_DEADLINE,
            retry: RetryPolicy::default(),
            max_body_bytes: MAX_BODY_BYTES,
            format: None,
            tool_calls: None,
            temperature: Some(0.0),
            ca_file: None,
            stream: true,
            parallel: PARALLEL,
            context_tokens: None,
            price: None,
        }
    }

    /// Reads the [`Variables`] of a protocol with `lookup`; an empty value counts as absent. Without a base URL,
    /// the protocol's own endpoint is used, which may need a key.
    ///
    /// # Errors
    /// If the model's name or a required key is missing, or `lookup` fails.
    pub fn from_variables(
        protocol: Protocol,
        lookup: impl Fn(&'static str) -> Result<Option<String>, ConfigError>,
    ) -> Result<Self, ConfigError> {
        let given = |name| {
            let value: Option<String> = lookup(name)?;
            Ok(value.map(|value| value.trim().to_owned()).filter(|value| !value.is_empty()))
        };
        let names = Variables::of(protocol);
        let base_url = given(names.base_url)?.map(|base| with_scheme(protocol, base));
        let api_key = given(names.key)?.map(Secret::new);
        if base_url.is_none() && api_key.is_none() && names.needs_key {
            return Err(ConfigError::Missing { name: names.key });
        }
        let model = given(names.model)?.ok_or(ConfigError::Missing { name: names.model })?;
        let ca_file = given("SSL_CERT_FILE")?.map(PathBuf::from);
        let base_url = base_url.unwrap_or_else(|| names.own_url.to_owned());
        Ok(Self { api_key, ca_file, ..Self::new(protocol, base_url, model) })
    }

    /// Whether the endpoint is on this machine.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        reqwest::Url::parse(self.base_url.trim()).is_ok_and(|url| super::is_loopback(&url))
    }

    /// Checks the configuration except for the base URL: a model name, a key where the endpoint needs one, and no limit
    /// of zero.
    pub(super) fn check(&self, endpoint: &Endpoint) -> Result<(), ConfigError> {
        if self.model.trim().is_empty() {
            return Err(ConfigError::Missing { name: "the model's name" });
        }
        let has_key = self.api_key.as_ref().is_some_and(|key| !key.is_empty());
        let names = Variables::of(self.protocol);
        let own = Endpoint::parse(names.own_url, self.protocol.wire().paths())?;
        if names.needs_key && own.origin() == endpoint.origin() && !has_key {
            return Err(ConfigError::Missing { name: names.key });
        }
        let zeros = [
            ("connect_timeout", self.connect_timeout.is_zero()),
            ("first_byte_timeout", self.first_byte_timeout.is_zero()),
            ("read_idle_timeout", self.read_idle_timeout.is_zero()),
            ("total_deadline", self.total_deadline.is_zero()),
            ("max_body_bytes", self.max_body_bytes == 0),
            ("parallel", self.parallel == 0),
        ];
        let zero = zeros.into_iter().find(|(_, is_zero)| *is_zero);
        zero.map_or(Ok(()), |(name, _)| Err(ConfigError::Zero { name }))
    }

    /// The HTTP headers of every call, including the key; secret values are marked so that they are never printed.
    pub(super) fn all_headers(&self) -> Result<HeaderMap, ConfigError> {
        let wire = self.protocol.wire();
        let mut headers = HeaderMap::new();
        for (name, value) in wire.headers() {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        if let Some(key) = self.api_key.as_ref().filter(|key| !key.is_empty()) {
            let (name, value) = wire.key_header(key.expose());
            if !key.expose().bytes().all(|byte| byte.is_ascii_graphic()) {
                return Err(ConfigError::KeyNotSendable);
            }
            headers.insert(HeaderName::from_static(name), secret_value(&value).ok_or(ConfigError::KeyNotSendable)?);
        }
        for (name, value) in &self.headers {
            let unusable = || ConfigError::Header { name: escape::one_line(name) };
            let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| unusable())?;
            headers.insert(header, secret_value(value.expose()).ok_or_else(unusable)?);
        }
        Ok(headers)
    }
}

/// Converts a secret to a header value that is never printed; `None` if headers can't contain it.
fn secret_value(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// Completes Ollama's `host` or `host:port` variable to a URL; a wildcard address becomes loopback. Other protocols'
/// values and whole URLs stay.
fn with_scheme(protocol: Protocol, base: String) -> String {
    if protocol != Protocol::Ollama || base.contains("://") {
        return base;
    }
    let reachable = base.replacen("0.0.0.0", "127.0.0.1", 1);
    let port = if reachable.contains(':') { "" } else { ":11434" };
    format!("http://{reachable}{port}")
}

/// Names of the environment variables of a protocol, and its own endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variables {
    pub base_url: &'static str,
    pub key: &'static str,
    pub model: &'static str,
    /// The endpoint used without a base URL.
    pub own_url: &'static str,
    /// Whether the protocol's own endpoint requires a key.
    pub needs_key: bool,
}

impl Variables {
    /// The environment variables of a protocol.
    #[must_use]
    pub fn of(protocol: Protocol) -> Self {
        let [base_url, key, model, own_url] = match protocol {
            Protocol::Chat | Protocol::Responses => {
                ["OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL", "https://api.openai.com/v1"]
            }
            Protocol::Anthropic => {
                ["ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_MODEL", "https://api.anthropic.com"]
            }
            Protocol::Ollama => ["OLLAMA_HOST", "OLLAMA_API_KEY", "OLLAMA_MODEL", "http://127.0.0.1:11434"],
        };
        Self { base_url, key, model, own_url, needs_key: protocol != Protocol::Ollama }
    }
}

impl fmt::Debug for RemoteConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteConfig")
            .field("protocol", &self.protocol)
            .field("base_url", &endpoint::shown(&self.base_url))
            .field("api_key", &self.api_key)
            .field("headers", &self.headers)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}
