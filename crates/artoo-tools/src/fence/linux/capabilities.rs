//! Root without most of what makes it root: a command started by an administrator keeps the rights over files alone.

use std::io;

use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};

/// What stays: reading and changing files whoever owns them. The rest of the fence says which files.
const KEPT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::DAC_READ_SEARCH)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID);

/// Drops every other capability of the calling thread and of what it starts; together with `no_new_privs` they can't
/// come back.
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
