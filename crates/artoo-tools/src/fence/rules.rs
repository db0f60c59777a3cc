//! The fence as Landlock's rules: what may be read, what may be written, whom it may signal.

use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError,
    RulesetStatus, Scope, path_beneath_rules,
};

use super::readable::{self, Hidden};
use super::{Fence, Sight};

/// The newest rights named here; an older kernel holds those it knows, and the report says which.
const NEWEST: ABI = ABI::V6;

/// Devices that are only data.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// Rights to look at what is there.
fn read() -> BitFlags<AccessFs> {
    AccessFs::Execute | AccessFs::ReadFile | AccessFs::ReadDir
}

/// The rules for one command, in two layers; what is done must be allowed by both.
pub(crate) struct Layers {
    reading: RulesetCreated,
    changing: RulesetCreated,
}

impl Layers {
    /// `scratch` is the command's own temporary folder.
    pub(crate) fn of(fence: &Fence, sight: &Sight, scratch: &Path) -> io::Result<Self> {
        // A folder that holds artoo's own data is opened beside them only; its own entries are made by the broker.
        let kept_back: Hidden = fence.kept_back.iter().cloned().collect();
        let granted: Vec<PathBuf> =
            fence.granted.iter().flat_map(|path| readable::beside(path, &kept_back).whole).collect();
        let open: Vec<&Path> = fence.writable.iter().chain(&granted).map(PathBuf::as_path).chain([scratch]).collect();
        let named: Vec<&Path> = open.iter().copied().chain(fence.readable.iter().map(PathBuf::as_path)).collect();
        Ok(Self {
            reading: sight.view()?.rules(&named, &fence.left_out)?,
            changing: changing(&open, fence.network).map_err(io::Error::other)?,
        })
    }

    /// Puts them onto the calling thread and on all it will start; tells whether the kernel holds both.
    pub(crate) fn restrict_self(self) -> Result<bool, RulesetError> {
        let reading = self.reading.restrict_self()?;
        let changing = self.changing.restrict_self()?;
        Ok([reading.ruleset, changing.ruleset].iter().all(|status| *status != RulesetStatus::NotEnforced))
    }
}

/// What may be read: these folders and files with all below them, and devices that are only data. Names are seen
/// everywhere.
pub(super) fn reading(whole: &[PathBuf], beyond: &[&Path]) -> Result<RulesetCreated, RulesetError> {
    // A layer denies moving files between folders unless it says otherwise.
    let everywhere = AccessFs::ReadDir | AccessFs::Refer;
    Ruleset::default()
        .handle_access(read() | AccessFs::Refer)?
        .create()?
        .add_rules(path_beneath_rules(["/"], everywhere))?
        .add_rules(path_beneath_rules(whole, read()))?
        .add_rules(path_beneath_rules(beyond, read()))?
        .add_rules(path_beneath_rules(devices(), AccessFs::ReadFile))
}

/// What may be changed, whom the command may signal, and whether it reaches the network.
fn changing(open: &[&Path], network: bool) -> Result<RulesetCreated, RulesetError> {
    let all = AccessFs::from_all(NEWEST) & !read();
    let mut ruleset = Ruleset::default().handle_access(all)?.scope(Scope::from_all(NEWEST))?;
    if !network {
        ruleset = ruleset.handle_access(AccessNet::from_all(NEWEST))?;
    }
    let change = all & !(AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev | AccessFs::MakeSock);
    ruleset
        .create()?
        .add_rules(path_beneath_rules(devices(), AccessFs::WriteFile | AccessFs::IoctlDev))?
        .add_rules(path_beneath_rules(open, change))
}

fn devices() -> impl Iterator<Item = &'static Path> {
    DEVICES.iter().map(Path::new).filter(|device| device.metadata().is_ok_and(|found| is_data(&found)))
}

/// Rules that allow nothing at all, to try out what they hold.
pub(super) fn nothing() -> Result<RulesetCreated, RulesetError> {
    Ruleset::default()
        .handle_access(AccessFs::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?
        .handle_access(AccessNet::from_all(NEWEST))?
        .create()
}

fn is_data(found: &std::fs::Metadata) -> bool {
    found.file_type().is_char_device()
}
