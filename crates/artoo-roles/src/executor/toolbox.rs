//! The machine's tools with their descriptions for the requests of R3 (the Executor), made once for all subtasks of a
//! run.

use std::sync::OnceLock;

use artoo_proto::{SubTask, ToolSpec};
use serde_json::Value;

use super::prompt::bounded;

/// The tools of this machine, in the order in which models see them.
#[derive(Debug)]
pub struct Toolbox(Vec<Tool>);

/// A tool and its description for prompts.
#[derive(Debug)]
struct Tool {
    spec: ToolSpec,
    /// The description, made at the first use.
    worded: OnceLock<ToolText>,
}

/// The description of a tool for a model request. It is cached because making it takes longer than the rest of a
/// request.
#[derive(Debug)]
pub(super) struct ToolText {
    pub(super) name: String,
    /// What the tool does and its input, on one line. It is never shortened, because a model could not use a partial
    /// form.
    pub(super) line: String,
    /// JSON schema of the tool's input, with limits on all lengths, for servers that enforce a schema; artoo's own
    /// check of a reply ignores it.
    pub(super) input: Value,
}

impl Toolbox {
    /// A toolbox of these tools.
    #[must_use]
    pub fn new(tools: &[ToolSpec]) -> Self {
        Self(tools.iter().map(|spec| Tool { spec: spec.clone(), worded: OnceLock::new() }).collect())
    }

    /// The tools that a subtask may use: those it names, without the blocked ones.
    pub(super) fn usable(&self, subtask: &SubTask) -> Vec<ToolSpec> {
        self.of(subtask).map(|tool| tool.spec.clone()).collect()
    }

    /// The descriptions of the tools that a subtask may use.
    pub(super) fn worded(&self, subtask: &SubTask) -> Vec<&ToolText> {
        self.of(subtask).map(|tool| tool.worded.get_or_init(|| ToolText::of(&tool.spec))).collect()
    }

    /// The tools that a subtask names, without the blocked ones.
    fn of(&self, subtask: &SubTask) -> impl Iterator<Item = &Tool> {
        let usable =
            |tool: &&Tool| subtask.tools.contains(&tool.spec.name) && !subtask.blocked_tools.contains(&tool.spec.name);
        self.0.iter().filter(usable)
    }
}

impl ToolText {
    /// Makes the description of a tool for a model request.
    pub(super) fn of(tool: &ToolSpec) -> Self {
        let form = artoo_proto::shape(&tool.input_schema);
        Self {
            name: tool.name.clone(),
            line: format!("- {}: {} Input: {form}", tool.name, tool.description),
            input: bounded(&tool.input_schema),
        }
    }
}

/// The descriptions of these tools for a prompt.
#[cfg(test)]
pub(super) fn worded(tools: &[ToolSpec]) -> Vec<ToolText> {
    tools.iter().map(ToolText::of).collect()
}
