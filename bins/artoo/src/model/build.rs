//! Putting the chosen models together: endpoints, keys, tiers, bounds, and whoever looks on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use artoo_llm::cassette::{Masks, Player};
use artoo_llm::ledger::{Budget, Ledger};
use artoo_llm::remote::Variables as Names;
use artoo_llm::{AbilityBook, ConfigError, Model, Protocol, Remote, RemoteConfig, Secret, Shared, Tiers};
use artoo_proto::{ModelFailure, ModelReply, ModelRequest};
use artoo_roles::runtime::Reflex;
use async_trait::async_trait;

use super::{ModelKind, file};
use crate::abilities;
use crate::failure::Failure;
use crate::money::Prices;
use crate::settings::{Settings, Variables};
use crate::spending::{InUse, Known, Spending};
use crate::watching::Watching;

/// Where a model stands in the choice: whose key and endpoint may be meant for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// The first: what the configuration file says of an endpoint is said of this one.
    First,
    Hands,
    Fallback,
}

impl Place {
    /// The variable that holds a key for this place alone.
    fn key_variable(self) -> Option<&'static str> {
        match self {
            Self::First => None,
            Self::Hands => Some("ARTOO_HANDS_KEY"),
            Self::Fallback => Some("ARTOO_FALLBACK_KEY"),
        }
    }
}

/// The models of a run, with their book.
pub(crate) struct Models {
    model: Arc<dyn Model>,
    /// What they do and cost.
    pub(crate) spending: Arc<Spending>,
}

impl Models {
    /// The models themselves. Nothing is contacted yet.
    pub(crate) fn build(settings: &Settings, variables: &Variables) -> Result<Self, Failure> {
        let choice = &settings.model;
        let budget = Budget { max_tokens: settings.max_tokens, max_cost: settings.max_cost.map(|money| money.micro) };
        let ledger = Arc::new(Ledger::new(budget));
        let watching = Arc::new(Watching::start(variables)?);
        let mut line_up = Vec::new();
        let model: Arc<dyn Model> = match &choice.kind {
            ModelKind::Reflex => Arc::new(Reflex),
            ModelKind::Cassette { path } => {
                let player = Player::open(path, masks(&settings.environment));
                Arc::new(player.map_err(|source| Failure::Cassette { source })?)
            }
            ModelKind::Remote { .. } | ModelKind::File { .. } => {
                let observer = Arc::clone(&watching) as Arc<dyn artoo_llm::observe::Observer>;
                let shared = Shared { ledger: Arc::clone(&ledger), observer: Some(observer), ..Shared::default() };
                let (model, lined_up) = tiers(settings, variables, &shared)?;
                line_up = lined_up;
                model
            }
        };
        let spending = Arc::new(Spending { ledger, watching, line_up, data_dir: settings.data_dir.clone() });
        Ok(Self { model, spending })
    }
}

/// The models behind one, and the first of each tier, whom an estimate is about.
fn tiers(settings: &Settings, variables: &Variables, shared: &Shared) -> Result<(Arc<dyn Model>, Vec<InUse>), Failure> {
    let choice = &settings.model;
    let book = AbilityBook::open(abilities::file(&settings.data_dir));
    let mut files: BTreeMap<String, Arc<dyn Model>> = BTreeMap::new();
    let mut client = |kind: &ModelKind, place: Place| -> Result<Client, Failure> {
        if let ModelKind::File { model: given } = kind {
            let known = Known::of_file(given);
            // Two places that name one file share it: it is in memory once.
            if let Some(loaded) = files.get(given) {
                return Ok(Client { model: Arc::clone(loaded), known });
            }
            let model = file::build(given, settings, variables, shared)?;
            files.insert(given.clone(), Arc::clone(&model));
            return Ok(Client { model, known });
        }
        let mut config = remote(kind, place, variables)?;
        let found = abilities::apply(&book, &mut config, variables.raw("ARTOO_PARALLEL").is_some());
        let client = Remote::sharing(config, shared).map_err(|source| Failure::Model { source })?;
        if let Some(found) = found {
            client.speak(found.dialect);
        }
        Ok(Client { known: Known::of_remote(client.config()), model: Arc::new(client) })
    };
    let first = client(&choice.kind, Place::First)?;
    let hands = choice.hands.iter().map(|kind| client(kind, Place::Hands)).collect::<Result<Vec<_>, _>>()?;
    let line_up = InUse::line_up(&first.known, hands.first().map(|client| &client.known));
    let fallback = choice.fallback.iter().map(|kind| client(kind, Place::Fallback));
    let brain = std::iter::once(Ok(first)).chain(fallback).collect::<Result<Vec<_>, _>>()?;
    refuse_repeated(&brain, variables)?;
    let models = |clients: Vec<Client>| clients.into_iter().map(|client| client.model).collect::<Vec<_>>();
    let (mut brain, hands) = (models(brain), models(hands));
    let model = match brain.pop() {
        Some(only) if brain.is_empty() && hands.is_empty() => only,
        last => {
            brain.extend(last);
            Arc::new(Tiers::new(brain, hands, shared.observer.clone()))
        }
    };
    Ok((model, line_up))
}

/// A model of the choice, with what is known of it.
struct Client {
    model: Arc<dyn Model>,
    known: Known,
}

/// A model that stands twice in the chain would step in for itself, and its rank among the judges would be two.
fn refuse_repeated(chain: &[Client], variables: &Variables) -> Result<(), Failure> {
    let mut seen = BTreeSet::new();
    match chain.iter().find(|client| !seen.insert(&client.known.identity)) {
        Some(again) => {
            let problem = format!("{} stands in the chain twice", artoo_proto::escape::one_line(&again.known.model));
            Err(Failure::Variable { name: variables.called("ARTOO_FALLBACK"), problem })
        }
        None => Ok(()),
    }
}

/// The configuration of a model behind HTTP.
pub(crate) fn remote(kind: &ModelKind, place: Place, variables: &Variables) -> Result<RemoteConfig, Failure> {
    let ModelKind::Remote { protocol, name, base_url } = kind else {
        return Err(Failure::Model { source: ConfigError::Missing { name: "an endpoint" } });
    };
    let names = Names::of(*protocol);
    let own_key = match place.key_variable() {
        Some(variable) => variables.text(variable)?,
        None => None,
    };
    let lookup = |wanted: &'static str| {
        let given = match wanted {
            wanted if wanted == names.model => name.clone(),
            wanted if wanted == names.base_url => base_url.clone(),
            wanted if wanted == names.key => own_key.clone(),
            _ => None,
        };
        if given.is_some() {
            return Ok(given);
        }
        let not_unicode = |_| ConfigError::NotUnicode { name: wanted };
        let own = variables.text(wanted).map_err(not_unicode)?;
        // The file knows one endpoint, under the names of the most usual protocol.
        let in_file = |usual: &'static str| variables.of_file(usual).filter(|_| place == Place::First);
        Ok(own.or_else(|| match wanted {
            wanted if wanted == names.model => in_file("OPENAI_MODEL"),
            wanted if wanted == names.base_url => in_file("OPENAI_BASE_URL"),
            wanted if wanted == names.key => in_file("OPENAI_API_KEY"),
            _ => None,
        }))
    };
    let unusable = |source| Failure::Model { source };
    let mut config = RemoteConfig::from_variables(*protocol, lookup).map_err(unusable)?;
    if base_url.is_some() && own_key.is_none() && !is_keys_home(*protocol, &config.base_url, variables, place)? {
        // The key that the environment holds is for another address.
        config.api_key = None;
    }
    config.context_tokens = variables.parsed("ARTOO_CONTEXT_TOKENS")?;
    if let Some(parallel) = variables.parsed("ARTOO_PARALLEL")? {
        config.parallel = parallel;
    }
    config.tool_calls = tool_calls(variables)?;
    config.price = variables.parsed::<Prices>("ARTOO_PRICES")?.and_then(|prices| prices.of(&config.model, *protocol));
    config.headers = headers(variables, place)?;
    Ok(config)
}

/// Whether an address spelled out in the choice is the one that the environment's key is for.
fn is_keys_home(protocol: Protocol, url: &str, variables: &Variables, place: Place) -> Result<bool, Failure> {
    let names = Names::of(protocol);
    let in_file = variables.of_file("OPENAI_BASE_URL").filter(|_| place == Place::First);
    let home = variables.text(names.base_url)?.or(in_file).unwrap_or_else(|| names.own_url.to_owned());
    Ok(artoo_llm::remote::same_origin(url, &home))
}

/// Whether endpoints are asked to call tools in their own way: where a probe showed that they are good at it, always or
/// never; not set, where they hold to no schema.
fn tool_calls(variables: &Variables) -> Result<Option<bool>, Failure> {
    match variables.text("ARTOO_TOOL_CALLS")?.as_deref() {
        None => Ok(None),
        Some("always") => Ok(Some(true)),
        Some("never") => Ok(Some(false)),
        Some(_) => Err(Failure::Variable {
            name: "ARTOO_TOOL_CALLS".to_owned(),
            problem: "give always or never, or leave it out".to_owned(),
        }),
    }
}

/// Headers for the first endpoint, `Name: value` divided by semicolons; as secret as a key.
fn headers(variables: &Variables, place: Place) -> Result<Vec<(String, Secret)>, Failure> {
    let Some(text) = variables.text("ARTOO_HEADERS")?.filter(|_| place == Place::First) else {
        return Ok(Vec::new());
    };
    let wrong = || Failure::Variable {
        name: "ARTOO_HEADERS".to_owned(),
        problem: "give Name: value, several divided by semicolons".to_owned(),
    };
    let lines = text.split(';').map(str::trim).filter(|line| !line.is_empty());
    lines
        .map(|line| {
            let (name, value) = line.split_once(':').ok_or_else(wrong)?;
            Ok((name.trim().to_owned(), Secret::new(value)))
        })
        .collect()
}

/// A recording fits on another machine: the folders that differ there don't count.
///
/// The workspace and the working folder may lie in the home folder, so they are masked first.
fn masks(environment: &artoo_proto::Environment) -> Masks {
    Masks::default()
        .and(environment.workspace.clone(), "<workspace>")
        .and(environment.cwd.clone(), "<cwd>")
        .and(environment.home.clone(), "<home>")
}

#[async_trait]
impl Model for Models {
    fn name(&self) -> String {
        self.model.name()
    }

    async fn ask(&self, request: &ModelRequest) -> Result<ModelReply, ModelFailure> {
        self.model.ask(request).await
    }
}
