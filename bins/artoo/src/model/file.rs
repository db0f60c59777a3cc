//! Model files selected by name or path.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use artoo_llm::files::{self, FilesError, Found, ModelFolder, ModelName};
use artoo_llm::{Model, Shared};

use crate::failure::Failure;
use crate::settings::{Settings, Variables};

/// Whether this build can run model files.
pub(crate) const HAS_ENGINE: bool = cfg!(feature = "local-llm");

/// A model file selected by the user: its path, and its record if it was installed by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chosen {
    pub(crate) path: PathBuf,
    /// The installed model at the file's path; `None` if no installed model has that path.
    pub(crate) model: Option<files::Model>,
}

impl Chosen {
    /// An error if a recorded model file has changed since it was recorded; a file without a record always passes.
    pub(crate) fn check_unchanged(&self) -> Result<(), FilesError> {
        self.model.as_ref().map_or(Ok(()), files::Model::check_unchanged)
    }
}

/// Finds the model file installed under this name, or at this path, which begins with `/` or `~/` and need not exist.
pub(crate) fn find(given: &str, settings: &Settings) -> Result<Chosen, Failure> {
    let folder = ModelFolder::new(&settings.data_dir);
    if files::is_path(given) {
        let path = crate::config::expanded(Path::new(&settings.environment.home), given);
        if path.is_relative() {
            return Err(Failure::NotModelPath { given: given.to_owned() });
        }
        let model = folder.list()?.into_iter().find_map(|found| match found {
            Found::Model(model) if model.path == path => Some(*model),
            Found::Model(_) | Found::Part { .. } | Found::Problem(_) => None,
        });
        return Ok(Chosen { path, model });
    }
    let unknown = || FilesError::Unknown { name: given.to_owned() };
    let name: ModelName = given.parse().map_err(|_| unknown())?;
    match folder.find(&name)? {
        Some(model) => Ok(Chosen { path: model.path.clone(), model: Some(model) }),
        None if files::entry(given).is_some() => Err(FilesError::NotInstalled { name }.into()),
        None => Err(unknown().into()),
    }
}

/// Builds the model that runs a model file, given by name or path. The file is loaded at the first request.
pub(super) fn build(
    given: &str,
    settings: &Settings,
    variables: &Variables,
    shared: &Shared,
) -> Result<Arc<dyn Model>, Failure> {
    let chosen = find(given, settings)?;
    chosen.check_unchanged()?;
    engine(given, &chosen.path, variables, shared)
}

/// Builds the model that runs a file with the engine compiled into artoo (feature `local-llm`).
#[cfg(feature = "local-llm")]
fn engine(given: &str, path: &Path, variables: &Variables, shared: &Shared) -> Result<Arc<dyn Model>, Failure> {
    let mut config = artoo_local::LocalConfig::new(path);
    config.context_tokens = variables.parsed("ARTOO_CONTEXT_TOKENS")?;
    config.threads = variables.parsed("ARTOO_THREADS")?;
    let local = artoo_local::Local::new(config, shared);
    Ok(Arc::new(local.map_err(|error| Failure::ModelFile { given: given.to_owned(), source: error.into() })?))
}

/// Error for a model file, since artoo was compiled without the engine for model files.
#[cfg(not(feature = "local-llm"))]
fn engine(given: &str, _path: &Path, _variables: &Variables, _shared: &Shared) -> Result<Arc<dyn Model>, Failure> {
    Err(Failure::NoEngine { model: given.to_owned() })
}
