//! Access to language models: one trait, an HTTP client that retries transport errors, and a strict reader.
//!
//! *Is*: the [`Model`] trait; [`Remote`] for every endpoint that supports one of the [`Protocol`]s;
//! [`scripted::Scripted`] and the [`cassette`]s for tests; [`Tiers`] to give roles different models; a [`Ledger`] that
//! limits their cost; [`mod@files`] to install model files on this machine.
//! *Is not*: a judge of meaning. The roles decide whether to ask again; here a reply is either one JSON value that
//! fits the schema, or a typed failure. Replies are never repaired.
//! *Must not know*: roles' state, tools, memory, the bus.
//!
//! ```
//! use artoo_llm::reader;
//! use serde_json::json;
//! let schema = json!({"type": "object", "required": ["answer"], "properties": {"answer": {"type": "string"}}});
//! let reply = "<think>easy</think> Sure:\n```json\n{\"answer\": \"42\"}\n```";
//! assert_eq!(reader::read(reply, &schema).unwrap(), json!({"answer": "42"}));
//! assert!(reader::read("{\"answer\": \"4", &schema).is_err()); // cut: never completed by guessing
//! ```

use std::sync::Arc;

use artoo_proto::{ModelFailure, ModelReply, ModelRequest};
use async_trait::async_trait;

pub mod abilities;
pub mod ability_book;
pub mod bare;
pub mod cassette;
pub mod error;
pub mod files;
pub mod ledger;
pub mod observe;
pub mod pool;
pub mod reader;
pub mod remote;
pub mod retry;
pub mod schema;
pub mod scripted;
pub mod secret;
pub mod spending;
pub mod structured;
pub mod tiers;
pub mod usage;

mod transport;
mod whole_file;
mod wire;

pub use abilities::Abilities;
pub use ability_book::AbilityBook;
pub use error::ConfigError;
pub use ledger::Ledger;
pub use remote::{Remote, RemoteConfig, Shared, call_address, shown_url};
pub use secret::Secret;
pub use tiers::Tiers;
pub use wire::{Protocol, request_body};

/// A model that answers requests: a remote endpoint, a script, a recording, a parser.
///
/// Dropping the future of [`Model::ask`] cancels the call.
#[async_trait]
pub trait Model: Send + Sync {
    /// Name of the model for display.
    fn name(&self) -> String;

    /// Sends one request. Transport errors are retried inside; an unreadable or truncated reply is not.
    ///
    /// # Errors
    /// A [`ModelFailure`]; its text never contains a key.
    async fn ask(&self, request: &ModelRequest) -> Result<ModelReply, ModelFailure>;
}

#[async_trait]
impl<M: Model + ?Sized> Model for Arc<M> {
    fn name(&self) -> String {
        (**self).name()
    }

    async fn ask(&self, request: &ModelRequest) -> Result<ModelReply, ModelFailure> {
        (**self).ask(request).await
    }
}
