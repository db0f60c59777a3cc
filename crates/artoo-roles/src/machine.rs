//! What every role is: a machine that takes one input and returns effects.

use std::sync::Arc;

use artoo_proto::{
    Address, Check, CheckOutcome, EffectId, EffectKind, Envelope, EvidenceId, Message, MessageId, MessageKind,
    ModelFailure, ModelReply, ModelRequest, Now, SubTaskId, ToolCall, ToolOutcome, ToolRequest,
};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// A role: no I/O, no clock, no other role in reach.
pub trait Machine {
    /// What this role may be told: a narrowed message, or the completion of its own effect.
    type Input: TryFrom<Incoming, Error = Misrouted>;
    /// What this role may ask for; a variant that is not there is an act it can't commit.
    type Effect: Into<RoleEffect>;

    /// Takes one input; everything it wants done is in the returned effects, in order.
    fn step(&mut self, cx: &mut Context<'_>, input: Self::Input) -> Vec<Self::Effect>;
}

/// What a step is given from outside itself.
#[derive(Debug)]
pub struct Context<'a> {
    /// Both clocks.
    pub now: Now,
    /// The only source of new ids.
    pub ids: &'a mut Ids,
}

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

/// A tool call as handed to the outside.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolOrder {
    /// What to call.
    pub request: ToolRequest,
    /// Under which id its evidence is cited.
    pub evidence_id: EvidenceId,
    /// Tools this subtask may use.
    pub allowed_tools: Vec<String>,
    /// Tools it must not use.
    pub blocked_tools: Vec<String>,
    /// Targets it must not use.
    pub blocked_targets: Vec<String>,
    /// Ask before anything that is not read-only.
    pub confirm: bool,
    /// The consent it runs under.
    pub consent: Option<artoo_proto::ConsentHash>,
    /// How far that consent reaches.
    #[serde(default)]
    pub scope: artoo_proto::ConsentScope,
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
