//! A task rehearsed without a model, a tool or a clock: which calls its real roles would make, word for word.
//!
//! The prompts are those of the task itself, with this machine's tools in them; only the person's words are replaced by
//! a filler of their length, so that no rule about words can lead a rehearsal astray. What a rehearsal shows is what a
//! task can't do without: it says nothing of corrections, replans or further steps.

mod replies;

use std::collections::VecDeque;
use std::sync::Arc;

use artoo_mkct::Engine;
use artoo_proto::{
    CallStatus, CheckOutcome, EffectClass, EffectId, Environment, ModelReply, ModelRequest, Now, ReplyBody,
    SessionTurn, TaskId, Timestamp, ToolCall, ToolOrder, ToolOutcome, ToolSpec, Usage, UserRequest,
};
use serde_json::Value;
use uuid::Uuid;

use crate::limits::{
    CALLS_PER_ATTEMPT, CLARIFICATION_ROUNDS, HARD_LIMIT_MS, IDLE_REPLIES_MAX, PLAN_DRAFTS_MAX, REPLY_SUBTASKS,
    RETRIES_MAX,
};
use crate::machine::{Completion, Work};
use crate::memory::Memory;
use crate::system::{Effect, Input, SystemConfig};

/// Effects performed before a rehearsal is given up: an everyday task has about twenty.
const EFFECTS_MAX: usize = 500;

/// Executions of a plan: the first, and three replans.
const ROUNDS_MAX: u64 = 4;

/// Calls behind one question: a reply that can't be read is asked for once more.
const TIMES_ASKED: u64 = 2;

/// What is known of a task before it begins.
#[derive(Debug, Clone)]
pub struct Scene<'a> {
    /// The machine.
    pub environment: &'a Environment,
    /// Its tools.
    pub tools: &'a [ToolSpec],
    /// The person's words.
    pub words: &'a str,
    /// The turns they may refer to.
    pub session: &'a [SessionTurn],
}

/// How the rehearsed task goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Course {
    /// One step with one call, decided by a check in code; every reply as short as its schema lets it be.
    Checked,
    /// An answer in words alone, judged by the models; every reply as short as its schema lets it be.
    Words,
    /// One step with one call, judged by the models; replies and outputs of ordinary length.
    Judged,
}

/// A call of the rehearsed task, and what was answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// What is asked.
    pub request: ModelRequest,
    /// A reply that lets the task go on.
    pub reply: Value,
}

/// The calls of a task that goes like this, in order.
#[must_use]
pub fn rehearse(scene: &Scene<'_>, course: Course) -> Vec<Line> {
    let seed = Uuid::nil();
    let config = SystemConfig {
        environment: scene.environment.clone(),
        tools: scene.tools.into(),
        profile: artoo_ggs::Profile::default(),
        seed,
    };
    let words = filler(scene.words.chars().count());
    let request = UserRequest {
        task_id: TaskId::new("rehearsal", seed),
        raw_input: words,
        session: scene.session.to_vec(),
        interactive: false,
        hard_limit_ms: HARD_LIMIT_MS,
    };
    let tool = replies::tool(scene.tools, course);
    let mut stage = Stage { course, tool, lines: Vec::new(), work: VecDeque::new() };
    let mut system = crate::System::new(config, Memory::new(Engine::new()));
    let now = Now { wall: Timestamp::from_millis(0), uptime_ms: 0 };
    stage.take(system.step(now, Input::Operator { message: request.into() }));
    for _ in 0..EFFECTS_MAX {
        let Some((effect_id, work)) = stage.work.pop_front() else { break };
        let Some(completion) = stage.perform(work) else { continue };
        stage.take(system.step(now, Input::Completed { effect_id, completion }));
    }
    stage.lines
}

/// Model calls that no task can exceed, by the roles' own limits.
#[must_use]
pub fn calls_max() -> u64 {
    calls_max_of(u64::try_from(REPLY_SUBTASKS).unwrap_or(u64::MAX))
}

/// The same for plans of so many subtasks.
fn calls_max_of(subtasks: u64) -> u64 {
    let attempts = u64::from(RETRIES_MAX) + 1;
    let replies = u64::from(CALLS_PER_ATTEMPT) + u64::from(IDLE_REPLIES_MAX) + 1;
    // R3's replies and R4a's verdict, for each attempt of each subtask; R2's drafts; R4b's verdict.
    let round = u64::from(PLAN_DRAFTS_MAX) + subtasks * attempts * (replies + 1) + 1;
    (u64::from(CLARIFICATION_ROUNDS) + 1 + ROUNDS_MAX * round) * TIMES_ASKED
}

/// Words that mean nothing, of this many characters.
fn filler(chars: usize) -> String {
    "lorem ".chars().cycle().take(chars.max(1)).collect()
}

struct Stage<'a> {
    course: Course,
    tool: Option<&'a ToolSpec>,
    lines: Vec<Line>,
    work: VecDeque<(EffectId, Work)>,
}

impl Stage<'_> {
    fn take(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Perform { effect_id, work, .. } => self.work.push_back((effect_id, work)),
                Effect::Deliver { .. } | Effect::CancelTask { .. } | Effect::Observe { .. } => {}
            }
        }
    }

    /// No time passes, so no timer rings.
    fn perform(&mut self, work: Work) -> Option<Completion> {
        Some(match work {
            Work::Model { request } => {
                let reply = replies::reply(&request, self.course, self.tool);
                self.lines.push(Line { request: Arc::unwrap_or_clone(request), reply: reply.clone() });
                let body = ReplyBody::Json { value: reply };
                Completion::Model(Ok(ModelReply { body, usage: Usage::default(), model: String::new() }))
            }
            Work::Tool { order } => Completion::Tool(Box::new(ToolOutcome::Called { call: self.called(*order) })),
            Work::Checks { order } => {
                let pass = CheckOutcome { pass: true, evidence: "1".to_owned(), environmental: false };
                Completion::Checks(vec![pass; order.checks.len()])
            }
            Work::Persist { .. } => Completion::Persisted(Ok(())),
            Work::Timer { .. } => return None,
        })
    }

    fn called(&self, order: ToolOrder) -> ToolCall {
        let output = filler(replies::output_chars(self.course));
        ToolCall {
            class: EffectClass::ReadOnly,
            measures: true,
            exit_code: Some(0),
            ..ToolCall::ended(order.request, order.evidence_id, CallStatus::Ok, output)
        }
    }
}

#[cfg(test)]
mod tests;
