//! Reading an answer's bytes as they once came over the wire, without a network: for replays, and for looking into one.

use artoo_proto::{ByTools, ModelFailure, Usage};
use serde_json::Value;

use super::exchange::{shown_with, text_of};
use super::tries::read;
use super::trouble::{Ended, Trouble};
use crate::native;
use crate::retry::Why;
use crate::secret::Scrubber;
use crate::structured::ReplyFormat;
use crate::wire::draft::Draft;
use crate::wire::frames::Frames;
use crate::wire::{Fault, Framing, Protocol};

/// The value that the body of a success holds, read exactly as a client reads it.
///
/// # Errors
/// As a call that got this body would end.
pub fn read_recorded(
    protocol: Protocol,
    content_type: &str,
    body: &[u8],
    format: ReplyFormat,
    schema: &Value,
) -> Result<Value, ModelFailure> {
    let draft = taken_in(protocol, content_type, body).map_err(failed)?;
    let content = draft.settle(format == ReplyFormat::ForcedTool).map_err(|fault| failed(shown_with(fault, body)))?;
    read(content, schema, format).map_err(|error| failed(Trouble::Reader { error, content: content.to_owned() }))
}

/// The reply that the calls in the body of a success come to, read exactly as a client reads them.
///
/// # Errors
/// As a call that got this body would end.
pub fn read_recorded_calls(
    protocol: Protocol,
    content_type: &str,
    body: &[u8],
    by_tools: &ByTools,
    schema: &Value,
) -> Result<Value, ModelFailure> {
    let draft = taken_in(protocol, content_type, body).map_err(failed)?;
    let value = draft.ended().and_then(|()| native::reply(by_tools, draft.calls.all(), schema));
    value.map_err(|fault| failed(shown_with(fault, body)))
}

fn failed(trouble: Trouble) -> ModelFailure {
    let ended = Ended { tries: 1, why: Why::Pointless, elapsed: std::time::Duration::ZERO, usage: Usage::default() };
    trouble.into_failure(&Scrubber::default(), &ended)
}

fn taken_in(protocol: Protocol, content_type: &str, body: &[u8]) -> Result<Draft, Trouble> {
    let wire = protocol.wire();
    let mut draft = Draft::default();
    let framing = wire.framing(content_type);
    if framing == Framing::Whole {
        let text = text_of(body, content_type)?;
        wire.whole(&mut draft, text).map_err(|fault| shown_with(fault, body))?;
        return Ok(draft);
    }
    let mut frames = Frames::new(framing);
    let no_text = |_| shown_with(Fault::Unreadable("the stream is not valid UTF-8".to_owned()), body);
    let mut pieces = frames.push(body).map_err(no_text)?;
    pieces.extend(frames.rest().map_err(no_text)?);
    for piece in &pieces {
        wire.piece(&mut draft, piece).map_err(|fault| shown_with(fault, body))?;
    }
    Ok(draft)
}
