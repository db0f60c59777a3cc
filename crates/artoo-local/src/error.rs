//! Why a model file can't be run, each with what to do about it.

use std::io;
use std::path::PathBuf;

/// Why a model file can't be run.
#[derive(Debug, thiserror::Error)]
pub enum LocalError {
    /// No such file.
    #[error("there is no model file {}; `artoo model list` shows which there are", path.display())]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// It can't be read.
    #[error("the model file {} can't be read; check its permissions", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It is something else than a model in the GGUF format.
    #[error("{} is no model file in the GGUF format: {problem}; give one whose name ends in .gguf", path.display())]
    NotGguf {
        /// The file.
        path: PathBuf,
        /// How that was seen.
        problem: &'static str,
    },
    /// llama.cpp does not take it.
    #[error(
        "the model file {} can't be loaded: it is damaged, cut short or of a kind that is not known here; fetch it again, \
         compare its sha256, or see ARTOO_LOG=error",
        path.display()
    )]
    Refused {
        /// The file.
        path: PathBuf,
    },
    /// No memory for its context.
    #[error("no context of {tokens} tokens can be had for {}; ask for fewer, or take a smaller model", path.display())]
    NoContext {
        /// The file.
        path: PathBuf,
        /// How many tokens were asked for.
        tokens: u32,
    },
    /// Its tokens can't be put to use.
    #[error("the vocabulary of {} can't be used: {problem}; take another model", path.display())]
    Vocabulary {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// Its chat template can't be used.
    #[error("the chat template of {} can't be used: {problem}; take another model", path.display())]
    Template {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// The program was compiled for a newer processor.
    #[error(
        "model files need a processor with {missing}, for which this program was compiled; compile it for this machine \
         (docs/models.md), or use a model behind HTTP"
    )]
    Processor {
        /// What it lacks.
        missing: &'static str,
    },
    /// No thread could be started.
    #[error("no thread could be started for the model")]
    NoThread {
        /// What the system says.
        source: io::Error,
    },
    /// llama.cpp can't be started.
    #[error("llama.cpp can't be started: {problem}")]
    NoBackend {
        /// What it says.
        problem: String,
    },
    /// The model's thread has ended.
    #[error("the model has stopped; start artoo again, and see ARTOO_LOG=error")]
    Stopped,
}
