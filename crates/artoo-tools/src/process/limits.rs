//! Resource limits of a program and its descendants.

#[cfg(target_os = "linux")]
use std::io;

use artoo_proto::units;
use rustix::process::Signal;

use crate::config::ProcessLimits;

const SIGXCPU: i32 = Signal::XCPU.as_raw();
const SIGXFSZ: i32 = Signal::XFSZ.as_raw();

/// A sentence about the limit that may have ended a program, by its signal; `None` for other signals. The kernel
/// reports no other limits: a program that gets no memory or process sees an error instead.
pub(crate) fn limit_that_ended(signal: i32, limits: &ProcessLimits) -> Option<String> {
    match signal {
        SIGXFSZ => Some(format!("it wrote a file past the limit of {} and was ended", units::bytes(limits.file_bytes))),
        SIGXCPU => Some(format!("it used more than {} s of processor time and was ended", limits.cpu_s)),
        _ => None,
    }
}

/// The sentence that tells that a program was ended because it used more disk space than `most` bytes.
pub(crate) fn full(most: u64) -> String {
    format!("it used more than {} of disk space and was ended", units::bytes(most))
}

/// Sets the limits of a process; its descendants inherit them, and none can be raised again.
#[cfg(target_os = "linux")]
pub(crate) fn apply(pid: rustix::process::Pid, limits: &ProcessLimits) -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, getrlimit, prlimit};
    for (resource, most) in [
        // Not 0: at 0 the kernel may still pipe a core dump to a program.
        (Resource::Core, 1),
        (Resource::Cpu, limits.cpu_s),
        (Resource::Fsize, limits.file_bytes),
        (Resource::Data, limits.memory_bytes),
        (Resource::As, limits.address_bytes),
        (Resource::Nproc, limits.processes),
    ] {
        let held = getrlimit(resource);
        let most = held.maximum.map_or(most, |maximum| maximum.min(most));
        prlimit(Some(pid), resource, Rlimit { current: Some(most), maximum: Some(most) })?;
    }
    Ok(())
}
