//! The weak model run from a model file inside the test process, instead of a server.

use std::future::Future;
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Mutex;

use artoo_llm::{Shared, reader, structured};
use artoo_local::{Local, LocalConfig, Written};
use artoo_proto::{ModelFailure, Prompt};
use serde_json::{Value, json};

use super::writer::LOOK_EVERY;

/// Environment variable with the path of the model file.
const MODEL: &str = "ARTOO_LOCAL_MODEL";

/// Length of the context in tokens: the longest prompt of these tasks with its reply.
const CONTEXT_TOKENS: Option<NonZeroU32> = NonZeroU32::new(8_192);

/// A model file loaded to play the weak model, on one thread.
pub(super) struct ModelFile {
    engine: Local,
    misfits: Mutex<Vec<String>>,
}

impl ModelFile {
    /// Loads the model file that the environment variable names; `None` if it is not set.
    pub(super) fn from_environment() -> Option<Self> {
        let path = std::env::var_os(MODEL).filter(|path| !path.is_empty())?;
        let config =
            LocalConfig { context_tokens: CONTEXT_TOKENS, threads: Some(NonZeroU32::MIN), ..LocalConfig::new(path) };
        Some(Self { engine: Local::new(config, &Shared::default()).unwrap(), misfits: Mutex::default() })
    }

    /// The model's HTTP status and reply to a Chat Completions request; `None` if the task ended meanwhile.
    pub(super) fn ask(&self, body: &Value, is_over: &dyn Fn() -> bool) -> std::io::Result<Option<(u16, Value)>> {
        let schema = &body["response_format"]["json_schema"]["schema"];
        let prompt = prompt_of(body, schema);
        let max_tokens = body["max_tokens"].as_u64().and_then(|most| u32::try_from(most).ok()).unwrap();
        let waits = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
        let written = waits.block_on(unless_over(self.engine.write(&prompt, Some(schema), max_tokens), is_over));
        match written {
            None => Ok(None),
            Some(Ok(written)) => {
                self.check(&written, schema);
                Ok(Some((200, answer(&written))))
            }
            Some(Err(ModelFailure::DoesNotFit { needed, room })) => {
                let message = format!("exceed_context_size_error: {needed} of {room} tokens");
                Ok(Some((400, json!({"error": {"message": message, "code": 400}}))))
            }
            Some(Err(failure)) => Err(std::io::Error::other(failure.to_string())),
        }
    }

    /// Checks that a finished reply conforms to its schema; a reply that does not is stored as a misfit.
    fn check(&self, written: &Written, schema: &Value) {
        let read = reader::read(&written.text, schema);
        if let Some(error) = read.err().filter(|_| !written.is_cut) {
            self.misfits.lock().unwrap().push(format!("{error}: {}\n{schema}", written.text));
        }
    }

    /// The path of the model file.
    pub(super) fn path(&self) -> &Path {
        &self.engine.config().path
    }

    /// Errors and texts of the finished replies that did not conform to their schema.
    pub(super) fn misfits(&self) -> Vec<String> {
        self.misfits.lock().unwrap().clone()
    }
}

/// The engine's prompt made from the messages of a Chat Completions request; the engine adds the schema itself.
fn prompt_of(body: &Value, schema: &Value) -> Prompt {
    let content = |role: &str| {
        let of_role = body["messages"].as_array().unwrap().iter().find(|message| message["role"] == role);
        of_role.and_then(|message| message["content"].as_str()).unwrap_or_default().to_owned()
    };
    let (system, user) = (content("system"), content("user"));
    let user = user
        .strip_suffix(&structured::asked_for(&artoo_proto::shape(schema)))
        .map_or(user.as_str(), str::trim_end)
        .to_owned();
    Prompt { system, user }
}

/// The result of a future; `None` if `is_over` becomes true first.
async fn unless_over<T>(answer: impl Future<Output = T>, is_over: &dyn Fn() -> bool) -> Option<T> {
    let mut answer = std::pin::pin!(answer);
    while !is_over() {
        if let Ok(answer) = tokio::time::timeout(LOOK_EVERY, &mut answer).await {
            return Some(answer);
        }
    }
    None
}

/// The Chat Completions response with the text that the model wrote.
fn answer(written: &Written) -> Value {
    let reason = if written.is_cut { "length" } else { "stop" };
    json!({
        "object": "chat.completion",
        "model": "weak",
        "choices": [{"index": 0, "finish_reason": reason,
                     "message": {"role": "assistant", "content": written.text}}],
        "usage": {"prompt_tokens": written.usage.prompt_tokens, "completion_tokens": written.usage.completion_tokens}
    })
}
