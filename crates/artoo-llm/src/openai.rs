//! A client for every endpoint that speaks OpenAI's Chat Completions, without streaming.

use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use artoo_proto::{ModelFailure, ModelReply, ModelRequest, ReplyBody};
use async_trait::async_trait;
use reqwest::header::HeaderValue;
use tokio::time::{Instant, sleep, timeout};

use crate::secret::Scrubber;
use crate::structured::{self, Dialect};
use crate::transport::{self, ClientSettings, TransportError};
use crate::usage::{Meter, Spent};
use crate::{ConfigError, Model, reader, retry, usage};
use endpoint::Endpoint;
use exchange::Sent;
use trouble::Trouble;

pub use config::OpenAiConfig;
pub use endpoint::shown as shown_url;

mod answer;
mod config;
mod endpoint;
mod exchange;
mod listing;
mod trouble;

/// A client of one endpoint and one model. Calls share its connections; they may run at the same time.
pub struct OpenAi {
    config: OpenAiConfig,
    endpoint: Endpoint,
    authorization: Option<HeaderValue>,
    scrubber: Scrubber,
    client: OnceLock<Result<reqwest::Client, TransportError>>,
    // Held for a copy only, never across a wait.
    dialect: Mutex<Dialect>,
    meter: Meter,
}

impl OpenAi {
    /// Checks the configuration; connects to nothing and reads no file yet.
    ///
    /// # Errors
    /// See [`ConfigError`].
    pub fn new(config: OpenAiConfig) -> Result<Self, ConfigError> {
        let endpoint = Endpoint::parse(&config.base_url)?;
        config.check(&endpoint)?;
        let authorization = config.authorization()?;
        let dialect =
            Dialect { format: config.format, completion_tokens_field: false, temperature: config.temperature };
        Ok(Self {
            scrubber: Scrubber::new(config.api_key.clone()),
            endpoint,
            authorization,
            client: OnceLock::new(),
            dialect: Mutex::new(dialect),
            meter: Meter::default(),
            config,
        })
    }

    /// What every call of this client has cost, including those that failed.
    #[must_use]
    pub fn spent(&self) -> Spent {
        self.meter.spent()
    }

    /// How the endpoint has been found to want its requests.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        *self.dialect.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Built at the first call, so that a program that asks no model never pays for TLS.
    fn client(&self) -> Result<&reqwest::Client, Trouble> {
        let settings = || ClientSettings {
            connect_timeout: self.config.connect_timeout,
            ca_file: self.config.ca_file.clone(),
            direct: self.endpoint.is_loopback(),
        };
        let built = self.client.get_or_init(|| transport::client(&settings()));
        built.as_ref().map_err(|error| Trouble::Unusable { detail: error.to_string() })
    }

    async fn ask_until_settled(&self, request: &ModelRequest) -> Result<ModelReply, ModelFailure> {
        let started = Instant::now();
        let mut dialect = self.dialect();
        let mut tries = 1;
        loop {
            let trouble = match self.one_try(request, dialect).await {
                Ok(reply) => {
                    *self.dialect.lock().unwrap_or_else(PoisonError::into_inner) = dialect;
                    return Ok(reply);
                }
                Err(trouble) => trouble,
            };
            // Another request, not the same one again: bounded, since a dialect only loses parts.
            if let Some(plainer) = trouble.refused_part().and_then(|about| dialect.without_refused_part(about)) {
                tracing::debug!(role = %request.role, ?plainer, "the endpoint refused a part of the request");
                dialect = plainer;
                continue;
            }
            let decision =
                retry::next(&self.config.retry, tries, trouble.outcome(), started.elapsed(), &mut retry::random_share);
            match decision {
                retry::Decision::Retry { after } => {
                    tracing::debug!(role = %request.role, tries, wait = ?after, "trying again");
                    sleep(after).await;
                    tries += 1;
                }
                retry::Decision::GiveUp { why } => {
                    return Err(trouble.into_failure(&self.scrubber, tries, why, started.elapsed()));
                }
            }
        }
    }

    /// The models the endpoint says it has, in its order. One try: whoever asks wants to know whether it answers now.
    ///
    /// # Errors
    /// When it can't be reached within the configuration's times, refuses, or answers with something else.
    pub async fn models(&self) -> Result<Vec<String>, ModelFailure> {
        let started = Instant::now();
        let listed = async { listing::names(&self.sent()?.models().await?) };
        let result = timeout(self.config.total_deadline, listed).await.unwrap_or(Err(Trouble::Silence));
        result
            .map(|names| names.iter().map(|name| self.scrubber.shown(name, MODEL_NAME_CHARS)).collect())
            .map_err(|trouble| trouble.into_failure(&self.scrubber, 1, retry::Why::Pointless, started.elapsed()))
    }

    fn sent(&self) -> Result<Sent<'_>, Trouble> {
        Ok(Sent {
            client: self.client()?,
            endpoint: &self.endpoint,
            authorization: self.authorization.as_ref(),
            first_byte_timeout: self.config.first_byte_timeout,
            read_idle_timeout: self.config.read_idle_timeout,
            max_body_bytes: self.config.max_body_bytes,
        })
    }

    async fn one_try(&self, request: &ModelRequest, dialect: Dialect) -> Result<ModelReply, Trouble> {
        let body = structured::body(request, &self.config.model, dialect).to_string();
        let sent = self.sent()?;
        let prompt = usage::prompt_text(request);
        self.meter.request_sent();
        let received = sent.exchange(body).await?;
        let parsed = answer::parse(&received);
        let spent = match &parsed {
            Ok(answer) => usage::of_call(answer.usage.as_ref(), &prompt, &answer.content),
            Err(_) => usage::of_call(None, &prompt, &String::from_utf8_lossy(&received.body)),
        };
        self.meter.answered(spent);
        let answer = parsed?;
        let content = self.scrubber.answer(answer.content);
        match reader::read(&content, &request.schema) {
            Ok(value) => Ok(ModelReply {
                body: ReplyBody::Json { value },
                usage: spent,
                model: answer.model.map_or_else(|| self.name(), |model| self.scrubber.shown(&model, MODEL_NAME_CHARS)),
            }),
            Err(error) => Err(Trouble::Reader { error, content }),
        }
    }
}

/// Longest model name taken from a reply, in characters; names are shown in lists.
const MODEL_NAME_CHARS: usize = 100;

#[async_trait]
impl Model for OpenAi {
    fn name(&self) -> String {
        self.config.model.clone()
    }

    async fn ask(&self, request: &ModelRequest) -> Result<ModelReply, ModelFailure> {
        let started = Instant::now();
        let answered = timeout(self.config.total_deadline, self.ask_until_settled(request)).await;
        let result = answered.unwrap_or_else(|_| Err(ModelFailure::TimedOut { after_ms: millis(started.elapsed()) }));
        tracing::debug!(
            role = %request.role,
            schema = %request.schema_name,
            elapsed = ?started.elapsed(),
            failed = result.is_err(),
            "model asked"
        );
        result
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
