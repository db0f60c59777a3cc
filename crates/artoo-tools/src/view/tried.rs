//! Tests whether this machine allows views, by making one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustix::process::{WaitOptions, waitpid};

use super::problem::{NoView, Step};
use super::{Entry, View, child};

static TRIED: Mutex<BTreeMap<PathBuf, Result<(), String>>> = Mutex::new(BTreeMap::new());

/// Tests once per process whether a view with its changes below `views` works, and caches the result; other threads
/// wait for it.
///
/// # Errors
/// The refused step, and the setting that would allow it.
pub(crate) fn tried(views: &Path) -> Result<(), NoView> {
    let mut tried = TRIED.lock().unwrap_or_else(PoisonError::into_inner);
    let outcome = tried.entry(views.to_path_buf());
    let outcome = outcome.or_insert_with(|| attempt(views).map_err(|problem| problem.to_string()));
    outcome.clone().map_err(NoView::Tried)
}

/// Tests views: makes one of a small folder, changes files in it, and checks the result.
fn attempt(views: &Path) -> Result<(), NoView> {
    let trial = views.join(format!("trial-{}", std::process::id()));
    let lower = trial.join("lower");
    // The parent folder exists; if it is deleted in the meantime, it is not created again.
    let made = [views, &*trial].into_iter().try_for_each(make);
    let made =
        made.and_then(|()| fs::create_dir_all(lower.join("folder"))).and_then(|()| fs::write(lower.join("old"), "old"));
    let outcome = made.map_err(Step::State.failed()).and_then(|()| {
        let view = View::new(&trial.join("views"), BTreeSet::new(), std::slice::from_ref(&lower))?;
        within(&view, || work(&lower))?;
        check_layer(&view, &lower).map_err(Step::Trial.failed())
    });
    let _ = fs::remove_dir_all(&trial);
    outcome
}

/// Runs a test's `work` inside a view, in a child process, and returns its outcome.
fn within(view: &View, work: impl FnOnce() -> io::Result<()>) -> Result<(), NoView> {
    let entry = Entry::new(view, &[], &[])?;
    let mut outcome = Err(NoView::Refused { step: Step::Trial, error: io::ErrorKind::Interrupted.into() });
    let body = || {
        outcome = entry.enter(None).and_then(|_| work().map_err(Step::Trial.failed()));
        0
    };
    let pid = child::start(libc::CLONE_FILES | entry.namespaces(), body).map_err(Step::Namespaces.failed())?;
    let _ = waitpid(Some(pid), WaitOptions::empty());
    outcome
}

/// Changes files in the view that is tested, and checks that files outside can't be changed.
fn work(folder: &Path) -> io::Result<()> {
    fs::write(folder.join("new"), "new")?;
    fs::remove_file(folder.join("old"))?;
    fs::rename(folder.join("new"), folder.join("newer"))?;
    fs::write(folder.join("folder/inner"), "new")?;
    let outside = std::env::temp_dir().join(format!("artoo-trial-{}", std::process::id()));
    match fs::write(&outside, "") {
        Ok(()) => {
            let _ = fs::remove_file(outside);
            Err(io::Error::other("other folders can be changed"))
        }
        Err(_) => Ok(()),
    }
}

/// Checks that the real folder of the test view is unchanged and that its layer has the changes.
fn check_layer(view: &View, lower: &Path) -> io::Result<()> {
    let upper = view.layers.first().map(|layer| layer.upper.clone()).unwrap_or_default();
    let deleted = fs::symlink_metadata(upper.join("old"))?;
    let is_marked = deleted.file_type().is_char_device() && deleted.rdev() == 0;
    let is_untouched = fs::read(lower.join("old"))? == b"old" && !lower.join("newer").exists();
    let is_written = fs::read(upper.join("newer"))? == b"new" && fs::read(upper.join("folder/inner"))? == b"new";
    if is_marked && is_untouched && is_written {
        Ok(())
    } else {
        Err(io::Error::other("the layers are not as expected"))
    }
}

/// Creates a private folder; does nothing if it exists.
fn make(folder: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}
