//! The embedded parser as a model: no language model, no network, no tokens.

use artoo_llm::Model;
use artoo_proto::{Environment, ModelFailure, ModelReply, ModelRequest, Now, Usage};
use async_trait::async_trait;

use super::files::RealFiles;

/// The default model: an embedded parser that answers common requests with recipes and abstains from all others.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reflex;

#[async_trait]
impl Model for Reflex {
    fn name(&self) -> String {
        "reflex".to_owned()
    }

    async fn ask(&self, request: &ModelRequest) -> Result<ModelReply, ModelFailure> {
        let body = artoo_reflex::respond(&request.context, &RealFiles);
        Ok(ModelReply { body, usage: Usage::default(), model: self.name() })
    }
}

/// Whether the embedded parser can read a request, in this environment and without earlier requests.
#[must_use]
pub fn is_readable(request: &str, environment: &Environment, now: Now) -> bool {
    artoo_reflex::parse(request, &[], environment, now, &RealFiles).is_ok()
}
