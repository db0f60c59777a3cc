//! What a client needs to know, its defaults, and where the environment says it.

use std::env::{self, VarError};
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use reqwest::header::HeaderValue;

use super::endpoint::{self, Endpoint};
use crate::retry::RetryPolicy;
use crate::structured::ReplyFormat;
use crate::{ConfigError, Secret};

/// Where requests go when nothing else is said.
const OPENAI_BASE_URL: &str = "https://api.openai.com/v1";

/// Long enough for a slow link and a TLS handshake; a black-holed address shows within ten seconds.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Without streaming nothing comes before the whole answer is written: a small machine's model needs a while.
const FIRST_BYTE_TIMEOUT: Duration = Duration::from_secs(180);

/// Once bytes flow they flow; half a minute of silence is a dead peer.
const READ_IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// One ask with all its tries: beyond this a person has given up.
const TOTAL_DEADLINE: Duration = Duration::from_secs(300);

/// Largest body read: four times the largest text that the reader takes, for escapes and the envelope.
const MAX_BODY_BYTES: usize = 4 << 20;

/// How to reach one endpoint. `Debug` shows no key, and of the URL neither user nor query.
#[derive(Clone)]
pub struct OpenAiConfig {
    /// `http(s)://host[:port][/path]`, with or without `/v1`, with or without a slash at the end.
    pub base_url: String,
    /// Sent as a bearer token; local servers need none.
    pub api_key: Option<Secret>,
    /// The endpoint's name for the model.
    pub model: String,
    /// Until a connection stands, TLS included.
    pub connect_timeout: Duration,
    /// From the request to the first byte of its answer.
    pub first_byte_timeout: Duration,
    /// Between two pieces of an answer.
    pub read_idle_timeout: Duration,
    /// One ask, retries and waits included.
    pub total_deadline: Duration,
    /// Transport retries.
    pub retry: RetryPolicy,
    /// Cap on an answer's bytes.
    pub max_body_bytes: usize,
    /// The strongest way of asking for JSON to begin with.
    pub format: ReplyFormat,
    /// Sampling temperature; 0 keeps replies as repeatable as the endpoint allows.
    pub temperature: Option<f64>,
    /// Certificates in PEM to trust besides the bundled roots (a company proxy, say); read at the first call.
    pub ca_file: Option<PathBuf>,
}

impl OpenAiConfig {
    /// Defaults for a model at a base URL, without a key.
    #[must_use]
    pub fn new(base_url: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            api_key: None,
            model: model.into(),
            connect_timeout: CONNECT_TIMEOUT,
            first_byte_timeout: FIRST_BYTE_TIMEOUT,
            read_idle_timeout: READ_IDLE_TIMEOUT,
            total_deadline: TOTAL_DEADLINE,
            retry: RetryPolicy::default(),
            max_body_bytes: MAX_BODY_BYTES,
            format: ReplyFormat::JsonSchema,
            temperature: Some(0.0),
            ca_file: None,
        }
    }

    /// From the process's environment: `OPENAI_BASE_URL`, `OPENAI_API_KEY`, `OPENAI_MODEL`, `SSL_CERT_FILE`.
    ///
    /// # Errors
    /// See [`Self::from_variables`]; also when a variable is not UTF-8.
    pub fn from_env() -> Result<Self, ConfigError> {
        Self::from_variables(|name| match env::var(name) {
            Ok(value) => Ok(Some(value)),
            Err(VarError::NotPresent) => Ok(None),
            Err(VarError::NotUnicode(_)) => Err(ConfigError::NotUnicode { name }),
        })
    }

    /// From variables as `lookup` knows them; an empty one counts as absent.
    ///
    /// Without a base URL the endpoint is OpenAI's own, which needs a key; any other may do without.
    ///
    /// # Errors
    /// When `OPENAI_MODEL` is absent, when the key is absent where one is needed, or what `lookup` says.
    pub fn from_variables(
        lookup: impl Fn(&'static str) -> Result<Option<String>, ConfigError>,
    ) -> Result<Self, ConfigError> {
        let given = |name| {
            let value: Option<String> = lookup(name)?;
            Ok(value.map(|value| value.trim().to_owned()).filter(|value| !value.is_empty()))
        };
        let base_url = given("OPENAI_BASE_URL")?;
        let api_key = given("OPENAI_API_KEY")?.map(Secret::new);
        if base_url.is_none() && api_key.is_none() {
            return Err(ConfigError::Missing { name: "OPENAI_API_KEY" });
        }
        let model = given("OPENAI_MODEL")?.ok_or(ConfigError::Missing { name: "OPENAI_MODEL" })?;
        let ca_file = given("SSL_CERT_FILE")?.map(PathBuf::from);
        let base_url = base_url.unwrap_or_else(|| OPENAI_BASE_URL.to_owned());
        Ok(Self { api_key, ca_file, ..Self::new(base_url, model) })
    }

    /// What [`super::OpenAi::new`] refuses besides a bad URL.
    pub(super) fn check(&self, endpoint: &Endpoint) -> Result<(), ConfigError> {
        if self.model.trim().is_empty() {
            return Err(ConfigError::Missing { name: "the model's name" });
        }
        let has_key = self.api_key.as_ref().is_some_and(|key| !key.is_empty());
        if endpoint.is_openai() && !has_key {
            return Err(ConfigError::Missing { name: "OPENAI_API_KEY" });
        }
        let times = [
            ("connect_timeout", self.connect_timeout),
            ("first_byte_timeout", self.first_byte_timeout),
            ("read_idle_timeout", self.read_idle_timeout),
            ("total_deadline", self.total_deadline),
        ];
        match times.into_iter().find(|(_, time)| time.is_zero()) {
            Some((name, _)) => Err(ConfigError::Zero { name }),
            None if self.max_body_bytes == 0 => Err(ConfigError::Zero { name: "max_body_bytes" }),
            None => Ok(()),
        }
    }

    /// The header that carries the key, marked so that nothing prints it.
    pub(super) fn authorization(&self) -> Result<Option<HeaderValue>, ConfigError> {
        let Some(key) = self.api_key.as_ref().filter(|key| !key.is_empty()) else { return Ok(None) };
        if !key.expose().bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(ConfigError::KeyNotSendable);
        }
        let mut value =
            HeaderValue::from_str(&format!("Bearer {}", key.expose())).map_err(|_| ConfigError::KeyNotSendable)?;
        value.set_sensitive(true);
        Ok(Some(value))
    }
}

impl fmt::Debug for OpenAiConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAiConfig")
            .field("base_url", &endpoint::shown(&self.base_url))
            .field("api_key", &self.api_key)
            .field("model", &self.model)
            .field("connect_timeout", &self.connect_timeout)
            .field("first_byte_timeout", &self.first_byte_timeout)
            .field("read_idle_timeout", &self.read_idle_timeout)
            .field("total_deadline", &self.total_deadline)
            .field("retry", &self.retry)
            .field("max_body_bytes", &self.max_body_bytes)
            .field("format", &self.format)
            .field("temperature", &self.temperature)
            .field("ca_file", &self.ca_file)
            .finish()
    }
}
