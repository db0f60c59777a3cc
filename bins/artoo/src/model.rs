//! Which model answers, why that one, and how it is set up.

use std::path::PathBuf;
use std::str::FromStr;

use artoo_llm::cassette::{Masks, Player};
use artoo_llm::{ConfigError, Model, OpenAi, OpenAiConfig};
use artoo_proto::Environment;
use artoo_roles::runtime::Reflex;

use crate::failure::Failure;
use crate::settings::Variables;

/// A choice of model, as `--model` and `ARTOO_MODEL` spell it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ModelKind {
    /// The embedded parser: no language model.
    Reflex,
    /// An OpenAI-compatible endpoint.
    OpenAi {
        /// The endpoint's name for the model; `OPENAI_MODEL` if not given.
        name: Option<String>,
    },
    /// Recorded replies.
    Cassette {
        /// The recording.
        path: PathBuf,
    },
}

/// A word that names no model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("give reflex, openai, openai:NAME or cassette:PATH")]
pub(crate) struct UnknownModel;

impl FromStr for ModelKind {
    type Err = UnknownModel;

    fn from_str(text: &str) -> Result<Self, UnknownModel> {
        match (text, text.split_once(':')) {
            ("reflex", _) => Ok(Self::Reflex),
            ("openai", _) => Ok(Self::OpenAi { name: None }),
            (_, Some(("openai", name))) if !name.trim().is_empty() => {
                Ok(Self::OpenAi { name: Some(name.trim().to_owned()) })
            }
            (_, Some(("cassette", path))) if !path.is_empty() => Ok(Self::Cassette { path: PathBuf::from(path) }),
            _ => Err(UnknownModel),
        }
    }
}

/// The chosen model and what led to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ModelChoice {
    pub(crate) kind: ModelKind,
    /// Where the choice was made, for `doctor`.
    pub(crate) why: &'static str,
}

impl ModelChoice {
    /// The option wins over `ARTOO_MODEL`, which wins over an endpoint or key in the environment; else it is reflex.
    pub(crate) fn resolve(option: Option<ModelKind>, variables: &Variables) -> Result<Self, Failure> {
        if let Some(kind) = option {
            return Ok(Self { kind, why: "--model says so" });
        }
        if let Some(kind) = variables.parsed("ARTOO_MODEL")? {
            return Ok(Self { kind, why: "ARTOO_MODEL says so" });
        }
        let openai = |why| Ok(Self { kind: ModelKind::OpenAi { name: None }, why });
        if variables.text("OPENAI_BASE_URL")?.is_some() {
            return openai("OPENAI_BASE_URL is set");
        }
        if variables.text("OPENAI_API_KEY")?.is_some() {
            return openai("OPENAI_API_KEY is set");
        }
        Ok(Self { kind: ModelKind::Reflex, why: "no language model is set up" })
    }

    /// The model itself. Nothing is contacted yet.
    pub(crate) fn build(&self, variables: &Variables, environment: &Environment) -> Result<Box<dyn Model>, Failure> {
        match &self.kind {
            ModelKind::Reflex => Ok(Box::new(Reflex)),
            ModelKind::OpenAi { .. } => {
                let config = self.openai(variables).map_err(|source| Failure::Model { source })?;
                OpenAi::new(config)
                    .map(|model| Box::new(model) as Box<dyn Model>)
                    .map_err(|source| Failure::Model { source })
            }
            ModelKind::Cassette { path } => Player::open(path, masks(environment))
                .map(|player| Box::new(player) as Box<dyn Model>)
                .map_err(|source| Failure::Cassette { source }),
        }
    }

    /// The endpoint's configuration, where the model has one.
    pub(crate) fn openai(&self, variables: &Variables) -> Result<OpenAiConfig, ConfigError> {
        let named = match &self.kind {
            ModelKind::OpenAi { name } => name.clone(),
            ModelKind::Reflex | ModelKind::Cassette { .. } => None,
        };
        OpenAiConfig::from_variables(|name| match (name, &named) {
            ("OPENAI_MODEL", Some(named)) => Ok(Some(named.clone())),
            _ => variables.text(name).map_err(|_| ConfigError::NotUnicode { name }),
        })
    }

    /// How the choice would be spelled.
    pub(crate) fn spelled(&self) -> String {
        match &self.kind {
            ModelKind::Reflex => "reflex".to_owned(),
            ModelKind::OpenAi { name: None } => "openai".to_owned(),
            ModelKind::OpenAi { name: Some(name) } => format!("openai:{name}"),
            ModelKind::Cassette { path } => format!("cassette:{}", path.display()),
        }
    }
}

/// A recording fits on another machine: the folders that differ there don't count.
///
/// The workspace and the working folder may lie in the home folder, so they are masked first.
fn masks(environment: &Environment) -> Masks {
    Masks::default()
        .and(environment.workspace.clone(), "<workspace>")
        .and(environment.cwd.clone(), "<cwd>")
        .and(environment.home.clone(), "<home>")
}

#[cfg(test)]
mod tests {
    use super::{ModelChoice, ModelKind};
    use crate::settings::Variables;

    fn openai(name: Option<&str>) -> ModelKind {
        ModelKind::OpenAi { name: name.map(str::to_owned) }
    }

    #[test]
    fn a_model_is_spelled_exactly() {
        for (text, expected) in [
            ("reflex", Some(ModelKind::Reflex)),
            ("openai", Some(openai(None))),
            ("openai:qwen3:8b", Some(openai(Some("qwen3:8b")))),
            ("cassette:/a/b.jsonl", Some(ModelKind::Cassette { path: "/a/b.jsonl".into() })),
            ("openai:", None),
            ("cassette:", None),
            ("Reflex", None),
            ("reflexx", None),
            ("", None),
        ] {
            assert_eq!(text.parse::<ModelKind>().ok(), expected, "{text:?}");
        }
    }

    #[test]
    fn the_nearest_wish_wins() {
        let check = |option: Option<ModelKind>, set: &[(&str, &str)], expected: ModelKind, why: &str| {
            let choice = ModelChoice::resolve(option, &Variables::of(set)).unwrap();
            assert_eq!((choice.kind, choice.why), (expected, why), "{set:?}");
        };
        let all = [("ARTOO_MODEL", "openai:a"), ("OPENAI_BASE_URL", "http://x"), ("OPENAI_API_KEY", "k")];
        check(Some(ModelKind::Reflex), &all, ModelKind::Reflex, "--model says so");
        check(None, &all, openai(Some("a")), "ARTOO_MODEL says so");
        check(None, &all[1..], openai(None), "OPENAI_BASE_URL is set");
        check(None, &all[2..], openai(None), "OPENAI_API_KEY is set");
        check(None, &[("OPENAI_API_KEY", "  ")], ModelKind::Reflex, "no language model is set up");
        check(None, &[], ModelKind::Reflex, "no language model is set up");
        assert!(ModelChoice::resolve(None, &Variables::of(&[("ARTOO_MODEL", "gpt")])).is_err());
    }

    #[test]
    fn f6_an_endpoint_without_what_it_needs_is_refused_before_anything_runs() {
        let check = |set: &[(&str, &str)], named: Option<&str>, expected: Option<&str>| {
            let variables = Variables::of(set);
            let choice = ModelChoice { kind: openai(named), why: "" };
            let environment = crate::display::testing::environment();
            let problem = choice.build(&variables, &environment).err().map(|failure| failure.to_string());
            assert_eq!(problem.as_deref(), expected, "{set:?} {named:?}");
        };
        check(&[], None, Some("the model can't be used: OPENAI_API_KEY is not set"));
        check(&[("OPENAI_API_KEY", "k")], None, Some("the model can't be used: OPENAI_MODEL is not set"));
        check(&[("OPENAI_API_KEY", "k")], Some("m"), None);
        check(&[("OPENAI_BASE_URL", "http://localhost:1/v1")], Some("m"), None);
    }
}
