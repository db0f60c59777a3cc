//! What keeps a run from starting or ending as it should, with the exit code and the remedy of each.

use std::error::Error;
use std::path::PathBuf;

use artoo_llm::ConfigError;
use artoo_llm::cassette::CassetteError;
use artoo_roles::runtime::RuntimeError;

use crate::exit::Exit;

/// Why there is no result at all.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// A variable of the environment can't be used.
    #[error("{name} can't be used: {problem}")]
    Variable { name: &'static str, problem: String },
    /// A path that can't be made absolute.
    #[error("{path:?} can't be used as a path")]
    Path {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// The home folder is the root of the disk.
    #[error("HOME is /, so there is no place of your own for artoo's files")]
    RootHome,
    /// The model's configuration.
    #[error("the model can't be used: {source}")]
    Model { source: ConfigError },
    /// The recording.
    #[error(transparent)]
    Cassette { source: CassetteError },
    /// The runtime did not start, or was lost.
    #[error(transparent)]
    Runtime { source: RuntimeError },
    /// The async runtime or its signals.
    #[error("the system refused a thread or a signal handler")]
    System { source: std::io::Error },
}

impl Failure {
    /// The exit code it leads to.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Variable { .. }
            | Self::Path { .. }
            | Self::RootHome
            | Self::Model { .. }
            | Self::Cassette { .. }
            | Self::Runtime { source: RuntimeError::Environment(_) | RuntimeError::DataDir { .. } } => Exit::Usage,
            Self::Runtime { source: RuntimeError::Audit(_) | RuntimeError::Memory(_) | RuntimeError::Stopped }
            | Self::System { .. } => Exit::Internal,
        }
    }

    /// What the user can do, where the message does not say it already.
    pub(crate) fn remedy(&self) -> Option<&'static str> {
        match self {
            Self::RootHome => Some("set HOME to your home folder, or give --data-dir and --workspace"),
            Self::Model { source: ConfigError::Missing { name: "OPENAI_MODEL" } } => {
                Some("name the model with --model openai:NAME or OPENAI_MODEL, or use --model reflex")
            }
            Self::Model { source: ConfigError::Missing { name: "OPENAI_API_KEY" } } => {
                Some("set OPENAI_API_KEY, or OPENAI_BASE_URL for an endpoint of your own, or use --model reflex")
            }
            Self::Model { .. } => Some("put OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL right; see artoo doctor"),
            Self::Runtime { source: RuntimeError::Audit(_) } => {
                Some("see artoo audit; or choose another folder with --data-dir")
            }
            Self::Variable { .. }
            | Self::Path { .. }
            | Self::Cassette { .. }
            | Self::Runtime { .. }
            | Self::System { .. } => None,
        }
    }

    /// The message with every cause.
    pub(crate) fn told(&self) -> String {
        let mut text = self.to_string();
        let mut cause = self.source();
        while let Some(error) = cause {
            let words = error.to_string();
            // Transparent errors and messages that hold their cause would say it twice.
            if !text.contains(&words) {
                text.push_str(": ");
                text.push_str(&words);
            }
            cause = error.source();
        }
        text
    }
}
