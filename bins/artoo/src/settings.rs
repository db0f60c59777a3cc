//! A run's settings from options, variables and defaults, each validated once.

use std::path::{Path, PathBuf};

use artoo_proto::{Environment, escape};
use artoo_roles::runtime::{self, Profile, RuntimeError, detect_environment};
use artoo_tools::{ToolConfig, trust};

use crate::args::{AcceptedBasis, Deadline, Options};
use crate::config::expanded;
use crate::failure::Failure;
use crate::model_choice::{ModelChoice, ModelKind};
use crate::money::Dollars;
use crate::tool_config;

pub(crate) use crate::variables::Variables;

/// Name of the profile (how hard a task is tried) used if none is chosen: the better of the two in simulated tasks.
const PROFILE: &str = "anytime";
/// Maximum size of a JSON file with a profile, in bytes.
#[doc(alias = "limit")]
const PROFILE_MAX_BYTES: u64 = 64 * 1024;

/// Validated settings of a run.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) environment: Environment,
    pub(crate) data_dir: PathBuf,
    pub(crate) model: ModelChoice,
    /// Whether the embedded parser answers in place of a model what it explains in full.
    pub(crate) reflex_first: bool,
    /// Time limit of a task in milliseconds; `None` for the default.
    pub(crate) limit_ms: Option<u64>,
    pub(crate) json: bool,
    /// Whether everything that is known of a task is shown.
    pub(crate) verbose: bool,
    /// Whether a terminal shows exact values.
    pub(crate) exact: bool,
    /// The file that the answer is written to; `None` for standard output.
    pub(crate) output: Option<PathBuf>,
    /// Whether a text that a model wrote and judged is accepted, if the request asks for nothing else.
    pub(crate) accept_judged: bool,
    /// Checks that a script requires.
    pub(crate) required: Vec<String>,
    /// Whether only the required checks decide the exit code.
    pub(crate) by_required: bool,
    pub(crate) tools: ToolConfig,
    /// Whether memory is read and written.
    pub(crate) memory: bool,
    /// The parameters of decisions: how long and how often a task is tried.
    pub(crate) profile: Profile,
    /// Maximum number of tokens of the run; `None` for no limit.
    pub(crate) max_tokens: Option<u64>,
    /// Maximum cost of the run; `None` for no limit.
    pub(crate) max_cost: Option<Dollars>,
}

impl Settings {
    /// Resolves and validates the settings: options win over variables, variables over defaults.
    pub(crate) fn resolve(options: &Options, variables: &Variables) -> Result<Self, Failure> {
        let data_dir = absolute(options.data_dir.clone().or_else(|| variables.path("ARTOO_DATA_DIR")))?;
        let workspace = absolute(options.workspace.clone().or_else(|| variables.path("ARTOO_WORKSPACE")))?;
        let environment = detect_environment(workspace.as_deref()).map_err(RuntimeError::Environment)?;
        // If the home folder is /, the default folders would be created in the root folder.
        if Path::new(&environment.home).parent().is_none() && (data_dir.is_none() || workspace.is_none()) {
            return Err(Failure::HomeIsRoot {});
        }
        let deadline: Option<Deadline> = match options.deadline {
            Some(deadline) => Some(deadline),
            None => variables.parsed("ARTOO_DEADLINE")?,
        };
        let accepted: Option<AcceptedBasis> = match options.accept {
            Some(accepted) => Some(accepted),
            None => variables.parsed("ARTOO_ACCEPT")?,
        };
        let model = ModelChoice::resolve(options.model.clone(), variables)?;
        let mut tools = tool_config::tools(&environment, variables)?;
        tools.trusts_model = model.is_trusted_with_secrets(variables)?;
        Ok(Self {
            data_dir: data_dir.unwrap_or_else(|| Path::new(&environment.home).join(".artoo")),
            memory: flag(options.memory, "ARTOO_MEMORY", variables)?,
            reflex_first: flag(options.reflex_first, "ARTOO_REFLEX_FIRST", variables)?,
            profile: profile(options, variables, &environment.home)?,
            tools,
            environment,
            model,
            limit_ms: deadline.map(|deadline| deadline.limit_ms),
            json: options.json,
            verbose: options.verbose,
            exact: options.exact,
            output: absolute(options.output.clone())?,
            accept_judged: accepted.is_some(),
            required: options.require.clone(),
            by_required: options.exit_by_required,
            max_tokens: options
                .max_tokens
                .map_or_else(|| variables.parsed("ARTOO_MAX_TOKENS"), |most| Ok(Some(most)))?,
            max_cost: options.max_cost.map_or_else(|| variables.parsed("ARTOO_MAX_COST"), |most| Ok(Some(most)))?,
        })
    }

    /// Whether the embedded parser is asked before a language model; false for recordings and for tasks with required
    /// checks.
    pub(crate) fn asks_reflex_first(&self) -> bool {
        self.reflex_first
            && self.required.is_empty()
            && matches!(self.model.kind, ModelKind::Remote { .. } | ModelKind::File { .. })
    }

    /// The name of the profile in use and its time budget, as text.
    pub(crate) fn profile_in_words(&self) -> String {
        let seconds = self.profile.parameters().time_budget_ms / 1000;
        format!("{}, time budget {seconds}s", escape::one_line(self.profile.name()))
    }
}

/// A setting that is true by default: the option's value, else the environment variable's, else true.
fn flag(option: Option<bool>, name: &'static str, variables: &Variables) -> Result<bool, Failure> {
    let words = [("true", true), ("false", false)];
    let given = option.map_or_else(|| variables.one_of(name, &words, "give true or false"), |given| Ok(Some(given)))?;
    Ok(given.unwrap_or(true))
}

/// The profile (how hard a task is tried) that options or variables name, built in or from a JSON file, with their time
/// budget.
fn profile(options: &Options, variables: &Variables, home: &str) -> Result<Profile, Failure> {
    let named = options.profile.clone().map_or_else(|| variables.text("ARTOO_PROFILE"), |name| Ok(Some(name)))?;
    let budget: Option<Deadline> =
        options.time_budget.map_or_else(|| variables.parsed("ARTOO_TIME_BUDGET"), |given| Ok(Some(given)))?;
    let named = named.unwrap_or_else(|| PROFILE.to_owned());
    let wrong = |problem: String| variables.invalid("ARTOO_PROFILE", format!("{named:?}: {problem}"));
    let path = expanded(Path::new(home), &named);
    let text = if path.is_absolute() {
        let text = trust::text(&path, PROFILE_MAX_BYTES, false).map_err(|error| wrong(error.to_string()))?;
        text.ok_or_else(|| wrong("there is no such file".to_owned()))?
    } else {
        named.clone()
    };
    runtime::profile(&text, budget.map(|budget| budget.limit_ms)).map_err(wrong)
}

/// The path made absolute, relative to the current folder; `None` stays `None`.
fn absolute(path: Option<PathBuf>) -> Result<Option<PathBuf>, Failure> {
    path.map(|path| std::path::absolute(&path).map_err(|source| Failure::NotPath { path, source })).transpose()
}
