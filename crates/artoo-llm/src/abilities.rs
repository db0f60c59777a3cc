//! What an endpoint can do with one model, found out by asking it, and the file in which that is remembered.

use serde::{Deserialize, Serialize};

use crate::structured::{Dialect, ReplyFormat};

/// What became of one way of asking for JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Held {
    /// The answer had the shape though the prompt asked for something else.
    Kept,
    /// It was taken and made no difference.
    Ignored,
    /// It was refused.
    Refused,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Abilities {
    /// How to speak to it.
    pub dialect: Dialect,
    /// Each way of asking for JSON that was tried, strongest first.
    pub formats: Vec<(ReplyFormat, Held)>,
    /// What became of its own way of calling tools; `None`: not tried.
    #[serde(default)]
    pub tool_calls: Option<Held>,
    /// Tokens of context, where it tells.
    pub context_tokens: Option<u64>,
    /// Calls it works on at once, where it tells.
    pub parallel: Option<usize>,
    /// Whether it wrote reasoning that it kept apart.
    pub reasoning: bool,
    /// When, in seconds since 1970.
    pub found_at_s: i64,
}

impl Abilities {
    /// In one line.
    #[must_use]
    pub fn told(&self, now_s: i64) -> String {
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
