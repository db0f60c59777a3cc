//! Turns what a model wrote into a reply: complete, valid, parsed strictly, with reasoning separated.

use artoo_llm::reader;
use artoo_proto::{ModelFailure, Usage, escape};
use serde_json::Value;

use crate::engine::Output;
use crate::worker::incomplete_reason;

/// The tags before and after the reasoning that a model writes before its answer.
const REASONING: (&str, &str) = ("<think>", "</think>");

/// Maximum number of characters that an error quotes of a text that can't be parsed.
const EXCERPT_CHARS: usize = 200;

/// The answer that a model wrote, and the reasoning before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Text {
    /// The text without reasoning.
    pub(crate) answer: String,
    /// The reasoning before the text; empty if the model marked none.
    pub(crate) reasoning: String,
}

/// The text of a complete reply; an error if the reply was cut, is not UTF-8, or ends inside its reasoning.
pub(crate) fn text(output: &Output, usage: Usage) -> Result<Text, ModelFailure> {
    if let Some(detail) = incomplete_reason(&output.end) {
        return Err(ModelFailure::Cut { detail: detail.to_owned(), usage });
    }
    let unreadable = |detail: &str, text: &str| {
        let excerpt = escape::one_line(&escape::shorten(text, EXCERPT_CHARS));
        ModelFailure::Unreadable { detail: detail.to_owned(), excerpt, usage }
    };
    let Ok(text) = str::from_utf8(&output.bytes) else {
        return Err(unreadable("the reply is not valid UTF-8", &String::from_utf8_lossy(&output.bytes)));
    };
    let Some(thought) = text.trim_start().strip_prefix(REASONING.0) else {
        return Ok(Text { answer: text.to_owned(), reasoning: String::new() });
    };
    let Some((reasoning, answer)) = thought.split_once(REASONING.1) else {
        return Err(unreadable("the reply ends inside its reasoning", text));
    };
    Ok(Text { answer: answer.trim_start().to_owned(), reasoning: reasoning.trim().to_owned() })
}

/// The JSON value of a complete reply: parsed under the schema, or a string without one.
pub(crate) fn value(output: &Output, schema: Option<&Value>, usage: Usage) -> Result<Value, ModelFailure> {
    let text = text(output, usage)?;
    let Some(schema) = schema else { return Ok(Value::String(text.answer)) };
    reader::read(&text.answer, schema).map_err(|error| error.into_failure(&text.answer).with_usage(usage))
}

/// Tests of turning outputs into replies.
#[cfg(test)]
mod tests {
    use artoo_proto::{ModelFailure, Usage};
    use serde_json::{Value, json};

    use super::{text, value};
    use crate::engine::{End, Output};

    /// A sample output of the engine with these bytes and this reason of ending.
    fn output(bytes: &[u8], end: End) -> Output {
        Output { bytes: bytes.to_owned(), tokens: Vec::new(), end }
    }

    /// Only a complete reply that fits its schema becomes a value; others are failures with the tokens used.
    #[doc = "holds: law 0.14"]
    #[test]
    fn only_complete_fitting_replies_become_values() {
        let usage = Usage { model_calls: 1, prompt_tokens: 2, completion_tokens: 3 };
        let schema = json!({"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}});
        let check = |bytes: &[u8], end: End, schema: Option<&Value>, expected: Result<Value, &str>| {
            let found = value(&output(bytes, end), schema, usage).map_err(|failure| {
                assert_eq!(failure.usage(), usage, "the usage that was paid for is reported");
                let is_unreadable = matches!(failure, ModelFailure::Unreadable { .. });
                if is_unreadable { "unreadable" } else { "cut" }
            });
            assert_eq!(found, expected, "{}", String::from_utf8_lossy(bytes));
        };
        let whole = br#"{"n":1}"#;
        check(whole, End::Complete, Some(&schema), Ok(json!({"n": 1})));
        check(whole, End::Limit, Some(&schema), Err("cut"));
        check(whole, End::Abandoned, Some(&schema), Err("cut"));
        check(br#"{"n":"#, End::Complete, Some(&schema), Err("cut"));
        check(br#"{"n":"1"}"#, End::Complete, Some(&schema), Err("unreadable"));
        check(br#"{"n":1,"n":2}"#, End::Complete, Some(&schema), Err("unreadable"));
        check(b"\xff", End::Complete, Some(&schema), Err("unreadable"));
        check(b"Hello.", End::Complete, None, Ok(json!("Hello.")));
        check(b"Hello.", End::Limit, None, Err("cut"));
        check(b"<think>\nhm\n</think>\n\nHello.", End::Complete, None, Ok(json!("Hello.")));
        check(b"<think>\nhm", End::Complete, None, Err("unreadable"));
    }

    #[test]
    fn reasoning_is_separated_from_the_answer() {
        let found = text(&output(b"\n<think> a </think>b", End::Complete), Usage::default()).unwrap();
        assert_eq!((found.answer.as_str(), found.reasoning.as_str()), ("b", "a"));
    }
}
