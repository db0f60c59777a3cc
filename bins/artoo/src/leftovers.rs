//! Removes temporary files that killed processes left in the data folder and beside the configuration file.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::process::{Pid, getpid, test_kill_process};

/// Removes temporary files whose names contain the id of an ended process from the data folder, its evidence and its
/// model folders.
pub(crate) fn remove(data_dir: &Path) {
    let of_models = inside(&data_dir.join("models")).flat_map(|model| inside(&model));
    for path in inside(data_dir).chain(inside(&data_dir.join("evidence"))).chain(of_models) {
        let id = name(&path).and_then(|name| name.rsplit_once(".new-")?.1.split('-').next());
        if id.and_then(writer).is_some_and(has_ended) {
            // Another process may have removed it.
            drop(fs::remove_file(path));
        }
    }
}

/// Removes temporary files (`STEM.new.PID`) that earlier writes of `written` left beside it, also one with this
/// process's id.
pub(crate) fn remove_beside(written: &Path) {
    let mark = format!("{}.new.", written.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default());
    for path in inside(written.parent().unwrap_or(Path::new("/"))) {
        let id = name(&path).and_then(|name| name.strip_prefix(&mark));
        if id.and_then(writer).is_some_and(|pid| pid == getpid() || has_ended(pid)) {
            drop(fs::remove_file(path));
        }
    }
}

/// The paths of the entries in a folder; none if it can't be read.
fn inside(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

/// The file name at the end of a path; `None` if it has none or is not UTF-8.
fn name(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()
}

/// Parses the process id in the name of a temporary file; `None` if it is not a positive number.
fn writer(id: &str) -> Option<Pid> {
    Pid::from_raw(id.parse().ok().filter(|id| *id > 0)?)
}

/// Whether no process has this id any more. False for an id in use, even by another user's process.
fn has_ended(pid: Pid) -> bool {
    test_kill_process(pid) == Err(Errno::SRCH)
}
