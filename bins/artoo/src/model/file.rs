//! A model file chosen to answer: found by its name or path, held against its record, handed to the engine.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use artoo_llm::files::{self, FilesError, Found, ModelFolder, ModelName};
use artoo_llm::{Model, Shared};

use crate::failure::Failure;
use crate::settings::{Settings, Variables};

/// Whether this program was built with what runs model files.
pub(crate) const HAS_ENGINE: bool = cfg!(feature = "local-llm");

/// A file that was chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chosen {
    pub(crate) path: PathBuf,
    /// What is recorded of it; `None` for a path that nobody has recorded.
    pub(crate) model: Option<files::Model>,
}

/// Looks a chosen file up: a name in the folder of models, or a path.
pub(crate) fn find(given: &str, settings: &Settings) -> Result<Chosen, Failure> {
    let folder = ModelFolder::new(&settings.data_dir);
    if files::is_path(given) {
        let path = match given.strip_prefix("~/") {
            Some(below) => Path::new(&settings.environment.home).join(below),
            None => PathBuf::from(given),
        };
        if path.is_relative() {
            return Err(Failure::usage(format!("{given:?} is not a model file that can be chosen"))
                .with_remedy("give a name that artoo model list shows, or a path that begins with / or ~/"));
        }
        let found = folder.list()?.into_iter().find_map(|found| match found {
            Found::Model(model) if model.path == path => Some(*model),
            Found::Model(_) | Found::Part { .. } | Found::Problem(_) => None,
        });
        return Ok(Chosen { path, model: found });
    }
    let name: ModelName = given.parse().map_err(|_| FilesError::Unknown { name: given.to_owned() })?;
    match folder.find(&name)? {
        Some(model) => Ok(Chosen { path: model.path.clone(), model: Some(model) }),
        None if files::entry(given).is_some() => Err(FilesError::NotPulled { name }.into()),
        None => Err(FilesError::Unknown { name: given.to_owned() }.into()),
    }
}

/// The model in the file. Nothing is loaded before it is asked something.
pub(super) fn build(
    given: &str,
    settings: &Settings,
    variables: &Variables,
    shared: &Shared,
) -> Result<Arc<dyn Model>, Failure> {
    let chosen = find(given, settings)?;
    if let Some(model) = &chosen.model {
        model.usable()?;
    }
    let threads = variables.parsed("ARTOO_THREADS")?;
    let context_tokens = variables.parsed("ARTOO_CONTEXT_TOKENS")?;
    engine(&Run { given, path: &chosen.path, context_tokens, threads }, shared)
}

/// How a file is to be run.
#[cfg_attr(not(feature = "local-llm"), expect(dead_code, reason = "without an engine a refusal needs the name alone"))]
struct Run<'r> {
    given: &'r str,
    path: &'r Path,
    context_tokens: Option<NonZeroU32>,
    threads: Option<NonZeroU32>,
}

/// What runs it.
#[cfg(feature = "local-llm")]
fn engine(run: &Run<'_>, shared: &Shared) -> Result<Arc<dyn Model>, Failure> {
    let mut config = artoo_local::LocalConfig::new(run.path);
    config.context_tokens = run.context_tokens;
    config.threads = run.threads;
    let local = artoo_local::Local::new(config, shared);
    let problem = |error| Failure::usage(format!("the model file {} can't be run", run.given)).caused_by(&error);
    Ok(Arc::new(local.map_err(problem)?))
}

/// The error for a model file in a program that can't run it.
pub(crate) fn no_engine(model: &str) -> Failure {
    Failure::usage(format!("this build of artoo can't run model files, so {model} can't answer")).with_remedy(
        "build it with them (cargo build --release --features local-llm), or serve the file, with llama.cpp's server say, and give its address",
    )
}

/// This program has nothing that runs it.
#[cfg(not(feature = "local-llm"))]
fn engine(run: &Run<'_>, _shared: &Shared) -> Result<Arc<dyn Model>, Failure> {
    Err(no_engine(run.given))
}
