//! The state machine behind every role: it takes one input at a time and returns effects.

use std::collections::BTreeMap;
use std::mem::discriminant;
use std::sync::Arc;

use artoo_proto::{
    Address, Check, CheckOutcome, Coverage, EffectId, EffectKind, Envelope, Message, MessageId, MessageKind,
    ModelFailure, ModelReply, ModelRequest, Now, ProposedReading, Reading, SessionTurn, SubTaskId, TaskId, ToolCall,
    ToolOrder, ToolOutcome,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

/// A role as a state machine: it performs no I/O, reads no clock and can't reach another role.
pub trait Machine {
    /// The messages this role receives and the completions of its own effects.
    type Input: TryFrom<Incoming, Error = Misrouted>;
    /// The effects this role may request. A role can't request an effect that has no variant here.
    type Effect: Into<RoleEffect>;

    /// Processes one input and returns the requested effects in order.
    fn step(&mut self, cx: &mut Context<'_>, input: Self::Input) -> Vec<Self::Effect>;
}

/// A role whose instances are created by their first message.
pub trait Start: Machine + Sized {
    /// The configuration that a new instance is created from, besides its first message.
    type Setup;
    /// The input that ends an instance.
    const ABORT: Self::Input;

    /// Creates an instance from its first message, with the effects that message leads to.
    ///
    /// # Errors
    /// Returns `first` if it is not the message that creates an instance of this role.
    fn start(
        setup: &Self::Setup,
        cx: &mut Context<'_>,
        first: Self::Input,
    ) -> Result<(Self, Vec<Self::Effect>), Self::Input>;
}

/// An instance of a role before and after its first message.
#[derive(Debug)]
pub enum Lifecycle<M: Start> {
    /// Not created yet. Inputs that overtook the first message wait for it, in order of arrival.
    New(M::Setup, Vec<M::Input>),
    /// Created by its first message.
    Started(M),
    /// Ended before its first message.
    Aborted,
}

impl<M: Start> Lifecycle<M> {
    /// An instance with this configuration that waits for its first message.
    pub fn new(setup: M::Setup) -> Self {
        Self::New(setup, Vec::new())
    }
}

impl<M: Start> Machine for Lifecycle<M> {
    type Input = M::Input;
    type Effect = M::Effect;

    fn step(&mut self, cx: &mut Context<'_>, input: M::Input) -> Vec<M::Effect> {
        let (setup, waiting) = match self {
            Self::Started(machine) => return machine.step(cx, input),
            Self::New(setup, waiting) => (setup, waiting),
            Self::Aborted => return cx.ignore(),
        };
        match M::start(setup, cx, input) {
            Ok((mut machine, mut effects)) => {
                for input in std::mem::take(waiting) {
                    effects.extend(machine.step(cx, input));
                }
                *self = Self::Started(machine);
                effects
            }
            Err(input) => {
                if discriminant(&input) == discriminant(&M::ABORT) {
                    *self = Self::Aborted;
                } else {
                    waiting.push(input);
                }
                Vec::new()
            }
        }
    }
}

/// What one step of a machine may use: the clock readings, the source of ids, and a flag for ignored inputs.
#[derive(Debug)]
pub struct Context<'a> {
    /// Wall clock and uptime at the start of this step.
    pub now: Now,
    /// The only source of new ids; deterministic, so that a replay gets the same ids.
    pub ids: &'a mut Ids,
    /// Whether the machine ignored an input; the System then reports the input to observers (the tap).
    pub ignored: bool,
    /// Entries for the log of decisions that the machine adds.
    pub records: Vec<Value>,
}

impl<'a> Context<'a> {
    /// A context for one step at this time, with this source of ids.
    pub fn new(now: Now, ids: &'a mut Ids) -> Self {
        Self { now, ids, ignored: false, records: Vec::new() }
    }

    /// Ignores an input that is not expected in this phase: returns no effects, and observers get a report.
    pub fn ignore<E>(&mut self) -> Vec<E> {
        self.ignored = true;
        Vec::new()
    }
}

/// Implements the conversions of a role: `TryFrom<Incoming>` for its `Input` and `From<Effect>` for [`RoleEffect`].
///
/// This is the only place that builds [`Work`]. An effect under `performs` carries exactly what its kind needs.
macro_rules! adapters {
    (
        messages { $($kind:ident($body:pat) => $input:expr,)* }
        completions { $($completion:pat => $completed:expr,)* }
        publishes { $($published:ident),* }
        performs { $($performed:ident),* }
    ) => {
        impl TryFrom<$crate::machine::Incoming> for Input {
            type Error = $crate::machine::Misrouted;

            fn try_from(incoming: $crate::machine::Incoming) -> Result<Self, Self::Error> {
                match incoming {
                    $crate::machine::Incoming::Message(envelope) => match &envelope.message {
                        $(artoo_proto::Message::$kind($body) => Ok($input),)*
                        _ => Err($crate::machine::Misrouted::message(&envelope)),
                    },
                    $crate::machine::Incoming::Completed(id, completion) => match (id, completion) {
                        $($completion => Ok($completed),)*
                        (_, other) => Err($crate::machine::Misrouted::completion(&other)),
                    },
                }
            }
        }

        impl From<Effect> for $crate::machine::RoleEffect {
            fn from(effect: Effect) -> Self {
                match effect {
                    $(Effect::$published(message) => Self::Publish(message.into()),)*
                    $(Effect::$performed(id, what) => Self::Perform(id, adapters!(@work $performed what)),)*
                }
            }
        }
    };
    (@work AskModel $request:ident) => { $crate::machine::Work::Model { request: $request } };
    (@work CallTool $order:ident) => { $crate::machine::Work::Tool { order: Box::new($order) } };
    (@work RunChecks $order:ident) => { $crate::machine::Work::Checks { order: $order } };
    (@work Wait $after_ms:ident) => { $crate::machine::Work::Timer { after_ms: $after_ms } };
    (@work Read $order:ident) => { $crate::machine::Work::Read { order: Box::new($order) } };
    (@work Cover $order:ident) => { $crate::machine::Work::Cover { order: $order } };
    (@work Persist $frames:ident) => { $crate::machine::Work::Persist { frames: $frames } };
}
pub(crate) use adapters;

/// A generator of ids that yields the same ids in the same order for one seed, so that a replay gets the same ids.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Ids {
    seed: Uuid,
    /// Number of ids generated so far.
    drawn: u64,
}

impl Ids {
    /// Creates a generator whose ids are derived from `seed` (UUID version 5 over a counter).
    #[must_use]
    pub fn new(seed: Uuid) -> Self {
        Self { seed, drawn: 0 }
    }

    /// Generates the next id, which follows from the seed and the number of ids so far.
    pub fn next_uuid(&mut self) -> Uuid {
        self.drawn += 1;
        Uuid::new_v5(&self.seed, &self.drawn.to_be_bytes())
    }

    /// Generates the next id as the id of an effect.
    pub fn next_effect(&mut self) -> EffectId {
        EffectId(self.next_uuid())
    }
}

/// The ids of a System. Each open task has a generator of its own, so that its ids don't depend on other tasks.
#[derive(Debug)]
pub struct IdSources {
    seed: Uuid,
    /// The generator for what belongs to no open task.
    shared: Ids,
    tasks: BTreeMap<TaskId, Ids>,
}

impl IdSources {
    /// Generators whose ids are all derived from `seed`.
    #[must_use]
    pub fn new(seed: Uuid) -> Self {
        Self { seed, shared: Ids::new(seed), tasks: BTreeMap::new() }
    }

    /// Adds the generator of a task that begins.
    pub fn begin(&mut self, task: &TaskId) {
        self.tasks.insert(task.clone(), Ids::new(Uuid::new_v5(&self.seed, task.as_str().as_bytes())));
    }

    /// Removes the generator of a task that has ended.
    pub fn end(&mut self, task: &TaskId) {
        self.tasks.remove(task);
    }

    /// The generator of a task; the shared one for no task, or one that is not open.
    pub fn of(&mut self, task: Option<&TaskId>) -> &mut Ids {
        task.and_then(|task| self.tasks.get_mut(task)).unwrap_or(&mut self.shared)
    }
}

/// A message or the result of an effect, addressed to a machine and not yet converted to its `Input` type.
#[derive(Debug, Clone)]
pub enum Incoming {
    /// A message delivered by the bus.
    Message(Arc<Envelope>),
    /// The result of an effect that this instance requested, with the effect's id.
    Completed(EffectId, Completion),
}

impl Incoming {
    /// Describes the message or completion for a log line: the message's kind, or the effect's kind and id.
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Self::Message(envelope) => envelope.message.kind().to_string(),
            Self::Completed(id, completion) => format!("{} of {id}", completion.describe()),
        }
    }
}

/// A message or completion that this role has no input for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Misrouted {
    /// A message of a kind this role never receives.
    #[error("this role never receives {kind}")]
    Message {
        /// Kind of the message that was delivered to the wrong role.
        kind: MessageKind,
    },
    /// The result of a kind of effect that this role can't request.
    #[error("this role never requests a {what}")]
    Completion {
        /// Kind of the effect that completed, in words, for example `timer`.
        what: &'static str,
    },
}

impl Misrouted {
    /// Creates the error for a message of a kind that this role never receives.
    #[must_use]
    pub fn message(envelope: &Envelope) -> Self {
        Self::Message { kind: envelope.message.kind() }
    }

    /// Creates the error for the result of an effect that this role can't request.
    #[must_use]
    pub fn completion(completion: &Completion) -> Self {
        Self::Completion { what: completion.describe() }
    }
}

/// The result of an effect: a model call, tool call, checks, a timer, a memory write, a reading or a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "result", rename_all = "snake_case")]
pub enum Completion {
    /// A model call ended: the reply, or why there is none.
    Model(Result<ModelReply, ModelFailure>),
    /// A tool call ended, or needs the user's approval before it runs.
    Tool(Box<ToolOutcome>),
    /// Checks were run: one outcome for each, in the order of the request.
    Checks(Vec<CheckOutcome>),
    /// A timer fired.
    Timer,
    /// Memory records were written to disk, or the write failed with this message.
    Persisted(Result<(), String>),
    /// The request was read by code, or a required check can't be read, which this text tells the user.
    Read(Result<Reading, String>),
    /// The request was compared with what was recorded.
    Covered(Coverage),
}

impl Completion {
    /// Names the kind of the completed effect for a log line, for example `tool call`.
    #[must_use]
    pub fn describe(&self) -> &'static str {
        match self {
            Self::Model(_) => "model call",
            Self::Tool(_) => "tool call",
            Self::Checks(_) => "check",
            Self::Timer => "timer",
            Self::Persisted(_) => "memory write",
            Self::Read(_) => "reading",
            Self::Covered(_) => "coverage",
        }
    }
}

/// A request to run checks outside the role, with the data that the checks refer to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckOrder {
    /// The checks to run.
    pub checks: Vec<Check>,
    /// The output that the checks are about.
    pub output: String,
    /// The tool calls that led to the output; their records show which files were changed.
    pub calls: Vec<ToolCall>,
}

/// A request to read the user's words by code, or to check the readings that a model proposes for them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReadOrder {
    /// The task's id.
    pub task_id: TaskId,
    /// The user's request, verbatim.
    pub request: String,
    /// The earlier requests that it may refer to, oldest first.
    pub session: Vec<SessionTurn>,
    /// When the task began: what relative dates refer to.
    pub now: Now,
    /// Checks that a script requires.
    pub required: Vec<String>,
    /// Whether the required checks decide.
    pub by_required: bool,
    /// What a model says that unread parts mean; empty for the first reading, which is the one that counts.
    pub proposals: Vec<ProposedReading>,
    /// Whether the user confirmed the proposals before, with a skill.
    #[serde(default)]
    pub confirmed: bool,
}

/// A request to compare the user's words with everything that a task recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CoverOrder {
    /// The task's id.
    pub task_id: TaskId,
    /// All calls of the task, of every round, in order.
    pub calls: Vec<ToolCall>,
}

/// Work that a role requests from outside: a model call, a tool call, checks, a timer, a memory write, a reading of the
/// request, or a comparison of it with the record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Work {
    /// A call to a model.
    Model {
        /// The request to the model.
        request: Arc<ModelRequest>,
    },
    /// A call of a tool.
    Tool {
        /// The tool call, with the permissions it runs under.
        order: Box<ToolOrder>,
    },
    /// A run of checks.
    Checks {
        /// The checks to run.
        order: CheckOrder,
    },
    /// A timer that fires once.
    Timer {
        /// Time until the timer fires, in milliseconds.
        after_ms: u64,
    },
    /// A write of memory frames (the journal entries of the memory library) to disk.
    Persist {
        /// The memory frames to write as JSON, in order.
        frames: Vec<serde_json::Value>,
    },
    /// A reading of the request by code.
    Read {
        /// The request to read.
        order: Box<ReadOrder>,
    },
    /// A comparison of the request with what was recorded.
    Cover {
        /// What to compare.
        order: CoverOrder,
    },
}

impl Work {
    /// The kind of this work as it is reported to observers (the tap).
    #[must_use]
    pub fn kind(&self) -> EffectKind {
        match self {
            Self::Model { request } => EffectKind::Model { schema: request.schema_name.clone() },
            Self::Tool { order } => EffectKind::Tool { tool: order.request.tool.clone() },
            Self::Checks { order } => {
                EffectKind::Checks { count: u32::try_from(order.checks.len()).unwrap_or(u32::MAX) }
            }
            Self::Timer { after_ms } => EffectKind::Timer { after_ms: *after_ms },
            Self::Persist { .. } => EffectKind::Persist,
            Self::Read { .. } => EffectKind::Read,
            Self::Cover { .. } => EffectKind::Cover,
        }
    }
}

/// An effect of any role in the one form that the System executes.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "effects live for one step")]
pub enum RoleEffect {
    /// Publish a message on the bus.
    Publish(Message),
    /// Do work outside the role; the result comes back as a completion with this id.
    Perform(EffectId, Work),
}

/// Who requested an effect and why, stored until the effect completes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectOrigin {
    /// Address of the role instance that requested the effect.
    pub address: Address,
    /// Id of the message that led to the effect.
    pub cause: MessageId,
    /// The subtask that the effect belongs to; `None` if it belongs to the whole task or to none.
    pub subtask_id: Option<SubTaskId>,
}
