//! The configuration file: which keys there are, where it lies, and that nothing in it is overlooked.

mod command;
mod read;
#[cfg(test)]
mod tests;
pub(crate) mod write;

use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::variables::Variables;

pub(crate) use command::key_from;
pub(crate) use read::{ConfigProblem, key_in, load};

/// The file's name in the configuration folder.
const FILE: &str = "config.toml";

/// What a key's file may be: far longer than any key.
const KEY_FILE_MAX_BYTES: u64 = 16 * 1024;

/// The settings, each with its name in the file, the variable it stands for, and what it is for.
macro_rules! settings {
    ($($setting:ident $name:literal $variable:literal $meaning:literal,)*) => {
        /// A setting that the file may hold. Each stands for a variable, which wins over it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum Setting {
            $($setting,)*
        }

        impl Setting {
            pub(crate) const ALL: [Self; [$($name),*].len()] = [$(Self::$setting),*];

            /// Its name in the file, its variable, and its meaning in one line.
            fn row(self) -> [&'static str; 3] {
                match self {
                    $(Self::$setting => [$name, $variable, $meaning],)*
                }
            }
        }
    };
}

settings! {
    Model "model" "ARTOO_MODEL"
        "who answers: reflex, file:NAME, file:PATH, cassette:PATH, or openai, responses, anthropic or ollama, alone, with :NAME or :NAME@URL",
    BaseUrl "base_url" "OPENAI_BASE_URL" "the model's endpoint",
    ModelName "model_name" "OPENAI_MODEL" "the endpoint's name for the model",
    SecretVariable "key_variable" "OPENAI_API_KEY" "the name of the variable that holds the endpoint's key",
    SecretFile "key_file" "OPENAI_API_KEY" "a file that holds the endpoint's key and that only you may read",
    SecretCommand "key_command" "OPENAI_API_KEY" "a command whose first line of output is the endpoint's key",
    Hands "hands" "ARTOO_HANDS" "who carries out and checks single steps, if not the model; spelled as model",
    HandsSecretVariable "hands_key_variable" "ARTOO_HANDS_KEY"
        "the name of the variable that holds the key for hands",
    HandsSecretFile "hands_key_file" "ARTOO_HANDS_KEY"
        "a file that holds the key for hands and that only you may read",
    Fallback "fallback" "ARTOO_FALLBACK"
        "who steps in where the model can't answer, several divided by commas; spelled as model",
    Prices "prices" "ARTOO_PRICES"
        "NAME=IN/OUT, NAME=IN/CACHED/OUT or NAME=IN/CACHED/WRITTEN/OUT in US dollars a million tokens, several divided by commas",
    MaxTokens "max_tokens" "ARTOO_MAX_TOKENS" "no call is made that could take a run above so many tokens",
    MaxCost "max_cost" "ARTOO_MAX_COST" "no call is made that could take a run above so many US dollars",
    ContextTokens "context_tokens" "ARTOO_CONTEXT_TOKENS"
        "how many tokens the model's context has, or is to have (Ollama, a model file)",
    Parallel "parallel" "ARTOO_PARALLEL" "calls under way at one endpoint at once",
    Threads "threads" "ARTOO_THREADS" "threads that a model file is run with",
    TrustLocal "trust_local" "ARTOO_TRUST_LOCAL"
        "yes: a model on this machine may read files that may hold secrets, unasked",
    DataDir "data_dir" "ARTOO_DATA_DIR" "where memory and the audit log are kept",
    Workspace "workspace" "ARTOO_WORKSPACE" "where new files go",
    Deadline "deadline" "ARTOO_DEADLINE" "when a task ends at the latest: 90s, 5m or 1h",
    Search "search" "ARTOO_SEARCH" "off: no search at all; duckduckgo: your own words may go there unasked",
    SearxngUrl "searxng_url" "ARTOO_SEARXNG_URL" "a SearXNG instance to search with, its JSON format switched on",
    BraveFile "brave_key_file" "ARTOO_BRAVE_KEY"
        "a file that holds a key for Brave's search and that only you may read",
    GoogleFile "google_key_file" "ARTOO_GOOGLE_KEY" "the same for Google's Custom Search, which ends on 2027-01-01",
    GoogleEngine "google_engine" "ARTOO_GOOGLE_ENGINE" "the id of the Google search engine, its cx",
}

impl Setting {
    /// As it is written in the file.
    pub(crate) fn name(self) -> &'static str {
        let [name, ..] = self.row();
        name
    }

    /// The variable it stands for.
    pub(crate) fn variable(self) -> &'static str {
        let [_, variable, _] = self.row();
        variable
    }

    /// What it is for, in one line.
    pub(crate) fn meaning(self) -> &'static str {
        let [.., meaning] = self.row();
        meaning
    }

    /// Whether it says where a key is.
    fn is_of_secret(self) -> bool {
        matches!(
            self,
            Self::SecretVariable
                | Self::SecretFile
                | Self::SecretCommand
                | Self::HandsSecretVariable
                | Self::HandsSecretFile
                | Self::BraveFile
                | Self::GoogleFile
        )
    }

    fn is_path(self) -> bool {
        matches!(
            self,
            Self::SecretFile
                | Self::HandsSecretFile
                | Self::DataDir
                | Self::Workspace
                | Self::BraveFile
                | Self::GoogleFile
        )
    }
}

/// The configuration folder, and why another one was not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) folder: PathBuf,
    /// Set where `XDG_CONFIG_HOME` was not followed.
    pub(crate) ignored: Option<String>,
}

impl Place {
    /// The folder for these variables and the current folder.
    pub(crate) fn of(variables: &Variables) -> Self {
        Self::find(variables, &variables.home(), &std::env::current_dir().unwrap_or_default())
    }

    /// `$XDG_CONFIG_HOME/artoo`, else `~/.config/artoo`; a folder of the project at hand is never taken.
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

    pub(crate) fn file(&self) -> PathBuf {
        self.folder.join(FILE)
    }
}

/// The variables, and the configuration file's values for those that are not set.
pub(crate) fn with_file(mut variables: Variables) -> Result<Variables, Failure> {
    let read = || match load(&Place::of(&variables).file(), &variables.home())? {
        Some(file) => file.variables(&variables),
        None => Ok(Vec::new()),
    };
    let refused = |problem: ConfigProblem| {
        Failure::usage("the configuration is refused").caused_by(&problem).with_remedy(problem.remedy())
    };
    for (variable, value, origin) in read().map_err(refused)? {
        variables.set_from_file(variable, value, origin);
    }
    Ok(variables)
}

/// Files of a project that look like a configuration of artoo and are none.
pub(crate) fn ignored_in(folder: &Path) -> Vec<PathBuf> {
    let names = [".env", "artoo.toml", ".artoo.toml", ".artoo/config.toml"];
    names.iter().map(|name| folder.join(name)).filter(|path| path.is_file()).collect()
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}
