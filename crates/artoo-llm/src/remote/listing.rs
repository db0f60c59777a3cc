//! What an endpoint lists: models, and what it says about them.

use serde_json::Value;

use super::trouble::Trouble;

/// Models kept of a list: a person chooses from it; routers list several hundred.
const MODELS_MAX: usize = 1_000;

/// Where servers write how large a model's context is: vLLM, OpenRouter, Groq, LM Studio, llama.cpp.
const CONTEXT_POINTERS: [&str; 5] =
    ["/max_model_len", "/context_length", "/context_window", "/max_context_length", "/meta/n_ctx"];

/// Where Ollama, and nobody else, tells its version.
pub(super) const OLLAMA_VERSION: &str = "/api/version";

/// A model as its endpoint lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The endpoint's name for it.
    pub name: String,
    /// Tokens of its context, where the list tells.
    pub context_tokens: Option<u64>,
}

/// The models in an answer.
pub(super) fn models(answer: &Value) -> Result<Vec<Listed>, Trouble> {
    let Some(entries) = answer.get("data").and_then(Value::as_array) else {
        let text = answer.to_string().chars().take(1000).collect();
        return Err(Trouble::Unreadable { detail: "this is no list of models".to_owned(), text });
    };
    let listed = |entry: &Value| {
        let name = entry.get("id")?.as_str()?.to_owned();
        let context_tokens = CONTEXT_POINTERS.iter().find_map(|pointer| entry.pointer(pointer)?.as_u64());
        Some(Listed { name, context_tokens })
    };
    Ok(entries.iter().filter_map(listed).take(MODELS_MAX).collect())
}
