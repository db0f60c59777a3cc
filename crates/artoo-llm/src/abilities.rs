//! Abilities of an endpoint and model, as found by a probe.

use serde::{Deserialize, Serialize};

use crate::structured::{Dialect, ReplyFormat};

/// Result of probing one ability of an endpoint: passed, ignored by the endpoint, or refused with an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProbeResult {
    /// The answer had the requested form, though the prompt asked for something else.
    #[serde(rename = "kept")]
    Passed,
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
    pub formats: Vec<(ReplyFormat, ProbeResult)>,
    /// Result for native tool calls; `None` if they were not tried.
    #[serde(default)]
    pub tool_calls: Option<ProbeResult>,
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
        let shown = |result: ProbeResult| match result {
            ProbeResult::Passed => "passed",
            ProbeResult::Ignored => "ignored",
            ProbeResult::Refused => "refused",
        };
        let tried = self.formats.iter().map(|(format, result)| format!("{} {}", word(*format), shown(*result)));
        let mut parts = vec![format!("replies requested by {}", word(self.dialect.format))];
        parts.extend(tried);
        parts.extend(self.tool_calls.map(|result| format!("tool calls {}", shown(result))));
        parts.extend(self.context_tokens.map(|tokens| format!("context {tokens} tokens")));
        parts.extend(self.parallel.map(|calls| format!("{calls} calls at once")));
        parts.extend(self.reasoning.then(|| "separate reasoning".to_owned()));
        let days = now_s.saturating_sub(self.found_at_s) / (24 * 60 * 60);
        format!("{} (found {days} days ago)", parts.join(", "))
    }
}
