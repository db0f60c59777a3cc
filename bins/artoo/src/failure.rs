//! What keeps a run from starting or ending as it should, with the exit code and the remedy of each.

use std::error::Error;
use std::path::PathBuf;

use artoo_llm::ConfigError;
use artoo_llm::cassette::CassetteError;
use artoo_llm::files::FilesError;
use artoo_roles::runtime::RuntimeError;
use artoo_tools::evidence::EvidenceProblem;
use artoo_tools::rules::RuleProblem;
use artoo_tools::undo::UndoError;
use rustyline::error::ReadlineError;

use crate::config::ConfigProblem;

use crate::exit::Exit;
use crate::model_files;

/// Why there is no result at all.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// A variable of the environment can't be used.
    #[error("{name} can't be used: {problem}")]
    Variable { name: String, problem: String },
    /// The configuration file can't be taken.
    #[error("the configuration is refused: {source}")]
    Config { source: ConfigProblem },
    /// Setting up asks questions.
    #[error("setup asks questions, and there is no terminal")]
    SetupUnattended,
    /// The configuration can't be written.
    #[error("{path} can't be written", path = path.display())]
    NotWritten {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
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
    /// A model file.
    #[error(transparent)]
    Files {
        #[from]
        source: FilesError,
    },
    /// This program was built without what runs them.
    #[error("this build of artoo can't run model files, so {model} can't answer")]
    NoEngine { model: String },
    /// The engine does not take the file.
    #[cfg(feature = "local-llm")]
    #[error("the model file {given} can't be run")]
    Local {
        given: String,
        #[source]
        source: artoo_local::LocalError,
    },
    /// The path of a model file means something else in every folder.
    #[error("{given:?} is no model file that can be chosen")]
    RelativeFile { given: String },
    /// The recording.
    #[error(transparent)]
    Cassette { source: CassetteError },
    /// The runtime did not start, or was lost.
    #[error(transparent)]
    Runtime { source: RuntimeError },
    /// What was changed can't be brought back.
    #[error(transparent)]
    Undo {
        #[from]
        source: UndoError,
    },
    /// The line editor gave up.
    #[error("the prompt can't go on")]
    Prompt {
        #[source]
        source: ReadlineError,
    },
    /// The request could not be read from a pipe.
    #[error("the request can't be read from standard input")]
    Input {
        #[source]
        source: std::io::Error,
    },
    /// Standard output did not take the answer.
    #[error("standard output did not take the answer, so it is incomplete there")]
    Unwritten {
        #[source]
        source: std::io::Error,
    },
    /// A line that is to be a command and is no JSON string.
    #[error("line {line} of standard input is no JSON string")]
    NoJsonString {
        line: usize,
        #[source]
        source: serde_json::Error,
    },
    /// An option that a prompt has no use for.
    #[error("{option} needs a request")]
    NoRequest { option: &'static str },
    /// A bound that no task of this kind can stay within.
    #[error(
        "{option} leaves {left}, and to get to its end this task needs {needed} free: no call is made whose longest reply \
         could not be paid for"
    )]
    BoundTooLow { option: &'static str, left: String, needed: String },
    /// A bound on money without a price.
    #[error("there is a bound on money, and no price is known for {model}")]
    NoPrice { model: String },
    /// The rules can't be used.
    #[error("the rules can't be used: {source}")]
    Rules { source: RuleProblem },
    /// There is no such rule.
    #[error("no rule {id:?} holds")]
    NoRule { id: String },
    /// The evidence can't be shown.
    #[error(transparent)]
    Evidence { source: EvidenceProblem },
    /// There is none of this name.
    #[error("no evidence {id:?} is kept")]
    NoEvidence { id: String },
    /// The async runtime or its signals.
    #[error("the system refused a thread or a signal handler")]
    System { source: std::io::Error },
}

impl Failure {
    /// The exit code it leads to.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Variable { .. }
            | Self::Config { .. }
            | Self::SetupUnattended
            | Self::NotWritten { .. }
            | Self::Path { .. }
            | Self::RootHome
            | Self::Model { .. }
            | Self::NoEngine { .. }
            | Self::RelativeFile { .. }
            | Self::Cassette { .. }
            | Self::Input { .. }
            | Self::NoJsonString { .. }
            | Self::NoRequest { .. }
            | Self::BoundTooLow { .. }
            | Self::NoPrice { .. }
            | Self::Undo { source: UndoError::Unknown { .. } | UndoError::Ambiguous { .. } }
            | Self::Rules { .. }
            | Self::NoRule { .. }
            | Self::NoEvidence { .. }
            | Self::Runtime { source: RuntimeError::Environment(_) | RuntimeError::DataDir { .. } } => Exit::Usage,
            Self::Undo { source: UndoError::Busy | UndoError::Undone { .. } } => Exit::NotAchieved,
            Self::Runtime {
                source:
                    RuntimeError::DiskFull { .. } | RuntimeError::Audit(_) | RuntimeError::Memory(_) | RuntimeError::Stopped,
            }
            | Self::Prompt { .. }
            | Self::Undo { source: UndoError::Io(_) }
            | Self::Evidence { .. }
            | Self::System { .. } => Exit::Internal,
            Self::Unwritten { .. } => Exit::Unwritten,
            Self::Files { source } => model_files::exit(source),
            #[cfg(feature = "local-llm")]
            Self::Local { .. } => Exit::Usage,
        }
    }

    /// What the user can do, where the message does not say it already.
    pub(crate) fn remedy(&self) -> Option<&'static str> {
        match self {
            Self::Config { source } => Some(source.remedy()),
            Self::SetupUnattended => {
                Some("write the file by hand: artoo config path says where, artoo config keys what")
            }
            Self::NotWritten { .. } => Some("make that folder one you can write to"),
            Self::RootHome => Some("set HOME to your home folder, or give --data-dir and --workspace"),
            Self::Model { source: ConfigError::Missing { name: "OPENAI_MODEL" } } => {
                Some("name the model with --model openai:NAME or OPENAI_MODEL, or use --model reflex")
            }
            Self::Model { source: ConfigError::Missing { name: "OPENAI_API_KEY" } } => {
                Some("set OPENAI_API_KEY, or OPENAI_BASE_URL for an endpoint of your own, or use --model reflex")
            }
            Self::Model { .. } => Some("put OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL right; see artoo doctor"),
            Self::Runtime { source: RuntimeError::DiskFull { .. } } => {
                Some("make room there, or choose a folder on another disk with --data-dir")
            }
            Self::Runtime { source: RuntimeError::Audit(_) } => {
                Some("see artoo audit; or choose another folder with --data-dir")
            }
            Self::Prompt { .. } => Some("give the request on the command line: artoo \"<what you want done>\""),
            Self::NoRequest { .. } => {
                Some("give it on the command line or through a pipe: artoo --json \"<what you want done>\"")
            }
            Self::BoundTooLow { .. } => {
                Some("allow more, or leave the bound out; artoo --estimate \"<what you want done>\" says what it takes")
            }
            Self::NoPrice { .. } => Some("say its price with ARTOO_PRICES, or bound the tokens with --max-tokens"),
            Self::Unwritten { .. } => Some(
                "send it where there is room; what was done stays done, and artoo evidence list names what was read",
            ),
            Self::Input { .. } => Some("a request is text in UTF-8"),
            Self::NoJsonString { .. } => Some("write each command as one JSON string on a line of its own"),
            Self::Undo { source: UndoError::Unknown { .. } | UndoError::Ambiguous { .. } } => {
                Some("artoo undo --list names what can be undone")
            }
            Self::Undo { source: UndoError::Busy } => Some("try again when it is done"),
            Self::Undo { source: UndoError::Undone { .. } } => {
                Some("artoo undo --list names the undo, which can itself be undone")
            }
            Self::Files { source } => model_files::remedy(source),
            #[cfg(feature = "local-llm")]
            Self::Local { .. } => None,
            Self::NoEngine { .. } => Some(
                "build it with them (cargo build --release --features local-llm), or serve the file, with llama.cpp's server say, and give its address",
            ),
            Self::RelativeFile { .. } => {
                Some("give a name that artoo model list shows, or a path that begins with / or ~/")
            }
            Self::NoRule { .. } => Some("artoo rules list shows those that do"),
            Self::NoEvidence { .. } => Some("artoo evidence list shows what there is; it is kept for 30 days"),
            Self::Variable { .. }
            | Self::Undo { source: UndoError::Io(_) }
            | Self::Path { .. }
            | Self::Rules { .. }
            | Self::Evidence { .. }
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
