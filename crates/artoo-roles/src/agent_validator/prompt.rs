//! The prompt of R4a (the Agent-Validator), and the schema of a judging model's reply.

use artoo_proto::{Criterion, EvidenceId, Prompt, ToolCall, ValidateSubtaskContext, escape};
use serde_json::{Value, json};

use crate::executor::calls;
use crate::limits::{REPLY_CITE_CHARS, REPLY_CITES, REPLY_REMARK_CHARS};
use crate::prompt::{Fenced, render_embedded};

/// The system part of the prompt of R4a (the Agent-Validator): the laws, then fixed instructions.
const SYSTEM: &str =
    concat!(include_str!("../../../../prompts/laws.md"), include_str!("../../../../prompts/agent_validator.md"));
/// Template of the user part of the prompt of R4a (the Agent-Validator).
const USER: &str = include_str!("../../../../prompts/agent_validator.user.md");

/// The prompt that asks a model to judge the open criteria of a subtask.
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

/// Maximum length of one criterion in the prompt, in characters: the implied one contains the user's whole request.
const CLAIM_CHARS: usize = 4_000;

/// Numbers the criteria from 1, one on each line; a judging model's reply refers to these numbers.
pub(crate) fn numbered(criteria: &[Criterion]) -> String {
    let lines = (1..).zip(criteria).map(|(number, c): (u32, _)| {
        format!("{number}. {}", escape::shorten(&escape::one_line(&c.claim()), CLAIM_CHARS))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The JSON schema of a reply that judges `count` criteria and may cite these calls.
///
/// The parts under `oneOf` matter only to servers that enforce a schema: they make a model choose an existing id. The
/// check of the reply ignores them, so that an invented id is rejected later, by the rules of evidence, with a reason.
pub(crate) fn schema<'a>(count: usize, calls: impl IntoIterator<Item = &'a ToolCall>) -> Value {
    let numbers: Vec<usize> = (1..=count).collect();
    let ids: Vec<&EvidenceId> = calls.into_iter().map(|call| &call.evidence_id).collect();
    let cite = json!({"type": "string", "maxLength": REPLY_CITE_CHARS});
    let mut cites = json!({"type": "array", "maxItems": REPLY_CITES, "items": cite});
    if let Some(fields) = cites.as_object_mut().filter(|_| !ids.is_empty()) {
        let most = REPLY_CITES.min(ids.len());
        fields.insert("oneOf".to_owned(), json!([{"type": "array", "maxItems": most, "items": {"enum": ids}}]));
    }
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["verdicts", "what_to_do"],
        "properties": {
            "verdicts": {
                "type": "array",
                "minItems": count,
                "maxItems": count,
                "items": {
                    "type": "object",
                    "additionalProperties": false,
                    "required": ["number", "verdict", "cites", "evidence"],
                    "properties": {
                        "number": {"type": "integer", "oneOf": [{"enum": numbers}]},
                        "verdict": {"type": "string", "enum": ["pass", "fail"]},
                        "cites": cites,
                        "evidence": {"type": "string", "maxLength": REPLY_REMARK_CHARS},
                        "failure_class": {"type": ["string", "null"], "enum": ["logical", "environmental", null]}
                    }
                }
            },
            "what_to_do": {"type": ["string", "null"], "maxLength": REPLY_REMARK_CHARS}
        }
    })
}
