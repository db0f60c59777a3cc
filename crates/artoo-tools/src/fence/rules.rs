//! The fence as Landlock's rules: what may be written, what may be read, whom it may signal.

use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError,
    Scope, path_beneath_rules,
};
use rustix::fs::{Access as Reach, access};

use super::Fence;
use super::readable::{self, Hidden};
use crate::protect::Protected;

/// The newest rights named here; an older kernel holds those it knows, and the report says which.
const NEWEST: ABI = ABI::V6;

/// Devices that are only data.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// The rules for one command. `scratch` is its own temporary folder.
pub(crate) fn ruleset(fence: &Fence, protected: &Protected, scratch: &Path) -> Result<RulesetCreated, RulesetError> {
    let all = AccessFs::from_all(NEWEST);
    let mut ruleset = Ruleset::default().handle_access(all)?.scope(Scope::from_all(NEWEST))?;
    if !fence.network {
        ruleset = ruleset.handle_access(AccessNet::from_all(NEWEST))?;
    }
    let read = AccessFs::Execute | AccessFs::ReadFile | AccessFs::ReadDir;
    let write = all & !(AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev | AccessFs::MakeSock);
    let names: BitFlags<AccessFs> = AccessFs::ReadDir.into();
    let readable = readable::beside(Path::new("/"), &hidden(protected)).whole;
    let devices = DEVICES.iter().map(Path::new).filter(|device| device.metadata().is_ok_and(|found| is_data(&found)));
    // A folder that holds artoo's own data is opened beside them only; its own entries are made by the broker.
    let kept_back: Hidden = fence.kept_back.iter().cloned().collect();
    let granted: Vec<PathBuf> =
        fence.granted.iter().flat_map(|path| readable::beside(path, &kept_back).whole).collect();
    let writable = fence.writable.iter().chain([&scratch.to_path_buf()]).cloned().collect::<Vec<_>>();
    ruleset
        .create()?
        .add_rules(path_beneath_rules(["/"], names))?
        .add_rules(path_beneath_rules(readable, read))?
        .add_rules(path_beneath_rules(&fence.readable, read))?
        .add_rules(path_beneath_rules(devices, AccessFs::ReadFile | AccessFs::WriteFile))?
        .add_rules(path_beneath_rules(writable.iter().chain(&granted), write))
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

/// What may not be read: the protected places that are there and that the user could read, and all devices.
fn hidden(protected: &Protected) -> Hidden {
    let places = protected.hidden_places();
    let there = places.into_iter().filter(|place| access(place, Reach::READ_OK).is_ok());
    there.chain([PathBuf::from("/dev")]).collect()
}
