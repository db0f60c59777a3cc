//! Finding out what an endpoint can do: the same small question in every way of asking for JSON, with the schema kept
//! out of the prompt and the prompt asking for something else, so that only an endpoint that holds to it gives the shape.

use artoo_proto::{ModelFailure, ModelRequest, Usage};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

use super::Remote;
use super::trouble::{Ended, Trouble};
use crate::abilities::{Abilities, Held};
use crate::reader::ReaderError;
use crate::retry::Why;
use crate::structured::{Dialect, ReplyFormat};
use crate::wire::Asking;
use crate::wire::draft::Draft;

/// What is asked; OpenAI's `json_object` wants the word in the prompt.
const QUESTION: &str = "Write one short sentence about the sea, in plain words, not as JSON.";

/// Enough for the sentence, and for a model that thinks before it.
const ANSWER_TOKENS: u32 = 256;

/// Parts that one question may lose before it is given up.
const REFUSALS_MAX: usize = 6;

impl Remote {
    /// Asks up to seven small questions; `like` lends them its task. `now_s` is the time in seconds since 1970.
    ///
    /// # Errors
    /// When the endpoint can't be reached or refuses every question.
    pub async fn probe(&self, like: &ModelRequest, now_s: i64) -> Result<Abilities, ModelFailure> {
        let started = Instant::now();
        let found = timeout(self.config.total_deadline, self.found_out(like, now_s)).await;
        let ended = Ended { tries: 1, why: Why::Pointless, elapsed: started.elapsed(), usage: Usage::default() };
        found.unwrap_or(Err(Trouble::Silence)).map_err(|trouble| trouble.into_failure(&self.scrubber, &ended))
    }

    async fn found_out(&self, like: &ModelRequest, now_s: i64) -> Result<Abilities, Trouble> {
        let mut formats = Vec::new();
        let mut reasoning = false;
        let mut dialect = self.dialect();
        for format in self.config.protocol.wire().formats() {
            if *format == ReplyFormat::PromptOnly {
                break;
            }
            dialect.format = *format;
            let (held, found, reasons) = self.held(like, dialect).await?;
            dialect = found;
            reasoning |= reasons;
            formats.push((*format, held));
            if held == Held::Kept {
                break;
            }
        }
        let kept = formats.iter().find(|(_, held)| *held == Held::Kept);
        dialect.format = kept.map_or(ReplyFormat::PromptOnly, |(format, _)| *format);
        if dialect.format == ReplyFormat::PromptOnly {
            dialect = self.held(like, dialect).await?.1;
        }
        let (tool_calls, dialect) = self.tools_held(like, dialect).await?;
        self.speak(dialect);
        let (context_tokens, parallel) = self.size().await;
        Ok(Abilities { dialect, formats, tool_calls, context_tokens, parallel, reasoning, found_at_s: now_s })
    }

    /// What becomes of one format, and the dialect in which the question was taken.
    async fn held(&self, like: &ModelRequest, mut dialect: Dialect) -> Result<(Held, Dialect, bool), Trouble> {
        let mut request = like.clone();
        request.prompt.system = String::new();
        QUESTION.clone_into(&mut request.prompt.user);
        request.max_tokens = ANSWER_TOKENS;
        request.schema = schema(dialect.format);
        let schema_text = request.schema.to_string();
        let mut tried_again = false;
        for _ in 0..REFUSALS_MAX {
            let room = self.room().await?;
            let asking = Asking {
                request: &request,
                model: &self.config.model,
                dialect,
                schema_text: &schema_text,
                context_tokens: room,
                form: None,
                by_tools: None,
            };
            let mut draft = Draft::default();
            let outcome = self.try_with(&asking, &mut draft, &mut Usage::default()).await;
            let Err(trouble) = outcome else { return Ok((Held::Kept, dialect, draft.reasoning_chars > 0)) };
            match &trouble {
                Trouble::Reader { error, .. } => {
                    // An object that only ran into the limit was one all the same.
                    let held = if matches!(error, ReaderError::Cut { .. }) { Held::Kept } else { Held::Ignored };
                    return Ok((held, dialect, draft.reasoning_chars > 0));
                }
                Trouble::Cut { .. } | Trouble::Unreadable { .. } => {
                    // Small models fill an object that nobody described until the limit: it was one all the same.
                    let is_object = draft.content.trim_start().starts_with('{');
                    let held = if is_object { Held::Kept } else { Held::Ignored };
                    return Ok((held, dialect, draft.reasoning_chars > 0));
                }
                Trouble::Unusable { .. }
                | Trouble::NoConnection { .. }
                | Trouble::Status { .. }
                | Trouble::Redirect { .. }
                | Trouble::Silence
                | Trouble::DoesNotFit { .. }
                | Trouble::OverBudget { .. } => {}
            }
            if matches!(trouble, Trouble::NoConnection { .. }) && !std::mem::replace(&mut tried_again, true) {
                // The server had closed a connection that was kept for the next question.
                continue;
            }
            let formats = self.config.protocol.wire().formats();
            match trouble.refused_part().map(|about| dialect.without_refused_part(about, formats)) {
                Some(Some(plainer)) if plainer.format == dialect.format => dialect = plainer,
                // Refused for the format, or for a reason that is not told: the next format will show.
                Some(_) if dialect.format != ReplyFormat::PromptOnly => return Ok((Held::Refused, dialect, false)),
                Some(_) | None => return Err(trouble),
            }
        }
        Ok((Held::Refused, dialect, false))
    }

    /// Context and slots, as far as the endpoint tells; one that does not is no failure.
    async fn size(&self) -> (Option<u64>, Option<usize>) {
        let wire = self.config.protocol.wire();
        let listed = self.models().await.unwrap_or_default();
        let listed = listed.into_iter().find(|model| model.name == self.config.model);
        let mut context = listed.and_then(|model| model.context_tokens);
        let Ok(sent) = self.sent() else { return (context, None) };
        if let Some((path, question)) = wire.about_model(&self.config.model) {
            let request = sent.client.post(self.endpoint.at(path)).body(question.to_string());
            let about = sent.document(request.header("content-type", "application/json")).await;
            context = about.ok().and_then(|about| wire.context_of(&about)).or(context);
        }
        let Some(place) = wire.about_server() else { return (context, None) };
        let about: Value = match sent.document(sent.client.get(self.endpoint.beside(place))).await {
            Ok(about) => about,
            Err(_) => return (context, None),
        };
        let slots = about.get("total_slots").and_then(Value::as_u64).and_then(|slots| usize::try_from(slots).ok());
        let own = about.pointer("/default_generation_settings/n_ctx").and_then(Value::as_u64);
        (own.or(context), slots.filter(|slots| *slots > 0))
    }
}

/// A shape that nobody gives by chance; with `json_object` any object will do.
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
