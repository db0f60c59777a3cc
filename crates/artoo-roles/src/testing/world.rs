//! A simulated world for tests: one System with scripted models, tools and checks, and a clock that never waits.
#![expect(clippy::wildcard_enum_match_arm, reason = "a world acts on the few things it knows")]

use std::collections::{BTreeMap, VecDeque};

use artoo_bus::TapEvent;
use artoo_proto::{
    CallStatus, CheckOutcome, ConsentAnswer, ConsentHash, ConsentOffers, ConsentScope, Coverage, EffectClass, EffectId,
    Environment, EvidenceId, FinalResult, Message, ModelFailure, ModelReply, ModelRequest, Now, Reading, ReplyBody,
    Role, Timestamp, ToolCall, ToolClass, ToolOrder, ToolOutcome, ToolRequest, ToolSpec, Usage, UserRequest,
};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::machine::{CheckOrder, Completion, CoverOrder, ReadOrder, Work};
use crate::memory::Memory;
use crate::system::{Effect, Input, System, SystemConfig};

/// A scripted model: answers a model request.
pub type ModelScript = Box<dyn FnMut(&ModelRequest) -> Result<ReplyBody, ModelFailure>>;
/// A scripted tool: answers a tool call.
pub type ToolScript = Box<dyn FnMut(&ToolOrder) -> ToolOutcome>;
/// Scripted checks: one outcome for each check.
pub type CheckScript = Box<dyn FnMut(&CheckOrder) -> Vec<CheckOutcome>>;
/// A scripted comparison of the request with what was recorded.
pub type CoverScript = Box<dyn FnMut(&CoverOrder) -> Coverage>;
/// A scripted operator: answers a message from the System; `None` for no answer.
pub type OperatorScript = Box<dyn FnMut(&Message) -> Option<Message>>;

/// Simulated duration of a model call, in milliseconds.
pub const MODEL_MS: u64 = 1_000;

/// A System with scripted models, tools, checks and operator, and a simulated clock.
pub struct World {
    pub system: System,
    pub now: Now,
    pub model: ModelScript,
    pub tools: ToolScript,
    pub checks: CheckScript,
    pub operator: OperatorScript,
    /// The scripted reading of the request; its offers are left out until a model proposes readings.
    pub reading: Result<Reading, String>,
    pub cover: CoverScript,
    /// Work that was not performed yet, oldest first.
    pub work: VecDeque<(EffectId, Work)>,
    /// Running timers by the uptime in milliseconds at which they fire.
    pub timers: BTreeMap<(u64, EffectId), ()>,
    /// Messages that the operator received, in order.
    pub delivered: Vec<Message>,
    /// Events of the bus, in order.
    pub events: Vec<TapEvent>,
    /// Model calls made, in order.
    pub asked: Vec<ModelRequest>,
    /// Tool calls made, in order.
    pub called: Vec<ToolOrder>,
}

/// A Linux machine with the home folder `/home/u`.
pub fn environment() -> Environment {
    Environment {
        cwd: "/home/u".to_owned(),
        home: "/home/u".to_owned(),
        workspace: "/home/u/artoo_workspace".to_owned(),
        os: "linux".to_owned(),
        utc_offset_s: 0,
    }
}

/// A tool that accepts any object as input.
pub fn tool(name: &str, class: ToolClass, priority: u8) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: format!("the {name} tool"),
        class,
        input_schema: json!({"type": "object"}),
        priority,
    }
}

/// Configuration of a System with five tools and the default decision parameters.
pub fn config(seed: u128) -> SystemConfig {
    SystemConfig {
        environment: environment(),
        tools: [
            tool("mdfind", ToolClass::Files, 1),
            tool("glob", ToolClass::Files, 2),
            tool("read_file", ToolClass::Text, 3),
            tool("write_file", ToolClass::Text, 3),
            tool("shell", ToolClass::Shell, 6),
        ]
        .into(),
        profile: artoo_ggs::Profile::default(),
        seed: Uuid::from_u128(seed),
    }
}

/// The record of a successful read-only tool call with this output.
pub fn looked(request: ToolRequest, evidence_id: EvidenceId, output: &str) -> ToolCall {
    ToolCall {
        class: EffectClass::ReadOnly,
        measures: true,
        exit_code: Some(0),
        ..ToolCall::ended(request, evidence_id, CallStatus::Ok, output.to_owned())
    }
}

/// The record of a successful read-only call that answers `order` with this output.
pub fn call_of(order: &ToolOrder, output: &str) -> ToolCall {
    ToolCall {
        target: order.request.input.to_string(),
        elapsed_ms: 3,
        ..looked(order.request.clone(), order.evidence_id.clone(), output)
    }
}

/// A successful answer to a tool call.
pub fn ok_call(order: &ToolOrder, output: &str) -> ToolOutcome {
    ToolOutcome::Called { call: call_of(order, output) }
}

/// A failed tool call; `environmental` if the environment caused the failure.
pub fn failed_call(order: &ToolOrder, output: &str, environmental: bool) -> ToolOutcome {
    let call = ToolCall { status: CallStatus::Failed, environmental, exit_code: Some(1), ..call_of(order, output) };
    ToolOutcome::Called { call }
}

/// The answer to a call that needs the user's approval, because it would delete a folder.
pub fn needs_consent() -> ToolOutcome {
    ToolOutcome::NeedsConsent {
        hash: ConsentHash("h".to_owned()),
        shown: "rm -rf /home/u/keep".to_owned(),
        effects: vec!["deletes /home/u/keep".to_owned()],
        details: Vec::new(),
        reason: "rm removes".to_owned(),
        offers: ConsentOffers::default(),
    }
}

/// An operator who denies every approval. A `note` says why there was no user to ask.
pub fn refusing(note: Option<&'static str>) -> OperatorScript {
    Box::new(move |message| match message {
        Message::ConsentRequest(asked) => Some(
            ConsentAnswer {
                task_id: asked.task_id.clone(),
                subtask_id: asked.subtask_id,
                hash: asked.hash.clone(),
                allowed: false,
                scope: ConsentScope::Once,
                note: note.map(str::to_owned),
                readings: Vec::new(),
            }
            .into(),
        ),
        _ => None,
    })
}

/// A model's successful reply with a JSON value.
pub fn value(value: Value) -> Result<ReplyBody, ModelFailure> {
    Ok(ReplyBody::Json { value })
}

/// A model's reply with an ending text for an abandoned task.
pub fn words() -> Result<ReplyBody, ModelFailure> {
    value(json!({"summary": "a part is done", "next_steps": ["ask for the rest"]}))
}

/// A reply to the perceiver (R1) that restates the request as the task's intent.
pub fn understood(request: &ModelRequest) -> Result<ReplyBody, ModelFailure> {
    let artoo_proto::RoleContext::Perceive(context) = &request.context else { panic!("not a perceive request") };
    value(json!({
        "task_id": "a_task", "intent": context.raw_input,
        "constraints": {"scope": null, "deadline": null}, "question": null
    }))
}

/// A validator's reply that passes every criterion and cites the first tool call.
pub fn pass_all(request: &ModelRequest) -> Result<ReplyBody, ModelFailure> {
    use artoo_proto::RoleContext;
    let (count, cite) = match &request.context {
        RoleContext::ValidateSubtask(context) => {
            (context.open.len(), context.result.tool_calls.first().map(|call| call.evidence_id.0.clone()))
        }
        RoleContext::ValidateTask(context) => {
            let first = context.outcomes.iter().flat_map(|outcome| &outcome.tool_calls).next();
            (context.open.len(), first.map(|call| call.evidence_id.0.clone()))
        }
        other => panic!("not a validation request: {other:?}"),
    };
    let cites: Vec<String> = cite.into_iter().collect();
    let verdicts: Vec<Value> = (1..=count)
        .map(|number| json!({"number": number, "verdict": "pass", "cites": cites, "evidence": "seen"}))
        .collect();
    value(json!({"verdicts": verdicts, "what_to_do": null}))
}

impl World {
    /// A world with an empty memory, whose ids are derived from `seed`.
    pub fn new(seed: u128) -> Self {
        Self::with_memory(seed, Memory::new(artoo_mkct::Engine::new()))
    }

    /// A world with this memory.
    pub fn with_memory(seed: u128, memory: Memory) -> Self {
        Self {
            system: System::new(config(seed), memory),
            now: Now { wall: Timestamp::from_millis(1_772_000_000_000), uptime_ms: 0 },
            model: Box::new(|request| panic!("nobody scripted {:?}", request.role)),
            tools: Box::new(|order| ok_call(order, "ok")),
            checks: Box::new(|order| {
                let pass = CheckOutcome { pass: true, evidence: "seen".to_owned(), environmental: false };
                vec![pass; order.checks.len()]
            }),
            operator: Box::new(|_| None),
            reading: Ok(Reading::default()),
            cover: Box::new(|_| Coverage::default()),
            work: VecDeque::new(),
            timers: BTreeMap::new(),
            delivered: Vec::new(),
            events: Vec::new(),
            asked: Vec::new(),
            called: Vec::new(),
        }
    }

    /// A user's request with a task id derived from its text.
    pub fn request(&self, text: &str) -> UserRequest {
        UserRequest {
            task_id: artoo_proto::TaskId::new(text, Uuid::new_v5(&Uuid::NAMESPACE_OID, text.as_bytes())),
            raw_input: text.to_owned(),
            session: Vec::new(),
            material: None,
            interactive: false,
            hard_limit_ms: crate::limits::HARD_LIMIT_MS,
            required: Vec::new(),
            by_required: false,
        }
    }

    /// Runs a request to its final result; panics unless there is exactly one.
    pub fn run(&mut self, text: &str) -> FinalResult {
        let request = self.request(text);
        let task_id = request.task_id.clone();
        self.give(Input::Operator { message: request.into() });
        self.work_until_quiet();
        let results: Vec<&FinalResult> = self
            .delivered
            .iter()
            .filter_map(|message| match message {
                Message::FinalResult(result) if result.task_id == task_id => Some(result),
                _ => None,
            })
            .collect();
        assert_eq!(results.len(), 1, "one FinalResult a task; delivered: {:#?}", self.delivered);
        results[0].clone()
    }

    /// Passes an input to the System and queues or handles the effects it returns.
    pub fn give(&mut self, input: Input) {
        let effects = self.system.step(self.now, input);
        self.take(effects);
    }

    /// Queues work and timers, records events, and lets the scripted operator answer messages.
    pub fn take(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Perform { effect_id, work: Work::Timer { after_ms }, .. } => {
                    self.timers.insert((self.now.uptime_ms + after_ms, effect_id), ());
                }
                Effect::Perform { effect_id, work, .. } => self.work.push_back((effect_id, work)),
                Effect::Deliver { to: Role::Operator, message } => {
                    self.delivered.push(message.clone());
                    if let Some(answer) = (self.operator)(&message) {
                        self.give(Input::Operator { message: answer });
                    }
                }
                Effect::Deliver { .. } | Effect::CancelTask { .. } => {}
                Effect::Observe { event, .. } => self.events.push(event),
                Effect::Decided { .. } => {}
            }
        }
    }

    /// Performs queued work and fires timers in order, until no task is open or nothing is left to do.
    pub fn work_until_quiet(&mut self) {
        for _ in 0..100_000 {
            if let Some((id, work)) = self.work.pop_front() {
                let completion = self.perform(&work);
                self.give(Input::Completed { effect_id: id, completion });
            } else if self.system.open_tasks().next().is_none() {
                return;
            } else if let Some(((at, id), ())) = self.timers.pop_first() {
                self.advance_to(at);
                self.give(Input::Completed { effect_id: id, completion: Completion::Timer });
            } else {
                return;
            }
        }
        panic!("the task does not end");
    }

    /// Advances the simulated clock to an uptime in milliseconds; never backwards.
    pub fn advance_to(&mut self, uptime_ms: u64) {
        let ms = uptime_ms.saturating_sub(self.now.uptime_ms);
        self.now.uptime_ms += ms;
        self.now.wall = self.now.wall.plus_millis(i64::try_from(ms).unwrap());
    }

    /// Performs one piece of work with the scripts and returns its completion.
    pub fn perform(&mut self, work: &Work) -> Completion {
        match work {
            Work::Model { request } => {
                self.advance_to(self.now.uptime_ms + MODEL_MS);
                self.asked.push((**request).clone());
                let usage = Usage { model_calls: 1, prompt_tokens: 100, completion_tokens: 20 };
                let reply = (self.model)(request);
                Completion::Model(reply.map(|body| ModelReply { body, usage, model: "scripted".to_owned() }))
            }
            Work::Tool { order } => {
                self.called.push((**order).clone());
                Completion::Tool(Box::new((self.tools)(order)))
            }
            Work::Checks { order } => Completion::Checks((self.checks)(order)),
            Work::Timer { .. } => Completion::Timer,
            Work::Persist { .. } => Completion::Persisted(Ok(())),
            Work::Read { order } => Completion::Read(self.read(order)),
            Work::Cover { order } => Completion::Covered((self.cover)(order)),
        }
    }

    /// Answers a request to read the user's words by the script; offered readings are in it only if a model proposed
    /// some.
    fn read(&self, order: &ReadOrder) -> Result<Reading, String> {
        let mut reading = self.reading.clone()?;
        if order.proposals.is_empty() {
            reading.offered.clear();
        }
        Ok(reading)
    }

    /// The roles that called a model, in the order of the calls.
    pub fn asked_roles(&self) -> Vec<Role> {
        self.asked.iter().map(|request| request.role).collect()
    }

    /// The published messages of one kind, in order.
    pub fn published(&self, kind: artoo_proto::MessageKind) -> Vec<&Message> {
        self.events
            .iter()
            .filter_map(|event| match event {
                TapEvent::Message { envelope } if envelope.message.kind() == kind => Some(&envelope.message),
                _ => None,
            })
            .collect()
    }
}

/// Whether a role must panic now because a test asked for it; resets that wish.
pub fn planted_panic(planted: &mut Option<Role>, role: Role) -> bool {
    if *planted == Some(role) {
        *planted = None;
        return true;
    }
    false
}
