//! What is told of a model on its way, to whoever looks on.

use std::time::Duration;

/// What is under way, for whoever looks on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Bytes have come; the whole, where it is known.
    Receiving {
        /// With those of earlier tries.
        done: u64,
        /// Of the file.
        total: Option<u64>,
    },
    /// The next try begins after this time.
    Waiting {
        /// How long.
        wait: Duration,
        /// What went wrong.
        why: String,
    },
    /// What had come is of no use.
    StartedAnew {
        /// Why.
        why: &'static str,
    },
    /// A finished download is unpacked, or read again for its checksum.
    Working {
        /// As a verb: "unpacking".
        what: &'static str,
        /// So far.
        done: u64,
        /// Of the file.
        total: u64,
    },
}

/// Whoever looks on; called often, from any thread.
pub trait Progress: Send + Sync {
    /// Something went on.
    fn at(&self, step: Step);
}
