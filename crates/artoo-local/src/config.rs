//! Settings for running a model file in this process.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

/// Default context size in tokens: enough for the roles' longest prompts with their replies, and little enough memory
/// for an ordinary machine.
#[doc(alias = "limit")]
pub(crate) const CONTEXT_TOKENS: u32 = 16_384;

/// Default time limit of one call, without the wait for its turn: a slow machine writes the longest reply within it.
#[doc(alias = "limit")]
const TOTAL_DEADLINE: Duration = Duration::from_secs(600);

/// Maximum number of computing threads by default: with more, the memory's speed is the limit.
#[doc(alias = "limit")]
const THREADS_MAX: u32 = 4;

/// Default memory for saved states of evaluated prompt beginnings, in bytes: enough for one state of each role.
const PREFIX_BYTES: usize = 1 << 30;

/// Settings for running a model file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalConfig {
    /// Path of the GGUF file.
    pub path: PathBuf,
    /// Tokens of context, prompt and reply together; `None`: 16,384. Never more than the model was trained for.
    pub context_tokens: Option<NonZeroU32>,
    /// Number of threads that compute; `None`: one less than the machine has, at least one, at most four. Threads wait
    /// for each other at every step, so one thread too many on a busy machine slows all of them down.
    pub threads: Option<NonZeroU32>,
    /// Time limit for one call, without the wait for its turn.
    pub total_deadline: Duration,
    /// Memory for saved states of evaluated prompt beginnings, in bytes; 0 saves none.
    pub prefix_bytes: usize,
}

impl LocalConfig {
    /// Default settings for a model file.
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

    /// The file's name without its extension, used as the name of the model.
    #[must_use]
    pub fn model_name(&self) -> String {
        self.path.file_stem().map_or_else(|| "model".to_owned(), |stem| stem.to_string_lossy().into_owned())
    }

    /// The number of threads that compute: as configured, or the default for this machine.
    pub(crate) fn threads_used(&self) -> NonZeroU32 {
        self.threads.unwrap_or_else(|| {
            let there = std::thread::available_parallelism().map_or(1, usize::from);
            let spared = u32::try_from(there.saturating_sub(1)).unwrap_or(THREADS_MAX).min(THREADS_MAX);
            NonZeroU32::new(spared).unwrap_or(NonZeroU32::MIN)
        })
    }
}
