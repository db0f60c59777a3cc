//! Removes temporary files that killed processes left in the data folder and beside the configuration file.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::process::{Pid, getpid, test_kill_process};

/// Removes the temporary files (`….new-PID`, of evidence `.new-PID-N`) of processes that have ended from the data
/// folder, its evidence and its model folders.
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

/// Removes the temporary files (`STEM.new.PID`) that earlier writes of the file `written` left beside it, also one with
/// the id of this process, which is about to write its own.
pub(crate) fn remove_beside(written: &Path) {
    let mark = format!("{}.new.", written.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default());
    for path in inside(written.parent().unwrap_or(Path::new("/"))) {
        let id = name(&path).and_then(|name| name.strip_prefix(&mark));
        if id.and_then(writer).is_some_and(|pid| pid == getpid() || has_ended(pid)) {
            drop(fs::remove_file(path));
        }
    }
}

/// The paths of the entries in a folder.
fn inside(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

/// The file name of a path.
fn name(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()
}

/// Parses the process id in the name of a temporary file; `None` if it is not a positive number.
fn writer(id: &str) -> Option<Pid> {
    Pid::from_raw(id.parse().ok().filter(|id| *id > 0)?)
}

/// Whether no process has this id. An id in use, also by another user, may be that of the writer.
fn has_ended(pid: Pid) -> bool {
    test_kill_process(pid) == Err(Errno::SRCH)
}
