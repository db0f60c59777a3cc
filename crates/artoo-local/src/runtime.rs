//! A loaded model file: weights, vocabulary, chat template, and facts about the model to show to the user.

use std::path::Path;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::model::params::LlamaModelParams;
use llama_cpp_2::{LogOptions, send_logs_to_tracing};

use crate::config::CONTEXT_TOKENS;
use crate::constraint::Constraints;
use crate::template::Template;
use crate::vocabulary::{Vocabulary, mark};
use crate::{LocalConfig, LocalError, file, processor};

/// Words in the names of model architectures that only read text (embedding models, encoders) and can't write it.
const READERS: [&str; 4] = ["bert", "t5", "clip", "embedding"];

/// Facts about a loaded model, to be shown to the user: name, size, context, template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// The name in the model file's metadata, or the file's name if there is none.
    pub name: String,
    /// The architecture of the model, as llama.cpp calls it, e.g. `llama`.
    pub architecture: String,
    /// Number of parameters (weights) of the model.
    pub parameters: u64,
    /// Size of the weights in bytes.
    pub weight_bytes: u64,
    /// Tokens of context (prompt and reply together) that each call has.
    pub context_tokens: u32,
    /// Tokens of context that the model was trained for.
    pub trained_tokens: u32,
    /// Where the model's chat template comes from.
    pub template: TemplateSource,
    /// Number of threads that compute.
    pub threads: u32,
    /// The processor features that llama.cpp was compiled for, in words.
    pub compiled_for: &'static str,
}

/// Where a chat template comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TemplateSource {
    /// The model file contains the chat template.
    File,
    /// The model file has no chat template, so `ChatML` is used, as llama.cpp does. Such a model may never have been
    /// trained to answer.
    ChatMl,
}

/// A loaded model with all that calls need: vocabulary, constraints and chat template.
pub(crate) struct Runtime {
    pub(crate) backend: &'static LlamaBackend,
    pub(crate) model: Arc<LlamaModel>,
    pub(crate) vocabulary: Arc<Vocabulary>,
    pub(crate) constraints: Constraints,
    pub(crate) template: Template,
    pub(crate) facts: Facts,
}

impl Runtime {
    /// Loads the model file; loading is cancelled when `ending` becomes true.
    pub(crate) fn load(config: &LocalConfig, ending: &Arc<AtomicBool>) -> Result<Self, LocalError> {
        let path = &config.path;
        processor::check()?;
        file::check(path)?;
        let backend = backend()?;
        let ending = Arc::clone(ending);
        let wanted = move |_: f32| !ending.load(Ordering::Relaxed);
        let parameters = Pin::from(Box::new(LlamaModelParams::default().with_progress_callback(wanted)));
        let refused = |_| LocalError::Refused { path: path.clone() };
        let model = Arc::new(LlamaModel::load_from_file(backend, path, &parameters).map_err(refused)?);
        let architecture = model.meta_val_str("general.architecture").unwrap_or_default();
        let unusable = |problem: String| LocalError::Vocabulary { path: path.clone(), problem };
        if !writes(&model, &architecture) {
            return Err(unusable(format!("a model of the kind {architecture} does not write")));
        }
        let vocabulary = Arc::new(Vocabulary::of(&model).map_err(|problem| unusable(problem.to_owned()))?);
        let constraints = Constraints::new(&vocabulary).map_err(unusable)?;
        let (template, source) = template(&model, path)?;
        let trained_tokens = model.n_ctx_train();
        let facts = Facts {
            name: model.meta_val_str("general.name").unwrap_or_else(|_| config.model_name()),
            architecture,
            parameters: model.n_params(),
            weight_bytes: model.size(),
            context_tokens: config.context_tokens.map_or(CONTEXT_TOKENS, u32::from).min(trained_tokens.max(1)),
            trained_tokens,
            template: source,
            threads: config.threads_used().get(),
            compiled_for: processor::compiled_for(),
        };
        tracing::info!(?facts, "model file loaded");
        Ok(Self { backend, model, vocabulary, constraints, template, facts })
    }
}

/// Starts the llama.cpp library, once per process; its messages go to the log only.
fn backend() -> Result<&'static LlamaBackend, LocalError> {
    static BACKEND: OnceLock<Result<LlamaBackend, String>> = OnceLock::new();
    let started = BACKEND.get_or_init(|| {
        send_logs_to_tracing(LogOptions::default());
        LlamaBackend::init().map_err(|error| error.to_string())
    });
    started.as_ref().map_err(|problem| LocalError::NoBackend { problem: problem.clone() })
}

/// Whether the model can write text: its attention looks back only, and its architecture is not one of `READERS`.
fn writes(model: &LlamaModel, architecture: &str) -> bool {
    let looks_ahead = model.meta_val_str(&format!("{architecture}.attention.causal")).is_ok_and(|it| it == "false");
    !looks_ahead && !READERS.iter().any(|kind| architecture.contains(kind))
}

/// Compiles the chat template of the model file, or ChatML if it has none; also returns which of the two it is.
fn template(model: &LlamaModel, path: &Path) -> Result<(Template, TemplateSource), LocalError> {
    let vocabulary = model.vocab();
    let found = model.chat_template(None).ok().and_then(|template| template.to_string().ok());
    let source = if found.is_some() { TemplateSource::File } else { TemplateSource::ChatMl };
    if source == TemplateSource::ChatMl {
        tracing::warn!(path = %path.display(), "the model file has no chat template; ChatML is used");
    }
    let template =
        Template::new(found.as_deref(), mark(&vocabulary, vocabulary.bos()), mark(&vocabulary, vocabulary.eos()));
    let unusable = |error: minijinja::Error| LocalError::Template { path: path.to_owned(), problem: error.to_string() };
    Ok((template.map_err(unusable)?, source))
}
