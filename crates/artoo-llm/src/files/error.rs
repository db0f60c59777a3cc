//! Errors of model files: each names the object, the fault, and what was expected.

use std::io;
use std::path::PathBuf;

use super::checksum::Checksum;
use super::gguf::GgufError;
use super::name::ModelName;

/// Why a model file can't be listed, downloaded or used. No text holds a URL's query, user or password.
#[derive(Debug, thiserror::Error)]
pub enum FilesError {
    /// Reading or writing a file or folder failed.
    #[error("{path} can't be used", path = path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// Another user could have changed a file or folder of the model folder.
    #[error("{path} {problem}", path = path.display())]
    NotPrivate { path: PathBuf, problem: &'static str },
    /// The record beside a model file can't be parsed.
    #[error("the record {path} can't be read: {problem}", path = path.display())]
    Record { path: PathBuf, problem: String },
    /// No installed model and no catalog entry has this name.
    #[error("no model {name:?} is on this machine or in the catalog")]
    Unknown { name: String },
    /// The catalog lists the model, but it isn't installed.
    #[error("the model {name} is not on this machine yet")]
    NotInstalled { name: ModelName },
    /// The file of an installed model is missing or differs from its record.
    #[error("{path}, the file of the model {name}, {problem}", path = path.display())]
    Changed { name: ModelName, path: PathBuf, problem: &'static str },
    /// No model name can be derived from a file name.
    #[error("no model name can be made of {given:?}")]
    Unnamed { given: String },
    /// The name is already used by another model.
    #[error("the name {name} is taken by the model from {by}")]
    Taken { name: ModelName, by: String },
    /// Another process is downloading the same model.
    #[error("another artoo is downloading the model {name} right now")]
    Busy { name: ModelName },
    /// The file is not a usable GGUF model.
    #[error("{shown} is not a usable model file: {source}")]
    NotModel {
        shown: String,
        #[source]
        source: GgufError,
    },
    /// The URL is invalid, or downloads from it are not allowed.
    #[error("the URL {shown} can't be used: {problem}")]
    Url { shown: String, problem: &'static str },
    /// The host can't be reached, or the connection failed too often.
    #[error("the download from {host} failed: {problem}")]
    Connection { host: String, problem: String },
    /// The host answered with something other than the expected file.
    #[error("{shown} {problem}")]
    Response { shown: String, problem: String },
    /// A download has the wrong content and was deleted.
    #[error("the download from {shown} has the SHA-256 {actual}, expected {expected}; it was deleted")]
    Corrupt { shown: String, expected: Checksum, actual: Checksum },
    /// The checksum given by the user contradicts a local file or the catalog.
    #[error("{shown} has the SHA-256 {actual}, expected {expected}")]
    Checksum { shown: String, expected: Checksum, actual: Checksum },
    /// The disk has too little free space.
    #[error("not enough space on the disk of {path}: {needed} bytes needed with the reserve, {free} free", path = path.display())]
    NoSpace { path: PathBuf, needed: u64, free: u64 },
    /// The HTTP client can't be built, or a background task was lost.
    #[error("{0}")]
    Client(String),
}

impl FilesError {
    /// Converts an I/O error on `path` to `FilesError::Io`.
    pub(super) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }
}
