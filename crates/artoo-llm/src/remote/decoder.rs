//! Decodes a response body into a draft of the answer, as a whole or piece by piece.

use super::try_failure::TryFailure;
use crate::wire::draft::Draft;
use crate::wire::frames::Frames;
use crate::wire::{Fault, Framing, Wire};

/// Number of bytes of an unexpected body that an error quotes.
const KEPT_BYTES: usize = 1000;

/// How far a response body was received: nothing of the answer, a part of it, or its end.
pub(super) enum Stage {
    /// No content received yet: the endpoint may still be reading the prompt.
    Begun,
    Content,
    /// The stream's end marker was received.
    Closed,
}

/// Decodes one response body, as a whole or as a stream, into a draft of the answer.
pub(super) struct Decoder<'d> {
    wire: &'d dyn Wire,
    content_type: String,
    /// Divides the body into events or lines; `None` if the body is one JSON document.
    frames: Option<Frames>,
    pub(super) draft: &'d mut Draft,
}

impl<'d> Decoder<'d> {
    /// Creates a decoder for a response of this content type.
    pub(super) fn new(wire: &'d dyn Wire, content_type: String, draft: &'d mut Draft) -> Self {
        let framing = wire.framing(&content_type);
        let frames = (framing != Framing::Whole).then(|| Frames::new(framing));
        Self { wire, content_type, frames, draft }
    }

    /// Decodes the next bytes of a streamed response; true if they completed an event or a line.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<bool, Fault> {
        let Some(frames) = &mut self.frames else { return Ok(false) };
        let pieces = frames.push(bytes).map_err(|_| Fault::Unreadable("the stream is not valid UTF-8".to_owned()))?;
        pieces.iter().try_for_each(|piece| self.wire.piece(self.draft, piece))?;
        Ok(!pieces.is_empty())
    }

    /// How far the response body was received.
    pub(super) fn stage(&self) -> Stage {
        let draft = &self.draft;
        match () {
            () if draft.closed => Stage::Closed,
            () if self.frames.is_none() || draft.written_chars() > 0 || draft.reasoning_chars > 0 => Stage::Content,
            () => Stage::Begun,
        }
    }

    /// Decodes the rest after all of `body` was received: the whole document, or the last line of a stream.
    pub(super) fn finish(&mut self, body: &[u8]) -> Result<(), TryFailure> {
        let decoded = match &mut self.frames {
            None => self.wire.decode_whole(self.draft, text_of(body, &self.content_type)?),
            Some(frames) => match frames.rest() {
                Ok(Some(rest)) => self.wire.piece(self.draft, &rest),
                Ok(None) | Err(_) => Ok(()),
            },
        };
        decoded.map_err(|fault| shown_with(fault, body))
    }
}

/// A response body as trimmed text; an error if it is empty, not UTF-8 or a web page, or its content type can't be
/// JSON.
pub(super) fn text_of<'b>(body: &'b [u8], content_type: &str) -> Result<&'b str, TryFailure> {
    let Ok(text) = str::from_utf8(body) else { return Err(unreadable("the body is not valid UTF-8", body)) };
    let text = text.trim_start_matches('\u{feff}').trim();
    let problem = match text {
        "" => "the body is empty".to_owned(),
        text if text.starts_with('<') => "a web page came instead of an answer".to_owned(),
        _ if !is_json_like(content_type) => format!("the answer's type is {content_type}, not JSON"),
        text => return Ok(text),
    };
    Err(unreadable(&problem, body))
}

/// Whether a content type is JSON, or one that servers use for JSON by mistake.
fn is_json_like(content_type: &str) -> bool {
    matches!(content_type, "" | "application/json" | "text/json" | "text/plain" | "application/octet-stream")
        || content_type.ends_with("+json")
}

/// The error for a response body that is not an answer; it quotes the body's beginning.
pub(super) fn unreadable(detail: &str, body: &[u8]) -> TryFailure {
    TryFailure::Unreadable { detail: detail.to_owned(), text: text_lossy(body.get(..KEPT_BYTES).unwrap_or(body)) }
}

/// Converts a decoding fault to the error of the try; it quotes the beginning of the body.
pub(super) fn shown_with(fault: Fault, body: &[u8]) -> TryFailure {
    match fault {
        Fault::Cut(detail) => TryFailure::Cut { detail },
        Fault::Unreadable(detail) => unreadable(&detail, body),
        Fault::Refused { status: Some(status), complaint } => {
            TryFailure::Status { status, complaint, retry_after: None }
        }
        Fault::Refused { status: None, complaint } => {
            unreadable(&format!("an error came instead of an answer: {}", complaint.message), body)
        }
    }
}

/// Converts bytes to text; invalid UTF-8 is replaced.
pub(super) fn text_lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
