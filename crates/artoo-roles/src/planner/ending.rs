//! The ending text of an abandoned task: the prompt, and the schema and type of the model's reply.

use artoo_proto::{ModelWords, Prompt, TaskSpec, WordingRequest, escape};
use serde::Deserialize;
use serde_json::{Value, json};

use super::prompt::tried;
use crate::ask;
use crate::limits::{REPLY_GOAL_CHARS, SUMMARY_CHARS, WORDED_STEPS_MAX};
use crate::prompt::{Fenced, fenced_bullets, render_embedded};

/// The system part of the prompt that asks for an ending text: the laws, then fixed instructions.
const SYSTEM: &str =
    concat!(include_str!("../../../../prompts/laws.md"), include_str!("../../../../prompts/ending.md"));
/// Template of the user part of the prompt that asks for the ending text of an abandoned task.
const USER: &str = include_str!("../../../../prompts/ending.user.md");

/// A model's ending text of an abandoned task: how far the task got, and what the user can do next.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Draft {
    summary: String,
    next_steps: Vec<String>,
}

impl ask::Reply for Draft {}

impl Draft {
    /// The ending text with each part on one shortened line; `None` if the summary or every step is empty.
    pub(super) fn words(self) -> Option<ModelWords> {
        let line = |text: &String| escape::shorten(&escape::one_line(text.trim()), SUMMARY_CHARS);
        let steps = self.next_steps.iter().filter(|step| !step.trim().is_empty()).take(WORDED_STEPS_MAX);
        let words = ModelWords { summary: line(&self.summary), next_steps: steps.map(line).collect() };
        (!words.summary.is_empty() && !words.next_steps.is_empty()).then_some(words)
    }
}

/// The prompt that asks a model to write the ending text of an abandoned task.
pub(super) fn render(spec: &TaskSpec, request: &WordingRequest) -> Prompt {
    let user = render_embedded(
        USER,
        &[
            ("raw_input", Fenced::new(&spec.raw_input).as_str().to_owned()),
            ("reason", Fenced::new(&request.reason).as_str().to_owned()),
            ("met", fenced_bullets(&request.met)),
            ("unmet", fenced_bullets(&request.unmet)),
            ("tried", tried(&request.tried)),
        ],
    );
    Prompt { system: SYSTEM.to_owned(), user }
}

/// The JSON schema of a model's ending text: a summary and next steps.
pub(super) fn schema() -> Value {
    let text = json!({"type": "string", "maxLength": REPLY_GOAL_CHARS});
    let steps = json!({"type": "array", "minItems": 1, "maxItems": WORDED_STEPS_MAX, "items": text});
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["summary", "next_steps"],
        "properties": {"summary": text, "next_steps": steps}
    })
}
