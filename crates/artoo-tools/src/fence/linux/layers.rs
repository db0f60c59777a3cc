//! The Landlock rules of one command, in two layers: what is done must be allowed by both.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use landlock::{RulesetCreated, RulesetError, RulesetStatus};

use super::readable::{self, Hidden};
use super::rules;
use crate::fence::{Fence, ReadAllowlist};

/// The rules for one command.
pub(crate) struct Layers {
    reading: RulesetCreated,
    changing: RulesetCreated,
}

impl Layers {
    /// `scratch` is the command's own temporary folder.
    pub(crate) fn of(fence: &Fence, read_allowlist: &ReadAllowlist, scratch: &Path) -> io::Result<Self> {
        // A folder that holds artoo's own data is opened beside them only; its own entries are made by the supervisor.
        let kept_back: Hidden = fence.kept_back.iter().cloned().collect();
        let granted: Vec<PathBuf> =
            fence.granted.iter().flat_map(|path| readable::beside(path, &kept_back).whole).collect();
        let open: Vec<&Path> = granted.iter().map(PathBuf::as_path).chain([scratch]).collect();
        let named: Vec<&Path> = open.iter().copied().chain(fence.readable.iter().map(PathBuf::as_path)).collect();
        Ok(Self {
            reading: read_allowlist.visible()?.rules(&named, &fence.left_out)?,
            changing: changing(&open, fence.reach.network)?,
        })
    }

    /// The rules in a view, whose own folders are added once they are there. Everything but devices may be read: what is
    /// hidden or left out is covered by mounts.
    pub(crate) fn of_view(fence: &Fence, scratch: &Path) -> io::Result<Self> {
        let devices: Hidden = [PathBuf::from("/dev")].into_iter().collect();
        let reading = rules::reading(&readable::beside(Path::new("/"), &devices).whole, &[]);
        Ok(Self { reading: reading.map_err(io::Error::other)?, changing: changing(&[scratch], fence.reach.network)? })
    }

    /// Everything below these folders may be read and changed as well.
    pub(crate) fn with_open(self, folders: &[OwnedFd]) -> io::Result<Self> {
        let reading = rules::add(self.reading, folders, rules::read()).map_err(io::Error::other)?;
        let changing = rules::add(self.changing, folders, rules::change()).map_err(io::Error::other)?;
        Ok(Self { reading, changing })
    }

    /// Puts them onto the calling thread and on all it will start; tells whether the kernel holds both.
    pub(crate) fn restrict_self(self) -> Result<bool, RulesetError> {
        let layers = [self.reading.restrict_self()?, self.changing.restrict_self()?];
        Ok(layers.iter().all(|status| status.ruleset != RulesetStatus::NotEnforced))
    }
}

fn changing(open: &[&Path], network: bool) -> io::Result<RulesetCreated> {
    rules::changing(open, network).map_err(io::Error::other)
}

/// Holds the calling thread and all it will start to signals and abstract sockets of their own; tells whether the kernel
/// does that.
pub(crate) fn hold_signals() -> io::Result<bool> {
    let status = rules::scoped().and_then(RulesetCreated::restrict_self).map_err(io::Error::other)?;
    Ok(status.ruleset != RulesetStatus::NotEnforced)
}
