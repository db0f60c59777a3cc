//! Reads a recorded response body as the client would, without a network.

use std::time::Duration;

use artoo_proto::{ByTools, ModelFailure};
use serde_json::Value;

use super::decoder::{Decoder, shown_with};
use super::tries::value_of;
use super::try_failure::{Ended, TryFailure};
use crate::secret::Scrubber;
use crate::structured::ReplyFormat;
use crate::wire::Protocol;
use crate::wire::draft::Draft;

/// Parses the recorded body of a successful response and returns the reply's value, as a client would; `by_tools` if
/// tools were offered.
///
/// # Errors
/// The failure of a call that received this body.
pub fn read_recorded(
    protocol: Protocol,
    content_type: &str,
    body: &[u8],
    by_tools: Option<&ByTools>,
    format: ReplyFormat,
    schema: &Value,
) -> Result<Value, ModelFailure> {
    let scrubber = Scrubber::default();
    let read = || {
        let mut draft = Draft::default();
        let mut decoder = Decoder::new(protocol.wire(), content_type.to_owned(), &mut draft);
        decoder.push(body).map_err(|fault| shown_with(fault, body))?;
        decoder.finish(body)?;
        value_of(&mut draft, by_tools, format, schema, &scrubber, body)
    };
    read().map_err(|trouble: TryFailure| trouble.into_failure(&scrubber, &Ended::after_one_try(Duration::ZERO)))
}
