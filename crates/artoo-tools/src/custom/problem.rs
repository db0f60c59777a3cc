//! Errors of manifests.

use std::path::PathBuf;

use crate::custom::name::NAME_MAX_CHARS;

/// A manifest that can't be used, and why.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {problem}", path = artoo_proto::escape::one_line(&path.to_string_lossy()))]
pub struct ToolProblem {
    /// The manifest or its folder.
    pub path: PathBuf,
    /// What is wrong with it.
    pub problem: ManifestProblem,
}

/// Why a manifest was rejected: the key and what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ManifestProblem(String);

impl ManifestProblem {
    /// A manifest error with this text.
    pub(crate) fn new(problem: impl Into<String>) -> Self {
        Self(problem.into())
    }

    /// The manifest error for an invalid name.
    pub(crate) fn name(spelled: &str) -> Self {
        let name = artoo_proto::escape::shorten(spelled, 80);
        let expected = format!("use a to z, 0 to 9 and _, at most {NAME_MAX_CHARS} of them, a letter first");
        Self(format!("name: {name:?} is not a valid name; {expected}"))
    }

    /// The manifest error for a name that another tool has already.
    pub(crate) fn taken(name: &str) -> Self {
        Self(format!("name: there is a tool named {name} already"))
    }

    /// The manifest error for a command that is empty or has more than this number of arguments.
    pub(crate) fn command(max: usize) -> Self {
        Self(format!("command: give the program and at most {max} arguments"))
    }
}
