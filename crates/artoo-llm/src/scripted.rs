//! A model for tests: a closure decides what each request is answered with, and every request is kept.

use std::sync::Mutex;

use artoo_proto::{ModelFailure, ModelReply, ModelRequest, ReplyBody, Usage};
use async_trait::async_trait;
use serde_json::Value;

use crate::{Model, reader, usage};

/// What a request is answered with.
#[derive(Debug, Clone, PartialEq)]
pub enum Script {
    /// This value as it is, fitting or not.
    Json(Value),
    /// This text, through the strict reader with the request's schema, as a language model's would go.
    Text(String),
    /// This body: recipes or an abstention, say.
    Body(ReplyBody),
    /// This failure.
    Fail(ModelFailure),
    /// Nothing, for ever: for deadlines and cancellation.
    Never,
}

type Author = dyn Fn(&ModelRequest) -> Script + Send + Sync;

/// A model whose answers a closure writes. A JSON answer costs one model call and estimated tokens, any other nothing,
/// as with the parser that gives those.
pub struct Scripted {
    author: Box<Author>,
    name: String,
    // Held for a push or a clone only, never across a wait.
    seen: Mutex<Vec<ModelRequest>>,
}

impl Scripted {
    /// A model that answers with what `author` returns.
    #[must_use]
    pub fn new(author: impl Fn(&ModelRequest) -> Script + Send + Sync + 'static) -> Self {
        Self { author: Box::new(author), name: "scripted".to_owned(), seen: Mutex::new(Vec::new()) }
    }

    /// The same under another name.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// Every request so far, in order of arrival.
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
