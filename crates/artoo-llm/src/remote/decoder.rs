//! Decoding of a response body into a draft, as a whole or piece by piece.

use super::exchange::{shown_with, text_of};
use super::trouble::Trouble;
use crate::wire::draft::Draft;
use crate::wire::frames::Frames;
use crate::wire::{Fault, Framing, Wire};

/// Progress of a response body.
pub(super) enum Stage {
    /// No content received yet: the endpoint may still be reading the prompt.
    Begun,
    Content,
    /// The stream sent its end marker.
    Closed,
}

/// Decodes one response body.
pub(super) struct Decoder<'d> {
    wire: &'d dyn Wire,
    content_type: String,
    /// `None` if the body is one JSON document.
    frames: Option<Frames>,
    pub(super) draft: &'d mut Draft,
}

impl<'d> Decoder<'d> {
    pub(super) fn new(wire: &'d dyn Wire, content_type: String, draft: &'d mut Draft) -> Self {
        let framing = wire.framing(&content_type);
        let frames = (framing != Framing::Whole).then(|| Frames::new(framing));
        Self { wire, content_type, frames, draft }
    }

    /// Decodes the next bytes of a stream; whether they completed a frame.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<bool, Fault> {
        let Some(frames) = &mut self.frames else { return Ok(false) };
        let pieces = frames.push(bytes).map_err(|_| Fault::Unreadable("the stream is not valid UTF-8".to_owned()))?;
        pieces.iter().try_for_each(|piece| self.wire.piece(self.draft, piece))?;
        Ok(!pieces.is_empty())
    }

    pub(super) fn stage(&self) -> Stage {
        let draft = &self.draft;
        match () {
            () if draft.closed => Stage::Closed,
            () if self.frames.is_none() || draft.written_chars() > 0 || draft.reasoning_chars > 0 => Stage::Content,
            () => Stage::Begun,
        }
    }

    /// Decodes a document, or the unfinished frame at the end of a stream, after all of `body` was received.
    pub(super) fn finish(&mut self, body: &[u8]) -> Result<(), Trouble> {
        let decoded = match &mut self.frames {
            None => self.wire.whole(self.draft, text_of(body, &self.content_type)?),
            Some(frames) => match frames.rest() {
                Ok(Some(rest)) => self.wire.piece(self.draft, &rest),
                Ok(None) | Err(_) => Ok(()),
            },
        };
        decoded.map_err(|fault| shown_with(fault, body))
    }
}
