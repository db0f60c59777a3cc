//! Tool calls of the executor: their conditions, the user's approval, and what a denial leads to.

use artoo_proto::{
    CallStatus, ConsentAnswer, ConsentHash, ConsentRequest, ConsentScope, DeniedAction, ExecutionStatus, ToolCall,
    ToolOrder, ToolOutcome, ToolRequest,
};

use super::{Effect, Executor, PendingCall, PendingQuestion, Phase};
use crate::blocked;
use crate::machine::Context;

/// Maximum number of approval questions about one call; its network access, the files it reads and the files it changes
/// become known one after another.
const QUESTIONS_MAX: u32 = 4;

impl Executor {
    /// Fills in the `paths` of a recipe's call from the output of the earlier steps that list them; other calls are
    /// returned unchanged. Returns an error message if a list is truncated or missing, or all are empty.
    pub(super) fn with_listed_paths(&self, mut request: ToolRequest) -> Result<ToolRequest, String> {
        let calls = &self.attempt.calls;
        let step = self.subtask.recipe.as_ref().and_then(|recipe| recipe.steps.get(calls.len()));
        let Some(from) = step.and_then(|step| step.paths_from) else { return Ok(request) };
        let listings = calls.get(from..).unwrap_or_default();
        if listings.is_empty() || listings.iter().any(|call| call.status != CallStatus::Ok || call.truncated) {
            return Err("the list of what to act on is not whole, so nothing was touched".to_owned());
        }
        let lines = listings.iter().flat_map(|listing| listing.output.lines());
        let paths: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
        if paths.is_empty() {
            return Err("nothing fits the description, so nothing was touched".to_owned());
        }
        let fields = request.input.as_object_mut().ok_or("the call takes no fields")?;
        fields.insert("paths".to_owned(), paths.into());
        Ok(request)
    }

    /// Starts a tool call, with the user's approval if there is one; fails the attempt if the time limit is reached.
    pub(super) fn call(
        &mut self,
        cx: &mut Context<'_>,
        request: ToolRequest,
        consent: Option<(ConsentHash, ConsentScope)>,
        approved: u32,
    ) -> Vec<Effect> {
        // The dispatcher has reported this subtask as missing, so no round would contain this call.
        if cx.now.uptime_ms >= self.until_ms {
            return self.fail("the time of this step was over before the call");
        }
        let (consent, scope) = consent.map_or((None, ConsentScope::Once), |(hash, scope)| (Some(hash), scope));
        let subtask = &self.subtask;
        let order = ToolOrder {
            task_id: subtask.parent_task_id.clone(),
            evidence_id: self.evidence_id(self.evidence_drawn + 1),
            allowed_tools: subtask.tools.clone(),
            blocked_tools: subtask.blocked_tools.clone(),
            blocked_targets: blocked::for_call(&subtask.blocked_targets, &request.tool),
            confirm: self.confirm,
            request: request.clone(),
            consent,
            scope,
        };
        let id = cx.ids.next_effect();
        self.phase = Phase::Calling(PendingCall { id, request, approved });
        vec![Effect::CallTool(id, order)]
    }

    /// Handles the outcome of a tool call: records it, or asks the user for approval.
    pub(super) fn called(&mut self, cx: &mut Context<'_>, pending: PendingCall, outcome: ToolOutcome) -> Vec<Effect> {
        match outcome {
            ToolOutcome::Called { call } => {
                self.evidence_drawn += 1;
                self.recorded(cx, call)
            }
            // A run shows what it needs bit by bit: a host first, then the files it would change.
            ToolOutcome::NeedsConsent { shown, .. } if pending.approved == QUESTIONS_MAX => {
                self.refused(pending.request, &shown, "it asked for more after each approval".to_owned(), false)
            }
            // The user is not asked twice: a denial holds for the rest of the task (decision D10).
            ToolOutcome::NeedsConsent { shown, .. } if self.was_refused(&pending.request.tool, &shown) => {
                self.refused(pending.request, &shown, "it was refused before in this task".to_owned(), false)
            }
            ToolOutcome::NeedsConsent { hash, shown, effects, details, reason, offers } => {
                let question =
                    PendingQuestion { request: pending.request, shown: shown.clone(), approved: pending.approved };
                self.phase = Phase::AwaitingConsent(hash.clone(), question);
                vec![Effect::AskConsent(ConsentRequest {
                    task_id: self.subtask.parent_task_id.clone(),
                    subtask_id: self.subtask.subtask_id,
                    hash,
                    shown,
                    effects,
                    details,
                    reason,
                    offers,
                    readings: Vec::new(),
                })]
            }
        }
    }

    /// Records a call that ended, and continues with the next call, the model, or a failed report.
    fn recorded(&mut self, cx: &mut Context<'_>, call: ToolCall) -> Vec<Effect> {
        let status = call.status;
        let must_not = status == CallStatus::Denied && self.is_must_not(&call);
        if status == CallStatus::Denied && !must_not {
            let action = format!("{}: {}", call.tool, call.target);
            self.attempt.denied.push(DeniedAction { action, reason: call.output.clone(), by_person: false });
        }
        self.attempt.calls.push(call);
        match status {
            CallStatus::Ok => self.next_call(cx),
            CallStatus::Denied if must_not => self.after_failed_call(cx),
            // A denied call must not be tried again in another form (decision D10).
            CallStatus::Denied => self.fail("a call was refused"),
            CallStatus::Failed | CallStatus::TimedOut | CallStatus::Cut | CallStatus::Uncertain => {
                self.after_failed_call(cx)
            }
        }
    }

    /// Whether a call was refused because the plan forbids its tool or target, and not under Law 1 (no harm without
    /// approval). The user was not asked then, and the model may try another way.
    fn is_must_not(&self, call: &ToolCall) -> bool {
        let subtask = &self.subtask;
        subtask.blocked_tools.contains(&call.tool)
            || !subtask.tools.contains(&call.tool)
            || blocked::is_hit(&subtask.blocked_targets, &call.tool, &call.target)
    }

    /// Whether a blocked target matches this call as it is `shown`: R7 (the Solver) blocks what the user denied
    /// earlier.
    fn was_refused(&self, tool: &str, shown: &str) -> bool {
        blocked::is_hit(&self.subtask.blocked_targets, tool, shown)
    }

    /// Continues after a failed call: a recipe ends with a failed report, and a model is asked again and sees the
    /// failure.
    fn after_failed_call(&mut self, cx: &mut Context<'_>) -> Vec<Effect> {
        self.attempt.queue.clear();
        self.attempt.answer_is_output = false;
        if self.subtask.recipe.is_some() {
            let reason = self.attempt.calls.last().map(ToolCall::failure);
            return self.report(ExecutionStatus::Failed, String::new(), reason, None);
        }
        self.ask(cx)
    }

    /// Handles the user's answer: makes the approved call, or records the denial.
    pub(super) fn consent(
        &mut self,
        cx: &mut Context<'_>,
        question: PendingQuestion,
        answer: ConsentAnswer,
    ) -> Vec<Effect> {
        let PendingQuestion { request, shown, approved } = question;
        if answer.allowed {
            self.confirm = false;
            return self.call(cx, request, Some((answer.hash, answer.scope)), approved + 1);
        }
        let by_person = answer.note.is_none();
        let reason = answer.note.unwrap_or_else(|| "you did not allow it".to_owned());
        self.refused(request, &shown, reason, by_person)
    }

    /// Records that a call was denied under Law 1 (no harm without approval) and fails the attempt.
    fn refused(&mut self, request: ToolRequest, shown: &str, reason: String, by_person: bool) -> Vec<Effect> {
        self.evidence_drawn += 1;
        let prefix = format!("{}: ", request.tool);
        let action = if shown.starts_with(&prefix) { shown.to_owned() } else { prefix + shown };
        self.attempt.denied.push(DeniedAction { action, reason: reason.clone(), by_person });
        let evidence_id = self.evidence_id(self.evidence_drawn);
        let output = format!("[LAW1] not run: {reason}");
        let call = ToolCall::ended(request, evidence_id, CallStatus::Denied, output);
        // The output is a message of artoo's own, so it counts no bytes of tool output.
        self.attempt.calls.push(ToolCall { target: shown.to_owned(), output_bytes: 0, environmental: true, ..call });
        self.fail("[LAW1] a needed call was not allowed")
    }
}
