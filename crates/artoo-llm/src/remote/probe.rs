//! Probes an endpoint's abilities by asking the same question with each reply format. The prompt asks for plain words,
//! so only an endpoint that enforces the schema answers with JSON.

use artoo_proto::{ByTools, ModelFailure, ModelRequest, Usage};
use serde_json::{Value, json};

use super::Remote;
use super::try_failure::TryFailure;
use crate::abilities::{Abilities, ProbeResult};
use crate::reader::ReaderError;
use crate::structured::{Dialect, ReplyFormat, ToolCalls};
use crate::wire::Asking;
use crate::wire::draft::Draft;

/// The question that a probe asks; OpenAI's format `json_object` requires the word JSON in it.
const QUESTION: &str = "Write one short sentence about the sea, in plain words, not as JSON.";

/// Token limit of the answer to a probe's question: enough for a model that reasons first.
pub(super) const ANSWER_TOKENS: u32 = 256;

/// Maximum number of optional request parts that are left out, one after another, for one probe question.
const REFUSALS_MAX: usize = 6;

/// The outcome of one probe question: its result, the request parts that were accepted, and whether the model reasoned.
pub(super) struct Probed {
    pub(super) result: ProbeResult,
    /// The dialect without the request parts that were refused.
    pub(super) dialect: Dialect,
    has_reasoning: bool,
}

impl Remote {
    /// Probes the endpoint with at most seven small questions, charged to the task of `like`. `now_s` is the time in
    /// seconds since 1970.
    ///
    /// # Errors
    /// If the endpoint is unreachable or refuses every question.
    pub async fn probe(&self, like: &ModelRequest, now_s: i64) -> Result<Abilities, ModelFailure> {
        self.once(self.found_out(like, now_s)).await
    }

    /// Finds out the endpoint's reply formats, tool calls, context size and number of parallel calls.
    async fn found_out(&self, like: &ModelRequest, now_s: i64) -> Result<Abilities, TryFailure> {
        let mut formats = Vec::new();
        let mut reasoning = false;
        let mut dialect = self.dialect();
        for format in self.config.protocol.wire().formats() {
            if *format == ReplyFormat::PromptOnly {
                break;
            }
            dialect.format = *format;
            let probed = self.probe_format(like, dialect).await?;
            dialect = probed.dialect;
            reasoning |= probed.has_reasoning;
            formats.push((*format, probed.result));
            if probed.result == ProbeResult::Passed {
                break;
            }
        }
        let passed = formats.iter().find(|(_, result)| *result == ProbeResult::Passed);
        dialect.format = passed.map_or(ReplyFormat::PromptOnly, |(format, _)| *format);
        if dialect.format == ReplyFormat::PromptOnly {
            dialect = self.probe_format(like, dialect).await?.dialect;
        }
        let (tool_calls, dialect) = self.probe_tools(like, dialect).await?;
        self.speak(dialect);
        let (context_tokens, parallel) = self.size().await;
        Ok(Abilities { dialect, formats, tool_calls, context_tokens, parallel, reasoning, found_at_s: now_s })
    }

    /// Asks the probe question with one reply format and a schema that the prompt doesn't describe.
    async fn probe_format(&self, like: &ModelRequest, dialect: Dialect) -> Result<Probed, TryFailure> {
        let mut request = like.clone();
        request.prompt.system = String::new();
        QUESTION.clone_into(&mut request.prompt.user);
        request.max_tokens = ANSWER_TOKENS;
        request.schema = schema(dialect.format);
        self.probe_question(&request, None, dialect).await
    }

    /// Asks one probe question about a reply format, or with `by_tools` about tool calls and the one right reply.
    /// Request parts that the endpoint refuses are left out.
    pub(super) async fn probe_question(
        &self,
        request: &ModelRequest,
        by_tools: Option<(&ByTools, &Value)>,
        mut dialect: Dialect,
    ) -> Result<Probed, TryFailure> {
        let schema_text = request.schema.to_string();
        let formats = self.config.protocol.wire().formats();
        let mut is_reconnected = false;
        for _ in 0..REFUSALS_MAX {
            let asking = Asking {
                request,
                model: &self.config.model,
                dialect,
                schema_text: &schema_text,
                context_tokens: self.context_size().await?,
                form: None,
                by_tools: by_tools.map(|(by_tools, _)| by_tools),
            };
            let mut draft = Draft::default();
            let outcome = self.try_with(&asking, &mut draft, &mut Usage::default()).await;
            let probed = |result| Ok(Probed { result, dialect, has_reasoning: draft.reasoning_chars > 0 });
            let trouble = match outcome {
                Ok(value) if by_tools.is_none_or(|(_, expected)| value == *expected) => {
                    return probed(ProbeResult::Passed);
                }
                Ok(_) => return probed(ProbeResult::Ignored),
                Err(trouble) => trouble,
            };
            if matches!(trouble, TryFailure::NoConnection { .. }) && !std::mem::replace(&mut is_reconnected, true) {
                // The server had closed the connection after the previous question.
                continue;
            }
            let about = trouble.refused_part();
            let plainer = about.map(|about| dialect.without_refused_part(about, formats, by_tools.is_some()));
            // Small models fill an undescribed object until the token limit; the answer still began as an object.
            let is_object = by_tools.is_none() && draft.content.trim_start().starts_with('{');
            let has_tools = |plainer: Dialect| by_tools.is_none() || plainer.tool_calls != ToolCalls::Off;
            return match (plainer, trouble) {
                (Some(Some(plainer)), _) if plainer.format == dialect.format && has_tools(plainer) => {
                    dialect = plainer;
                    continue;
                }
                (Some(_), _) if by_tools.is_some() || dialect.format != ReplyFormat::PromptOnly => {
                    probed(ProbeResult::Refused)
                }
                (None, TryFailure::Status { status: 500 | 501, .. }) if by_tools.is_some() => {
                    probed(ProbeResult::Refused)
                }
                (None, TryFailure::Reader { error: ReaderError::Cut { .. }, .. }) if by_tools.is_none() => {
                    probed(ProbeResult::Passed)
                }
                (None, TryFailure::Cut { .. } | TryFailure::Unreadable { .. }) if is_object => {
                    probed(ProbeResult::Passed)
                }
                (None, TryFailure::Cut { .. } | TryFailure::Unreadable { .. } | TryFailure::Reader { .. }) => {
                    probed(ProbeResult::Ignored)
                }
                (_, trouble) => Err(trouble),
            };
        }
        Ok(Probed { result: ProbeResult::Refused, dialect, has_reasoning: false })
    }

    /// The model's context size in tokens and the endpoint's number of parallel calls; each `None` if not reported.
    async fn size(&self) -> (Option<u64>, Option<usize>) {
        let wire = self.config.protocol.wire();
        let listed = self.models().await.unwrap_or_default();
        let listed = listed.into_iter().find(|model| model.name == self.config.model);
        let mut context = listed.and_then(|model| model.context_tokens);
        context = self.longest_context().await.ok().flatten().or(context);
        let Some(place) = wire.about_server() else { return (context, None) };
        let Ok(about) = self.get(self.endpoint.server_url(place)).await else { return (context, None) };
        let slots = about.get("total_slots").and_then(Value::as_u64).and_then(|slots| usize::try_from(slots).ok());
        let own = about.pointer("/default_generation_settings/n_ctx").and_then(Value::as_u64);
        (own.or(context), slots.filter(|slots| *slots > 0))
    }
}

/// The schema for a probe question; no plain answer fits it by chance. For `json_object`, any object fits.
fn schema(format: ReplyFormat) -> Value {
    match format {
        ReplyFormat::JsonObject => json!({"type": "object"}),
        ReplyFormat::JsonSchema | ReplyFormat::StrictSchema | ReplyFormat::ForcedTool | ReplyFormat::PromptOnly => {
            json!({
                "type": "object",
                "additionalProperties": false,
                "required": ["colour"],
                "properties": {"colour": {"type": "string", "enum": ["zinc-7", "zinc-9"]}}
            })
        }
    }
}
