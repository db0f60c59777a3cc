//! The configuration of a model's endpoint: address, key, price and limits.

use artoo_llm::remote::Variables as Names;
use artoo_llm::{ConfigError, Protocol, RemoteConfig, Secret};

use super::ModelKind;
use crate::money::Prices;
use crate::{Failure, Variables};

/// Position of a model among the chosen ones (first, worker or fallback); it decides which key and URL apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// The first model, which the configuration file's endpoint and key belong to.
    First,
    Worker,
    Fallback,
}

impl Place {
    /// The environment variable with a key for this position only; `None` for the first model.
    fn key_variable(self) -> Option<&'static str> {
        match self {
            Self::First => None,
            Self::Worker => Some("ARTOO_WORKER_KEY"),
            Self::Fallback => Some("ARTOO_FALLBACK_KEY"),
        }
    }
}

/// Builds the configuration of a remote model's endpoint from the model's choice, its position and the variables; an
/// error if the model is not remote.
pub(crate) fn remote(kind: &ModelKind, place: Place, variables: &Variables) -> Result<RemoteConfig, Failure> {
    let ModelKind::Remote { protocol, name, base_url } = kind else {
        return Err(ConfigError::Missing { name: "an endpoint" }.into());
    };
    let names = Names::of(*protocol);
    let own_key = place.key_variable().map_or(Ok(None), |variable| variables.text(variable))?;
    let lookup = |wanted: &'static str| {
        let (given, usual) = match wanted {
            wanted if wanted == names.model => (name.clone(), Some("OPENAI_MODEL")),
            wanted if wanted == names.base_url => (base_url.clone(), Some("OPENAI_BASE_URL")),
            wanted if wanted == names.key => (own_key.clone(), Some("OPENAI_API_KEY")),
            _ => (None, None),
        };
        if given.is_some() {
            return Ok(given);
        }
        let not_unicode = |_| ConfigError::NotUnicode { name: wanted };
        let own = variables.text(wanted).map_err(not_unicode)?;
        // The configuration file describes one endpoint, under the variable names of Chat Completions.
        Ok(own.or_else(|| variables.of_file(usual?).filter(|_| place == Place::First)))
    };
    let mut config = RemoteConfig::from_variables(*protocol, lookup)?;
    if base_url.is_some() && own_key.is_none() && !is_origin_of_key(*protocol, &config.base_url, variables, place)? {
        // The key in the environment is for another URL.
        config.api_key = None;
    }
    config.context_tokens = variables.parsed("ARTOO_CONTEXT_TOKENS")?;
    if let Some(parallel) = variables.parsed("ARTOO_PARALLEL")? {
        config.parallel = parallel;
    }
    // If not set, native tool calls are used only if the endpoint doesn't support JSON schemas and they passed the probe.
    let words = [("always", true), ("never", false)];
    config.tool_calls = variables.one_of("ARTOO_TOOL_CALLS", &words, "give always or never, or leave it out")?;
    config.price = variables.parsed::<Prices>("ARTOO_PRICES")?.and_then(|prices| prices.of(&config.model, *protocol));
    config.headers = headers(variables, place)?;
    Ok(config)
}

/// Whether the URL written in a model's choice has the origin (scheme, host and port) for which the key is configured,
/// so that the key may be sent there.
fn is_origin_of_key(protocol: Protocol, url: &str, variables: &Variables, place: Place) -> Result<bool, Failure> {
    let names = Names::of(protocol);
    let in_file = variables.of_file("OPENAI_BASE_URL").filter(|_| place == Place::First);
    let home = variables.text(names.base_url)?.or(in_file).unwrap_or_else(|| names.own_url.to_owned());
    Ok(artoo_llm::remote::same_origin(url, &home))
}

/// Extra HTTP headers for the first model's endpoint, read from `ARTOO_HEADERS`; their values are treated as secrets.
fn headers(variables: &Variables, place: Place) -> Result<Vec<(String, Secret)>, Failure> {
    let Some(text) = variables.text("ARTOO_HEADERS")?.filter(|_| place == Place::First) else {
        return Ok(Vec::new());
    };
    let wrong = || variables.invalid("ARTOO_HEADERS", "give Name: value, several divided by semicolons");
    let lines = text.split(';').map(str::trim).filter(|line| !line.is_empty());
    lines
        .map(|line| {
            let (name, value) = line.split_once(':').ok_or_else(wrong)?;
            Ok((name.trim().to_owned(), Secret::new(value)))
        })
        .collect()
}
