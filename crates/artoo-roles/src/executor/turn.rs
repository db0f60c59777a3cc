//! One reply of the model to R3 (the Executor), and which of its tool calls may be made.

use artoo_proto::{ExecutionStatus, ToolCall, ToolRequest, ToolSpec};
use serde::Deserialize;
use serde_json::Value;

use crate::ask::Reply;
use crate::blocked;
use crate::limits::CALLS_PER_REPLY;

/// The model's reply to R3 (the Executor): tool calls to make, or the final answer.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
pub(super) struct Turn {
    /// Tool calls to make now, in order; empty if the model has finished.
    #[serde(default)]
    pub(super) calls: Vec<ToolRequest>,
    /// Whether the output of the last call is the answer, so that the model need not be asked again.
    #[serde(default)]
    pub(super) answer_is_output: bool,
    /// Whether the model considers the subtask completed; used only in a reply without calls. The default is uncertain.
    #[serde(default = "uncertain")]
    pub(super) status: ExecutionStatus,
    /// The answer, in a reply without calls.
    #[serde(default)]
    pub(super) output: String,
    /// Why the subtask failed or is uncertain, if the model says so.
    #[serde(default)]
    pub(super) reason: Option<String>,
}

impl Reply for Turn {}

/// Default status of a model's final answer that states none: uncertain.
fn uncertain() -> ExecutionStatus {
    ExecutionStatus::Uncertain
}

/// The tool calls of a reply that may be made, and remarks on those that were dropped.
#[derive(Debug)]
pub(super) struct Review {
    /// The calls that may be made, in order.
    pub(super) calls: Vec<ToolRequest>,
    /// Why other calls were dropped, one line each, written for the model.
    pub(super) remarks: Vec<String>,
}

impl Turn {
    /// Selects the calls that may be made: of a usable tool (exact name), not made before, without a blocked target,
    /// and at most `CALLS_PER_REPLY`. `known` are the calls already made.
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
                // The tool would refuse the call too, but the user is not asked again about a denied target.
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

/// The first text field of the call's input that a blocked target forbids; `None` if there is none.
fn forbidden<'a>(call: &'a ToolRequest, blocked_targets: &[String]) -> Option<&'a str> {
    let named = call.input.as_object().into_iter().flat_map(|input| input.values()).filter_map(Value::as_str);
    named.into_iter().find(|target| blocked::is_hit(blocked_targets, &call.tool, target))
}

/// The call with its input decoded if a model wrote it as JSON inside a string; decoded only once (fault L24).
fn decoded(call: &ToolRequest) -> ToolRequest {
    let inner = call.input.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    let input = inner.filter(Value::is_object).unwrap_or_else(|| call.input.clone());
    ToolRequest { tool: call.tool.clone(), input }
}
