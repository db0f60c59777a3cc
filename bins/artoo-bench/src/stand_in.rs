//! The bench's model: calls the endpoint, and substitutes a prepared reply if the endpoint's reply can't be used.

use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use artoo_llm::{Model, Remote};
use artoo_proto::{ModelFailure, ModelReply, ModelRequest, ReplyBody, RoleContext, Usage};
use async_trait::async_trait;
use serde_json::{Value, json};

use crate::options::ToolKind;

/// The shell command that each subtask runs: one program that reads `file`. A command that only prints would not count
/// as evidence.
pub(crate) fn command(file: &Path) -> String {
    format!("cat {}", file.display())
}

/// A model that sends every call to the endpoint and uses its reply if that fits the role's schema, otherwise a
/// prepared one; a call without a reply fails. So the real cost of a call is measured even with an endpoint that gives
/// the same reply to every call.
pub(crate) struct StandIn {
    remote: Remote,
    n: u16,
    tool: &'static str,
    input: Value,
    first_call: OnceLock<Instant>,
    /// Number of the endpoint's replies that were used.
    pub(crate) own: AtomicU64,
    /// Number of calls that got a prepared reply instead of the endpoint's.
    pub(crate) stood_in: AtomicU64,
}

impl StandIn {
    /// Creates the model for tasks with `n` subtasks that each call this tool on `file`.
    pub(crate) fn new(remote: Remote, n: u16, tool: ToolKind, file: &Path) -> Self {
        let (tool, input) = match tool {
            ToolKind::Proc => ("shell", json!({"command": command(file)})),
            ToolKind::Noop => ("read_file", json!({"path": file.to_string_lossy()})),
        };
        let (own, stood_in) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { remote, n, tool, input, first_call: OnceLock::new(), own, stood_in }
    }

    /// Milliseconds from `since` to the first model call; `None` if there was none.
    pub(crate) fn first_call_ms(&self, since: Instant) -> Option<f64> {
        let first = self.first_call.get()?;
        Some((first.saturating_duration_since(since).as_secs_f64() * 1000.0).round())
    }

    /// The prepared reply to a call, with which the role can continue.
    fn answer(&self, request: &ModelRequest) -> Value {
        match &request.context {
            RoleContext::Perceive(context) => json!({
                "task_id": "bench", "intent": context.raw_input,
                "constraints": {"scope": null, "deadline": null}, "question": null
            }),
            RoleContext::Plan(_) => {
                let subtask = |number: u16| {
                    json!({
                        "intent": format!("step {number}"), "context": "", "sequence": 1, "tools": [self.tool],
                        "success_criteria": ["the output is 1"]
                    })
                };
                json!({
                    "task_criteria": ["every step put out 1"],
                    "subtasks": (1..=self.n).map(subtask).collect::<Vec<_>>()
                })
            }
            RoleContext::Execute(_) => json!({
                "calls": [{"tool": self.tool, "input": self.input}],
                "answer_is_output": true, "status": "completed", "output": "", "reason": null
            }),
            RoleContext::Word(_) => json!({"summary": "it stands still", "next_steps": ["try again"]}),
            RoleContext::WordRule(rule) => json!({"rule": rule}),
            RoleContext::ValidateSubtask(context) => {
                let cites = context.result.tool_calls.iter().map(|call| call.evidence_id.to_string()).collect();
                passed(context.open.len(), cites)
            }
            RoleContext::ValidateTask(context) => {
                let calls = context.outcomes.iter().flat_map(|outcome| &outcome.tool_calls);
                passed(context.open.len(), calls.take(8).map(|call| call.evidence_id.to_string()).collect())
            }
        }
    }
}

/// The prepared reply of a validator: `count` criteria pass, citing this evidence.
fn passed(count: usize, cites: Vec<String>) -> Value {
    let verdict = |number: usize| json!({"number": number, "verdict": "pass", "cites": cites, "evidence": "it is 1", "failure_class": null});
    json!({"verdicts": (1..=count).map(verdict).collect::<Vec<_>>(), "what_to_do": null})
}

#[async_trait]
impl Model for StandIn {
    fn name(&self) -> String {
        self.remote.name()
    }

    async fn ask(&self, request: &ModelRequest) -> Result<ModelReply, ModelFailure> {
        self.first_call.get_or_init(Instant::now);
        let usage = match self.remote.ask(request).await {
            Ok(reply) => {
                self.own.fetch_add(1, Ordering::Relaxed);
                return Ok(reply);
            }
            Err(failure @ (ModelFailure::Cut { .. } | ModelFailure::Unreadable { .. })) => failure.usage(),
            Err(failure) => return Err(failure),
        };
        self.stood_in.fetch_add(1, Ordering::Relaxed);
        let usage = Usage { model_calls: 1, ..usage };
        Ok(ModelReply { body: ReplyBody::Json { value: self.answer(request) }, usage, model: self.name() })
    }
}
