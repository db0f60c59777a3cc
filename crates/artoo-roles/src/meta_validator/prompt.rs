//! R4b's prompt.

use artoo_proto::{Prompt, SubTaskOutcome, ValidateTaskContext};

use crate::agent_validator::numbered;
use crate::executor::calls;
use crate::prompt::{Fenced, render_embedded};

const SYSTEM: &str = include_str!("../../../../prompts/meta_validator.md");
const USER: &str = include_str!("../../../../prompts/meta_validator.user.md");

pub(super) fn render(context: &ValidateTaskContext) -> Prompt {
    let outcomes: Vec<String> = context.outcomes.iter().map(outcome).collect();
    let user = render_embedded(
        USER,
        &[
            ("raw_input", Fenced::new(&context.raw_input).as_str().to_owned()),
            ("intent", Fenced::new(&context.intent).as_str().to_owned()),
            ("criteria", numbered(&context.open)),
            ("output", Fenced::new(&context.merged_output).as_str().to_owned()),
            ("outcomes", outcomes.join("\n")),
        ],
    );
    Prompt { system: SYSTEM.to_owned(), user }
}

fn outcome(outcome: &SubTaskOutcome) -> String {
    format!("Output:\n{}\nCalls:\n{}", Fenced::new(&outcome.output).as_str(), calls(&outcome.tool_calls))
}
