//! The weak model for the tests: a server, or a model file in the test process.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use super::relay::Relay;
use crate::server::Reply;
use crate::world::World;

/// Interval at which a waiting model request checks whether its task has ended.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Access to the weak model for one task, with the number of tokens that it wrote.
#[derive(Clone)]
pub(super) struct WeakModel {
    source: Source,
    over: Arc<AtomicBool>,
    tokens: Arc<AtomicU64>,
}

/// Where the weak model runs: on a server, or in this process from a model file.
#[derive(Clone)]
enum Source {
    Server(Relay),
    #[cfg(feature = "local-llm")]
    File(Arc<super::file::ModelFile>),
}

impl WeakModel {
    /// The weak model that the environment variables name; `None` if none is set.
    pub(super) fn from_environment() -> Option<Self> {
        Some(Self { source: Source::from_environment()?, over: Arc::default(), tokens: Arc::default() })
    }

    /// Access to the same weak model for the next task, with counters at zero.
    pub(super) fn for_next_task(&self) -> Self {
        Self { source: self.source.clone(), over: Arc::default(), tokens: Arc::default() }
    }

    /// Cancels the task's open model requests, so that the model is free for the next task.
    pub(super) fn end(&self) {
        self.over.store(true, Ordering::SeqCst);
    }

    /// Number of tokens that the model wrote for this task.
    pub(super) fn tokens(&self) -> u64 {
        self.tokens.load(Ordering::SeqCst)
    }

    /// Errors and texts of the finished replies that did not conform to their schema; empty for a server.
    pub(super) fn misfits(&self) -> Vec<String> {
        match &self.source {
            Source::Server(_) => Vec::new(),
            #[cfg(feature = "local-llm")]
            Source::File(file) => file.misfits(),
        }
    }

    /// Path of the model file, if the weak model is one and artoo itself can run it; otherwise `None`.
    pub(super) fn file_of_program(&self) -> Option<PathBuf> {
        match &self.source {
            Source::Server(_) => None,
            #[cfg(feature = "local-llm")]
            Source::File(file) => Some(file.path().to_owned()),
        }
    }

    /// The weak model's reply to a Chat Completions request, as a reply of the test server.
    pub(super) fn ask(&self, body: &Value) -> Reply {
        let is_over = || self.over.load(Ordering::SeqCst);
        let answered = match &self.source {
            Source::Server(relay) => relay.ask(body, &is_over),
            #[cfg(feature = "local-llm")]
            Source::File(file) => file.ask(body, &is_over),
        };
        match answered {
            Ok(Some((status, answer))) => {
                let written = answer["usage"]["completion_tokens"].as_u64().unwrap_or(0);
                self.tokens.fetch_add(written, Ordering::SeqCst);
                Reply::Status(status, answer)
            }
            Ok(None) => Reply::Silence,
            Err(error) => Reply::Status(503, json!({"error": {"message": format!("the weak model: {error}")}})),
        }
    }
}

/// The command that runs artoo with this model file in every role, on one thread.
pub(super) fn program_with(file: &Path, world: &World, arguments: &[&str]) -> Command {
    let model = format!("file:{}", file.display());
    let mut command = world.command(&["--model", &model]);
    command
        .args(arguments)
        .env("ARTOO_REFLEX_FIRST", "false")
        .env("ARTOO_THREADS", "1")
        .env("ARTOO_CONTEXT_TOKENS", "8192");
    command
}

impl Source {
    /// Finds the model file or server that the environment variables name; `None` if none is set.
    #[cfg(feature = "local-llm")]
    fn from_environment() -> Option<Self> {
        let file = super::file::ModelFile::from_environment().map(|file| Self::File(Arc::new(file)));
        file.or_else(|| Relay::from_environment().map(Self::Server))
    }

    /// Finds the server that the environment variable names; `None` if it is not set. This build can't run model files.
    #[cfg(not(feature = "local-llm"))]
    fn from_environment() -> Option<Self> {
        Relay::from_environment().map(Self::Server)
    }
}
