//! The configuration file: which keys there are, where it lies, and that nothing in it is overlooked.

mod command;
mod read;
pub(crate) mod show;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use crate::settings::Variables;

pub(crate) use command::key_from;
pub(crate) use read::{ConfigProblem, key_in, load};

/// The file's name in the configuration folder.
const FILE: &str = "config.toml";

/// What a key's file may be: far longer than any key.
const KEY_FILE_MAX_BYTES: u64 = 16 * 1024;

/// A setting that the file may hold. Each stands for a variable, which wins over it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Setting {
    Model,
    BaseUrl,
    ModelName,
    SecretVariable,
    SecretFile,
    SecretCommand,
    Hands,
    HandsSecretVariable,
    HandsSecretFile,
    Fallback,
    Prices,
    MaxTokens,
    MaxCost,
    ContextTokens,
    Parallel,
    Threads,
    TrustLocal,
    DataDir,
    Workspace,
    Deadline,
    Search,
    SearxngUrl,
    BraveFile,
    GoogleFile,
    GoogleEngine,
}

impl Setting {
    pub(crate) const ALL: [Self; 25] = [
        Self::Model,
        Self::BaseUrl,
        Self::ModelName,
        Self::SecretVariable,
        Self::SecretFile,
        Self::SecretCommand,
        Self::Hands,
        Self::HandsSecretVariable,
        Self::HandsSecretFile,
        Self::Fallback,
        Self::Prices,
        Self::MaxTokens,
        Self::MaxCost,
        Self::ContextTokens,
        Self::Parallel,
        Self::Threads,
        Self::TrustLocal,
        Self::DataDir,
        Self::Workspace,
        Self::Deadline,
        Self::Search,
        Self::SearxngUrl,
        Self::BraveFile,
        Self::GoogleFile,
        Self::GoogleEngine,
    ];

    /// As it is written in the file.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::BaseUrl => "base_url",
            Self::ModelName => "model_name",
            Self::SecretVariable => "key_variable",
            Self::SecretFile => "key_file",
            Self::SecretCommand => "key_command",
            Self::Hands => "hands",
            Self::HandsSecretVariable => "hands_key_variable",
            Self::HandsSecretFile => "hands_key_file",
            Self::Fallback => "fallback",
            Self::Prices => "prices",
            Self::MaxTokens => "max_tokens",
            Self::MaxCost => "max_cost",
            Self::ContextTokens => "context_tokens",
            Self::Parallel => "parallel",
            Self::Threads => "threads",
            Self::TrustLocal => "trust_local",
            Self::DataDir => "data_dir",
            Self::Workspace => "workspace",
            Self::Deadline => "deadline",
            Self::Search => "search",
            Self::SearxngUrl => "searxng_url",
            Self::BraveFile => "brave_key_file",
            Self::GoogleFile => "google_key_file",
            Self::GoogleEngine => "google_engine",
        }
    }

    /// The variable it stands for.
    pub(crate) fn variable(self) -> &'static str {
        match self {
            Self::Model => "ARTOO_MODEL",
            Self::BaseUrl => "OPENAI_BASE_URL",
            Self::ModelName => "OPENAI_MODEL",
            Self::SecretVariable | Self::SecretFile | Self::SecretCommand => "OPENAI_API_KEY",
            Self::HandsSecretVariable | Self::HandsSecretFile => "ARTOO_HANDS_KEY",
            Self::Hands => "ARTOO_HANDS",
            Self::Fallback => "ARTOO_FALLBACK",
            Self::Prices => "ARTOO_PRICES",
            Self::MaxTokens => "ARTOO_MAX_TOKENS",
            Self::MaxCost => "ARTOO_MAX_COST",
            Self::ContextTokens => "ARTOO_CONTEXT_TOKENS",
            Self::Parallel => "ARTOO_PARALLEL",
            Self::Threads => "ARTOO_THREADS",
            Self::TrustLocal => "ARTOO_TRUST_LOCAL",
            Self::DataDir => "ARTOO_DATA_DIR",
            Self::Workspace => "ARTOO_WORKSPACE",
            Self::Deadline => "ARTOO_DEADLINE",
            Self::Search => "ARTOO_SEARCH",
            Self::SearxngUrl => "ARTOO_SEARXNG_URL",
            Self::BraveFile => "ARTOO_BRAVE_KEY",
            Self::GoogleFile => "ARTOO_GOOGLE_KEY",
            Self::GoogleEngine => "ARTOO_GOOGLE_ENGINE",
        }
    }

    /// What it is for, in one line.
    pub(crate) fn meaning(self) -> &'static str {
        match self {
            Self::Model => {
                "who answers: reflex, file:NAME, file:PATH, cassette:PATH, or openai, responses, anthropic or ollama, alone, with :NAME or :NAME@URL"
            }
            Self::BaseUrl => "the model's endpoint",
            Self::ModelName => "the endpoint's name for the model",
            Self::SecretVariable => "the name of the variable that holds the endpoint's key",
            Self::SecretFile => "a file that holds the endpoint's key and that only you may read",
            Self::SecretCommand => "a command whose first line of output is the endpoint's key",
            Self::Hands => "who carries out and checks single steps, if not the model; spelled as model",
            Self::HandsSecretVariable => "the name of the variable that holds the key for hands",
            Self::HandsSecretFile => "a file that holds the key for hands and that only you may read",
            Self::Fallback => "who steps in where the model can't answer, several divided by commas; spelled as model",
            Self::Prices => {
                "NAME=IN/OUT, NAME=IN/CACHED/OUT or NAME=IN/CACHED/WRITTEN/OUT in US dollars a million tokens, several divided by commas"
            }
            Self::MaxTokens => "no call is made that could take a run above so many tokens",
            Self::MaxCost => "no call is made that could take a run above so many US dollars",
            Self::ContextTokens => "how many tokens the model's context has, or is to have (Ollama, a model file)",
            Self::Parallel => "calls under way at one endpoint at once",
            Self::Threads => "threads that a model file is run with",
            Self::TrustLocal => "yes: a model on this machine may read files that may hold secrets, unasked",
            Self::DataDir => "where memory and the audit log are kept",
            Self::Workspace => "where new files go",
            Self::Deadline => "when a task ends at the latest: 90s, 5m or 1h",
            Self::Search => "off: no search at all; duckduckgo: your own words may go there unasked",
            Self::SearxngUrl => "a SearXNG instance to search with, its JSON format switched on",
            Self::BraveFile => "a file that holds a key for Brave's search and that only you may read",
            Self::GoogleFile => "the same for Google's Custom Search, which ends on 2027-01-01",
            Self::GoogleEngine => "the id of the Google search engine, its cx",
        }
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

/// Files of a project that look like a configuration of artoo and are none.
pub(crate) fn ignored_in(folder: &Path) -> Vec<PathBuf> {
    let names = [".env", "artoo.toml", ".artoo.toml", ".artoo/config.toml"];
    names.iter().map(|name| folder.join(name)).filter(|path| path.is_file()).collect()
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}
