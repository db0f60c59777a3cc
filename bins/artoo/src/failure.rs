//! Errors that end the program: a message, an exit code and a remedy.

use std::error::Error;
use std::fmt::Display;
use std::io;
use std::path::Path;

use artoo_roles::runtime::RuntimeError;

use crate::exit::Exit;

/// An error that ends the program or a command of its prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The error with its causes, in one line.
    pub(crate) message: String,
    /// The exit code that the error leads to.
    pub(crate) exit: Exit,
    /// What the user can do about the error; `None` if there is nothing to add to the message.
    pub(crate) remedy: Option<&'static str>,
}

impl Failure {
    /// An error with this exit code and message, without a remedy.
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { message: message.into(), exit, remedy: None }
    }

    /// An error in the command line, in the configuration, or in a file or value that they name; exit code 2.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// An error with this exit code from a library's error; the causes are appended to the message.
    pub(crate) fn from_error(exit: Exit, error: &dyn Error) -> Self {
        let text = error.to_string();
        Self { message: error.source().map_or(text.clone(), |cause| with_causes(text, cause)), exit, remedy: None }
    }

    /// The error for a variable, or a line of the configuration file, that is not valid.
    pub(crate) fn variable(name: impl Display, problem: impl Display) -> Self {
        Self::usage(format!("{name} can't be used: {problem}"))
    }

    /// The error for a file that can't be written.
    pub(crate) fn not_written(path: &Path, cause: &io::Error) -> Self {
        let message = format!("{} can't be written", path.display());
        Self::usage(message).caused_by(cause).with_remedy("make that folder one you can write to")
    }

    /// The error for an answer that can't be written to the file of `--output`.
    pub(crate) fn output(path: &Path, cause: &io::Error) -> Self {
        Self::new(Exit::Unwritten, format!("the answer can't be written to {}", path.display()))
            .caused_by(cause)
            .with_remedy("name a file in a folder that you can write to; what was done stays done")
    }

    /// The error for a thread, the async runtime or a signal handler that the operating system refused.
    pub(crate) fn system(cause: &io::Error) -> Self {
        Self::new(Exit::Internal, "the system refused a thread or a signal handler").caused_by(cause)
    }

    /// The error for standard input that can't be read as text.
    pub(crate) fn unreadable_input(cause: &io::Error) -> Self {
        let message = "the request can't be read from standard input";
        Self::usage(message).caused_by(cause).with_remedy("a request is text in UTF-8")
    }

    /// Appends the message of a cause, and those of its own causes, to the message.
    pub(crate) fn caused_by(mut self, cause: &(dyn Error + 'static)) -> Self {
        self.message = with_causes(self.message, cause);
        self
    }

    pub(crate) fn with_remedy(mut self, remedy: impl Into<Option<&'static str>>) -> Self {
        self.remedy = remedy.into();
        self
    }
}

/// A text followed by the messages of an error and its causes; messages that the text already holds are left out.
fn with_causes(mut text: String, cause: &(dyn Error + 'static)) -> String {
    let mut next = Some(cause);
    while let Some(error) = next {
        let words = error.to_string();
        if !text.contains(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
        next = error.source();
    }
    text
}

impl From<RuntimeError> for Failure {
    fn from(error: RuntimeError) -> Self {
        let (exit, remedy) = match &error {
            RuntimeError::Environment(_) | RuntimeError::DataDir { .. } => (Exit::Usage, None),
            RuntimeError::DiskFull { .. } => {
                (Exit::Internal, Some("make room there, or choose a folder on another disk with --data-dir"))
            }
            RuntimeError::Audit(_) => {
                (Exit::Internal, Some("see artoo audit; or choose another folder with --data-dir"))
            }
            RuntimeError::Memory(_) | RuntimeError::Stopped => (Exit::Internal, None),
        };
        Self::from_error(exit, &error).with_remedy(remedy)
    }
}
