//! Removes temporary files that killed processes left in the data folder.

use std::fs;
use std::path::Path;

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

/// Removes the temporary files (`….new-PID`, of evidence `.new-PID-N`) of processes that have ended from the data
/// folder, its evidence and its model folders.
pub(crate) fn remove(data_dir: &Path) {
    let below =
        |name: &str| fs::read_dir(data_dir.join(name)).into_iter().flatten().flatten().map(|entry| entry.path());
    let in_models = below("models").filter_map(|model| fs::read_dir(model).ok()).flatten().flatten();
    for path in below("").chain(below("evidence")).chain(in_models.map(|entry| entry.path())) {
        // A process id in use, also by another user, may be that of the writer.
        if writer(&path).is_some_and(|pid| test_kill_process(pid) == Err(Errno::SRCH)) {
            // Another process may have removed it.
            drop(fs::remove_file(path));
        }
    }
}

/// The process that writes a temporary file, by the file's name; `None` for other files.
fn writer(path: &Path) -> Option<Pid> {
    let (_, id) = path.file_name()?.to_str()?.rsplit_once(".new-")?;
    Pid::from_raw(id.split('-').next()?.parse().ok().filter(|id| *id > 0)?)
}
