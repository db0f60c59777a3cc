//! Parsing of an endpoint's list of models.

use serde_json::Value;

use super::try_failure::TryFailure;

/// Maximum number of models read from an endpoint's list: routers have several hundred.
const MODELS_MAX: usize = 1_000;

/// JSON pointers in a list entry to the model's context size, as different servers name it.
const CONTEXT_POINTERS: [&str; 5] =
    ["/max_model_len", "/context_length", "/context_window", "/max_context_length", "/meta/n_ctx"];

/// URL path of Ollama's version, by which Ollama is recognised; no other server has it.
pub(super) const OLLAMA_VERSION: &str = "/api/version";

/// A model in an endpoint's list: its name, and its context size if reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    pub name: String,
    /// Context size in tokens, if the list contains it.
    pub context_tokens: Option<u64>,
}

/// Parses an endpoint's list of models, at most [`MODELS_MAX`]; entries without a name are left out. An error if it is
/// not a list.
pub(super) fn models(answer: &Value) -> Result<Vec<Listed>, TryFailure> {
    let Some(entries) = answer.get("data").and_then(Value::as_array) else {
        let text = answer.to_string().chars().take(1000).collect();
        return Err(TryFailure::Unreadable { detail: "the response is not a list of models".to_owned(), text });
    };
    let listed = |entry: &Value| {
        let name = entry.get("id")?.as_str()?.to_owned();
        let context_tokens = CONTEXT_POINTERS.iter().find_map(|pointer| entry.pointer(pointer)?.as_u64());
        Some(Listed { name, context_tokens })
    };
    Ok(entries.iter().filter_map(listed).take(MODELS_MAX).collect())
}
