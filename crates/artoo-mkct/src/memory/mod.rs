//! A memory in a folder: its engine, the thread that writes the journal, and the Dreamer.
//!
//! A write is *accepted* when [`crate::Memory::write`] returned (every later query sees it), *acknowledged* when its
//! [`Receipt`] says so (it survives the death of this process), *synced* when the receipt says so (it survives the loss
//! of power). Readers use a copy of the engine that is never changed: they wait for no write, no sweep and no disk.

mod distil;
mod dreamer;
pub(crate) mod error;
mod folder;
pub(crate) mod handle;
mod maintenance;
pub(crate) mod options;
mod progress;
mod queue;
mod report;
mod requests;
mod writer;

pub use distil::Distiller;
pub use dreamer::Dream;
pub use error::{DurabilityError, MaintenanceError, MemoryForgetError, MemoryWriteError, OpenError};
pub use handle::inspect;
pub use options::{
    DISTIL_TIMEOUT, DREAM_EVERY, DREAM_SETTLE, DamagePolicy, DreamTimes, KEEP_DELETED_DAYS, MAX_QUEUED_BYTES, Observer,
    SNAPSHOT_TAIL_BYTES,
};
pub use progress::{QueueStats, Receipt};
pub use report::{AcceptedWrite, Adopted, Hindsight, MemoryStats, OpenSummary, Verification};
