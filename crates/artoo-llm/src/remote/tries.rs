//! One try of a model call: checks of context and budget, request, response, and accounting.

use artoo_proto::{ByTools, ModelReply, ModelRequest, ReplyBody, Usage};
use reqwest::header::CONTENT_TYPE;
use serde_json::Value;

use super::decoder::shown_with;
use super::exchange::Seen;
use super::try_failure::TryFailure;
use super::{MODEL_NAME_CHARS, Remote, endpoint};
use crate::ledger::Cache;
use crate::observe::{Caller, Exchange, Step};
use crate::reader::{self, ReaderError};
use crate::secret::Scrubber;
use crate::structured::{Dialect, ReplyFormat, ToolCalls, strict};
use crate::wire::Asking;
use crate::wire::draft::Draft;
use crate::wire::native;
use crate::{Model, schema, usage};

impl Remote {
    /// Makes one try of a model call and adds the tokens it used to `paid`.
    pub(super) async fn one_try(
        &self,
        request: &ModelRequest,
        dialect: Dialect,
        by_tools: Option<&ByTools>,
        paid: &mut Usage,
    ) -> Result<ModelReply, TryFailure> {
        let room = self.context_size().await?;
        let model = self.config.model.as_str();
        let schema_text = &request.schema.to_string();
        // Native tools describe their own inputs, so the prompt doesn't.
        let form = by_tools.is_none().then(|| artoo_proto::shape(&request.schema));
        let form = form.as_deref();
        let asking = Asking { request, model, dialect, schema_text, context_tokens: room, form, by_tools };
        let mut draft = Draft::default();
        let value = self.try_with(&asking, &mut draft, paid).await?;
        let answering = draft.model.as_deref().map(|name| self.scrubber.shown(name, MODEL_NAME_CHARS));
        let answering = answering.unwrap_or_else(|| self.name());
        self.shared.ledger.answered(model, &answering);
        Ok(ModelReply { body: ReplyBody::Json { value }, usage: *paid, model: answering })
    }

    /// Makes one try of a prepared model call: checks context and budget, sends it, and charges its cost however it
    /// ends.
    pub(super) async fn try_with(
        &self,
        asking: &Asking<'_>,
        draft: &mut Draft,
        paid: &mut Usage,
    ) -> Result<Value, TryFailure> {
        let request = asking.request;
        let prompt_tokens = asking.prompt_tokens();
        let needed = prompt_tokens.saturating_add(u64::from(request.max_tokens));
        if let Some(room) = asking.context_tokens.filter(|room| needed > *room) {
            return Err(TryFailure::DoesNotFit { needed, room });
        }
        let reservation = self
            .shared
            .ledger
            .reserve(request, prompt_tokens, asking.model, self.config.price)
            .map_err(|over| TryFailure::OverBudget { detail: over.to_string() })?;
        let outcome = self.sent_and_read(asking, draft).await;
        let was_read = outcome.as_ref().err().is_none_or(TryFailure::was_read);
        let spent = if was_read || draft.written_chars() > 0 {
            usage::of_call(draft.counts, prompt_tokens, draft.written_chars())
        } else {
            Usage::default()
        };
        let cache = Cache { read: draft.counts.cached.unwrap_or(0), written: draft.counts.written.unwrap_or(0) };
        reservation.settle(spent, cache);
        *paid += spent;
        outcome
    }

    /// Sends a prepared model call and returns the JSON value in its response.
    async fn sent_and_read(&self, asking: &Asking<'_>, draft: &mut Draft) -> Result<Value, TryFailure> {
        let request = self.client()?.post(self.endpoint.url().clone()).header(CONTENT_TYPE, "application/json");
        let body = self.config.protocol.wire().body(asking);
        let kept = self.shared.observer.as_ref().filter(|observer| observer.wants_exchanges()).map(|_| body.clone());
        let grown = |draft: &Draft| {
            self.report_step(asking.request, || Step::Writing {
                chars: draft.content.len() + draft.calls.written_chars(),
                reasoning_chars: draft.reasoning_chars,
            });
        };
        let mut seen = Seen::default();
        let exchanged = self.exchange(request.body(body), draft, &mut seen, &grown).await;
        if let Some(request) = kept {
            self.report_exchange(asking.request, request, &seen, exchanged.as_ref().err());
        }
        exchanged?;
        self.check_room(asking, draft).await?;
        let Asking { request, dialect, by_tools, .. } = asking;
        value_of(draft, *by_tools, dialect.format, &request.schema, &self.scrubber, &seen.body)
    }

    /// Converts the request to native tool calls; `None` if the request or the endpoint doesn't support them, or they
    /// are not wanted.
    pub(super) fn by_tools(&self, request: &ModelRequest, dialect: Dialect) -> Option<ByTools> {
        let is_wanted = self.config.tool_calls.unwrap_or(!dialect.format.holds_to_schema());
        let is_able = dialect.tool_calls != ToolCalls::Off;
        (is_wanted && is_able).then(|| request.in_calls()).flatten().filter(native::can_be_offered)
    }

    /// Passes a finished request with its response to the observer, if there is one; keys are removed.
    fn report_exchange(&self, request: &ModelRequest, sent: String, seen: &Seen, trouble: Option<&TryFailure>) {
        let Some(observer) = &self.shared.observer else { return };
        observer.exchange(&Exchange {
            caller: Caller::of(request),
            url: endpoint::shown(self.endpoint.url().as_str()),
            request: self.scrubber.redact_keys(&sent),
            status: seen.status,
            response: self.scrubber.redact_keys(&String::from_utf8_lossy(&seen.body)),
            trouble: trouble.map(|trouble| trouble.short_text(&self.scrubber)),
        });
    }
}

/// The JSON value of a complete answer: made from its tool calls if tools were offered, else parsed from its text. Keys
/// are removed.
pub(super) fn value_of(
    draft: &mut Draft,
    by_tools: Option<&ByTools>,
    format: ReplyFormat,
    schema: &Value,
    scrubber: &Scrubber,
    body: &[u8],
) -> Result<Value, TryFailure> {
    if let Some(by_tools) = by_tools {
        draft.calls.each_input(|input| scrubber.answer(input));
        let value = draft.ended().and_then(|()| native::reply(by_tools, draft.calls.all(), schema));
        return value.map_err(|fault| shown_with(fault, body));
    }
    let content = draft.settle(format == ReplyFormat::ForcedTool).map_err(|fault| shown_with(fault, body))?;
    let content = scrubber.answer(content.to_owned());
    read(&content, schema, format).map_err(|error| TryFailure::Reader { error, content })
}

/// Parses an answer's text against the schema. In the strict format, nulls that only this format allows are removed.
fn read(content: &str, schema: &Value, format: ReplyFormat) -> Result<Value, ReaderError> {
    let plain = reader::read(content, schema);
    if format != ReplyFormat::StrictSchema {
        return plain;
    }
    let value = match (plain, strict::form(schema)) {
        (Err(ReaderError::DoesNotFit { .. }), Some(strict)) => reader::read(content, &strict)?,
        (plain, _) => plain?,
    };
    let value = strict::without_strict_nulls(value, schema);
    schema::fit(&value, schema).map_err(|misfit| ReaderError::DoesNotFit { misfit })?;
    Ok(value)
}
