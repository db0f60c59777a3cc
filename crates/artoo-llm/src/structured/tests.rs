//! Tests of which part of a request is left out after an endpoint's error.

use super::{Complaint, Dialect, ReplyFormat};
use crate::wire::Protocol;

const FULL: Dialect = Dialect::full(ReplyFormat::JsonSchema);

/// Asserts which dialect is tried after an error with this message and parameter.
#[track_caller]
fn check(from: Dialect, message: &str, param: Option<&str>, expected: Option<Dialect>) {
    let about = Complaint { message: message.to_owned(), param: param.map(str::to_owned), ..Complaint::default() };
    let formats = Protocol::Chat.wire().formats();
    assert_eq!(from.without_refused_part(&about, formats, false), expected, "{message} {param:?}");
}

/// After an error the client leaves out only the request part that the error is about.
#[doc = "holds: client C7"]
#[test]
fn dialect_loses_only_the_refused_part() {
    let format = |format| Dialect { format, ..FULL };
    let strict = Some(format(ReplyFormat::StrictSchema));
    check(FULL, "", Some("response_format"), strict);
    check(FULL, "bad schema", Some("response_format.json_schema"), strict);
    check(FULL, "failed to parse grammar", None, strict);
    check(format(ReplyFormat::StrictSchema), "", Some("response_format"), Some(format(ReplyFormat::JsonObject)));
    let unavailable = "This response_format type is unavailable now";
    check(format(ReplyFormat::JsonObject), unavailable, None, Some(format(ReplyFormat::ForcedTool)));
    check(format(ReplyFormat::ForcedTool), "m does not support tools", None, Some(format(ReplyFormat::PromptOnly)));
    check(format(ReplyFormat::ForcedTool), unavailable, None, None);
    check(format(ReplyFormat::PromptOnly), unavailable, None, None);
    check(FULL, "response_format is fine, the key is not", Some("messages"), None);
    let renamed = Some(Dialect { completion_tokens_field: true, ..FULL });
    check(FULL, "Use 'max_completion_tokens' instead.", None, renamed);
    check(FULL, "", Some("max_tokens"), renamed);
    check(FULL, "", Some("temperature"), Some(Dialect { temperature: None, ..FULL }));
    check(FULL, "unknown field stream_options", None, Some(Dialect { stream_usage: false, ..FULL }));
    check(FULL, "streaming is not supported", None, Some(Dialect { stream: false, ..FULL }));
    check(FULL, "the upstream server does not answer", None, None);
    check(FULL, "cache_control: extra inputs are not permitted", None, Some(Dialect { cache: false, ..FULL }));
    check(FULL, "unknown", Some("prompt_cache_key"), Some(Dialect { cache: false, ..FULL }));
    check(FULL, "Unrecognized request argument: prompt_cache_key", None, Some(Dialect { cache: false, ..FULL }));
    check(FULL, "context length exceeded", None, None);
}
