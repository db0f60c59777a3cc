//! The fence as Landlock's rules: what may be read, what may be written, whom it may signal.

use std::os::fd::OwnedFd;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, PathBeneath, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr,
    RulesetError, Scope, path_beneath_rules,
};

/// The newest rights named here; an older kernel holds those it knows, and the report says which.
const NEWEST: ABI = ABI::V6;

/// Devices that are only data.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// Rights to look at what is there.
pub(super) fn read() -> BitFlags<AccessFs> {
    AccessFs::Execute | AccessFs::ReadFile | AccessFs::ReadDir
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
pub(super) fn changing(open: &[&Path], network: bool) -> Result<RulesetCreated, RulesetError> {
    let all = AccessFs::from_all(NEWEST) & !read();
    let mut ruleset = Ruleset::default().handle_access(all)?.scope(Scope::from_all(NEWEST))?;
    if !network {
        ruleset = ruleset.handle_access(AccessNet::from_all(NEWEST))?;
    }
    ruleset
        .create()?
        .add_rules(path_beneath_rules(devices(), AccessFs::WriteFile | AccessFs::IoctlDev))?
        .add_rules(path_beneath_rules(open, change()))
}

/// Rights to change what is there: all but devices and sockets.
pub(super) fn change() -> BitFlags<AccessFs> {
    let all = AccessFs::from_all(NEWEST) & !read();
    all & !(AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev | AccessFs::MakeSock)
}

/// Adds folders that are open, with these rights.
pub(super) fn add(
    rules: RulesetCreated,
    folders: &[OwnedFd],
    rights: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    rules.add_rules(folders.iter().map(|folder| Ok::<_, RulesetError>(PathBeneath::new(folder, rights))))
}

/// Rules that hold signals and abstract sockets alone.
pub(super) fn scoped() -> Result<RulesetCreated, RulesetError> {
    // A layer denies moving files between folders unless it says otherwise.
    Ruleset::default()
        .handle_access(AccessFs::Refer)?
        .scope(Scope::from_all(NEWEST))?
        .create()?
        .add_rules(path_beneath_rules(["/"], AccessFs::Refer))
}

fn devices() -> impl Iterator<Item = &'static Path> {
    DEVICES.iter().map(Path::new).filter(|device| device.metadata().is_ok_and(|found| is_data(&found)))
}

/// Rules that allow nothing at all, to try out what they hold.
pub(crate) fn nothing() -> Result<RulesetCreated, RulesetError> {
    Ruleset::default()
        .handle_access(AccessFs::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?
        .handle_access(AccessNet::from_all(NEWEST))?
        .create()
}

fn is_data(found: &std::fs::Metadata) -> bool {
    found.file_type().is_char_device()
}
