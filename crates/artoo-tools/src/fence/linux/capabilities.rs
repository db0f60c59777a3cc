//! Capabilities of a command started by root: it keeps only those over files.

use std::io;

use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};

/// Capabilities that a sandboxed program keeps if artoo runs as root: to read and change files of any owner. The
/// sandbox decides which files.
const KEPT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::DAC_READ_SEARCH)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID);

/// Drops all capabilities except those over files for the calling thread and its descendants; they can't be regained.
pub(crate) fn drop_capabilities() -> io::Result<()> {
    let held = capabilities(None)?;
    if KEPT.contains(held.permitted) {
        return Ok(());
    }
    let kept = CapabilitySets {
        effective: held.effective & KEPT,
        permitted: held.permitted & KEPT,
        inheritable: CapabilitySet::empty(),
    };
    Ok(set_capabilities(None, kept)?)
}
