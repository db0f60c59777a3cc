//! Builders of Landlock rulesets for the sandbox.

use std::os::fd::OwnedFd;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, PathBeneath, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr,
    RulesetError, Scope, path_beneath_rules,
};

/// The newest Landlock version used; an older kernel enforces what it knows, and the report says what is missing.
const NEWEST: ABI = ABI::V6;

/// Devices, such as `/dev/null`, that a sandboxed program may read and write, without effect on other programs.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// The Landlock rights to read: files, folders, and executing.
pub(super) fn read() -> BitFlags<AccessFs> {
    AccessFs::Execute | AccessFs::ReadFile | AccessFs::ReadDir
}

/// The Landlock ruleset for reading these files, everything below these folders, and harmless devices. All folders can
/// be listed.
pub(super) fn reading(whole: &[PathBuf], beyond: &[&Path]) -> Result<RulesetCreated, RulesetError> {
    // Each layer denies moving files between folders unless it allows `Refer`.
    let everywhere = AccessFs::ReadDir | AccessFs::Refer;
    Ruleset::default()
        .handle_access(read() | AccessFs::Refer)?
        .create()?
        .add_rules(path_beneath_rules(["/"], everywhere))?
        .add_rules(path_beneath_rules(whole, read()))?
        .add_rules(path_beneath_rules(beyond, read()))?
        .add_rules(path_beneath_rules(devices(), AccessFs::ReadFile))
}

/// The ruleset of a sandboxed command: changes only below these folders and to harmless devices; signals are
/// restricted, and the network unless `network` is true.
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

/// The Landlock rights to change files: everything except creating and controlling devices and creating sockets.
pub(super) fn change() -> BitFlags<AccessFs> {
    let all = AccessFs::from_all(NEWEST) & !read();
    all & !(AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev | AccessFs::MakeSock)
}

/// Adds rules with these access rights below open folders to a Landlock ruleset.
pub(super) fn add(
    rules: RulesetCreated,
    folders: &[OwnedFd],
    rights: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    rules.add_rules(folders.iter().map(|folder| Ok::<_, RulesetError>(PathBeneath::new(folder, rights))))
}

/// A Landlock ruleset that restricts only signals and abstract sockets, to the command's own processes.
pub(super) fn scoped() -> Result<RulesetCreated, RulesetError> {
    // Each layer denies moving files between folders unless it allows `Refer`.
    Ruleset::default()
        .handle_access(AccessFs::Refer)?
        .scope(Scope::from_all(NEWEST))?
        .create()?
        .add_rules(path_beneath_rules(["/"], AccessFs::Refer))
}

/// The harmless devices listed in [`DEVICES`] that exist on this machine.
fn devices() -> impl Iterator<Item = &'static Path> {
    DEVICES.iter().map(Path::new).filter(|device| device.metadata().is_ok_and(|found| is_data(&found)))
}

/// A Landlock ruleset that allows nothing, to test what the kernel enforces.
pub(crate) fn deny_all_ruleset() -> Result<RulesetCreated, RulesetError> {
    Ruleset::default()
        .handle_access(AccessFs::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?
        .handle_access(AccessNet::from_all(NEWEST))?
        .create()
}

/// Whether a file is a character device, such as `/dev/null`.
fn is_data(found: &std::fs::Metadata) -> bool {
    found.file_type().is_char_device()
}
