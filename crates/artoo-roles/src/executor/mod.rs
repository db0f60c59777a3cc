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
mod wire;

pub(crate) use prompt::calls;
pub use toolbox::Toolbox;

use std::collections::VecDeque;
use std::sync::Arc;

use artoo_proto::{
    CallStatus, ConsentAnswer, ConsentHash, ConsentRequest, CorrectionSignal, DeniedAction, EffectId, Environment,
    ExecuteContext, ExecutionResult, ExecutionStatus, InCalls, ModelFailure, ModelReply, ModelRequest, Role,
    RoleContext, SubTask, ToolCall, ToolOutcome, ToolRequest,
};

use crate::ask::{Answer, Ask};
use crate::limits::{CALLS_PER_ATTEMPT, IDLE_REPLIES_MAX, REPLY_TOKENS, SUBTASK_WAIT_MS};
use crate::machine::{Context, Machine, Work};
use turn::Turn;

/// What R3 may be told.
#[derive(Debug)]
pub enum Input {
    /// Its subtask.
    Assigned(SubTask),
    /// Try again, differently.
    Corrected(CorrectionSignal),
    /// The user allows or refuses.
    Answered(ConsentAnswer),
    /// The model's reply.
    Replied(EffectId, Result<ModelReply, ModelFailure>),
    /// A tool call ended.
    Called(EffectId, Box<ToolOutcome>),
    /// The task is over.
    Abort,
}

/// What R3 may do. It has no way to judge its output, retry by itself or reach memory.
#[derive(Debug)]
pub enum Effect {
    /// Report.
    Report(ExecutionResult),
    /// Ask the user under Law 1.
    AskConsent(ConsentRequest),
    /// Ask the model or call a tool.
    Perform(EffectId, Work),
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Idle,
    Asking(Ask<Turn>),
    Calling(Order),
    AwaitingConsent(ConsentHash, ToolRequest, String),
    Done,
    Over,
}

/// A call under way.
#[derive(Debug)]
struct Order {
    id: EffectId,
    request: ToolRequest,
    /// It runs under a yes, which holds once.
    allowed: bool,
}

/// The Executor of one subtask.
#[derive(Debug)]
pub struct Executor {
    environment: Environment,
    tools: Arc<Toolbox>,
    subtask: Option<SubTask>,
    attempt: u32,
    correction: Option<CorrectionSignal>,
    queue: VecDeque<ToolRequest>,
    /// The last queued call's output is the answer, so no further model call is needed.
    answer_is_output: bool,
    calls: Vec<ToolCall>,
    earlier_calls: Vec<ToolCall>,
    denied: Vec<DeniedAction>,
    remarks: Vec<String>,
    idle_replies: u32,
    evidence_drawn: u32,
    /// Memory's Caution: a first consent is still owed.
    confirm: bool,
    /// Uptime after which nobody waits for this subtask any more.
    until_ms: u64,
    state: State,
}

impl Executor {
    /// An Executor on this machine.
    #[must_use]
    pub fn new(environment: Environment, tools: Arc<Toolbox>) -> Self {
        Self {
            environment,
            tools,
            subtask: None,
            attempt: 0,
            correction: None,
            queue: VecDeque::new(),
            answer_is_output: false,
            calls: Vec::new(),
            earlier_calls: Vec::new(),
            denied: Vec::new(),
            remarks: Vec::new(),
            idle_replies: 0,
            evidence_drawn: 0,
            confirm: false,
            until_ms: 0,
            state: State::Idle,
        }
    }

    fn begin(&mut self, cx: &mut Context<'_>, subtask: &SubTask) -> Vec<Effect> {
        self.attempt += 1;
        self.earlier_calls.append(&mut self.calls);
        self.denied.clear();
        self.remarks.clear();
        self.queue.clear();
        self.idle_replies = 0;
        match &subtask.recipe {
            Some(recipe) => {
                self.queue = recipe.steps.iter().map(|step| step.call.clone()).collect();
                self.answer_is_output = true;
                self.next_call(cx)
            }
            None => self.ask(cx),
        }
    }

    fn calls_left(&self) -> u32 {
        CALLS_PER_ATTEMPT.saturating_sub(u32::try_from(self.calls.len()).unwrap_or(u32::MAX))
    }

    fn ask(&mut self, cx: &mut Context<'_>) -> Vec<Effect> {
        let Some(subtask) = self.subtask.clone() else { return Vec::new() };
        let context = ExecuteContext {
            tools: self.tools.usable(&subtask),
            calls: self.calls.clone(),
            earlier_calls: self.earlier_calls.clone(),
            correction: self.correction.clone(),
            remarks: std::mem::take(&mut self.remarks),
            calls_left: self.calls_left(),
            environment: self.environment.clone(),
            subtask: subtask.clone(),
        };
        let tools = self.tools.worded(&subtask);
        let request = ModelRequest {
            role: Role::Executor,
            task_id: subtask.parent_task_id,
            subtask_id: Some(subtask.subtask_id),
            schema_name: "execution".to_owned(),
            schema: prompt::schema(&tools),
            max_tokens: REPLY_TOKENS,
            by_tools: Some(InCalls(offer::by_tools)),
            prompt: prompt::render(&context, &tools),
            context: RoleContext::Execute(Box::new(context)),
        };
        let (ask, id, work) = Ask::start(cx, request);
        self.state = State::Asking(ask);
        vec![Effect::Perform(id, work)]
    }

    fn next_call(&mut self, cx: &mut Context<'_>) -> Vec<Effect> {
        match self.queue.pop_front() {
            Some(request) if self.calls_left() > 0 => match self.with_listed_paths(request) {
                Ok(request) => self.call(cx, request, None),
                Err(problem) => self.report(ExecutionStatus::Failed, String::new(), Some(problem), None),
            },
            Some(_) => self.report(ExecutionStatus::Failed, String::new(), Some("too many calls".to_owned()), None),
            None if self.answer_is_output => self.report_output(),
            None => self.ask(cx),
        }
    }

    fn reply(&mut self, cx: &mut Context<'_>, turn: Turn) -> Vec<Effect> {
        let Some(subtask) = self.subtask.clone() else { return Vec::new() };
        let known = self.calls.iter().chain(&self.earlier_calls);
        let review = turn.review(&self.tools.usable(&subtask), &subtask.blocked_targets, known);
        let wanted_calls = !turn.calls.is_empty();
        if review.calls.is_empty() && wanted_calls {
            self.remarks = review.remarks;
            self.idle_replies += 1;
            if self.idle_replies > IDLE_REPLIES_MAX || self.calls_left() == 0 {
                let reason = format!("no usable call: {}", self.remarks.join("; "));
                return self.report(ExecutionStatus::Failed, turn.output, Some(reason), None);
            }
            return self.ask(cx);
        }
        if wanted_calls {
            self.remarks = review.remarks;
            // Calls that were dropped leave the model's plan incomplete: it must look again.
            self.answer_is_output = turn.answer_is_output && self.remarks.is_empty();
            self.queue = review.calls.into();
            return self.next_call(cx);
        }
        let answered = self.calls.last().is_some_and(|call| call.status == CallStatus::Ok);
        if turn.answer_is_output
            && answered
            && turn.output.trim().is_empty()
            && turn.status == ExecutionStatus::Completed
        {
            return self.report_output();
        }
        self.report(turn.status, turn.output, turn.reason, None)
    }

    /// Reports the outputs of the calls marked as answer, copied by code.
    fn report_output(&mut self) -> Vec<Effect> {
        let recipe = self.subtask.as_ref().and_then(|subtask| subtask.recipe.as_ref());
        let outputs: Vec<&str> = match recipe {
            // A recipe gets here only when each step was called once, in order.
            Some(recipe) => {
                let steps = recipe.steps.iter().zip(&self.calls);
                steps.filter(|(step, _)| step.answers).map(|(_, call)| call.output.as_str()).collect()
            }
            None => self.calls.last().map(|call| call.output.as_str()).into_iter().collect(),
        };
        let output = outputs.join("\n");
        let mut effects = self.report(ExecutionStatus::Completed, output, None, None);
        if let Some(Effect::Report(result)) = effects.last_mut() {
            result.output_from_tool = true;
        }
        effects
    }

    fn report(
        &mut self,
        status: ExecutionStatus,
        output: String,
        reason: Option<String>,
        model_failure: Option<ModelFailure>,
    ) -> Vec<Effect> {
        self.state = State::Done;
        let Some(subtask) = &self.subtask else { return Vec::new() };
        vec![Effect::Report(ExecutionResult {
            subtask_id: subtask.subtask_id,
            parent_task_id: subtask.parent_task_id.clone(),
            attempt: self.attempt,
            status,
            output,
            output_from_tool: false,
            tool_calls: self.calls.clone(),
            denied: self.denied.clone(),
            model_failure,
            reason,
        })]
    }

    fn fail(&mut self, failure: ModelFailure) -> Vec<Effect> {
        self.report(ExecutionStatus::Failed, String::new(), Some(failure.to_string()), Some(failure))
    }
}

/// Evidence ids carry the beginning of their subtask's id, so they are unique in a task and short to cite.
fn short(subtask: &SubTask) -> String {
    subtask.subtask_id.to_string().chars().take(8).collect()
}

impl Machine for Executor {
    type Input = Input;
    type Effect = Effect;

    fn step(&mut self, cx: &mut Context<'_>, input: Input) -> Vec<Effect> {
        match (std::mem::take(&mut self.state), input) {
            (State::Idle, Input::Assigned(subtask)) if self.subtask.is_none() => {
                self.confirm = subtask.confirm;
                self.until_ms = cx.now.uptime_ms.saturating_add(SUBTASK_WAIT_MS);
                self.subtask = Some(subtask.clone());
                self.begin(cx, &subtask)
            }
            (State::Done, Input::Corrected(correction)) if correction.attempt_number == self.attempt + 1 => {
                let Some(subtask) = self.subtask.clone() else { return Vec::new() };
                self.correction = Some(correction);
                self.begin(cx, &subtask)
            }
            (State::Asking(ask), Input::Replied(id, reply)) if ask.awaits(id) => match ask.answer(cx, reply) {
                Answer::Value(turn) => self.reply(cx, turn),
                Answer::Again(ask, id, work) => {
                    self.state = State::Asking(ask);
                    vec![Effect::Perform(id, work)]
                }
                Answer::Failed(failure) => self.fail(failure),
                Answer::Recipes(_) | Answer::Abstained(_) => {
                    let reason = Some("the embedded parser can't carry out a step".to_owned());
                    self.report(ExecutionStatus::Failed, String::new(), reason, None)
                }
            },
            (State::Calling(order), Input::Called(id, outcome)) if order.id == id => self.called(cx, order, *outcome),
            (State::AwaitingConsent(hash, request, shown), Input::Answered(answer)) if answer.hash == hash => {
                self.consent(cx, request, shown, answer)
            }
            (State::Over, _) | (_, Input::Abort) => {
                self.state = State::Over;
                Vec::new()
            }
            (state, _) => {
                self.state = state;
                Vec::new()
            }
        }
    }
}
