//! Errors of model files that can't be run, each with a remedy.

use std::io;
use std::path::PathBuf;

/// Why a model file can't be run.
#[derive(Debug, thiserror::Error)]
pub enum LocalError {
    /// There is no file at the path.
    #[error("there is no model file {}; `artoo model list` shows which there are", path.display())]
    Missing {
        /// Path of the missing file.
        path: PathBuf,
    },
    /// The file can't be read.
    #[error("the model file {} can't be read; check its permissions", path.display())]
    Unreadable {
        /// Path of the file that can't be read.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The path is not valid UTF-8, or not that of a regular file with a model in the GGUF format.
    #[error("{} is not a model file in the GGUF format: {problem}; use a .gguf file", path.display())]
    NotGguf {
        /// Path of the file that is not a GGUF model.
        path: PathBuf,
        /// What is wrong with the file.
        problem: &'static str,
    },
    /// llama.cpp can't load the file.
    #[error(
        "the model file {} can't be loaded: it is damaged, truncated or of an unknown architecture; fetch it again, \
         compare its SHA-256, or see ARTOO_LOG=error",
        path.display()
    )]
    Refused {
        /// Path of the file that can't be loaded.
        path: PathBuf,
    },
    /// There is not enough memory for the model's context.
    #[error("not enough memory for {tokens} tokens of context with {}; set fewer, or use a smaller model", path.display())]
    NoContext {
        /// Path of the model file.
        path: PathBuf,
        /// Number of tokens of context that were requested.
        tokens: u32,
    },
    /// The model only reads text, or its tokens can't be used.
    #[error("the vocabulary of {} can't be used: {problem}; use another model", path.display())]
    Vocabulary {
        /// Path of the model file.
        path: PathBuf,
        /// Why the model or its tokens can't be used.
        problem: String,
    },
    /// The chat template of the model can't be used.
    #[error("the chat template of {} can't be used: {problem}; use another model", path.display())]
    Template {
        /// Path of the model file.
        path: PathBuf,
        /// What is wrong with the template.
        problem: String,
    },
    /// The program was compiled for a newer processor than this one.
    #[error(
        "model files need a processor with {missing}, for which this program was compiled; compile it for this machine \
         (docs/models.md), or use a model behind HTTP"
    )]
    Processor {
        /// The feature that the processor lacks.
        missing: &'static str,
    },
    /// No thread could be started for the model.
    #[error("no thread could be started for the model")]
    NoThread {
        /// The error of the system.
        source: io::Error,
    },
    /// llama.cpp can't be started.
    #[error("llama.cpp can't be started: {problem}")]
    NoBackend {
        /// The message of llama.cpp.
        problem: String,
    },
    /// The model's thread has ended, or panicked while it served the call.
    #[error("the model has stopped; start artoo again, and see ARTOO_LOG=error")]
    Stopped,
}
