//! A model file as it is loaded: weights, vocabulary, template, and what a person may want to know of them.

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

/// Kinds of models that read and don't write, by what their names hold.
const READERS: [&str; 4] = ["bert", "t5", "clip", "embedding"];

/// What is known of a loaded model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// What it calls itself, else the file's name.
    pub name: String,
    /// Its kind, in llama.cpp's word.
    pub architecture: String,
    /// How many weights it has.
    pub parameters: u64,
    /// Bytes of its weights.
    pub weight_bytes: u64,
    /// Tokens of context that calls have.
    pub context_tokens: u32,
    /// Tokens of context that it was trained for.
    pub trained_tokens: u32,
    /// Where its chat template comes from.
    pub template: TemplateSource,
    /// Threads that compute.
    pub threads: u32,
    /// What its arithmetic was compiled for.
    pub compiled_for: &'static str,
}

/// Where a chat template comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TemplateSource {
    /// The model file.
    File,
    /// The file has none: `ChatML`, as llama.cpp does it. Such a model may never have been taught to answer.
    ChatMl,
}

/// A loaded model.
pub(crate) struct Runtime {
    pub(crate) backend: &'static LlamaBackend,
    pub(crate) model: Arc<LlamaModel>,
    pub(crate) vocabulary: Arc<Vocabulary>,
    pub(crate) constraints: Constraints,
    pub(crate) template: Template,
    pub(crate) facts: Facts,
}

impl Runtime {
    /// Loads the file; `ending` gives that up.
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

/// llama.cpp itself, started once in a process and silent but for the log.
fn backend() -> Result<&'static LlamaBackend, LocalError> {
    static BACKEND: OnceLock<Result<LlamaBackend, String>> = OnceLock::new();
    let started = BACKEND.get_or_init(|| {
        send_logs_to_tracing(LogOptions::default());
        LlamaBackend::init().map_err(|error| error.to_string())
    });
    started.as_ref().map_err(|problem| LocalError::NoBackend { problem: problem.clone() })
}

fn writes(model: &LlamaModel, architecture: &str) -> bool {
    let looks_ahead = model.meta_val_str(&format!("{architecture}.attention.causal")).is_ok_and(|it| it == "false");
    !looks_ahead && !READERS.iter().any(|kind| architecture.contains(kind))
}

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
