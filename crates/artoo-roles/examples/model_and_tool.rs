//! Embeds artoo with a model and a tool of your own. The model here is a table of replies; a real one sends
//! `request.prompt` to a language model. The tool is a program that a manifest describes.

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::fs;

use artoo_llm::{Model, reader};
use artoo_proto::{
    Ending, Environment, ModelFailure, ModelReply, ModelRequest, ReplyBody, RoleContext, Usage, escape::visible,
};
use artoo_roles::runtime::System;
use artoo_tools::ToolConfig;
use async_trait::async_trait;
use serde_json::{Value, json};

/// The example tool's manifest: a program and its arguments, run without a shell. Changes are observed from the run.
const MANIFEST: &str = r#"
name = "word_count"
description = "the number of words in a text file"
command = ["wc", "-w", "--", "{file}"]
effect = "read_only"

[input.file]
type = "string"
"#;

/// A model that answers from a table of replies.
struct Table;

#[async_trait]
impl Model for Table {
    fn name(&self) -> String {
        "table".to_owned()
    }

    async fn ask(&self, request: &ModelRequest) -> Result<ModelReply, ModelFailure> {
        let text = reply_to(&request.context).to_string();
        // The reader accepts exactly one JSON value that fits the schema, and repairs nothing.
        let value = reader::read(&text, &request.schema).map_err(|error| error.into_failure(&text))?;
        let usage = Usage { model_calls: 1, ..Usage::default() };
        Ok(ModelReply { body: ReplyBody::Json { value }, usage, model: self.name() })
    }
}

/// The table's reply to each kind of model request, as JSON; the prompts of `prompts/` describe the replies.
fn reply_to(context: &RoleContext) -> Value {
    match context {
        RoleContext::Perceive(context) => json!({
            "task_id": "count_words", "intent": context.raw_input,
            "constraints": {"scope": null, "deadline": null}, "question": null
        }),
        RoleContext::Plan(_) => json!({
            "task_criteria": ["the number of words of the letter is stated"],
            "subtasks": [{
                "intent": "count the words of letter.txt", "context": "", "sequence": 1, "tools": ["word_count"],
                "success_criteria": [{"criterion": "the number of words is stated", "mode": "plausible"}]
            }]
        }),
        RoleContext::Execute(context) => json!({
            "calls": [{"tool": "word_count", "input": {"file": format!("{}/letter.txt", context.environment.home)}}],
            "answer_is_output": true, "status": "completed", "output": ""
        }),
        RoleContext::ValidateSubtask(context) => {
            verdicts(context.open.len(), &context.result.tool_calls.iter().collect::<Vec<_>>())
        }
        RoleContext::ValidateTask(context) => {
            verdicts(context.open.len(), &context.outcomes.iter().flat_map(|part| &part.tool_calls).collect::<Vec<_>>())
        }
        RoleContext::Word(_) => json!({"summary": "not done", "next_steps": []}),
        RoleContext::WordRule(rule) => json!({"rule": rule}),
    }
}

/// Passes every criterion with the first call as its evidence; a verdict without a call counts as a failure.
fn verdicts(count: usize, calls: &[&artoo_proto::ToolCall]) -> Value {
    let cites: Vec<&str> = calls.iter().take(1).map(|call| call.evidence_id.0.as_str()).collect();
    let verdict = |number| json!({"number": number, "verdict": "pass", "cites": cites, "evidence": "the count"});
    json!({"verdicts": (1..=count).map(verdict).collect::<Vec<_>>(), "what_to_do": null})
}

/// Lets the table of replies and the tool count the words of a file, and fails unless the result has the right number.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().to_string_lossy().into_owned();
    let path = |name: &str| format!("{home}/{name}");
    fs::write(path("letter.txt"), "five words are in here\n")?;
    fs::create_dir(path("tools"))?;
    fs::write(path("tools/word_count.toml"), MANIFEST)?;
    let environment = Environment {
        cwd: home.clone(),
        home: home.clone(),
        workspace: path("workspace"),
        os: std::env::consts::OS.to_owned(),
        utc_offset_s: 0,
    };
    let mut tools = ToolConfig::new(environment.clone());
    tools.custom = Some(path("tools").into());

    let artoo = System::builder().environment(environment).tools(tools).model(Table).start()?;
    // A manifest that can't be used is named here.
    println!("model {}, notes {:?}", artoo.model_name(), artoo.notes());
    let mut task = artoo.run("say how long my letter is");
    let result = task.outcome().await?.result;
    println!("{}\n{}", visible(&result.summary), visible(&result.output));
    artoo.close().await;
    if matches!(result.ending, Ending::Accept { .. }) && result.output.starts_with("5 ") {
        return Ok(());
    }
    Err(format!("expected 5 words: {result:#?}").into())
}
