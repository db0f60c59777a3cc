//! What every role is: a machine that takes one input and returns effects.

use std::mem::discriminant;
use std::sync::Arc;

use artoo_proto::{
    Address, Check, CheckOutcome, EffectId, EffectKind, Envelope, Message, MessageId, MessageKind, ModelFailure,
    ModelReply, ModelRequest, Now, SubTaskId, ToolCall, ToolOrder, ToolOutcome,
};
use serde::{Deserialize, Serialize};
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
    /// An instance that waits for its first message.
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

/// The clock readings, the id source and the log that a step may use.
#[derive(Debug)]
pub struct Context<'a> {
    /// Wall clock and uptime at the start of this step.
    pub now: Now,
    /// The only source of new ids.
    pub ids: &'a mut Ids,
    /// Whether the machine ignored an input; the System reports it on the tap.
    pub ignored: bool,
}

impl<'a> Context<'a> {
    /// A context for one step.
    pub fn new(now: Now, ids: &'a mut Ids) -> Self {
        Self { now, ids, ignored: false }
    }

    /// Ignores an input that is not awaited in this phase: no effects, and an entry on the tap.
    pub fn ignore<E>(&mut self) -> Vec<E> {
        self.ignored = true;
        Vec::new()
    }
}

/// Implements both adapters of a role: `TryFrom<Incoming>` for its `Input` and `From<Effect>` for [`RoleEffect`].
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
    (@work Persist $frames:ident) => { $crate::machine::Work::Persist { frames: $frames } };
}
pub(crate) use adapters;

/// Fresh ids in a fixed order from one seed, so a replay draws the same ones.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Ids {
    seed: Uuid,
    drawn: u64,
}

impl Ids {
    /// Ids derived from `seed` (UUID version 5 over a counter).
    #[must_use]
    pub fn new(seed: Uuid) -> Self {
        Self { seed, drawn: 0 }
    }

    /// The next id.
    pub fn next_uuid(&mut self) -> Uuid {
        self.drawn += 1;
        Uuid::new_v5(&self.seed, &self.drawn.to_be_bytes())
    }

    /// The next effect id.
    pub fn next_effect(&mut self) -> EffectId {
        EffectId(self.next_uuid())
    }
}

/// Something on its way into a machine, before it is narrowed.
#[derive(Debug, Clone)]
pub enum Incoming {
    /// A delivery.
    Message(Arc<Envelope>),
    /// The end of an effect this instance asked for.
    Completed(EffectId, Completion),
}

impl Incoming {
    /// What it is, for a log line.
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
    #[error("{kind} is not for this role")]
    Message {
        /// The kind.
        kind: MessageKind,
    },
    /// A completion of a kind of effect this role can't ask for.
    #[error("this role asks for no {what}")]
    Completion {
        /// What came back.
        what: &'static str,
    },
}

impl Misrouted {
    /// The error for a message.
    #[must_use]
    pub fn message(envelope: &Envelope) -> Self {
        Self::Message { kind: envelope.message.kind() }
    }

    /// The error for a completion.
    #[must_use]
    pub fn completion(completion: &Completion) -> Self {
        Self::Completion { what: completion.describe() }
    }
}

/// How an effect ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "result", rename_all = "snake_case")]
pub enum Completion {
    /// A model answered or failed.
    Model(Result<ModelReply, ModelFailure>),
    /// A tool call ended, or waits for consent.
    Tool(Box<ToolOutcome>),
    /// Checks were run, in the order asked.
    Checks(Vec<CheckOutcome>),
    /// A timer rang.
    Timer,
    /// Memory records were written, or not.
    Persisted(Result<(), String>),
}

impl Completion {
    /// What it is, for a log line.
    #[must_use]
    pub fn describe(&self) -> &'static str {
        match self {
            Self::Model(_) => "model call",
            Self::Tool(_) => "tool call",
            Self::Checks(_) => "check",
            Self::Timer => "timer",
            Self::Persisted(_) => "memory write",
        }
    }
}

/// Checks as handed to the outside.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckOrder {
    /// What to decide.
    pub checks: Vec<Check>,
    /// The output they speak of.
    pub output: String,
    /// The calls behind it: what an act changed is told by its record.
    pub calls: Vec<ToolCall>,
}

/// Outside work, each with the id its completion will carry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Work {
    /// Ask a model.
    Model {
        /// The request.
        request: Arc<ModelRequest>,
    },
    /// Call a tool.
    Tool {
        /// The call.
        order: Box<ToolOrder>,
    },
    /// Decide checks.
    Checks {
        /// Which.
        order: CheckOrder,
    },
    /// Ring after a while.
    Timer {
        /// How long, in milliseconds.
        after_ms: u64,
    },
    /// Write memory frames, JSON of the memory library's frames.
    Persist {
        /// The frames, in order.
        frames: Vec<serde_json::Value>,
    },
}

impl Work {
    /// Its kind on the tap.
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
        }
    }
}

/// A role's effect once it has left the role: what the System understands.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "effects live for one step")]
pub enum RoleEffect {
    /// Say something on the bus.
    Publish(Message),
    /// Have something done outside.
    Perform(EffectId, Work),
}

/// Where an effect came from, kept until its completion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectOrigin {
    /// Who asked.
    pub address: Address,
    /// The message that led to it.
    pub cause: MessageId,
    /// For which subtask.
    pub subtask_id: Option<SubTaskId>,
}
