//! A model for tests whose answers are computed by a closure.

use std::sync::Mutex;

use artoo_proto::{ModelFailure, ModelReply, ModelRequest, ReplyBody, Usage};
use async_trait::async_trait;
use serde_json::Value;

use crate::{Model, reader, usage};

/// The scripted answer to one request.
#[derive(Debug, Clone, PartialEq)]
pub enum Script {
    /// Answers with this value, whether or not it fits the schema.
    Json(Value),
    /// Answers with this text, parsed by the strict reader.
    Text(String),
    /// Answers with this body, such as recipes or an abstention.
    Body(ReplyBody),
    Fail(ModelFailure),
    /// Never answers, for tests of deadlines and cancellation.
    Never,
}

/// The closure that computes the scripted answer to a model request.
type Author = dyn Fn(&ModelRequest) -> Script + Send + Sync;

/// A test model whose answers are computed by a closure, and which records its requests. Only JSON answers have
/// costs.
pub struct Scripted {
    author: Box<Author>,
    name: String,
    // Locked for a push or a clone only, never across an await.
    seen: Mutex<Vec<ModelRequest>>,
}

impl Scripted {
    /// Creates a model that answers with the result of `author`.
    #[must_use]
    pub fn new(author: impl Fn(&ModelRequest) -> Script + Send + Sync + 'static) -> Self {
        Self { author: Box::new(author), name: "scripted".to_owned(), seen: Mutex::new(Vec::new()) }
    }

    /// Sets the name that the scripted model reports.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// All requests so far, in order of arrival.
    #[must_use]
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.seen.lock().map(|seen| seen.clone()).unwrap_or_default()
    }
}

#[async_trait]
impl Model for Scripted {
    fn name(&self) -> String {
        self.name.clone()
    }

    async fn ask(&self, request: &ModelRequest) -> Result<ModelReply, ModelFailure> {
        if let Ok(mut seen) = self.seen.lock() {
            seen.push(request.clone());
        }
        let (body, written) = match (self.author)(request) {
            Script::Json(value) | Script::Body(ReplyBody::Json { value }) => {
                let written = value.to_string();
                (ReplyBody::Json { value }, written)
            }
            Script::Text(text) => match reader::read(&text, &request.schema) {
                Ok(value) => (ReplyBody::Json { value }, text),
                Err(error) => return Err(error.into_failure(&text)),
            },
            Script::Body(body) => (body, String::new()),
            Script::Fail(failure) => return Err(failure),
            Script::Never => std::future::pending().await,
        };
        let usage = match &body {
            ReplyBody::Json { .. } => {
                usage::of_call(usage::Counts::default(), usage::prompt_tokens(request), written.chars().count())
            }
            ReplyBody::Recipes { .. } | ReplyBody::Abstain { .. } => Usage::default(),
        };
        Ok(ModelReply { body, usage, model: self.name.clone() })
    }
}
