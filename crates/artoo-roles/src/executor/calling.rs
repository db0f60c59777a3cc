//! Making calls: under which conditions, with whose leave, and what a refusal leads to.

use artoo_proto::{
    CallStatus, ConsentAnswer, ConsentHash, ConsentRequest, ConsentScope, DeniedAction, EvidenceId, ExecutionStatus,
    ToolCall, ToolOutcome, ToolRequest,
};

use super::{Effect, Executor, Order, State, short};
use crate::blocked;
use crate::machine::{Context, ToolOrder, Work};

impl Executor {
    /// A recipe's call, with the paths that an earlier step of it listed.
    pub(super) fn with_listed_paths(&self, mut request: ToolRequest) -> Result<ToolRequest, String> {
        let recipe = self.subtask.as_ref().and_then(|subtask| subtask.recipe.as_ref());
        let Some(from) = recipe.and_then(|recipe| recipe.steps.get(self.calls.len())?.paths_from) else {
            return Ok(request);
        };
        let listing = self.calls.get(from).filter(|call| call.status == CallStatus::Ok && !call.truncated);
        let listing = listing.ok_or("the list of what to act on is not whole, so nothing was touched")?;
        let paths: Vec<&str> = listing.output.lines().filter(|line| !line.is_empty()).collect();
        if paths.is_empty() {
            return Err("nothing fits the description, so nothing was touched".to_owned());
        }
        let fields = request.input.as_object_mut().ok_or("the call takes no fields")?;
        fields.insert("paths".to_owned(), paths.into());
        Ok(request)
    }

    pub(super) fn call(
        &mut self,
        cx: &mut Context<'_>,
        request: ToolRequest,
        consent: Option<(ConsentHash, ConsentScope)>,
    ) -> Vec<Effect> {
        let Some(subtask) = &self.subtask else { return Vec::new() };
        // The dispatcher has given this subtask up: an act now would belong to no round.
        if cx.now.uptime_ms >= self.until_ms {
            let reason = Some("the time of this step was over before the call".to_owned());
            return self.report(ExecutionStatus::Failed, String::new(), reason, None);
        }
        let allowed = consent.is_some();
        let (consent, scope) = consent.map_or((None, ConsentScope::Once), |(hash, scope)| (Some(hash), scope));
        let order = ToolOrder {
            evidence_id: EvidenceId(format!("{}.e{}", short(subtask), self.evidence_drawn + 1)),
            allowed_tools: subtask.tools.clone(),
            blocked_tools: subtask.blocked_tools.clone(),
            blocked_targets: blocked::for_call(&subtask.blocked_targets, &request.tool),
            confirm: self.confirm,
            request: request.clone(),
            consent,
            scope,
        };
        let id = cx.ids.next_effect();
        self.state = State::Calling(Order { id, request, allowed });
        vec![Effect::Perform(id, Work::Tool { order: Box::new(order) })]
    }

    pub(super) fn called(&mut self, cx: &mut Context<'_>, order: Order, outcome: ToolOutcome) -> Vec<Effect> {
        match outcome {
            ToolOutcome::Called { call } => {
                self.evidence_drawn += 1;
                self.recorded(cx, call)
            }
            // What was allowed is not what would run now: a yes is never stretched (fault H11).
            ToolOutcome::NeedsConsent { shown, .. } if order.allowed => {
                self.refused(order.request, &shown, "what was allowed has changed before it ran".to_owned(), false)
            }
            // Nobody is asked twice: a no holds for the rest of the task (decision D10).
            ToolOutcome::NeedsConsent { shown, .. } if self.was_refused(&order.request.tool, &shown) => {
                self.refused(order.request, &shown, "it was refused before in this task".to_owned(), false)
            }
            ToolOutcome::NeedsConsent { hash, shown, effects, reason, offers } => {
                let Some(subtask) = &self.subtask else { return Vec::new() };
                self.state = State::AwaitingConsent(hash.clone(), order.request, shown.clone());
                vec![Effect::AskConsent(ConsentRequest {
                    task_id: subtask.parent_task_id.clone(),
                    subtask_id: subtask.subtask_id,
                    hash,
                    shown,
                    effects,
                    reason,
                    offers,
                })]
            }
        }
    }

    fn recorded(&mut self, cx: &mut Context<'_>, call: ToolCall) -> Vec<Effect> {
        let status = call.status;
        let must_not = status == CallStatus::Denied && self.is_must_not(&call);
        if status == CallStatus::Denied && !must_not {
            let action = format!("{}: {}", call.tool, call.target);
            self.denied.push(DeniedAction { action, reason: call.output.clone(), by_person: false });
        }
        self.calls.push(call);
        match status {
            CallStatus::Ok => self.next_call(cx),
            CallStatus::Denied if must_not => self.after_failed_call(cx),
            // A refused call is not to be tried again in other words (decision D10).
            CallStatus::Denied => {
                self.report(ExecutionStatus::Failed, String::new(), Some("a call was refused".to_owned()), None)
            }
            CallStatus::Failed | CallStatus::TimedOut | CallStatus::Cut | CallStatus::Uncertain => {
                self.after_failed_call(cx)
            }
        }
    }

    /// Whether a refusal is the plan's own MUST NOT rather than Law 1: another way may be tried, and nobody was asked.
    fn is_must_not(&self, call: &ToolCall) -> bool {
        self.subtask.as_ref().is_some_and(|subtask| {
            subtask.blocked_tools.contains(&call.tool)
                || !subtask.tools.contains(&call.tool)
                || blocked::is_hit(&subtask.blocked_targets, &call.tool, &call.target)
        })
    }

    /// Whether R7 passed on that a person said no to exactly this.
    fn was_refused(&self, tool: &str, shown: &str) -> bool {
        self.subtask.as_ref().is_some_and(|subtask| blocked::is_hit(&subtask.blocked_targets, tool, shown))
    }

    /// A recipe ends at its first failed call; a model is shown the failure and may react.
    fn after_failed_call(&mut self, cx: &mut Context<'_>) -> Vec<Effect> {
        self.queue.clear();
        self.answer_is_output = false;
        let is_recipe = self.subtask.as_ref().is_some_and(|subtask| subtask.recipe.is_some());
        if is_recipe {
            let reason = self.calls.last().map(|call| call.output.clone());
            return self.report(ExecutionStatus::Failed, String::new(), reason, None);
        }
        self.ask(cx)
    }

    pub(super) fn consent(
        &mut self,
        cx: &mut Context<'_>,
        request: ToolRequest,
        shown: String,
        answer: ConsentAnswer,
    ) -> Vec<Effect> {
        if answer.allowed {
            self.confirm = false;
            return self.call(cx, request, Some((answer.hash, answer.scope)));
        }
        let by_person = answer.note.is_none();
        let reason = answer.note.unwrap_or_else(|| "you did not allow it".to_owned());
        self.refused(request, &shown, reason, by_person)
    }

    /// Law 1: the call was not made, and the record says so.
    fn refused(&mut self, request: ToolRequest, shown: &str, reason: String, by_person: bool) -> Vec<Effect> {
        self.evidence_drawn += 1;
        let Some(subtask) = &self.subtask else { return Vec::new() };
        let prefix = format!("{}: ", request.tool);
        let action = if shown.starts_with(&prefix) { shown.to_owned() } else { prefix + shown };
        self.denied.push(DeniedAction { action, reason: reason.clone(), by_person });
        let evidence_id = EvidenceId(format!("{}.e{}", short(subtask), self.evidence_drawn));
        let output = format!("[LAW1] not run: {reason}");
        let call = ToolCall::ended(request, evidence_id, CallStatus::Denied, output);
        // What it put out is artoo's own word.
        self.calls.push(ToolCall { target: shown.to_owned(), output_bytes: 0, environmental: true, ..call });
        let reason = Some("[LAW1] a needed call was not allowed".to_owned());
        self.report(ExecutionStatus::Failed, String::new(), reason, None)
    }
}
