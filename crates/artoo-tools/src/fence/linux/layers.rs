//! The Landlock rules of one command, in two layers that must both allow an access.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use landlock::{RulesetCreated, RulesetError, RulesetStatus};

use super::readable::{self, Hidden};
use super::rules;
use crate::fence::{Fence, ReadAllowlist};

/// The two Landlock rulesets of a command: one restricts reading, the other one changing.
pub(crate) struct Layers {
    reading: RulesetCreated,
    changing: RulesetCreated,
}

impl Layers {
    /// The Landlock rules of a command outside a view; `scratch` is its temporary folder.
    pub(crate) fn of(fence: &Fence, read_allowlist: &ReadAllowlist, scratch: &Path) -> io::Result<Self> {
        // A folder with artoo's own data is opened except for that data; the supervisor makes its own entries.
        let kept_back: Hidden = fence.kept_back.iter().cloned().collect();
        let granted: Vec<PathBuf> =
            fence.granted.iter().flat_map(|path| readable::readable_below(path, &kept_back).whole).collect();
        let open: Vec<&Path> = granted.iter().map(PathBuf::as_path).chain([scratch]).collect();
        let named: Vec<&Path> = open.iter().copied().chain(fence.readable.iter().map(PathBuf::as_path)).collect();
        Ok(Self {
            reading: read_allowlist.visible()?.rules(&named, &fence.left_out)?,
            changing: changing(&open, fence.reach.network)?,
        })
    }

    /// The Landlock rules in a view, whose folders are added later. Everything except devices may be read: mounts hide
    /// the rest.
    pub(crate) fn of_view(fence: &Fence, scratch: &Path) -> io::Result<Self> {
        let devices: Hidden = [PathBuf::from("/dev")].into_iter().collect();
        let reading = rules::reading(&readable::readable_below(Path::new("/"), &devices).whole, &[]);
        Ok(Self { reading: reading.map_err(io::Error::other)?, changing: changing(&[scratch], fence.reach.network)? })
    }

    /// These Landlock rules, which also allow reading and changing everything below the open folders.
    pub(crate) fn with_open(self, folders: &[OwnedFd]) -> io::Result<Self> {
        let reading = rules::add(self.reading, folders, rules::read()).map_err(io::Error::other)?;
        let changing = rules::add(self.changing, folders, rules::change()).map_err(io::Error::other)?;
        Ok(Self { reading, changing })
    }

    /// Restricts the calling thread and its descendants by both Landlock layers; returns whether the kernel enforces
    /// each at least in part.
    pub(crate) fn restrict_self(self) -> Result<bool, RulesetError> {
        let layers = [self.reading.restrict_self()?, self.changing.restrict_self()?];
        Ok(layers.iter().all(|status| status.ruleset != RulesetStatus::NotEnforced))
    }
}

/// The Landlock ruleset that allows changes only below these folders, and the network only if `network` is true.
fn changing(open: &[&Path], network: bool) -> io::Result<RulesetCreated> {
    rules::changing(open, network).map_err(io::Error::other)
}

/// Lets the calling thread and its descendants signal, and connect by abstract sockets, only to each other; returns
/// whether the kernel enforces that.
pub(crate) fn hold_signals() -> io::Result<bool> {
    let status = rules::scoped().and_then(RulesetCreated::restrict_self).map_err(io::Error::other)?;
    Ok(status.ruleset != RulesetStatus::NotEnforced)
}
