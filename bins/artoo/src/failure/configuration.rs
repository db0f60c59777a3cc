//! Errors of the configuration file and of the keys that it refers to.

use std::path::PathBuf;
use std::time::Duration;

use artoo_tools::trust::Distrust;

/// Error in the configuration file, or in a key that the file refers to. A file with an error is not used at all.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigProblem {
    /// The configuration file or a key file is missing, too large, or can be read or changed by others.
    #[error(transparent)]
    Distrust(#[from] Distrust),
    /// A line of the configuration file is invalid.
    #[error("{path}:{line}: {problem}", path = path.display())]
    Line { path: PathBuf, line: usize, problem: String },
    /// The variable that the setting `key_variable` names is not set.
    #[error("{path}:{line}: the variable {variable} that is to hold the key is not set", path = path.display())]
    KeyVariableUnset { path: PathBuf, line: usize, variable: String },
    /// The command that the setting `key_command` names printed no key.
    #[error("{path}:{line}: the command that is to give the key {problem}", path = path.display())]
    KeyCommand { path: PathBuf, line: usize, problem: CommandProblem },
    /// The key file has no text on its first line.
    #[error("the key file {path} is empty or no text", path = path.display())]
    NoKey { path: PathBuf },
}

impl ConfigProblem {
    /// What the user can do about the error in the configuration.
    pub(crate) fn remedy(&self) -> &'static str {
        match self {
            Self::Distrust(Distrust::OpenToRead { .. }) => "take that away: chmod 600",
            Self::Distrust(Distrust::NotYours { .. }) => "make a file of your own in its place",
            Self::KeyVariableUnset { .. } => "set it in your shell, or remove the line",
            Self::KeyCommand { .. } => "try it in your shell; its first line of output is taken",
            Self::NoKey { .. } => "put the key into it, alone on its first line",
            Self::Distrust(Distrust::OpenToOthers { .. } | Distrust::Unreadable { .. } | Distrust::TooLarge { .. })
            | Self::Line { .. } => {
                "put the file right (artoo config edit) or move it away; artoo config keys lists what it may hold"
            }
        }
    }
}

/// Error of a command that should print a key. The command's output is never included.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandProblem {
    #[error("can't be run")]
    NotRun(#[source] std::io::Error),
    #[error("failed with status {0}")]
    Failed(i32),
    #[error("gave nothing within {0:?}")]
    TooSlow(Duration),
    #[error("gave no text")]
    Nothing,
}
