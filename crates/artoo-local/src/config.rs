//! How a model file is to be run.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

/// Tokens of context where none are asked for: the roles' longest prompts with their replies fit, and a model of a few
/// billion parameters still fits an ordinary machine's memory with it.
#[doc(alias = "limit")]
pub(crate) const CONTEXT_TOKENS: u32 = 16_384;

/// How long one call may take, waiting for its turn apart: a slow machine writes the longest reply within it.
#[doc(alias = "limit")]
const TOTAL_DEADLINE: Duration = Duration::from_secs(600);

/// Threads that compute where none are asked for, at most: beyond it memory is what a reply waits for.
#[doc(alias = "limit")]
const THREADS_MAX: u32 = 4;

/// Memory for the states of evaluated beginnings, in bytes: one of every role's, with a model of a few billion
/// parameters.
const PREFIX_BYTES: usize = 1 << 30;

/// How a model file is to be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalConfig {
    /// The GGUF file.
    pub path: PathBuf,
    /// Tokens of context, prompt and reply together; `None`: 16,384. Never more than the model was trained for.
    pub context_tokens: Option<NonZeroU32>,
    /// Threads that compute; `None`: one less than the machine has, at least one, at most four. Threads wait for each
    /// other at every step, so one too many on a busy machine makes all of them slow.
    pub threads: Option<NonZeroU32>,
    /// How long one call may take, waiting for its turn apart.
    pub total_deadline: Duration,
    /// Memory for the states of evaluated beginnings, in bytes; 0 keeps none.
    pub prefix_bytes: usize,
}

impl LocalConfig {
    /// Defaults for a file.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            context_tokens: None,
            threads: None,
            total_deadline: TOTAL_DEADLINE,
            prefix_bytes: PREFIX_BYTES,
        }
    }

    /// The file's name without its ending, as people call the model.
    #[must_use]
    pub fn model_name(&self) -> String {
        self.path.file_stem().map_or_else(|| "model".to_owned(), |stem| stem.to_string_lossy().into_owned())
    }

    pub(crate) fn threads_used(&self) -> NonZeroU32 {
        self.threads.unwrap_or_else(|| {
            let there = std::thread::available_parallelism().map_or(1, usize::from);
            let spared = u32::try_from(there.saturating_sub(1)).unwrap_or(THREADS_MAX).min(THREADS_MAX);
            NonZeroU32::new(spared).unwrap_or(NonZeroU32::MIN)
        })
    }
}
