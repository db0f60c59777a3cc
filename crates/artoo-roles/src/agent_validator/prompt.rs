//! R4a's prompt, and the schema of a judging reply.

use artoo_proto::{Criterion, Prompt, ValidateSubtaskContext, escape};
use serde_json::{Value, json};

use crate::executor::calls;
use crate::prompt::{Fenced, render_embedded};

const SYSTEM: &str = include_str!("../../../../prompts/agent_validator.md");
const USER: &str = include_str!("../../../../prompts/agent_validator.user.md");

pub(super) fn render(context: &ValidateSubtaskContext) -> Prompt {
    let result = &context.result;
    let user = render_embedded(
        USER,
        &[
            ("intent", Fenced::new(&context.subtask.intent).as_str().to_owned()),
            ("context", Fenced::new(&context.subtask.context).as_str().to_owned()),
            ("criteria", numbered(&context.open)),
            ("status", format!("{:?}", result.status).to_lowercase()),
            ("output", Fenced::new(&result.output).as_str().to_owned()),
            ("calls", calls(&result.tool_calls, result.tool_calls.len())),
        ],
    );
    Prompt { system: SYSTEM.to_owned(), user }
}

/// Characters of one claim in the question: the implied one holds the user's whole request.
const CLAIM_CHARS: usize = 4_000;

/// Criteria by number, as a judging reply refers to them.
pub(crate) fn numbered(criteria: &[Criterion]) -> String {
    let lines = (1..).zip(criteria).map(|(number, c): (u32, _)| {
        format!("{number}. {}", escape::shorten(&escape::one_line(&c.claim()), CLAIM_CHARS))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The schema of a reply that judges `count` criteria.
pub(crate) fn schema(count: usize) -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["verdicts", "what_to_do"],
        "properties": {
            "verdicts": {
                "type": "array",
                "minItems": count,
                "maxItems": count * 2,
                "items": {
                    "type": "object",
                    "additionalProperties": false,
                    "required": ["number", "verdict", "cites", "evidence"],
                    "properties": {
                        "number": {"type": "integer"},
                        "verdict": {"type": "string", "enum": ["pass", "fail"]},
                        "cites": {"type": "array", "maxItems": 8, "items": {"type": "string", "maxLength": 40}},
                        "evidence": {"type": "string", "maxLength": 400},
                        "failure_class": {"type": ["string", "null"], "enum": ["logical", "environmental", null]}
                    }
                }
            },
            "what_to_do": {"type": ["string", "null"], "maxLength": 600}
        }
    })
}
