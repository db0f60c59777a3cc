//! The HTTP client of one model: retries transport errors and counts costs, for every protocol.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use artoo_proto::{ModelFailure, ModelReply, ModelRequest, Usage};
use async_trait::async_trait;
use reqwest::header::HeaderMap;
use tokio::sync::OnceCell;
use tokio::time::{Instant, sleep, timeout};

use crate::ledger::Ledger;
use crate::observe::{Caller, Observer, Step};
use crate::pool::{Gate, Pool, Turn};
use crate::secret::Scrubber;
use crate::structured::{Dialect, ReplyFormat};
use crate::transport::ClientSettings;
use crate::{ConfigError, Model, Protocol, retry};
use endpoint::Endpoint;
use try_failure::{Ended, TryFailure};

pub(crate) use endpoint::is_loopback;
pub(crate) use try_failure::may_pass;
pub(crate) use waits::retry_after;

pub use config::{RemoteConfig, Variables};
pub use endpoint::{same_origin, shown as shown_url};
pub use listing::Listed;
pub use recorded::read_recorded;

mod config;
mod context;
mod decoder;
mod endpoint;
mod exchange;
mod listing;
mod probe;
mod probe_tools;
mod recorded;
mod tries;
mod try_failure;
mod waits;

/// What several model clients of a program share: connections, ledger and observer.
#[derive(Clone, Default)]
pub struct Shared {
    pub pool: Arc<Pool>,
    pub ledger: Arc<Ledger>,
    pub observer: Option<Arc<dyn Observer>>,
}

/// A client of one endpoint and one model. Concurrent calls share its connections.
pub struct Remote {
    config: RemoteConfig,
    endpoint: Endpoint,
    headers: HeaderMap,
    scrubber: Scrubber,
    settings: ClientSettings,
    gate: Arc<Gate>,
    shared: Shared,
    /// The parts of requests that the endpoint accepts. Locked for a copy only, never across an await.
    dialect: Mutex<Dialect>,
    /// Context size in tokens to set at the endpoint, determined once.
    context: OnceCell<Option<u64>>,
    /// Context size in tokens that the running model reports; `None` if the server doesn't report one.
    context_checked: OnceCell<Option<u64>>,
}

impl Remote {
    /// Creates a client with connections and a ledger of its own. Connects to nothing and reads no file yet.
    ///
    /// # Errors
    /// [`ConfigError`]
    pub fn new(config: RemoteConfig) -> Result<Self, ConfigError> {
        Self::sharing(config, &Shared::default())
    }

    /// Creates a client that uses the given connections, ledger and observer, which other clients may use too.
    ///
    /// # Errors
    /// [`ConfigError`]
    pub fn sharing(config: RemoteConfig, shared: &Shared) -> Result<Self, ConfigError> {
        let endpoint = Endpoint::parse(&config.base_url, config.protocol.wire().paths())?;
        config.check(&endpoint)?;
        let settings = ClientSettings {
            connect_timeout: config.connect_timeout,
            ca_file: config.ca_file.clone(),
            direct: endpoint.is_loopback(),
        };
        let secrets = config.api_key.iter().chain(config.headers.iter().map(|(_, value)| value)).cloned();
        let secrets = secrets.chain(endpoint.secrets());
        Ok(Self {
            headers: config.all_headers()?,
            scrubber: Scrubber::new(secrets),
            gate: shared.pool.gate(endpoint.origin(), config.parallel),
            shared: shared.clone(),
            dialect: Mutex::new(first_dialect(&config, &endpoint)),
            context: OnceCell::new(),
            context_checked: OnceCell::new(),
            settings,
            endpoint,
            config,
        })
    }

    /// The client's configuration.
    #[must_use]
    pub fn config(&self) -> &RemoteConfig {
        &self.config
    }

    /// The optional parts of requests (such as the reply format) that the endpoint is known to accept.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        *self.dialect.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the optional parts of requests that the endpoint accepts, as an earlier probe found.
    pub fn speak(&self, dialect: Dialect) {
        *self.dialect.lock().unwrap_or_else(PoisonError::into_inner) = dialect;
    }

    /// Repeats a call until it succeeds or no further try is allowed; adds the usage of every try to `paid`.
    async fn ask_until_settled(
        &self,
        request: &ModelRequest,
        mut turn: Turn,
        paid: &mut Usage,
    ) -> Result<ModelReply, ModelFailure> {
        let started = Instant::now();
        let mut dialect = self.dialect();
        let mut tries = 1;
        loop {
            let by_tools = self.by_tools(request, dialect);
            let trouble = match self.one_try(request, dialect, by_tools.as_ref(), paid).await {
                Ok(reply) => {
                    turn.went_well();
                    self.speak(dialect);
                    return Ok(reply);
                }
                Err(trouble) => trouble,
            };
            if trouble.was_too_many() {
                turn.was_too_many();
            }
            // Another request, not the same one again: bounded, since a dialect only loses parts.
            let formats = self.config.protocol.wire().formats();
            let about = trouble.refused_part();
            let plainer = about.and_then(|about| dialect.without_refused_part(about, formats, by_tools.is_some()));
            if let Some(plainer) = plainer {
                tracing::debug!(role = %request.role, ?plainer, "the endpoint refused a part of the request");
                dialect = plainer;
                continue;
            }
            let policy = &self.config.retry;
            let outcome = trouble.outcome();
            let wait = retry::next(policy, tries, outcome, started.elapsed(), retry::random_share());
            let wait = match wait {
                Ok(wait) => wait,
                Err(why) => {
                    let ended = Ended { tries, why, elapsed: started.elapsed(), usage: *paid };
                    return Err(trouble.into_failure(&self.scrubber, &ended));
                }
            };
            let why = trouble.short_text(&self.scrubber);
            tracing::debug!(role = %request.role, tries, ?wait, why, "trying again");
            self.report_step(request, || Step::Waiting { wait, tries, tries_max: policy.allowed(outcome), why });
            // A call that waits before another try releases its permit.
            drop(turn);
            sleep(wait).await;
            turn = self.gate.turn().await;
            tries += 1;
        }
    }

    /// Asks the endpoint for its list of models, in one try; keeps the endpoint's order.
    ///
    /// # Errors
    /// If the endpoint is unreachable, refuses, or answers with something else.
    pub async fn models(&self) -> Result<Vec<Listed>, ModelFailure> {
        let url = self.endpoint.at(self.config.protocol.wire().paths().models);
        let listed = self.once(async { listing::models(&self.get(url).await?) }).await?;
        let shown = |model: Listed| Listed { name: self.scrubber.shown(&model.name, MODEL_NAME_CHARS), ..model };
        Ok(listed.into_iter().map(shown).collect())
    }

    /// Whether the server identifies itself as Ollama; asks it in one try, and returns false if that fails.
    pub async fn is_ollama(&self) -> bool {
        let told = self.once(self.get(self.endpoint.server_url(listing::OLLAMA_VERSION))).await;
        told.is_ok_and(|told| told.get("version").is_some_and(serde_json::Value::is_string))
    }

    /// Makes one try of a request within the time limit of a call, without retries.
    async fn once<T>(&self, attempt: impl Future<Output = Result<T, TryFailure>>) -> Result<T, ModelFailure> {
        let started = Instant::now();
        let result = timeout(self.config.total_deadline, attempt).await.unwrap_or(Err(TryFailure::Silence));
        result.map_err(|trouble| trouble.into_failure(&self.scrubber, &Ended::after_one_try(started.elapsed())))
    }

    /// Reports a step of a call to the observer, if there is one.
    fn report_step(&self, request: &ModelRequest, step: impl FnOnce() -> Step) {
        if let Some(observer) = &self.shared.observer {
            observer.step(&Caller::of(request), &step());
        }
    }
}

/// The URL to which a configuration's calls are sent, without its query.
///
/// # Errors
/// If the base URL is not valid.
pub fn call_address(config: &RemoteConfig) -> Result<String, ConfigError> {
    call_url(config).map(|url| shown_url(url.as_str()))
}

/// The URL to which a configuration's calls are sent.
pub(crate) fn call_url(config: &RemoteConfig) -> Result<reqwest::Url, ConfigError> {
    Ok(Endpoint::parse(&config.base_url, config.protocol.wire().paths())?.url().clone())
}

/// The optional request parts to try first: the configured reply format, else a strict schema at the protocol's own
/// endpoint if it has one, else the protocol's first. The own endpoint also gets the newer name of the token limit.
fn first_dialect(config: &RemoteConfig, endpoint: &Endpoint) -> Dialect {
    let own = Endpoint::parse(Variables::of(config.protocol).own_url, config.protocol.wire().paths());
    let is_own = own.is_ok_and(|own| own.origin() == endpoint.origin());
    let formats = config.protocol.wire().formats();
    let strict = formats.iter().find(|format| is_own && **format == ReplyFormat::StrictSchema);
    let first = strict.or(formats.first()).copied().unwrap_or(ReplyFormat::PromptOnly);
    Dialect {
        completion_tokens_field: is_own,
        temperature: config.temperature,
        stream: config.stream,
        // A mark belongs to Anthropic's protocol; a name is OpenAI's own, and others may refuse it.
        cache: is_own || config.protocol == Protocol::Anthropic,
        ..Dialect::full(config.format.unwrap_or(first))
    }
}

/// Maximum length of a model's name taken from a response, in characters: some servers report a path.
const MODEL_NAME_CHARS: usize = 256;

#[async_trait]
impl Model for Remote {
    fn name(&self) -> String {
        self.config.model.clone()
    }

    async fn ask(&self, request: &ModelRequest) -> Result<ModelReply, ModelFailure> {
        // The time limit of the call starts with its permit; the task's own limit runs all the time.
        let turn = self.gate.turn().await;
        let started = Instant::now();
        let mut paid = Usage::default();
        let answered = timeout(self.config.total_deadline, self.ask_until_settled(request, turn, &mut paid)).await;
        let elapsed = millis(started.elapsed());
        let result = answered.unwrap_or(Err(ModelFailure::TimedOut { after_ms: elapsed, usage: paid }));
        self.shared.ledger.took(request, &self.config.model, elapsed);
        self.report_step(request, || Step::Done);
        tracing::debug!(
            role = %request.role,
            schema = %request.schema_name,
            elapsed_ms = elapsed,
            failed = result.is_err(),
            "model asked"
        );
        result
    }
}

/// A duration in whole milliseconds.
fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
