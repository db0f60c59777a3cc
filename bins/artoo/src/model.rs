//! Builds the model that a run uses from the choice of models: clients, fallbacks, worker and cost limits.

pub(crate) mod file;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use artoo_llm::cassette::{Masks, Player};
use artoo_llm::ledger::{Budget, Ledger};
use artoo_llm::{AbilityBook, Model, Remote, Shared, Tiers};
use artoo_roles::runtime::Reflex;

use crate::call_monitor::CallMonitor;
use crate::model_choice::{Place, remote};
use crate::spending::{ModelInUse, Spending, Tier};
use crate::{Failure, Settings, Variables, abilities};

pub(crate) use crate::model_choice::ModelKind;

/// The model of a run (with its fallbacks and worker in one), and the record of its costs.
pub(crate) struct Models {
    pub(crate) model: Arc<dyn Model>,
    /// Costs, waits and fallbacks of the model's calls.
    pub(crate) spending: Arc<Spending>,
}

impl Models {
    /// Builds the chosen models. No endpoint is contacted yet.
    pub(crate) fn build(settings: &Settings, variables: &Variables) -> Result<Self, Failure> {
        let choice = &settings.model;
        let budget = Budget { max_tokens: settings.max_tokens, max_cost: settings.max_cost.map(|money| money.micro) };
        let ledger = Arc::new(Ledger::new(budget));
        let monitor = Arc::new(CallMonitor::start(variables)?);
        let mut models = Vec::new();
        let model: Arc<dyn Model> = match &choice.kind {
            ModelKind::Reflex => Arc::new(Reflex),
            ModelKind::Cassette { path } => Arc::new(Player::open(path, masks(&settings.environment))?),
            ModelKind::Remote { .. } | ModelKind::File { .. } => {
                let observer = Arc::clone(&monitor) as Arc<dyn artoo_llm::observe::Observer>;
                let shared = Shared { ledger: Arc::clone(&ledger), observer: Some(observer), ..Shared::default() };
                let (model, in_use) = tiers(settings, variables, &shared)?;
                models = in_use;
                model
            }
        };
        let spending = Arc::new(Spending { ledger, monitor, models, data_dir: settings.data_dir.clone() });
        Ok(Self { model, spending })
    }
}

/// Builds one model that passes each call to the tier (the first model with its fallbacks, or the worker) of the call's
/// role; also returns the first model of each tier.
fn tiers(
    settings: &Settings,
    variables: &Variables,
    shared: &Shared,
) -> Result<(Arc<dyn Model>, Vec<ModelInUse>), Failure> {
    let choice = &settings.model;
    let book = AbilityBook::open(abilities::file(&settings.data_dir));
    let mut files: BTreeMap<String, Arc<dyn Model>> = BTreeMap::new();
    let mut client = |kind: &ModelKind, place: Place| -> Result<Client, Failure> {
        if let ModelKind::File { model: given } = kind {
            let info = ModelInUse::of_file(given);
            // Positions that name the same file share one model, so that the file is in memory once.
            if let Some(loaded) = files.get(given) {
                return Ok(Client { model: Arc::clone(loaded), info });
            }
            let model = file::build(given, settings, variables, shared)?;
            files.insert(given.clone(), Arc::clone(&model));
            return Ok(Client { model, info });
        }
        let mut config = remote(kind, place, variables)?;
        let found = abilities::apply(&book, &mut config, variables.raw("ARTOO_PARALLEL").is_some());
        let client = Remote::sharing(config, shared)?;
        if let Some(found) = found {
            client.speak(found.dialect);
        }
        Ok(Client { info: ModelInUse::of_remote(client.config()), model: Arc::new(client) })
    };
    let first = client(&choice.kind, Place::First)?;
    let worker = choice.worker.iter().map(|kind| client(kind, Place::Worker)).collect::<Result<Vec<_>, _>>()?;
    let in_use = match worker.first() {
        None => vec![first.info.clone()],
        Some(worker) => vec![
            ModelInUse { tier: Tier::Brain, ..first.info.clone() },
            ModelInUse { tier: Tier::Worker, ..worker.info.clone() },
        ],
    };
    let fallback = choice.fallback.iter().map(|kind| client(kind, Place::Fallback));
    let brain = std::iter::once(Ok(first)).chain(fallback).collect::<Result<Vec<_>, _>>()?;
    refuse_duplicates(&brain, variables)?;
    let models = |clients: Vec<Client>| clients.into_iter().map(|client| client.model).collect::<Vec<_>>();
    let (mut brain, worker) = (models(brain), models(worker));
    let model = match brain.pop() {
        Some(only) if brain.is_empty() && worker.is_empty() => only,
        last => {
            brain.extend(last);
            Arc::new(Tiers::new(brain, worker, shared.observer.clone()))
        }
    };
    Ok((model, in_use))
}

/// A model that can be called, with the description (name, price) used for its costs.
struct Client {
    model: Arc<dyn Model>,
    info: ModelInUse,
}

/// Refuses a chain of models (the first model and its fallbacks) that names the same model twice.
fn refuse_duplicates(chain: &[Client], variables: &Variables) -> Result<(), Failure> {
    let mut seen = BTreeSet::new();
    match chain.iter().find(|client| !seen.insert(&client.info.identity)) {
        Some(again) => {
            let problem = format!("{} stands in the chain twice", artoo_proto::escape::one_line(&again.info.name));
            Err(variables.invalid("ARTOO_FALLBACK", problem))
        }
        None => Ok(()),
    }
}

/// The replacements of this machine's folders by placeholders in a recording of model replies, so that other machines
/// can play it.
///
/// The workspace and the working folder may be inside the home folder, so they are masked first.
fn masks(environment: &artoo_proto::Environment) -> Masks {
    Masks::default()
        .and(environment.workspace.clone(), "<workspace>")
        .and(environment.cwd.clone(), "<cwd>")
        .and(environment.home.clone(), "<home>")
}
