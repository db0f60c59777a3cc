//! The configuration file: its settings, its location, and strict reading.

mod command;
mod read;
#[cfg(test)]
mod tests;
pub(crate) mod write;

use std::path::{Path, PathBuf};

use crate::{Failure, Variables};

pub(crate) use command::key_from;
pub(crate) use read::{key_in, key_of, load, parse, text_of};

/// Name of the configuration file in the configuration folder.
const FILE: &str = "config.toml";

/// Maximum size of a file that holds a key, and of the output of a command that prints one, in bytes.
#[doc(alias = "limit")]
const KEY_FILE_MAX_BYTES: u64 = 16 * 1024;

/// The type of a setting's value in the configuration file: text, true or false, path, or one of three places of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    /// `true` or `false`.
    Flag,
    /// A path, absolute or beginning with `~/`.
    Path,
    /// The name of an environment variable that holds a key.
    KeyVariable,
    /// The path of a file that holds a key.
    KeyFile,
    /// A command that prints a key.
    KeyCommand,
}

/// Macro that declares the enum `Setting`: for each setting its name in the file, environment variable, kind and
/// description.
macro_rules! settings {
    ($($setting:ident $name:literal $variable:literal $kind:ident $meaning:literal,)*) => {
        /// A setting of the configuration file. If its environment variable is set, the variable wins over the file.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum Setting {
            $($setting,)*
        }

        impl Setting {
            pub(crate) const ALL: [Self; [$($name),*].len()] = [$(Self::$setting),*];

            /// The setting's name in the file, its environment variable, its kind, and its one-line description.
            const fn row(self) -> (&'static str, &'static str, Kind, &'static str) {
                match self {
                    $(Self::$setting => ($name, $variable, Kind::$kind, $meaning),)*
                }
            }
        }
    };
}

settings! {
    Model "model" "ARTOO_MODEL" Text
        "who answers: reflex, file:NAME, file:PATH, cassette:PATH, or openai, responses, anthropic or ollama, alone, with :NAME or :NAME@URL",
    BaseUrl "base_url" "OPENAI_BASE_URL" Text "the model's endpoint",
    ModelName "model_name" "OPENAI_MODEL" Text "the endpoint's name for the model",
    SecretVariable "key_variable" "OPENAI_API_KEY" KeyVariable "the name of the variable that holds the endpoint's key",
    SecretFile "key_file" "OPENAI_API_KEY" KeyFile "a file that holds the endpoint's key and that only you may read",
    SecretCommand "key_command" "OPENAI_API_KEY" KeyCommand "a command whose first line of output is the endpoint's key",
    ReflexFirst "reflex_first" "ARTOO_REFLEX_FIRST" Flag
        "false: the model is also asked about requests that the embedded parser explains in full",
    Worker "worker" "ARTOO_WORKER" Text "the model that carries out and checks single steps; spelled as model",
    WorkerSecretVariable "worker_key_variable" "ARTOO_WORKER_KEY" KeyVariable
        "the name of the variable that holds the worker's key",
    WorkerSecretFile "worker_key_file" "ARTOO_WORKER_KEY" KeyFile
        "a file that holds the worker's key and that only you may read",
    Fallback "fallback" "ARTOO_FALLBACK" Text
        "models that answer if the first can't, divided by commas; spelled as model",
    Prices "prices" "ARTOO_PRICES" Text
        "NAME=IN/OUT, NAME=IN/CACHED/OUT or NAME=IN/CACHED/WRITTEN/OUT in US dollars a million tokens, several divided by commas",
    MaxTokens "max_tokens" "ARTOO_MAX_TOKENS" Text "no call is made that could take a run above so many tokens",
    MaxCost "max_cost" "ARTOO_MAX_COST" Text "no call is made that could take a run above so many US dollars",
    ContextTokens "context_tokens" "ARTOO_CONTEXT_TOKENS" Text
        "how many tokens the model's context has, or is to have (Ollama, a model file)",
    Parallel "parallel" "ARTOO_PARALLEL" Text "calls under way at one endpoint at once",
    Threads "threads" "ARTOO_THREADS" Text "threads that a model file is run with",
    TrustLocal "trust_local" "ARTOO_TRUST_LOCAL" Text
        "yes: a model on this machine may read files that may hold secrets, unasked",
    Views "views" "ARTOO_VIEWS" Flag "true: commands change files in a view first; false: directly, once approved",
    Memory "memory" "ARTOO_MEMORY" Flag "false: memory is neither read nor written",
    Profile "profile" "ARTOO_PROFILE" Text
        "how hard a task is tried: v0.8, literal, anytime, or the path of a JSON file that begins with / or ~/",
    TimeBudget "time_budget" "ARTOO_TIME_BUDGET" Text "the time after which a task counts as slow: 90s, 5m or 1h",
    DataDir "data_dir" "ARTOO_DATA_DIR" Path "where memory and the audit log are kept",
    Workspace "workspace" "ARTOO_WORKSPACE" Path "where new files go",
    Deadline "deadline" "ARTOO_DEADLINE" Text "when a task ends at the latest: 90s, 5m or 1h",
    Accept "accept" "ARTOO_ACCEPT" Text
        "judged: exit code 0 for a text that a model wrote and judged too, if a request asks for a text alone",
    Search "search" "ARTOO_SEARCH" Text "off: no search at all; duckduckgo: your own words may go there unasked",
    SearxngUrl "searxng_url" "ARTOO_SEARXNG_URL" Text "a SearXNG instance to search with, its JSON format switched on",
    BraveFile "brave_key_file" "ARTOO_BRAVE_KEY" KeyFile
        "a file that holds a key for Brave's search and that only you may read",
    GoogleFile "google_key_file" "ARTOO_GOOGLE_KEY" KeyFile
        "the same for Google's Custom Search, which ends on 2027-01-01",
    GoogleEngine "google_engine" "ARTOO_GOOGLE_ENGINE" Text "the id of the Google search engine, its cx",
}

impl Setting {
    /// The setting's name as written in the configuration file.
    pub(crate) fn name(self) -> &'static str {
        self.row().0
    }

    /// The environment variable that has the same meaning as the setting.
    pub(crate) fn variable(self) -> &'static str {
        self.row().1
    }

    /// The type of the setting's value: text, true or false, path, or one of three places of a key.
    pub(crate) fn kind(self) -> Kind {
        self.row().2
    }

    /// The setting's description in one line.
    pub(crate) fn meaning(self) -> &'static str {
        self.row().3
    }

    /// Finds the setting with this name, or which had this name in earlier versions; `None` if there is none.
    fn named(name: &str) -> Option<Self> {
        let current = name.strip_prefix("hands").map(|rest| format!("worker{rest}"));
        let name = current.as_deref().unwrap_or(name);
        Self::ALL.into_iter().find(|setting| setting.name() == name)
    }
}

/// The configuration folder, and a value of `XDG_CONFIG_HOME` that was ignored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) folder: PathBuf,
    /// Why `XDG_CONFIG_HOME` was ignored, if it was.
    pub(crate) ignored: Option<String>,
}

impl Place {
    /// Finds the configuration folder for these variables and the process's current folder.
    pub(crate) fn of(variables: &Variables) -> Self {
        Self::find(variables, &variables.home(), &std::env::current_dir().unwrap_or_default())
    }

    /// Finds the configuration folder: `$XDG_CONFIG_HOME/artoo`, else `~/.config/artoo`. A relative `XDG_CONFIG_HOME`,
    /// or one in the current project's folder, is ignored.
    pub(crate) fn find(variables: &Variables, home: &Path, here: &Path) -> Self {
        let usual = home.join(".config").join("artoo");
        let Some(wanted) = variables.raw("XDG_CONFIG_HOME").map(PathBuf::from) else {
            return Self { folder: usual, ignored: None };
        };
        let reason = if wanted.is_relative() {
            "it is no absolute path"
        } else if real(&wanted).starts_with(real(here)) && !real(home).starts_with(real(here)) {
            "it lies in the current folder, and a project does not configure artoo"
        } else {
            return Self { folder: wanted.join("artoo"), ignored: None };
        };
        let ignored = format!("XDG_CONFIG_HOME={} is ignored: {reason}", wanted.display());
        Self { folder: usual, ignored: Some(ignored) }
    }

    /// The path of the configuration file.
    pub(crate) fn file(&self) -> PathBuf {
        self.folder.join(FILE)
    }
}

/// Adds the configuration file's values for variables that are not set. A file with an error is refused.
pub(crate) fn with_file(mut variables: Variables) -> Result<Variables, Failure> {
    let read = || match load(&Place::of(&variables).file(), &variables.home())? {
        Some(file) => file.variables(&variables),
        None => Ok(Vec::new()),
    };
    for (variable, value, origin) in read().map_err(|source| Failure::Config { source })? {
        variables.set_from_file(variable, value, origin);
    }
    Ok(variables)
}

/// Paths of files in a project folder that look like a configuration of artoo; artoo never reads them, doctor only
/// reports them.
pub(crate) fn ignored_in(folder: &Path) -> Vec<PathBuf> {
    let names = [".env", "artoo.toml", ".artoo.toml", ".artoo/config.toml"];
    names.iter().map(|name| folder.join(name)).filter(|path| path.is_file()).collect()
}

/// Expands `~/` at the beginning of a path to the home folder.
pub(crate) fn expanded(home: &Path, path: &str) -> PathBuf {
    path.strip_prefix("~/").map_or_else(|| PathBuf::from(path), |below| home.join(below))
}

/// The path without symbolic links; unchanged if it does not exist.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}
