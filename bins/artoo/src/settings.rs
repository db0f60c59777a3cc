//! What a run is set up with: options, environment and defaults brought together, each checked once.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use artoo_proto::Environment;
use artoo_roles::runtime::{RuntimeError, detect_environment};

use crate::args::{Deadline, Options};
use crate::failure::Failure;
use crate::model::ModelChoice;

/// The variables of the user's own shell, read once. An empty one counts as not set.
#[derive(Debug, Clone, Default)]
pub(crate) struct Variables {
    all: BTreeMap<OsString, OsString>,
}

impl Variables {
    /// Those of this process.
    pub(crate) fn of_process() -> Self {
        Self { all: std::env::vars_os().collect() }
    }

    #[cfg(test)]
    pub(crate) fn of(pairs: &[(&str, &str)]) -> Self {
        Self { all: pairs.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect() }
    }

    /// A variable as it is.
    pub(crate) fn raw(&self, name: &str) -> Option<&OsString> {
        self.all.get(&OsString::from(name)).filter(|value| !value.is_empty())
    }

    /// A variable as text without space around it.
    pub(crate) fn text(&self, name: &'static str) -> Result<Option<String>, Failure> {
        let Some(value) = self.raw(name) else { return Ok(None) };
        let text = value.to_str().ok_or(Failure::Variable { name, problem: "it is not valid UTF-8".to_owned() })?;
        Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty()))
    }

    /// A variable read as something.
    pub(crate) fn parsed<T: FromStr<Err: std::fmt::Display>>(&self, name: &'static str) -> Result<Option<T>, Failure> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        text.parse().map(Some).map_err(|error: T::Err| Failure::Variable { name, problem: error.to_string() })
    }

    fn path(&self, name: &str) -> Option<PathBuf> {
        self.raw(name).map(PathBuf::from)
    }
}

/// Everything a run needs to know before it starts.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) environment: Environment,
    pub(crate) data_dir: PathBuf,
    pub(crate) model: ModelChoice,
    /// `None`: the runtime's own limit.
    pub(crate) limit_ms: Option<u64>,
    pub(crate) json: bool,
}

impl Settings {
    /// Options win over variables, variables over defaults.
    pub(crate) fn resolve(options: Options, variables: &Variables) -> Result<Self, Failure> {
        let data_dir = absolute(options.data_dir.or_else(|| variables.path("ARTOO_DATA_DIR")))?;
        let workspace = absolute(options.workspace.or_else(|| variables.path("ARTOO_WORKSPACE")))?;
        let environment = detect_environment(workspace.as_deref())
            .map_err(|error| Failure::Runtime { source: RuntimeError::Environment(error) })?;
        // Defaults under a home that is the root of the disk would scatter files where nobody looks for them.
        if Path::new(&environment.home).parent().is_none() && (data_dir.is_none() || workspace.is_none()) {
            return Err(Failure::RootHome);
        }
        let deadline: Option<Deadline> = match options.deadline {
            Some(deadline) => Some(deadline),
            None => variables.parsed("ARTOO_DEADLINE")?,
        };
        Ok(Self {
            data_dir: data_dir.unwrap_or_else(|| Path::new(&environment.home).join(".artoo")),
            environment,
            model: ModelChoice::resolve(options.model, variables)?,
            limit_ms: deadline.map(|deadline| deadline.limit_ms),
            json: options.json,
        })
    }
}

fn absolute(path: Option<PathBuf>) -> Result<Option<PathBuf>, Failure> {
    path.map(|path| std::path::absolute(&path).map_err(|source| Failure::Path { path, source })).transpose()
}
