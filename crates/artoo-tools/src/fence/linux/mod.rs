//! The sandbox on Linux: Landlock and seccomp restrict a thread, and a supervisor answers the calls that they can't
//! decide.

mod beside_hidden;
mod bpf;
mod call;
mod caller;
mod capabilities;
mod disk;
mod filter;
mod incidental;
mod ipc;
pub(crate) mod kernel;
mod layers;
mod network;
mod predict;
mod readable;
mod reading;
mod rename_folder;
pub(crate) mod rules;
mod supervisor;
mod syscalls;
mod temporaries;
mod watched;

pub(crate) use beside_hidden::BesideHidden;
pub(crate) use capabilities::drop_capabilities;
pub(crate) use disk::Disk;
pub(crate) use filter::Filters;
pub(crate) use layers::{Layers, hold_signals};
pub(crate) use supervisor::{Listening, RunLimits, SharedObserved, Supervisor};

/// Whether filters can be compiled for this machine's processor.
pub(crate) fn can_be_made() -> bool {
    Filters::of(super::RunKind::Fenced, super::NetworkScope::Nothing).is_ok()
}
