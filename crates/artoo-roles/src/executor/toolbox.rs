//! The machine's tools as R3's requests word them: each once, for all the subtasks of a run.

use std::sync::OnceLock;

use artoo_proto::{SubTask, ToolSpec};
use serde_json::Value;

use super::prompt::bounded;

/// The tools of this machine, in order.
#[derive(Debug)]
pub struct Toolbox(Vec<Tool>);

#[derive(Debug)]
struct Tool {
    spec: ToolSpec,
    worded: OnceLock<Worded>,
}

/// A tool as a request shows it. Making this takes longer than all the rest of a request.
#[derive(Debug)]
pub(super) struct Worded {
    pub(super) name: String,
    /// What it does and what it takes, on one line. Not capped: a form cut short would be one nobody can follow.
    pub(super) line: String,
    /// What it takes, as a reply is held against it.
    pub(super) input: Value,
}

impl Toolbox {
    /// These tools.
    #[must_use]
    pub fn new(tools: &[ToolSpec]) -> Self {
        Self(tools.iter().map(|spec| Tool { spec: spec.clone(), worded: OnceLock::new() }).collect())
    }

    /// Those that a subtask may use.
    pub(super) fn usable(&self, subtask: &SubTask) -> Vec<ToolSpec> {
        self.of(subtask).map(|tool| tool.spec.clone()).collect()
    }

    /// The same, worded.
    pub(super) fn worded(&self, subtask: &SubTask) -> Vec<&Worded> {
        self.of(subtask).map(|tool| tool.worded.get_or_init(|| Worded::of(&tool.spec))).collect()
    }

    fn of(&self, subtask: &SubTask) -> impl Iterator<Item = &Tool> {
        let usable =
            |tool: &&Tool| subtask.tools.contains(&tool.spec.name) && !subtask.blocked_tools.contains(&tool.spec.name);
        self.0.iter().filter(usable)
    }
}

impl Worded {
    pub(super) fn of(tool: &ToolSpec) -> Self {
        let form = artoo_proto::shape(&tool.input_schema);
        Self {
            name: tool.name.clone(),
            line: format!("- {}: {} Input: {form}", tool.name, tool.description),
            input: bounded(&tool.input_schema),
        }
    }
}

/// Every one of these tools.
#[cfg(test)]
pub(super) fn worded(tools: &[ToolSpec]) -> Vec<Worded> {
    tools.iter().map(Worded::of).collect()
}
