//! The prompt of R1 (the Perceiver) and the schema of its model's reply.

use artoo_proto::{PerceiveContext, Prompt};
use serde_json::{Value, json};

use crate::limits::{LABEL_CHARS, REPLY_GOAL_CHARS, REPLY_PATH_CHARS, REPLY_REMARK_CHARS};
use crate::prompt::{Fenced, material, render_embedded};

/// The system part of the prompt of R1 (the Perceiver): the laws, then fixed instructions.
const SYSTEM: &str =
    concat!(include_str!("../../../../prompts/laws.md"), include_str!("../../../../prompts/perceiver.md"));
/// Template of the user part of the prompt of R1 (the Perceiver).
const USER: &str = include_str!("../../../../prompts/perceiver.user.md");

/// The prompt that asks a model to read the user's request.
pub(super) fn render(context: &PerceiveContext) -> Prompt {
    let session: String = context
        .session
        .iter()
        .map(|turn| Fenced::new(&format!("user: {}\nended: {}", turn.input, turn.summary)).as_str().to_owned())
        .collect::<Vec<_>>()
        .join("\n");
    let clarifications: String = context
        .clarifications
        .iter()
        .map(|(question, answer)| Fenced::new(&format!("asked: {question}\nanswer: {answer}")).as_str().to_owned())
        .collect::<Vec<_>>()
        .join("\n");
    let or_none = |text: String| if text.is_empty() { "(none)".to_owned() } else { text };
    let environment = &context.environment;
    let user = render_embedded(
        USER,
        &[
            ("clock", context.now.wall.to_string()),
            ("offset", environment.utc_offset_s.to_string()),
            ("cwd", artoo_proto::escape::one_line(&environment.cwd)),
            ("home", artoo_proto::escape::one_line(&environment.home)),
            ("may_ask", if context.may_ask { "allowed" } else { "not allowed" }.to_owned()),
            ("session", or_none(session)),
            ("clarifications", or_none(clarifications)),
            ("material", material(context.material.as_deref())),
            ("request", Fenced::new(&context.raw_input).as_str().to_owned()),
        ],
    );
    Prompt { system: SYSTEM.to_owned(), user }
}

/// The JSON schema of the model's reply to R1 (the Perceiver).
pub(super) fn schema() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["task_id", "intent", "constraints", "question"],
        "properties": {
            "task_id": {"type": "string", "maxLength": LABEL_CHARS},
            "intent": {"type": "string", "maxLength": REPLY_GOAL_CHARS},
            "constraints": {
                "type": "object",
                "additionalProperties": false,
                "required": ["scope", "deadline"],
                "properties": {
                    "scope": {"type": ["string", "null"], "maxLength": REPLY_PATH_CHARS},
                    "deadline": {"type": ["string", "null"], "maxLength": 40}
                }
            },
            "question": {"type": ["string", "null"], "maxLength": REPLY_REMARK_CHARS}
        }
    })
}
