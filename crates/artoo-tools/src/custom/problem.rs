//! Errors of manifests.

use std::path::PathBuf;

use crate::custom::MANIFESTS_MAX;
use crate::custom::name::NAME_MAX_CHARS;
use crate::trust::Distrust;

/// A manifest that can't be used, and why.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {problem}", path = artoo_proto::escape::one_line(&path.to_string_lossy()))]
pub struct ToolProblem {
    /// The manifest or its folder.
    pub path: PathBuf,
    /// What is wrong with it.
    pub problem: ManifestProblem,
}

/// Why a manifest was rejected.
#[derive(Debug, thiserror::Error)]
pub enum ManifestProblem {
    /// The folder can't be read.
    #[error("the folder can't be read: {source}")]
    Folder {
        /// The error of the system.
        source: std::io::Error,
    },
    /// The folder has too many manifests.
    #[error("it holds {found} manifests; {MANIFESTS_MAX} are read")]
    TooMany {
        /// Number of manifests in it.
        found: usize,
    },
    /// Other users can write the manifest.
    #[error(transparent)]
    Distrust(#[from] Distrust),
    /// The file is not valid TOML, or a key has a value of the wrong type.
    #[error("line {line}: {message}")]
    Toml {
        /// Line number, from 1.
        line: usize,
        /// Error of the parser.
        message: String,
    },
    /// A key is not known.
    #[error("{key} is not a known key{}; known keys are {}", meant.map_or_else(String::new, |meant| format!(" (did you mean {meant}?)")), known.join(", "))]
    UnknownKey {
        /// The key, with its table.
        key: String,
        /// The most similar known key.
        meant: Option<&'static str>,
        /// All known keys.
        known: &'static [&'static str],
    },
    /// The name is not valid.
    #[error("name: {name:?} is not a valid name; use a to z, 0 to 9 and _, at most {max} of them, a letter first")]
    Name {
        /// The name in the manifest.
        name: String,
        /// Longest name.
        max: usize,
    },
    /// Another tool has this name.
    #[error("name: there is a tool named {name} already")]
    Taken {
        /// The name.
        name: String,
    },
    /// A text is empty, too long or contains characters that can't be shown.
    #[error("{key}: it is empty, longer than {max} characters, or holds characters that can't be shown")]
    Text {
        /// The key of the text.
        key: &'static str,
        /// Longest text.
        max: usize,
    },
    /// The command is empty or too long.
    #[error("command: give the program and at most {max} arguments")]
    Command {
        /// Maximum number of arguments.
        max: usize,
    },
    /// The program can't be run.
    #[error("command: {program} {reason}")]
    Program {
        /// The program in the manifest.
        program: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A placeholder names no input, or is in the wrong place.
    #[error("command: {{{field}}} {reason}")]
    Placeholder {
        /// The placeholder.
        field: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// An input is not valid.
    #[error("input.{field}: {reason}")]
    Input {
        /// The input.
        field: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A server, or a tool of it, can't be used.
    #[error("the server {name} can't be used as it is: {reason}")]
    Server {
        /// The server's name.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// The time limit is zero or too long.
    #[error("timeout_s: give 1 to {max} seconds")]
    Timeout {
        /// Longest time limit, in seconds.
        max: u64,
    },
}

impl ManifestProblem {
    /// The error for an invalid name.
    pub(crate) fn name(spelled: &str) -> Self {
        Self::Name { name: artoo_proto::escape::shorten(spelled, 80), max: NAME_MAX_CHARS }
    }
}
