//! Performs one effect; only this module calls models, tools and checks.

use std::borrow::Cow;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use artoo_llm::Model;
use artoo_proto::{
    CallStatus, Check, CheckOutcome, ClarificationAnswer, ConsentAnswer, ConsentRequest, Environment, Message,
    ModelFailure, ModelReply, ModelRequest, ReadingAnswer, ReadingRequest, Role, TaskId, ToolCall, ToolOrder,
    ToolOutcome,
};
use artoo_reflex::Ledger;
use artoo_tools::checks::{self, CheckInput};
use artoo_tools::{EvidenceStore, Registry};

use super::files::RealFiles;
use super::ledgers::{Ledgers, not_compared};
use super::operator::Operator;
use super::reflex::{Reflex, reply_in_full};
use super::skills::Skills;
use super::store::{CLOSED, Store};
use crate::machine::{CheckOrder, Completion, Work};
use crate::record::{Frame, Records};

/// Performs the System's effects with the models, tools and operator that all tasks share.
pub(super) struct EffectRunner {
    pub(super) model: Arc<dyn Model>,
    /// Whether the embedded parser answers in place of the model what it explains in full.
    pub(super) reflex_first: bool,
    /// The skills that the user approved; they are asked after the embedded parser.
    pub(super) skills: Skills,
    pub(super) tools: Arc<Registry>,
    pub(super) operator: Arc<dyn Operator>,
    pub(super) environment: Environment,
    pub(super) ledgers: Ledgers,
    /// The records of the open tasks; `None` without a data folder.
    pub(super) records: Option<Arc<Records>>,
}

impl EffectRunner {
    /// Starts the work; the future returns its completion. `user_request` is the user's request, verbatim.
    ///
    /// Memory frames are passed to the store before this returns, so that they are written in the order of their
    /// effects.
    pub(super) fn perform(
        self: Arc<Self>,
        work: Work,
        user_request: String,
        store: Option<&Store>,
    ) -> Pin<Box<dyn Future<Output = Completion> + Send>> {
        match work {
            Work::Model { request } => Box::pin(async move { Completion::Model(self.ask_model(&request).await) }),
            Work::Tool { order } => Box::pin(async move {
                self.sync_before(&order).await;
                let grant = order.consent.as_ref().map(|hash| self.tools.grant(hash, order.scope));
                Completion::Tool(Box::new(self.tools.call(&order, &user_request, grant).await))
            }),
            Work::Checks { order } => Box::pin(async move { Completion::Checks(self.check(order).await) }),
            Work::Timer { after_ms } => Box::pin(async move {
                tokio::time::sleep(Duration::from_millis(after_ms)).await;
                Completion::Timer
            }),
            Work::Read { order } => {
                let needs_none: fn(&Ledger) -> bool = match self.model.name() == Reflex.name() {
                    true => |_| true,
                    false if self.reflex_first => Ledger::only_asks,
                    false => |_| false,
                };
                let task_id = order.task_id.clone();
                let reading = self.ledgers.read(*order, self.environment.clone(), needs_none);
                Box::pin(async move {
                    let reading = reading.await;
                    self.record_ledger(&task_id).await;
                    Completion::Read(reading)
                })
            }
            Work::Cover { order } => {
                let coverage = self.ledgers.cover(order, user_request);
                Box::pin(async move { Completion::Covered(coverage.await) })
            }
            Work::Persist { frames } => {
                let written = store.map(|store| store.write(frames));
                Box::pin(async move {
                    Completion::Persisted(match written {
                        Some(written) => written.await.unwrap_or_else(|_| Err(CLOSED.to_owned())),
                        None => Err("memory is not kept in this run".to_owned()),
                    })
                })
            }
        }
    }

    /// Asks the model; with `reflex_first`, only if the embedded parser does not explain the whole task and no approved
    /// skill fits it.
    async fn ask_model(&self, request: &ModelRequest) -> Result<ModelReply, ModelFailure> {
        if self.reflex_first {
            if let Some(reply) = reply_in_full(request) {
                return Ok(reply);
            }
            // Until a model or a skill plans, a task that only asks has changed nothing.
            if request.role != Role::Perceiver && self.ledgers.simulate(&request.task_id).await {
                self.record_ledger(&request.task_id).await;
            }
            if let Some(reply) = self.skills.reply(request) {
                return Ok(reply);
            }
        }
        self.model.ask(request).await
    }

    /// Writes the record of a task to the disk before a call that may change something.
    async fn sync_before(&self, order: &ToolOrder) {
        if let Some(records) = self.records.clone().filter(|_| !self.tools.only_reads(&order.request.tool)) {
            let task_id = order.task_id.clone();
            // If it fails, a warning was given: the call is made all the same.
            drop(tokio::task::spawn_blocking(move || records.sync(&task_id)).await);
        }
    }

    /// Appends a task's ledger (the request as code read it, with its expected changes) to the task's record, if it has
    /// both: what was expected can't be computed after a change.
    async fn record_ledger(&self, task_id: &TaskId) {
        if let Some(records) = &self.records
            && let Some(ledger) = self.ledgers.saved(task_id).await
        {
            records.append(task_id, &Frame::Ledger { ledger });
        }
    }

    /// Decides checks on a blocking thread, one outcome for each check. If that fails, every check counts as prevented.
    async fn check(&self, order: CheckOrder) -> Vec<CheckOutcome> {
        let (environment, evidence) = (self.environment.clone(), self.tools.evidence().cloned());
        let count = order.checks.len();
        let decided = tokio::task::spawn_blocking(move || {
            order.checks.iter().map(|check| decide(check, &order, &environment, evidence.as_ref())).collect()
        });
        decided.await.unwrap_or_else(|_| vec![CheckOutcome::hindered("the check failed to run"); count])
    }

    /// Forgets the approvals, denials, failed calls and the ledger of an ended task.
    pub(super) fn forget(&self, task_id: &TaskId) {
        self.ledgers.forget(task_id);
        self.tools.forget(task_id);
    }

    /// Asks the operator for an approval, a clarification or a confirmation, and returns the answer to publish; `None`
    /// for any other message.
    pub(super) async fn ask_operator(self: Arc<Self>, message: Message) -> Option<Message> {
        #[expect(clippy::wildcard_enum_match_arm, reason = "only these three await an answer")]
        match message {
            Message::ConsentRequest(request) => Some(self.ask_consent(request).await.into()),
            Message::ClarificationRequest(request) => {
                let answer = self.operator.clarify(&request).await;
                Some(ClarificationAnswer { task_id: request.task_id, answer }.into())
            }
            Message::ReadingRequest(ReadingRequest { task_id, readings }) => {
                let request = ReadingRequest { task_id: task_id.clone(), readings };
                let confirmed = self.operator.is_present()
                    && self.operator.confirm_readings(&request).await
                    && self.ledgers.confirm(&task_id, request.readings).await;
                self.record_ledger(&task_id).await;
                Some(ReadingAnswer { task_id, confirmed }.into())
            }
            _ => None,
        }
    }

    /// Asks the operator to approve a call, and with the first such question of a task the offered readings of its
    /// request. If no user is present, the call is denied.
    async fn ask_consent(&self, mut request: ConsentRequest) -> ConsentAnswer {
        let present = self.operator.is_present();
        let mut consent = None;
        if present {
            request.readings = self.ledgers.to_show(&request.task_id).await;
            consent = self.operator.consent(&request).await;
        }
        // Record what follows from the answer before publishing it, so that no call and no comparison can race it.
        if consent.is_none() {
            self.tools.refuse(&request.task_id, &request.hash);
            if !request.readings.is_empty() {
                self.ledgers.decline(&request.task_id).await;
            }
            if let Some(records) = &self.records {
                records.append(&request.task_id, &Frame::Denials { denials: self.tools.denials(&request.task_id) });
            }
        }
        let by_person = consent.is_some_and(|consent| consent.by_person);
        let is_confirmed = by_person && self.ledgers.confirm(&request.task_id, request.readings.clone()).await;
        if !request.readings.is_empty() {
            self.record_ledger(&request.task_id).await;
        }
        let offered = consent.map(|consent| consent.scope).filter(|scope| request.offers.include(*scope));
        ConsentAnswer {
            task_id: request.task_id,
            subtask_id: request.subtask_id,
            hash: request.hash,
            allowed: consent.is_some(),
            scope: offered.unwrap_or_default(),
            note: (!present).then(|| "there is no terminal to ask on".to_owned()),
            readings: if is_confirmed { request.readings } else { Vec::new() },
        }
    }
}

/// The complete output that a recomputation is compared with; if its record is truncated, read from the evidence store.
///
/// # Errors
/// A text for the user if the complete output is not stored or can't be read.
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

/// Decides one check by the output, the calls and the files of this machine; returns its outcome.
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
        Check::Performed { act, .. } => artoo_reflex::coverage::performed(act, &order.calls, &RealFiles),
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

/// The completion of an effect whose work panicked: a failure, except for a timer, which counts as fired.
pub(super) fn crashed(work: &Work, user_request: &str) -> Completion {
    let detail = "performing it failed inside artoo".to_owned();
    match work {
        Work::Model { .. } => Completion::Model(Err(ModelFailure::Unreachable { detail })),
        Work::Tool { order } => {
            let (request, evidence_id) = (order.request.clone(), order.evidence_id.clone());
            let call = ToolCall::ended(request, evidence_id, CallStatus::Uncertain, detail);
            // The output is artoo's own message, not that of the tool.
            let call = ToolCall { output_bytes: 0, environmental: true, ..call };
            Completion::Tool(Box::new(ToolOutcome::Called { call }))
        }
        Work::Checks { order } => Completion::Checks(vec![CheckOutcome::hindered(detail); order.checks.len()]),
        Work::Timer { .. } => Completion::Timer,
        Work::Persist { .. } => Completion::Persisted(Err(detail)),
        Work::Read { .. } => Completion::Read(Err(detail)),
        Work::Cover { .. } => Completion::Covered(not_compared(user_request.to_owned())),
    }
}
