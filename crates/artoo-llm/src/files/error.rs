//! What can keep a model file from being had, with what a person needs to know about it.

use std::io;
use std::path::PathBuf;

use super::gguf::GgufError;
use super::name::ModelName;
use super::sum::Sum;

/// Why a model file can't be had. No text here holds a query, a user or a password of an address.
#[derive(Debug, thiserror::Error)]
pub enum FilesError {
    /// A file or folder can't be used.
    #[error("{path} can't be used", path = path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The folder, or one in it, is not this user's alone.
    #[error("{path} {problem}", path = path.display())]
    NotPrivate {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// What is recorded of a file can't be read.
    #[error("what is recorded in {path} can't be read: {problem}", path = path.display())]
    Record {
        /// Which record.
        path: PathBuf,
        /// Why.
        problem: String,
    },
    /// There is no model of this name.
    #[error("no model {name:?} is on this machine, and the catalog has none of that name")]
    Unknown {
        /// As it was given.
        name: String,
    },
    /// The catalog has it, and it is not here.
    #[error("the model {name} is not on this machine yet")]
    NotPulled {
        /// Which.
        name: ModelName,
    },
    /// It was there.
    #[error("{path}, the file of the model {name}, is gone", path = path.display())]
    Gone {
        /// Which model.
        name: ModelName,
        /// Where it was.
        path: PathBuf,
    },
    /// Its size or time of change is another than recorded.
    #[error("{path}, the file of the model {name}, has changed since it was recorded", path = path.display())]
    Changed {
        /// Which model.
        name: ModelName,
        /// Where it lies.
        path: PathBuf,
    },
    /// No name can be made of what was given.
    #[error("no name can be made of {given:?}")]
    Nameless {
        /// As it was given.
        given: String,
    },
    /// The name is another model's.
    #[error("the name {name} is taken by the model from {by}")]
    Taken {
        /// The name.
        name: ModelName,
        /// Where that one came from.
        by: String,
    },
    /// Somebody else is fetching it.
    #[error("another artoo is fetching the model {name} right now")]
    Busy {
        /// Which.
        name: ModelName,
    },
    /// It is no usable model.
    #[error("{shown} is no model that can be used: {source}")]
    NoModel {
        /// Path or address.
        shown: String,
        /// Why.
        #[source]
        source: GgufError,
    },
    /// An address that is not taken.
    #[error("the address {shown} can't be used: {problem}")]
    Address {
        /// Without query, user and password.
        shown: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// No connection, or not for long enough.
    #[error("{host} can't be reached or does not go on: {detail}")]
    Connection {
        /// Whom.
        host: String,
        /// In words.
        detail: String,
    },
    /// A host that wants to be left alone for longer than is waited.
    #[error("{why}, and asks to be tried again in {seconds} s")]
    AskedToWait {
        /// Its answer.
        why: String,
        /// How long.
        seconds: u64,
    },
    /// An answer, or an archive, that is not the file it should be.
    #[error("{shown} {problem}")]
    Answer {
        /// The address, or the path of the archive.
        shown: String,
        /// What is wrong, as a verb and what follows.
        problem: String,
    },
    /// More came, or would come, than was announced or may be.
    #[error("{shown} gives more than {most} bytes")]
    TooLarge {
        /// The address.
        shown: String,
        /// The bound.
        most: u64,
    },
    /// It is not what it was to be. What came has been deleted.
    #[error("what came from {shown} has the sha256 {found}, and {who} has {expected}; it was deleted")]
    WrongSum {
        /// Where from.
        shown: String,
        /// What it should be.
        expected: Sum,
        /// What it is.
        found: Sum,
        /// Who says so.
        who: &'static str,
    },
    /// The catalog says another sum than the user.
    #[error("the catalog says {catalog} for {name}, and you gave {given}")]
    TwoSums {
        /// Which model.
        name: ModelName,
        /// The catalog's.
        catalog: Sum,
        /// The user's.
        given: Sum,
    },
    /// A file of a local path is not what it was to be.
    #[error("{path} has the sha256 {found}, not {expected}", path = path.display())]
    OtherSum {
        /// The file.
        path: PathBuf,
        /// What it should be.
        expected: Sum,
        /// What it is.
        found: Sum,
    },
    /// The disk has too little room.
    #[error("{needed} bytes are needed on the disk of {path}, some of them to keep it usable, and {free} are free", path = path.display())]
    NoRoom {
        /// Where.
        path: PathBuf,
        /// With what is kept free.
        needed: u64,
        /// As the system says.
        free: u64,
    },
    /// The package index does not have it.
    #[error("{shown} does not list {file}")]
    NotListed {
        /// The index's page.
        shown: String,
        /// The file.
        file: String,
    },
    /// The HTTP client can't be built.
    #[error("{0}")]
    Client(String),
}

impl FilesError {
    pub(super) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }
}
