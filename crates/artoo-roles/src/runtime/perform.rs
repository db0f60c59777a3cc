//! Performing one effect: the only place where models, tools and checks are touched.

use std::borrow::Cow;
use std::sync::Arc;

use artoo_llm::Model;
use artoo_proto::{
    CallStatus, Check, CheckOutcome, ClarificationAnswer, ConsentAnswer, Environment, Message, ModelFailure, TaskId,
    ToolCall, ToolOutcome,
};
use artoo_tools::checks::{self, CheckInput};
use artoo_tools::{CallContext, EvidenceStore, Registry};

use super::files::RealFiles;
use super::operator::Operator;
use crate::machine::{CheckOrder, Completion, ToolOrder, Work};

/// What performing needs, shared by every task.
pub(super) struct Hands {
    pub(super) model: Arc<dyn Model>,
    pub(super) tools: Arc<Registry>,
    pub(super) operator: Arc<dyn Operator>,
    pub(super) environment: Environment,
}

impl Hands {
    /// Does the work and says how it ended; a panic inside is one failed effect, not a lost one. `said` is the task in
    /// the person's own words.
    pub(super) async fn perform(self: Arc<Self>, task_id: Option<TaskId>, work: Work, said: String) -> Completion {
        match work {
            Work::Model { request } => Completion::Model(self.model.ask(&request).await),
            Work::Tool { order } => match task_id {
                Some(task_id) => Completion::Tool(Box::new(self.call(task_id, *order, said).await)),
                // Only an executor asks for tools, and it belongs to a task.
                None => crashed(&Work::Tool { order }),
            },
            Work::Checks { order } => Completion::Checks(self.check(order).await),
            Work::Timer { after_ms } => {
                tokio::time::sleep(std::time::Duration::from_millis(after_ms)).await;
                Completion::Timer
            }
            Work::Persist { .. } => Completion::Persisted(Err("memory is not kept in this run".to_owned())),
        }
    }

    async fn call(&self, task_id: TaskId, order: ToolOrder, said: String) -> ToolOutcome {
        let grant = order.consent.as_ref().map(|hash| self.tools.grant(hash, order.scope));
        let context = CallContext {
            task_id,
            request: order.request,
            evidence_id: order.evidence_id,
            allowed_tools: order.allowed_tools,
            blocked_tools: order.blocked_tools,
            blocked_targets: order.blocked_targets,
            confirm: order.confirm,
            said,
        };
        self.tools.call(&context, grant).await
    }

    async fn check(&self, order: CheckOrder) -> Vec<CheckOutcome> {
        let (environment, evidence) = (self.environment.clone(), self.tools.evidence().cloned());
        let count = order.checks.len();
        let decided = tokio::task::spawn_blocking(move || {
            order.checks.iter().map(|check| decide(check, &order, &environment, evidence.as_ref())).collect()
        });
        decided.await.unwrap_or_else(|_| vec![CheckOutcome::hindered("the check failed to run"); count])
    }

    /// A task is over: what was allowed, refused and tried in it is no more.
    pub(super) fn forget(&self, task_id: &TaskId) {
        self.tools.forget(task_id);
    }

    /// Asks the person; what they say goes back over the bus.
    pub(super) async fn ask_operator(self: Arc<Self>, message: Message) -> Option<Message> {
        #[expect(clippy::wildcard_enum_match_arm, reason = "only these two await an answer")]
        match message {
            Message::ConsentRequest(request) => {
                let present = self.operator.is_present();
                let scope = if present { self.operator.consent(&request).await } else { None };
                // Known at the hand before the answer is on its way: nothing slips in between.
                if scope.is_none() {
                    self.tools.refuse(&request.task_id, &request.hash);
                }
                let offered = scope.filter(|scope| request.offers.include(*scope)).unwrap_or_default();
                let note = (!present).then(|| "there is no terminal to ask on".to_owned());
                let answer = ConsentAnswer {
                    task_id: request.task_id,
                    subtask_id: request.subtask_id,
                    hash: request.hash,
                    allowed: scope.is_some(),
                    scope: offered,
                    note,
                };
                Some(answer.into())
            }
            Message::ClarificationRequest(request) => {
                let answer = self.operator.clarify(&request).await;
                Some(ClarificationAnswer { task_id: request.task_id, answer }.into())
            }
            _ => None,
        }
    }
}

/// The output that a recomputation is held against: all of it, also where its record is cut.
fn whole_output<'a>(order: &'a CheckOrder, evidence: Option<&EvidenceStore>) -> Result<Cow<'a, str>, String> {
    let is_cut = |call: &&ToolCall| call.truncated && call.output == order.output;
    let Some(call) = order.calls.iter().rev().find(is_cut) else { return Ok(Cow::Borrowed(&order.output)) };
    let bytes = call.output_bytes;
    let (Some(kept), Some(evidence)) = (call.whole_output(), evidence) else {
        return Err(format!("the output has {bytes} bytes, and not all of them are kept to be compared"));
    };
    let read = evidence.read(&kept.sha256).map_err(|problem| problem.to_string())?;
    Ok(Cow::Owned(
        String::from_utf8(read).unwrap_or_else(|other| String::from_utf8_lossy(other.as_bytes()).into_owned()),
    ))
}

fn decide(
    check: &Check,
    order: &CheckOrder,
    environment: &Environment,
    evidence: Option<&EvidenceStore>,
) -> CheckOutcome {
    match check {
        Check::Recompute { query, .. } => match whole_output(order, evidence) {
            Ok(output) => artoo_reflex::eval::verify(query, &output, &RealFiles),
            Err(problem) => CheckOutcome::hindered(problem),
        },
        Check::Performed { act, .. } => artoo_reflex::eval::performed(act, &order.calls, &RealFiles),
        Check::OutputNotEmpty {}
        | Check::OutputIsNumber {}
        | Check::ExitCode { .. }
        | Check::FileExists { .. }
        | Check::FileContains { .. }
        | Check::FileEquals { .. }
        | Check::FileCount { .. }
        | Check::LineCount { .. } => {
            let input = CheckInput { output: &order.output, exit_code: None, environment };
            checks::run(check, &input).unwrap_or_else(|| CheckOutcome::fail("no code decides this check"))
        }
    }
}

/// How an effect ended whose performance panicked.
pub(super) fn crashed(work: &Work) -> Completion {
    let detail = "performing it failed inside artoo".to_owned();
    match work {
        Work::Model { .. } => Completion::Model(Err(ModelFailure::Unreachable { detail })),
        Work::Tool { order } => {
            let (request, evidence_id) = (order.request.clone(), order.evidence_id.clone());
            let call = ToolCall::ended(request, evidence_id, CallStatus::Uncertain, detail);
            // What it put out is artoo's own word.
            let call = ToolCall { output_bytes: 0, environmental: true, ..call };
            Completion::Tool(Box::new(ToolOutcome::Called { call }))
        }
        Work::Checks { order } => Completion::Checks(vec![CheckOutcome::hindered(detail); order.checks.len()]),
        Work::Timer { .. } => Completion::Timer,
        Work::Persist { .. } => Completion::Persisted(Err(detail)),
    }
}
