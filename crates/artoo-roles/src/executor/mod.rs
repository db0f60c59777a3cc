//! R3, the Executor: carries out one subtask with tools and reports what it did. It never judges itself.

#[cfg(test)]
#[cfg(feature = "runtime")]
mod agreement;
mod calling;
mod offer;
mod prompt;
#[cfg(test)]
mod tests;
mod toolbox;
mod turn;

pub(crate) use prompt::calls;
pub use toolbox::Toolbox;

use std::collections::VecDeque;
use std::sync::Arc;

use artoo_proto::{
    CallStatus, ConsentAnswer, ConsentHash, ConsentRequest, CorrectionSignal, DeniedAction, EffectId, Environment,
    EvidenceId, ExecuteContext, ExecutionResult, ExecutionStatus, InCalls, ModelFailure, ModelReply, ModelRequest,
    Recipe, Role, RoleContext, SubTask, ToolCall, ToolOrder, ToolOutcome, ToolRequest,
};

use crate::ask::{Answer, Ask};
use crate::limits::{CALLS_PER_ATTEMPT, IDLE_REPLIES_MAX, REPLY_TOKENS, SUBTASK_WAIT_MS};
use crate::machine::{Completion, Context, Machine, Start, adapters};
use turn::Turn;

/// An input of R3 (the Executor): its subtask, a correction, an approval, a model's reply, a call's outcome, or the
/// abort.
#[derive(Debug)]
pub enum Input {
    /// The subtask to carry out.
    Assigned(SubTask),
    /// R4a (the Agent-Validator) asks for another attempt and says what was wrong with the last one.
    Corrected(CorrectionSignal),
    /// The user's answer to a request for approval of a tool call.
    Answered(ConsentAnswer),
    /// The reply of the model, or why there is none, with the id of the effect.
    Replied(EffectId, Result<ModelReply, ModelFailure>),
    /// A tool call ended or needs the user's approval, with the id of the effect.
    Called(EffectId, Box<ToolOutcome>),
    /// The task has ended; nothing more is done for it.
    Abort,
}

/// An effect of R3 (the Executor): a report, an approval question, a model call or a tool call. None judges its own
/// output, starts a retry or accesses memory.
#[derive(Debug)]
pub enum Effect {
    /// Reports what one attempt did and its output.
    Report(ExecutionResult),
    /// Asks the user to approve a tool call (Law 1: no harm without approval).
    AskConsent(ConsentRequest),
    /// Asks the model for the next tool calls or the final answer.
    AskModel(EffectId, Arc<ModelRequest>),
    /// Calls a tool.
    CallTool(EffectId, ToolOrder),
}

/// What the executor waits for: a model's reply, a call's outcome, an approval, or a correction; or it has ended.
#[derive(Debug, Default)]
enum Phase {
    /// The model's reply.
    Asking(Ask<Turn>),
    /// The outcome of a tool call.
    Calling(PendingCall),
    /// The user's approval of this tool call, with the text that the user was shown.
    AwaitingConsent(ConsentHash, PendingQuestion),
    /// The attempt was reported; a correction may start another.
    Reported,
    /// Nothing: the task was aborted.
    #[default]
    Over,
}

/// A tool call whose outcome is awaited.
#[derive(Debug)]
struct PendingCall {
    id: EffectId,
    request: ToolRequest,
    /// Questions about this call that the user has approved.
    approved: u32,
}

/// A call whose approval question the user has not answered yet.
#[derive(Debug)]
struct PendingQuestion {
    request: ToolRequest,
    /// The call as the user was shown it.
    shown: String,
    /// Questions about this call that the user has approved before.
    approved: u32,
}

/// The state of one attempt at the subtask: its calls so far, its queue of calls, denials and remarks.
#[derive(Debug)]
struct Attempt {
    /// Number of the attempt, counted from 1.
    number: u32,
    /// What was wrong with the last attempt; `None` for the first one.
    correction: Option<CorrectionSignal>,
    /// Tool calls still to be made, in order.
    queue: VecDeque<ToolRequest>,
    /// Whether the output of the queued calls is the answer, so that the model need not be asked again.
    answer_is_output: bool,
    /// Records of the tool calls made in this attempt, denied ones included.
    calls: Vec<ToolCall>,
    /// Tool calls that the user or a rule denied, with the reason.
    denied: Vec<DeniedAction>,
    /// Why calls were dropped from the model's last reply, one line each; shown to the model with the next request.
    remarks: Vec<String>,
    /// Number of model replies whose tool calls were all dropped.
    idle_replies: u32,
}

impl Attempt {
    /// An attempt with this number, after this correction; its queue has the calls of the recipe, if there is one.
    fn new(number: u32, correction: Option<CorrectionSignal>, recipe: Option<&Recipe>) -> Self {
        let steps = recipe.into_iter().flat_map(|recipe| &recipe.steps);
        Self {
            number,
            correction,
            queue: steps.map(|step| step.call.clone()).collect(),
            answer_is_output: recipe.is_some(),
            calls: Vec::new(),
            denied: Vec::new(),
            remarks: Vec::new(),
            idle_replies: 0,
        }
    }

    /// How many more tool calls this attempt may make, if there is no recipe.
    fn calls_left(&self) -> u32 {
        CALLS_PER_ATTEMPT.saturating_sub(u32::try_from(self.calls.len()).unwrap_or(u32::MAX))
    }
}

/// R3, the Executor: the state machine that carries out one subtask with tools.
#[derive(Debug)]
pub struct Executor {
    environment: Environment,
    /// All tools of this machine.
    tools: Arc<Toolbox>,
    subtask: SubTask,
    attempt: Attempt,
    /// Records of the tool calls of earlier attempts.
    earlier_calls: Vec<ToolCall>,
    /// Number of evidence ids used so far, in all attempts.
    evidence_drawn: u32,
    /// Whether a call that is not read-only needs the user's approval, because memory advises caution; ends with the
    /// first approval.
    confirm: bool,
    /// Uptime in milliseconds at which the subtask's time limit is reached; no tool call is started after it.
    until_ms: u64,
    phase: Phase,
}

impl Executor {
    /// Starts the attempt: with the first call of the recipe if there is one, otherwise by asking the model.
    fn begin(&mut self, cx: &mut Context<'_>) -> Vec<Effect> {
        if self.subtask.recipe.is_some() { self.next_call(cx) } else { self.ask(cx) }
    }

    /// Asks the model for the next tool calls or the final answer.
    fn ask(&mut self, cx: &mut Context<'_>) -> Vec<Effect> {
        let attempt = &mut self.attempt;
        let context = ExecuteContext {
            tools: self.tools.usable(&self.subtask),
            calls: attempt.calls.clone(),
            earlier_calls: self.earlier_calls.clone(),
            correction: attempt.correction.clone(),
            remarks: std::mem::take(&mut attempt.remarks),
            calls_left: attempt.calls_left(),
            environment: self.environment.clone(),
            subtask: self.subtask.clone(),
        };
        let tools = self.tools.worded(&self.subtask);
        let request = ModelRequest {
            role: Role::Executor,
            task_id: self.subtask.parent_task_id.clone(),
            subtask_id: Some(self.subtask.subtask_id),
            schema_name: "execution".to_owned(),
            schema: prompt::schema(&tools),
            max_tokens: REPLY_TOKENS,
            by_tools: Some(InCalls(offer::by_tools)),
            prompt: prompt::render(&context, &tools),
            context: RoleContext::Execute(Box::new(context)),
        };
        let (ask, id, request) = Ask::start(cx, request);
        self.phase = Phase::Asking(ask);
        vec![Effect::AskModel(id, request)]
    }

    /// Makes the next queued tool call; without one, reports the output or asks the model.
    fn next_call(&mut self, cx: &mut Context<'_>) -> Vec<Effect> {
        match self.attempt.queue.pop_front() {
            // A recipe ends by itself.
            Some(request) if self.subtask.recipe.is_some() || self.attempt.calls_left() > 0 => {
                match self.with_listed_paths(request) {
                    Ok(request) => self.call(cx, request, None, 0),
                    Err(problem) => self.fail(problem),
                }
            }
            Some(_) => self.fail("too many calls"),
            None if self.attempt.answer_is_output => self.report_output(),
            None => self.ask(cx),
        }
    }

    /// Acts on a model's reply: makes its usable calls, asks again if none is usable (after `IDLE_REPLIES_MAX` such
    /// replies the attempt fails), or reports the answer.
    fn reply(&mut self, cx: &mut Context<'_>, turn: Turn) -> Vec<Effect> {
        let subtask = &self.subtask;
        let known = self.attempt.calls.iter().chain(&self.earlier_calls);
        let review = turn.review(&self.tools.usable(subtask), &subtask.blocked_targets, known);
        let wanted_calls = !turn.calls.is_empty();
        let attempt = &mut self.attempt;
        if review.calls.is_empty() && wanted_calls {
            attempt.remarks = review.remarks;
            attempt.idle_replies += 1;
            if attempt.idle_replies > IDLE_REPLIES_MAX || attempt.calls_left() == 0 {
                let reason = format!("no usable call: {}", attempt.remarks.join("; "));
                return self.report(ExecutionStatus::Failed, turn.output, Some(reason), None);
            }
            return self.ask(cx);
        }
        if wanted_calls {
            attempt.remarks = review.remarks;
            // If calls were dropped, the model's plan is incomplete, so the model is asked again.
            attempt.answer_is_output = turn.answer_is_output && attempt.remarks.is_empty();
            attempt.queue = review.calls.into();
            return self.next_call(cx);
        }
        let answered = attempt.calls.last().is_some_and(|call| call.status == CallStatus::Ok);
        if turn.answer_is_output
            && answered
            && turn.output.trim().is_empty()
            && turn.status == ExecutionStatus::Completed
        {
            return self.report_output();
        }
        self.report(turn.status, turn.output, turn.reason, None)
    }

    /// Reports tool output as the answer, unchanged: of a recipe the outputs of the steps marked as answers, otherwise
    /// the output of the last call.
    fn report_output(&mut self) -> Vec<Effect> {
        let calls = &self.attempt.calls;
        let outputs: Vec<&str> = match &self.subtask.recipe {
            // A recipe is reported only after each step was called once, in order.
            Some(recipe) => {
                let steps = recipe.steps.iter().zip(calls);
                steps.filter(|(step, _)| step.answers).map(|(_, call)| call.output.as_str()).collect()
            }
            None => calls.last().map(|call| call.output.as_str()).into_iter().collect(),
        };
        let output = outputs.join("\n");
        self.phase = Phase::Reported;
        let result = self.result(ExecutionStatus::Completed, output, None, None);
        vec![Effect::Report(ExecutionResult { output_from_tool: true, ..result })]
    }

    /// Reports the current attempt and waits for a correction.
    fn report(
        &mut self,
        status: ExecutionStatus,
        output: String,
        reason: Option<String>,
        model_failure: Option<ModelFailure>,
    ) -> Vec<Effect> {
        self.phase = Phase::Reported;
        vec![Effect::Report(self.result(status, output, reason, model_failure))]
    }

    /// Reports the attempt as failed for this reason.
    fn fail(&mut self, reason: impl Into<String>) -> Vec<Effect> {
        self.report(ExecutionStatus::Failed, String::new(), Some(reason.into()), None)
    }

    /// The report of the current attempt for R4a: its output, status, calls and denials.
    fn result(
        &self,
        status: ExecutionStatus,
        output: String,
        reason: Option<String>,
        model_failure: Option<ModelFailure>,
    ) -> ExecutionResult {
        ExecutionResult {
            subtask_id: self.subtask.subtask_id,
            parent_task_id: self.subtask.parent_task_id.clone(),
            attempt: self.attempt.number,
            status,
            output,
            output_from_tool: false,
            tool_calls: self.attempt.calls.clone(),
            denied: self.attempt.denied.clone(),
            model_failure,
            reason,
        }
    }

    /// The evidence id with this number: the first eight characters of the subtask's id make it unique in the task and
    /// short to cite.
    fn evidence_id(&self, number: u32) -> EvidenceId {
        let subtask: String = self.subtask.subtask_id.to_string().chars().take(8).collect();
        EvidenceId(format!("{subtask}.e{number}"))
    }
}

impl Start for Executor {
    type Setup = (Environment, Arc<Toolbox>);
    const ABORT: Input = Input::Abort;

    fn start(
        (environment, tools): &Self::Setup,
        cx: &mut Context<'_>,
        first: Input,
    ) -> Result<(Self, Vec<Effect>), Input> {
        let Input::Assigned(subtask) = first else { return Err(first) };
        let mut executor = Self {
            environment: environment.clone(),
            tools: Arc::clone(tools),
            attempt: Attempt::new(1, None, subtask.recipe.as_ref()),
            earlier_calls: Vec::new(),
            evidence_drawn: 0,
            confirm: subtask.confirm,
            until_ms: cx.now.uptime_ms.saturating_add(SUBTASK_WAIT_MS),
            subtask,
            phase: Phase::Over,
        };
        let effects = executor.begin(cx);
        Ok((executor, effects))
    }
}

impl Machine for Executor {
    type Input = Input;
    type Effect = Effect;

    fn step(&mut self, cx: &mut Context<'_>, input: Input) -> Vec<Effect> {
        match (std::mem::take(&mut self.phase), input) {
            (Phase::Reported, Input::Corrected(correction)) if correction.attempt_number == self.attempt.number + 1 => {
                let number = correction.attempt_number;
                let next = Attempt::new(number, Some(correction), self.subtask.recipe.as_ref());
                let last = std::mem::replace(&mut self.attempt, next);
                self.earlier_calls.extend(last.calls);
                self.begin(cx)
            }
            (Phase::Asking(ask), Input::Replied(id, reply)) if ask.awaits(id) => match ask.answer(cx, reply) {
                Answer::Value(turn) => self.reply(cx, turn),
                Answer::Again(ask, id, request) => {
                    self.phase = Phase::Asking(ask);
                    vec![Effect::AskModel(id, request)]
                }
                Answer::Failed(failure) => {
                    self.report(ExecutionStatus::Failed, String::new(), Some(failure.to_string()), Some(failure))
                }
                Answer::Abstained(_) => self.fail("the embedded parser can't carry out a step"),
            },
            (Phase::Calling(call), Input::Called(id, outcome)) if call.id == id => self.called(cx, call, *outcome),
            (Phase::AwaitingConsent(hash, question), Input::Answered(answer)) if answer.hash == hash => {
                self.consent(cx, question, answer)
            }
            (_, Input::Abort) => Vec::new(),
            (
                phase,
                Input::Assigned(_) | Input::Corrected(_) | Input::Replied(..) | Input::Called(..) | Input::Answered(_),
            ) => {
                self.phase = phase;
                cx.ignore()
            }
        }
    }
}

adapters! {
    messages {
        SubTask(subtask) => Input::Assigned(subtask.clone()),
        CorrectionSignal(correction) => Input::Corrected(correction.clone()),
        ConsentAnswer(answer) => Input::Answered(answer.clone()),
        Abort(_) => Input::Abort,
    }
    completions {
        (id, Completion::Model(reply)) => Input::Replied(id, reply),
        (id, Completion::Tool(outcome)) => Input::Called(id, outcome),
    }
    publishes { Report, AskConsent }
    performs { AskModel, CallTool }
}
