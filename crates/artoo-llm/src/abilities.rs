//! Abilities of an endpoint and model, as found by a probe.

use serde::{Deserialize, Serialize};

use crate::structured::{Dialect, ReplyFormat};

/// Result of probing one reply format, or tool calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Held {
    /// The answer had the requested form, though the prompt asked for something else.
    Kept,
    /// The endpoint accepted the request, but the answer did not have the form.
    Ignored,
    /// The endpoint refused the request.
    Refused,
}

/// What a probe found out about an endpoint and one of its models.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Abilities {
    /// The optional parts of requests that the endpoint accepts.
    pub dialect: Dialect,
    /// The reply formats tried, strongest first, with their results.
    pub formats: Vec<(ReplyFormat, Held)>,
    /// Result for native tool calls; `None` if they were not tried.
    #[serde(default)]
    pub tool_calls: Option<Held>,
    /// Context size in tokens, if the endpoint reports it.
    pub context_tokens: Option<u64>,
    /// Number of requests the endpoint processes at once, if it reports that.
    pub parallel: Option<usize>,
    /// Whether the model sent reasoning separately from its answers.
    pub reasoning: bool,
    /// Time of the probe, in seconds since 1970.
    pub found_at_s: i64,
}

impl Abilities {
    /// A one-line summary, with the age of the probe.
    #[must_use]
    pub fn summary(&self, now_s: i64) -> String {
        let word = |format: ReplyFormat| match format {
            ReplyFormat::JsonSchema => "JSON schema",
            ReplyFormat::StrictSchema => "strict JSON schema",
            ReplyFormat::JsonObject => "JSON object",
            ReplyFormat::ForcedTool => "forced tool call",
            ReplyFormat::PromptOnly => "prompt alone",
        };
        let became = |held: Held| match held {
            Held::Kept => "kept",
            Held::Ignored => "ignored",
            Held::Refused => "refused",
        };
        let tried = self.formats.iter().map(|(format, held)| format!("{} {}", word(*format), became(*held)));
        let mut parts = vec![format!("asked by {}", word(self.dialect.format))];
        parts.extend(tried);
        parts.extend(self.tool_calls.map(|held| format!("tool calls {}", became(held))));
        parts.extend(self.context_tokens.map(|tokens| format!("context {tokens} tokens")));
        parts.extend(self.parallel.map(|calls| format!("{calls} at once")));
        parts.extend(self.reasoning.then(|| "reasons apart".to_owned()));
        let days = now_s.saturating_sub(self.found_at_s) / (24 * 60 * 60);
        format!("{} (found {days} days ago)", parts.join(", "))
    }
}
