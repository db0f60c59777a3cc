//! The context size of a model: set by the client where the protocol allows it, otherwise as reported or configured.

use serde_json::{Value, json};

use super::Remote;
use super::try_failure::TryFailure;
use crate::wire::Asking;
use crate::wire::draft::Draft;

/// Default context size in tokens, where the client sets it: fits the longest prompts with their replies, and an
/// ordinary machine's memory.
#[doc(alias = "limit")]
const CONTEXT_TOKENS: u64 = 16_384;

impl Remote {
    /// Context size for prompt and reply, in tokens; `None` if unknown. The endpoint is asked once.
    pub(super) async fn context_size(&self) -> Result<Option<u64>, TryFailure> {
        if !self.config.protocol.wire().sets_context() {
            return Ok(self.config.context_tokens);
        }
        let room = self.context.get_or_try_init(|| async {
            let wanted = self.config.context_tokens.unwrap_or(CONTEXT_TOKENS);
            let most = self.longest_context().await?;
            Ok::<_, TryFailure>(Some(most.map_or(wanted, |most| most.min(wanted))))
        });
        room.await.copied()
    }

    /// Maximum context size of the model, in tokens. `None` if the endpoint doesn't report it or the protocol doesn't
    /// let the client set it; an unreachable endpoint is an error.
    pub(super) async fn longest_context(&self) -> Result<Option<u64>, TryFailure> {
        if !self.config.protocol.wire().sets_context() {
            return Ok(None);
        }
        let question = json!({"model": self.config.model}).to_string();
        let request = self.client()?.post(self.endpoint.at(&["api", "show"])).body(question);
        match self.document(request.header("content-type", "application/json")).await {
            Ok(about) => {
                let mut info = about.get("model_info").and_then(Value::as_object).into_iter().flatten();
                Ok(info.find(|(name, _)| name.ends_with(".context_length")).and_then(|(_, length)| length.as_u64()))
            }
            Err(trouble @ (TryFailure::NoConnection { .. } | TryFailure::Unusable { .. } | TryFailure::Silence)) => {
                Err(trouble)
            }
            // The call itself will say what is wrong, if anything is.
            Err(_) => Ok(None),
        }
    }

    /// Checks that the endpoint used the context size that was requested; with less, it may have truncated the prompt:
    /// then an error.
    pub(super) async fn check_room(&self, asking: &Asking<'_>, draft: &Draft) -> Result<(), TryFailure> {
        let Some(room) = asking.context_tokens.filter(|_| self.config.protocol.wire().sets_context()) else {
            return Ok(());
        };
        let given = self.context_given().await.unwrap_or(room).min(room);
        let used = draft.counts.prompt.unwrap_or(0).saturating_add(draft.counts.completion.unwrap_or(0));
        if used >= given {
            return Err(TryFailure::DoesNotFit { needed: used, room: given });
        }
        let estimated = asking.prompt_tokens();
        if given < room && estimated.saturating_add(u64::from(asking.request.max_tokens)) > given {
            return Err(TryFailure::DoesNotFit {
                needed: estimated + u64::from(asking.request.max_tokens),
                room: given,
            });
        }
        Ok(())
    }

    /// Context size with which the server runs the model now, in tokens; `None` if it does not report one.
    async fn context_given(&self) -> Option<u64> {
        let given = self.context_checked.get_or_init(|| async {
            let running = self.get(self.endpoint.at(&["api", "ps"])).await.ok()?;
            let models = running.get("models")?.as_array()?;
            let named = |model: &&Value| {
                ["name", "model"].iter().any(|field| {
                    let name = model.get(field).and_then(Value::as_str).unwrap_or_default();
                    name == self.config.model || name.strip_suffix(":latest") == Some(self.config.model.as_str())
                })
            };
            models.iter().find(named)?.get("context_length")?.as_u64()
        });
        *given.await
    }
}
