//! What is wrong with a manifest.

use std::path::PathBuf;

use crate::custom::MANIFESTS_MAX;
use crate::custom::name::NAME_MAX_CHARS;
use crate::trust::Distrust;

/// A tool of the person's own that can't be offered, and why.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {problem}", path = artoo_proto::escape::one_line(&path.to_string_lossy()))]
pub struct ToolProblem {
    /// The manifest, or the folder.
    pub path: PathBuf,
    /// What is wrong with it.
    pub problem: ManifestProblem,
}

/// Why a manifest is refused. Nothing is taken from one that is not all right.
#[derive(Debug, thiserror::Error)]
pub enum ManifestProblem {
    /// The folder can't be read.
    #[error("the folder can't be read: {source}")]
    Folder {
        /// What the system said.
        source: std::io::Error,
    },
    /// More manifests than are read.
    #[error("it holds {found} manifests; {MANIFESTS_MAX} are read")]
    TooMany {
        /// How many there are.
        found: usize,
    },
    /// Others than the user may have written it.
    #[error(transparent)]
    Distrust(#[from] Distrust),
    /// It is no TOML, or a key holds the wrong kind of value.
    #[error("line {line}: {message}")]
    Toml {
        /// From 1.
        line: usize,
        /// What the parser said.
        message: String,
    },
    /// A key that means nothing here.
    #[error("{key} is no key{}; there are {}", meant.map_or_else(String::new, |meant| format!(" (did you mean {meant}?)")), known.join(", "))]
    UnknownKey {
        /// The key, with its table.
        key: String,
        /// The nearest known one.
        meant: Option<&'static str>,
        /// All of them.
        known: &'static [&'static str],
    },
    /// The name can't be one.
    #[error("name: {name:?} is no name; use a to z, 0 to 9 and _, at most {max} of them, a letter first")]
    Name {
        /// As it is written.
        name: String,
        /// Longest name.
        max: usize,
    },
    /// Another tool has the name.
    #[error("name: there is a tool named {name} already")]
    Taken {
        /// The name.
        name: String,
    },
    /// A text is empty, too long or holds characters that can't be shown.
    #[error("{key}: it is empty, longer than {max} characters, or holds characters that can't be shown")]
    Text {
        /// Where.
        key: &'static str,
        /// Longest text.
        max: usize,
    },
    /// The command is empty or too long.
    #[error("command: give the program and at most {max} arguments")]
    Command {
        /// Most arguments.
        max: usize,
    },
    /// The program can't be run.
    #[error("command: {program} {reason}")]
    Program {
        /// As it is written.
        program: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A placeholder that names no input, or one in the wrong place.
    #[error("command: {{{field}}} {reason}")]
    Placeholder {
        /// The field.
        field: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// An input that can't be used.
    #[error("input.{field}: {reason}")]
    Input {
        /// The field.
        field: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A server that can't be used, or a tool of one.
    #[error("the server {name} can't be used as it is: {reason}")]
    Server {
        /// Its name.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// The time is none or too long.
    #[error("timeout_s: give 1 to {max} seconds")]
    Timeout {
        /// Longest.
        max: u64,
    },
}

impl ManifestProblem {
    /// A name that can't be one.
    pub(crate) fn name(spelled: &str) -> Self {
        Self::Name { name: artoo_proto::escape::shorten(spelled, 80), max: NAME_MAX_CHARS }
    }
}
