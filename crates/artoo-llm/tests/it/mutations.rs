//! Tests with 100,000 damaged answers and as many damaged tool calls: none panics, violates the schema, or is accepted
//! though truncated.

use std::collections::BTreeMap;

use artoo_llm::remote::read_recorded;
use artoo_llm::structured::ReplyFormat;
use artoo_llm::{Protocol, schema};
use artoo_proto::ModelFailure;
use serde_json::{Value, json};

use crate::answers::{Ends, frames, stream_type, whole_answer};
use crate::call_answers::{frames_calls, offer, offering, whole_calls};
use crate::request;

/// Number of damaged variants made of each of the eight sample bodies; 100,000 in all.
const MUTANTS_EACH: u64 = 12_500;

const CALL: &str = r#"{"tool":"list_files"}"#;

/// A pseudo-random generator (xorshift) with the same numbers in every run.
struct Numbers(u64);

impl Numbers {
    /// The next pseudo-random number below `bound`.
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(bound.max(1)).unwrap()).unwrap()
    }
}

const WORDS: [&[u8]; 12] = [
    b"\"stop\"",
    b"\"length\"",
    b"null",
    b"true",
    b"false",
    b"{\"tool\":\"rm\"}",
    b"\\\"",
    b"}",
    b"\n\n",
    b"data: ",
    b"\xff",
    b"[DONE]",
];

/// A randomly damaged copy of a body, and the position of the cut if it was only truncated.
fn mutant(body: &[u8], numbers: &mut Numbers) -> (Vec<u8>, Option<usize>) {
    let mut out = body.to_vec();
    let kind = numbers.below(6);
    if kind == 0 {
        let at = numbers.below(body.len());
        out.truncate(at);
        return (out, Some(at));
    }
    for _ in 0..=numbers.below(3) {
        let (at, len) = (numbers.below(out.len()), 1 + numbers.below(12));
        let end = (at + len).min(out.len());
        match kind {
            1 => drop(out.drain(at..end)),
            2 => out[at] ^= 1 << numbers.below(8),
            3 => out.splice(at..at, WORDS[numbers.below(WORDS.len())].iter().copied()).for_each(drop),
            4 => out.splice(at..end, WORDS[numbers.below(WORDS.len())].iter().copied()).for_each(drop),
            _ => {
                let piece = out[at..end].to_vec();
                let to = numbers.below(out.len());
                out.splice(to..to, piece).for_each(drop);
            }
        }
        if out.is_empty() {
            break;
        }
    }
    (out, None)
}

/// The byte position behind the end marker in a body, from where on a truncated answer is complete.
fn complete_at(protocol: Protocol, body: &str, is_stream: bool) -> usize {
    if !is_stream {
        return body.len();
    }
    let mark = match protocol {
        Protocol::Chat => "\"finish_reason\":\"stop\"",
        Protocol::Responses => "\"response.completed\"",
        Protocol::Anthropic => "\"message_stop\"",
        Protocol::Ollama => "\"done\":true",
    };
    body.rfind(mark).unwrap()
}

/// A short text for the kind of a failure, to count the outcomes.
fn kind(failure: &ModelFailure) -> String {
    crate::kind(failure)
}

/// Asserts for damaged answers in this protocol: a value that is read fits the schema, and a truncated answer is
/// refused.
fn check(protocol: Protocol) {
    let schema = request("x").schema;
    let good: Value = json!({"tool": "list_files"});
    let streamed = frames(protocol, CALL, Ends::ByItself).concat();
    let plain = whole_answer(protocol, CALL, Ends::ByItself).to_string();
    let mut ends: BTreeMap<String, u64> = BTreeMap::new();
    for (body, content_type, is_stream) in
        [(&plain, "application/json", false), (&streamed, stream_type(protocol), true)]
    {
        let read = |bytes: &[u8]| read_recorded(protocol, content_type, bytes, None, ReplyFormat::JsonSchema, &schema);
        assert_eq!(read(body.as_bytes()), Ok(good.clone()), "{protocol:?}");
        let complete = complete_at(protocol, body, is_stream);
        let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
        for _ in 0..MUTANTS_EACH {
            let (bytes, cut_at) = mutant(body.as_bytes(), &mut numbers);
            let shown = || format!("{protocol:?}: {}", String::from_utf8_lossy(&bytes));
            match (read(&bytes), cut_at) {
                (Ok(value), Some(at)) => {
                    assert!(at > complete && value == good, "a cut answer was taken: {}", shown());
                }
                (Ok(value), None) => assert_eq!(schema::fit(&value, &schema), Ok(()), "{}", shown()),
                (Err(failure), cut_at) => {
                    // A truncated body is reported as truncated, unless nothing or a part of a character was received.
                    let is_reported = kind(&failure) == "cut" || cut_at.is_none() || bytes.len() < 2;
                    assert!(is_reported, "{failure}: {}", shown());
                    *ends.entry(kind(&failure)).or_default() += 1;
                }
            }
        }
    }
    assert!(ends["cut"] > 1_000 && ends["unreadable"] > 1_000, "the mutants are of one kind: {ends:?}");
}

#[doc = "holds: law 3.10; fault L9"]
#[test]
fn damaged_answers_of_chat_completions_are_refused() {
    check(Protocol::Chat);
}

#[doc = "holds: law 3.10; fault L9"]
#[test]
fn damaged_answers_of_responses_are_refused() {
    check(Protocol::Responses);
}

#[doc = "holds: law 3.10; fault L9"]
#[test]
fn damaged_answers_of_anthropic_are_refused() {
    check(Protocol::Anthropic);
}

#[doc = "holds: law 3.10; fault L9"]
#[test]
fn damaged_answers_of_ollama_are_refused() {
    check(Protocol::Ollama);
}

/// The byte position behind the end marker in a body with tool calls, from where on a truncated answer is complete.
fn calls_complete_at(protocol: Protocol, body: &str, is_stream: bool) -> usize {
    match protocol {
        Protocol::Chat if is_stream => body.rfind("\"finish_reason\":\"tool_calls\"").unwrap(),
        Protocol::Chat | Protocol::Responses | Protocol::Anthropic | Protocol::Ollama => {
            complete_at(protocol, body, is_stream)
        }
    }
}

/// Asserts for damaged answers with tool calls: each call read has the full name of an offered tool, and a truncated
/// answer has none.
fn check_calls(protocol: Protocol) {
    let asked = offering("x");
    let by_tools = offer(&asked);
    let made = [("list_files", r#"{"path":"a"}"#), ("notes_find", r#"{"path":"b"}"#)];
    let streamed = frames_calls(protocol, "words", &made, Ends::ByItself).concat();
    let plain = whole_calls(protocol, "words", &made, Ends::ByItself).to_string();
    let mut ends: BTreeMap<String, u64> = BTreeMap::new();
    for (body, content_type, is_stream) in
        [(&plain, "application/json", false), (&streamed, stream_type(protocol), true)]
    {
        let format = ReplyFormat::PromptOnly;
        let read = |bytes: &[u8]| read_recorded(protocol, content_type, bytes, Some(&by_tools), format, &asked.schema);
        let good = read(body.as_bytes()).unwrap();
        assert_eq!(good["calls"].as_array().map(Vec::len), Some(2), "{protocol:?}");
        let complete = calls_complete_at(protocol, body, is_stream);
        let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
        for _ in 0..MUTANTS_EACH {
            let (bytes, cut_at) = mutant(body.as_bytes(), &mut numbers);
            let shown = || format!("{protocol:?}: {}", String::from_utf8_lossy(&bytes));
            match read(&bytes) {
                Ok(value) => {
                    assert_eq!(schema::fit(&value, &asked.schema), Ok(()), "{}", shown());
                    assert!(cut_at.is_none_or(|at| at > complete && value == good), "a cut one: {}", shown());
                    let names = value["calls"].as_array().into_iter().flatten().map(|call| &call["tool"]);
                    names.for_each(|name| assert!(name == "list_files" || name == "notes.find", "{name} {}", shown()));
                    *ends.entry("read".to_owned()).or_default() += 1;
                }
                Err(failure) => *ends.entry(kind(&failure)).or_default() += 1,
            }
        }
    }
    assert!(ends["cut"] > 1_000 && ends["unreadable"] > 1_000, "the mutants are of one kind: {ends:?}");
}

#[doc = "holds: law 0.13; fault L9, L11"]
#[test]
fn damaged_calls_never_become_other_calls() {
    Protocol::ALL.into_iter().for_each(check_calls);
}
