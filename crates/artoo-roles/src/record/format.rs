//! The bytes of a record: a header, then frames.
//!
//! Header, 16 bytes: magic `ARTOTASK`, version u32, CRC-32 of those twelve. Frame: length u32, CRC-32 of length and
//! payload u32, payload (JSON). Integers are little-endian.

use artoo_proto::{EvidenceId, Message, Now, Role, Timestamp, Usage};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::machine::Work;
use crate::system::{Effect, Input, SystemConfig};

/// Version of the format of task records that this library writes.
pub const FORMAT_VERSION: u32 = 1;

/// Maximum size of a frame's payload in bytes: a tool's output with its escapes, and what the request expects of files.
pub(super) const FRAME_MAX_BYTES: usize = 16 * 1024 * 1024;
/// Length of the header of a task record, in bytes.
pub(super) const HEADER_BYTES: usize = 16;
/// Length of a frame's header in bytes.
pub(super) const FRAME_HEADER_BYTES: usize = 8;
/// The first eight bytes of a task record, which identify the format.
const MAGIC: [u8; 8] = *b"ARTOTASK";

/// One entry of a task record: the start conditions, an input, its effects, a message, a ledger, denials, an unrecorded
/// call, a resumption or the end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "frame", rename_all = "snake_case")]
pub enum Frame {
    /// The first frame: what the inputs were given to.
    Begun(Box<Begun>),
    /// The System took an input in; written before it did.
    Input {
        /// Clock readings of the step.
        now: Now,
        /// The input.
        input: Box<Input>,
    },
    /// The effects of the input before, except writes of memory and events for observers.
    Did {
        /// The effects in order.
        effects: Vec<Did>,
    },
    /// A message that the replay needs (the answer of memory) or that a report shows.
    Said {
        /// When it was published.
        at: Timestamp,
        /// The message.
        message: Box<Message>,
    },
    /// The request as code read it, with what the disk held when the task began; the last one holds.
    Ledger {
        /// The ledger as the runtime writes it.
        ledger: Value,
    },
    /// The effects that the user denied so far; the last one holds.
    Denials {
        /// The denials as the tools write them.
        denials: Value,
    },
    /// A call is about to act in a way that the undo journal does not record.
    Unrecorded {
        /// The call.
        evidence_id: EvidenceId,
    },
    /// The task was resumed by another process.
    Resumed {
        /// When.
        at: Timestamp,
    },
    /// The task has its result.
    Ended {
        /// When.
        at: Timestamp,
        /// Model calls and tokens by role.
        usage: Vec<(Role, Usage)>,
    },
}

/// The conditions under which a recorded task began.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Begun {
    /// When the task began.
    pub at: Timestamp,
    /// The version of artoo.
    pub artoo: String,
    /// Digest of the prompts, see [`prompts_digest`].
    pub prompts: Uuid,
    /// Name of the model that answers the roles.
    pub model: String,
    /// Number of records that memory had; its answers to the task are recorded as messages.
    pub memory_records: usize,
    /// Configuration of the System: environment, tools, profile, seed.
    pub config: SystemConfig,
}

/// An effect in a record: its kind, and a digest of its bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Did {
    /// The kind of the effect in words, such as `tool call of glob`.
    pub what: String,
    /// UUID version 5 of the effect as JSON.
    pub digest: Uuid,
}

impl Did {
    /// The entry for an effect; `None` for writes of memory and events, which don't depend on the task alone.
    #[must_use]
    pub fn of(effect: &Effect) -> Option<Self> {
        let what = match effect {
            Effect::Observe { .. } | Effect::Perform { work: Work::Persist { .. }, .. } => return None,
            Effect::Perform { work: Work::Model { request }, .. } => format!("model call of {}", request.role),
            Effect::Perform { work: Work::Tool { order }, .. } => format!("tool call of {}", order.request.tool),
            Effect::Perform { work: Work::Checks { .. }, .. } => "checks".to_owned(),
            Effect::Perform { work: Work::Timer { .. }, .. } => "timer".to_owned(),
            Effect::Perform { work: Work::Read { .. }, .. } => "reading of the request".to_owned(),
            Effect::Perform { work: Work::Cover { .. }, .. } => "comparison with the request".to_owned(),
            Effect::Deliver { message, .. } => format!("{} to the user", message.kind()),
            Effect::CancelTask { .. } => "end of the task's work".to_owned(),
            Effect::Decided { .. } => "log of decisions".to_owned(),
        };
        let bytes = serde_json::to_vec(effect).unwrap_or_default();
        Some(Self { what, digest: Uuid::new_v5(&Uuid::NAMESPACE_OID, &bytes) })
    }
}

/// Digest of every prompt that roles send to models: a task continues only with the prompts it began with.
#[must_use]
pub fn prompts_digest() -> Uuid {
    let all: Vec<u8> = crate::prompt::ALL.concat().into_bytes();
    Uuid::new_v5(&Uuid::NAMESPACE_OID, &all)
}

/// The header of a task record: magic bytes and format version.
pub(super) fn header() -> Vec<u8> {
    let mut bytes = [MAGIC.as_slice(), &FORMAT_VERSION.to_le_bytes()].concat();
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    bytes
}

/// The version in a header; `None` if the bytes are not a header.
pub(super) fn version(bytes: &[u8]) -> Option<u32> {
    let (known, rest) = bytes.split_first_chunk::<12>()?;
    let (checksum, _) = rest.split_first_chunk()?;
    let (magic, version) = known.split_last_chunk()?;
    let is_sound = *magic == MAGIC && u32::from_le_bytes(*checksum) == crc32fast::hash(known);
    is_sound.then(|| u32::from_le_bytes(*version))
}

/// The bytes of a frame of a task record, with length and checksum; `None` if it is too large.
pub(super) fn encode(frame: &Frame) -> Option<Vec<u8>> {
    let payload = serde_json::to_vec(frame).ok().filter(|payload| payload.len() <= FRAME_MAX_BYTES)?;
    let length = u32::try_from(payload.len()).ok()?.to_le_bytes();
    Some([&length, &checksum(length, &payload).to_le_bytes(), payload.as_slice()].concat())
}

/// The first frame of the bytes and its length; `None` if the frame is incomplete or damaged.
pub(super) fn decode(bytes: &[u8]) -> Option<(Frame, usize)> {
    let (length, rest) = bytes.split_first_chunk()?;
    let (sum, rest) = rest.split_first_chunk()?;
    let bytes = usize::try_from(u32::from_le_bytes(*length)).ok().filter(|length| *length <= FRAME_MAX_BYTES)?;
    let payload = rest.get(..bytes).filter(|payload| u32::from_le_bytes(*sum) == checksum(*length, payload))?;
    Some((serde_json::from_slice(payload).ok()?, bytes + FRAME_HEADER_BYTES))
}

/// The checksum of a frame: over its length and its payload.
fn checksum(length: [u8; 4], payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&length);
    hasher.update(payload);
    hasher.finalize()
}
