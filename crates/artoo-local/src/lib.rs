//! A language model from a file, run in this process: [`Local`] loads a GGUF file with llama.cpp and answers requests.
//!
//! *Is*: the [`artoo_llm::Model`] for a file on disk. One thread owns llama.cpp's context; requests are passed to the
//! thread one at a time. A reply is written token by token under its schema, and then parsed strictly like any other
//! reply.
//! *Is not*: a download, a catalog or a choice of models; a server; a sampler: the likeliest token is taken, so that
//! the same prompt gives the same reply, whatever requests came before.
//! *Must not know*: the state of roles, tools, memory, the bus, the configuration file.
//!
//! ```no_run
//! use artoo_llm::Shared;
//! use artoo_local::{Local, LocalConfig};
//! let model = Local::new(LocalConfig::new("SmolLM2-135M-Instruct.Q4_1.gguf"), &Shared::default())?;
//! let facts = model.load()?; // now, instead of with the first request
//! println!("{}: {} tokens of context", facts.name, facts.context_tokens);
//! # Ok::<(), artoo_local::LocalError>(())
//! ```

mod bounds;
mod config;
mod constraint;
mod engine;
mod error;
mod file;
mod local;
mod prefixes;
mod processor;
mod prompt;
mod reply;
mod runtime;
mod template;
mod vocabulary;
mod worker;

pub use config::LocalConfig;
pub use error::LocalError;
pub use local::{Local, Written};
pub use runtime::{Facts, TemplateSource};
