//! What a run is set up with: options, environment and defaults brought together, each checked once.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use artoo_proto::Environment;
use artoo_roles::runtime::{RuntimeError, detect_environment};
use artoo_tools::ToolConfig;

use crate::args::{Deadline, Options};
use crate::config::{self, Place};
use crate::failure::Failure;
use crate::hands;
use crate::model::ModelChoice;
use crate::money::Dollars;

/// The variables of the user's own shell, read once, and what the configuration file says for those that are not set.
/// An empty one counts as not set.
#[derive(Debug, Clone, Default)]
pub(crate) struct Variables {
    all: BTreeMap<OsString, OsString>,
    /// For those from the file: which key of it, and the line.
    from_file: BTreeMap<&'static str, String>,
}

impl Variables {
    /// Those of this process.
    pub(crate) fn of_process() -> Self {
        Self { all: std::env::vars_os().collect(), from_file: BTreeMap::new() }
    }

    /// With what the configuration file says, where a variable does not.
    pub(crate) fn with_file(mut self) -> Result<Self, Failure> {
        let problem = |source| Failure::Config { source };
        let Some(file) = config::load(&self.place().file(), &self.home()).map_err(problem)? else { return Ok(self) };
        for (variable, value, origin) in file.variables(&self).map_err(problem)? {
            self.all.insert(variable.into(), value.into());
            self.from_file.insert(variable, origin);
        }
        Ok(self)
    }

    /// Where the configuration lies.
    pub(crate) fn place(&self) -> Place {
        Place::find(self, &self.home(), &std::env::current_dir().unwrap_or_default())
    }

    /// The home folder, as far as the environment says it.
    pub(crate) fn home(&self) -> PathBuf {
        self.path("HOME").or_else(std::env::home_dir).unwrap_or_default()
    }

    /// Who set a variable, if anybody did.
    pub(crate) fn origin(&self, name: &'static str) -> Option<String> {
        self.raw(name).map(|_| self.from_file.get(name).cloned().unwrap_or_else(|| format!("variable {name}")))
    }

    /// What the configuration file says for a variable that is not set.
    pub(crate) fn of_file(&self, name: &'static str) -> Option<String> {
        self.from_file.get(name)?;
        self.raw(name)?.to_str().map(|value| value.trim().to_owned())
    }

    /// What a variable is called to the user: the line of the file where it came from there.
    pub(crate) fn called(&self, name: &'static str) -> String {
        self.from_file.get(name).cloned().unwrap_or_else(|| name.to_owned())
    }

    #[cfg(test)]
    pub(crate) fn of(pairs: &[(&str, &str)]) -> Self {
        let all = pairs.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect();
        Self { all, from_file: BTreeMap::new() }
    }

    /// A variable as it is.
    pub(crate) fn raw(&self, name: &str) -> Option<&OsString> {
        self.all.get(&OsString::from(name)).filter(|value| !value.is_empty())
    }

    /// A variable as text without space around it.
    pub(crate) fn text(&self, name: &'static str) -> Result<Option<String>, Failure> {
        let Some(value) = self.raw(name) else { return Ok(None) };
        let problem = || Failure::Variable { name: self.called(name), problem: "it is not valid UTF-8".to_owned() };
        let text = value.to_str().ok_or_else(problem)?;
        Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty()))
    }

    /// A variable read as something.
    pub(crate) fn parsed<T: FromStr<Err: std::fmt::Display>>(&self, name: &'static str) -> Result<Option<T>, Failure> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let problem = |error: T::Err| Failure::Variable { name: self.called(name), problem: error.to_string() };
        text.parse().map(Some).map_err(problem)
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
    pub(crate) tools: ToolConfig,
    /// Tokens that the run may take.
    pub(crate) max_tokens: Option<u64>,
    /// Money that it may take.
    pub(crate) max_cost: Option<Dollars>,
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
        let model = ModelChoice::resolve(options.model, variables)?;
        let mut tools = hands::tools(&environment, variables)?;
        tools.trusts_model = model.stays_here(variables)?;
        Ok(Self {
            data_dir: data_dir.unwrap_or_else(|| Path::new(&environment.home).join(".artoo")),
            tools,
            environment,
            model,
            limit_ms: deadline.map(|deadline| deadline.limit_ms),
            json: options.json,
            max_tokens: options
                .max_tokens
                .map_or_else(|| variables.parsed("ARTOO_MAX_TOKENS"), |most| Ok(Some(most)))?,
            max_cost: options.max_cost.map_or_else(|| variables.parsed("ARTOO_MAX_COST"), |most| Ok(Some(most)))?,
        })
    }
}

fn absolute(path: Option<PathBuf>) -> Result<Option<PathBuf>, Failure> {
    path.map(|path| std::path::absolute(&path).map_err(|source| Failure::Path { path, source })).transpose()
}
