//! The prompt of R4b (the Meta-Validator).

use artoo_proto::{Prompt, SubTaskOutcome, ValidateTaskContext, escape};

use crate::agent_validator::numbered;
use crate::executor::calls;
use crate::limits::{EVIDENCE_CHARS, EVIDENCE_MIN_CHARS, EVIDENCE_TOTAL_CHARS};
use crate::prompt::{Fenced, material, render_embedded};

/// The system part of the prompt of R4b (the Meta-Validator): the laws, then fixed instructions.
const SYSTEM: &str =
    concat!(include_str!("../../../../prompts/laws.md"), include_str!("../../../../prompts/meta_validator.md"));
/// Template of the user part of the prompt of R4b (the Meta-Validator).
const USER: &str = include_str!("../../../../prompts/meta_validator.user.md");

/// The prompt that asks a model to judge the open criteria of the task.
pub(super) fn render(context: &ValidateTaskContext) -> Prompt {
    let sharing = context.outcomes.iter().map(|outcome| outcome.tool_calls.len() + 1).sum();
    let outcomes: Vec<String> = context.outcomes.iter().map(|made| outcome(made, sharing)).collect();
    let user = render_embedded(
        USER,
        &[
            ("raw_input", Fenced::new(&context.raw_input).as_str().to_owned()),
            ("material", material(context.material.as_deref())),
            ("intent", Fenced::new(&context.intent).as_str().to_owned()),
            ("criteria", numbered(&context.open)),
            ("output", Fenced::new(&context.merged_output).as_str().to_owned()),
            ("outcomes", outcomes.join("\n")),
        ],
    );
    Prompt { system: SYSTEM.to_owned(), user }
}

/// The output and the calls of one subtask, shortened so that `sharing` outputs fit into one prompt.
fn outcome(outcome: &SubTaskOutcome, sharing: usize) -> String {
    let room = (EVIDENCE_TOTAL_CHARS / sharing.max(1)).clamp(EVIDENCE_MIN_CHARS, EVIDENCE_CHARS);
    let (output, _) = escape::head_tail(&outcome.output, room);
    format!("Output:\n{}\nCalls:\n{}", Fenced::new(&output).as_str(), calls(&outcome.tool_calls, sharing))
}
