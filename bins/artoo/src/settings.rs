//! A run's settings from options, variables and defaults, each validated once.

use std::path::{Path, PathBuf};

use artoo_proto::Environment;
use artoo_roles::runtime::{RuntimeError, detect_environment};
use artoo_tools::ToolConfig;

use crate::args::{AcceptedBasis, Deadline, Options};
use crate::failure::Failure;
use crate::model_choice::ModelChoice;
use crate::money::Dollars;
use crate::tool_config;

pub(crate) use crate::variables::Variables;

/// Validated settings of a run.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) environment: Environment,
    pub(crate) data_dir: PathBuf,
    pub(crate) model: ModelChoice,
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
}

fn absolute(path: Option<PathBuf>) -> Result<Option<PathBuf>, Failure> {
    path.map(|path| std::path::absolute(&path).map_err(|source| Failure::NotPath { path, source })).transpose()
}
