//! Model files that setup offers: those on this machine, and a suggested download.

use artoo_llm::files::{Entry, Found, ModelFolder, ModelName, suggested};
use artoo_proto::units;

use crate::args::PullOptions;
use crate::model::file::HAS_ENGINE;
use crate::model_files::{memory, pull};
use crate::{Exit, Failure, Screen, Settings, Variables};

/// A model file that setup offers: installed on this machine, or to be downloaded.
pub(super) enum ModelFile {
    /// A model file that is installed on this machine.
    Here(ModelName),
    /// A model file of the catalog, suggested for this machine, that would be downloaded.
    ToFetch(&'static Entry),
}

impl ModelFile {
    /// The model files that setup offers; empty if this build can't run model files.
    pub(super) fn offered(settings: &Settings) -> Vec<Self> {
        if !HAS_ENGINE {
            return Vec::new();
        }
        // Problems in that folder are reported by `artoo model list`.
        let found = ModelFolder::new(&settings.data_dir).list().unwrap_or_default();
        let usable = found.into_iter().filter_map(|found| match found {
            Found::Model(model) => model.check_unchanged().is_ok().then_some(model.name),
            Found::Part { .. } | Found::Problem(_) => None,
        });
        let here: Vec<ModelName> = usable.collect();
        let to_fetch = suggested(memory::bytes()).filter(|entry| !here.contains(&entry.name));
        here.into_iter().map(Self::Here).chain(to_fetch.map(Self::ToFetch)).collect()
    }

    /// Description of the model file for the list of choices.
    pub(super) fn description(&self) -> String {
        match self {
            Self::Here(name) => format!("the model file {name}, which is here: artoo runs it by itself"),
            Self::ToFetch(entry) => format!(
                "a model file to be fetched, {} of {}, for {}: artoo runs it by itself",
                entry.title,
                units::bytes(entry.download_bytes()),
                entry.good_for
            ),
        }
    }

    /// Returns the model file's name, after downloading it if necessary and approved; `None` if the user denied the
    /// download.
    pub(super) async fn have(
        &self,
        settings: &Settings,
        variables: &Variables,
        screen: &Screen,
    ) -> Result<Option<ModelName>, Failure> {
        let name = match self {
            Self::Here(name) => return Ok(Some(name.clone())),
            Self::ToFetch(entry) => &entry.name,
        };
        let asked = PullOptions { wanted: name.to_string(), name: None, sha256: None, yes: false };
        let exit = pull::run(&asked, settings, variables, screen).await?;
        Ok((exit == Exit::Accepted).then(|| name.clone()))
    }
}
