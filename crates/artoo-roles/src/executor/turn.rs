//! One reply of R3's model, and what of it may be done.

use artoo_proto::{ExecutionStatus, ToolCall, ToolRequest, ToolSpec};
use serde::Deserialize;
use serde_json::Value;

use crate::ask::Reply;
use crate::blocked;
use crate::limits::CALLS_PER_REPLY;

/// What R3's model says: calls to make, or the end of its work.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
pub(super) struct Turn {
    /// Calls to make now, in order.
    #[serde(default)]
    pub(super) calls: Vec<ToolRequest>,
    /// The last call's output is the answer: no further reply is needed.
    #[serde(default)]
    pub(super) answer_is_output: bool,
    /// R3's own word, when it is done.
    #[serde(default = "uncertain")]
    pub(super) status: ExecutionStatus,
    /// The answer, when it is done.
    #[serde(default)]
    pub(super) output: String,
    /// Why not, when it failed.
    #[serde(default)]
    pub(super) reason: Option<String>,
}

impl Reply for Turn {}

fn uncertain() -> ExecutionStatus {
    ExecutionStatus::Uncertain
}

/// The part of a reply that may be done, and remarks on the rest.
#[derive(Debug)]
pub(super) struct Review {
    pub(super) calls: Vec<ToolRequest>,
    pub(super) remarks: Vec<String>,
}

impl Turn {
    /// Keeps calls to usable tools that were not made before and name no blocked target; names are matched exactly.
    pub(super) fn review<'a>(
        &self,
        usable: &[ToolSpec],
        blocked_targets: &[String],
        known: impl Iterator<Item = &'a ToolCall>,
    ) -> Review {
        let known: Vec<&ToolCall> = known.collect();
        let mut review = Review { calls: Vec::new(), remarks: Vec::new() };
        for call in self.calls.iter().map(decoded) {
            if !usable.iter().any(|spec| spec.name == call.tool) {
                let names: Vec<&str> = usable.iter().map(|spec| spec.name.as_str()).collect();
                review.remarks.push(format!("no such tool here: {:?}; there are: {}", call.tool, names.join(", ")));
            } else if let Some(target) = forbidden(&call, blocked_targets) {
                // The tool itself refuses it too; but what a person said no to is not even asked for again.
                review.remarks.push(format!("{target:?} is blocked in this task; use something else"));
            } else if let Some(made) = known.iter().find(|made| made.tool == call.tool && made.input == call.input) {
                review.remarks.push(format!("that call was already made, see {}", made.evidence_id));
            } else if review.calls.contains(&call) {
                review.remarks.push("the same call twice in one reply".to_owned());
            } else if review.calls.len() == CALLS_PER_REPLY {
                review.remarks.push(format!("only {CALLS_PER_REPLY} calls a reply; the rest was left out"));
                break;
            } else {
                review.calls.push(call);
            }
        }
        review
    }
}

/// The blocked target that a call names outright in its input.
fn forbidden<'a>(call: &'a ToolRequest, blocked_targets: &[String]) -> Option<&'a str> {
    let named = call.input.as_object().into_iter().flat_map(|input| input.values()).filter_map(Value::as_str);
    named.into_iter().find(|target| blocked::is_hit(blocked_targets, &call.tool, target))
}

/// An input that a model wrote as JSON inside a string, decoded once and no further (fault L24).
fn decoded(call: &ToolRequest) -> ToolRequest {
    let inner = call.input.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    let input = inner.filter(Value::is_object).unwrap_or_else(|| call.input.clone());
    ToolRequest { tool: call.tool.clone(), input }
}
