//! Putting the chosen models together: endpoints, keys, tiers, bounds, and whoever looks on.

use std::collections::BTreeMap;
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
    /// What they have cost.
    pub(crate) ledger: Arc<Ledger>,
    /// What they are doing.
    pub(crate) watching: Arc<Watching>,
}

impl Models {
    /// The models themselves. Nothing is contacted yet.
    pub(crate) fn build(settings: &Settings, variables: &Variables) -> Result<Self, Failure> {
        let choice = &settings.model;
        let budget = Budget { max_tokens: settings.max_tokens, max_cost: settings.max_cost.map(|money| money.micro) };
        let ledger = Arc::new(Ledger::new(budget));
        let watching = Arc::new(Watching::start(variables)?);
        let model: Arc<dyn Model> = match &choice.kind {
            ModelKind::Reflex => Arc::new(Reflex),
            ModelKind::Cassette { path } => {
                let player = Player::open(path, masks(&settings.environment));
                Arc::new(player.map_err(|source| Failure::Cassette { source })?)
            }
            ModelKind::Remote { .. } | ModelKind::File { .. } => {
                let observer = Arc::clone(&watching) as Arc<dyn artoo_llm::observe::Observer>;
                let shared = Shared { ledger: Arc::clone(&ledger), observer: Some(observer), ..Shared::default() };
                tiers(settings, variables, &shared)?
            }
        };
        Ok(Self { model, ledger, watching })
    }
}

fn tiers(settings: &Settings, variables: &Variables, shared: &Shared) -> Result<Arc<dyn Model>, Failure> {
    let choice = &settings.model;
    let book = AbilityBook::open(abilities::file(&settings.data_dir));
    let mut files: BTreeMap<String, Arc<dyn Model>> = BTreeMap::new();
    let mut client = |kind: &ModelKind, place: Place| -> Result<Arc<dyn Model>, Failure> {
        if let ModelKind::File { model } = kind {
            // Two places that name one file share it: it is in memory once.
            if let Some(loaded) = files.get(model) {
                return Ok(Arc::clone(loaded));
            }
            let loaded = file::build(model, settings, variables, shared)?;
            files.insert(model.clone(), Arc::clone(&loaded));
            return Ok(loaded);
        }
        let mut config = remote(kind, place, variables)?;
        let found = abilities::apply(&book, &mut config);
        let client = Remote::sharing(config, shared).map_err(|source| Failure::Model { source })?;
        if let Some(found) = found {
            client.speak(found.dialect);
        }
        Ok(Arc::new(client))
    };
    let first = client(&choice.kind, Place::First)?;
    if choice.hands.is_none() && choice.fallback.is_empty() {
        return Ok(first);
    }
    let mut brain = vec![first];
    for kind in &choice.fallback {
        brain.push(client(kind, Place::Fallback)?);
    }
    let hands = choice.hands.iter().map(|kind| client(kind, Place::Hands)).collect::<Result<Vec<_>, _>>()?;
    Ok(Arc::new(Tiers::new(brain, hands, shared.observer.clone())))
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
    config.price = variables.parsed::<Prices>("ARTOO_PRICES")?.and_then(|prices| prices.of(&config.model));
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
