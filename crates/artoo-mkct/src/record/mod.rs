//! Records, the tags they are filed under, and the frames that describe each change of a memory.

pub(crate) mod error;
pub(crate) mod frame;
pub(crate) mod hash;
mod id;
pub(crate) mod key;
mod level;
pub(crate) mod megram;
pub(crate) mod quantization;
pub(crate) mod slug;
mod source;
pub(crate) mod tag;
pub(crate) mod words;

pub use error::{ApplyError, ForgetError, InvalidMegram, PromoteError, TextField, WriteError};
pub use frame::{DeletionReason, Frame, MAX_IDS_PER_FRAME, Watermark};
pub use id::{InvalidMegramId, MegramId};
pub use key::{escape, unescape};
pub use level::{Level, RuleKind};
pub use megram::{
    Detail, FailureClass, MAX_CONTENT_BYTES, MAX_DECAY, MAX_INTENT_BYTES, Megram, MegramHead, Provenance,
};
pub use quantization::{DEMOTED_DECAY, FEEDBACK_MAGNITUDE, Quantum, RULE_MAGNITUDE, quantize};
pub use slug::slug;
pub use source::{FrameProblem, Offset, ReadError, RecordSource};
pub use tag::{ENV_LOCAL, MAX_TAG_BYTES, intent_tag, path_tag, tool_tag, tools_of, via_tag};

pub(crate) use megram::NewMegram;
pub(crate) use quantization::State;
pub(crate) use tag::Tag;
