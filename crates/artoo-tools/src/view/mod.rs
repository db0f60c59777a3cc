//! A copy-on-write view of some folders: a program changes files in it as if they were the real ones, and the changes
//! are stored in folders of artoo.
//!
//! A view is a mount namespace in which each of the folders is an overlay and every other mount is read-only. It lives as
//! long as the processes in it. What they changed outlives them, until the [`View`] is dropped.

#[cfg(target_os = "linux")]
pub(crate) mod child;
#[cfg(target_os = "linux")]
mod enter;
mod folders;
#[cfg(target_os = "linux")]
mod mount;
mod problem;
mod state;
#[cfg(target_os = "linux")]
mod tried;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

#[cfg(target_os = "linux")]
pub(crate) use enter::Entry;
pub(crate) use problem::{NoView, Step};
use state::State;
pub(crate) use state::clean;
#[cfg(target_os = "linux")]
pub(crate) use tried::tried;

/// Always fails, since views exist on Linux only.
///
/// # Errors
/// Always.
#[cfg(not(target_os = "linux"))]
pub(crate) fn tried(_: &Path) -> Result<(), NoView> {
    Err(NoView::System)
}

/// A folder that may be changed in a view: the real folder, and the layer with the changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layer {
    /// The real folder.
    pub(crate) lower: PathBuf,
    /// The overlay's upper layer, with the changes.
    pub(crate) upper: PathBuf,
}

/// A view's folders. Dropping it deletes the changes unless [`View::keep`] was called.
#[derive(Debug)]
pub(crate) struct View {
    state: State,
    layers: Vec<Layer>,
    read_only: Vec<PathBuf>,
    /// Paths whose content is hidden, sorted.
    hidden: Vec<PathBuf>,
    renamed: Mutex<Vec<(PathBuf, PathBuf)>>,
}

impl View {
    /// Creates the folders of a view of `folders`, in a new folder of `views`. Of nested folders the outermost is
    /// taken; folders that don't exist, can't be changed, or belong to the kernel are left out.
    ///
    /// # Errors
    /// [`NoView::NoFolder`] when none of them is left, [`NoView::TooMany`] when mounts below them would divide them into
    /// too many, [`NoView::Refused`] when the folders of the view can't be made.
    pub(crate) fn new(views: &Path, hidden: BTreeSet<PathBuf>, folders: &[PathBuf]) -> Result<Self, NoView> {
        let parts = folders::parts(folders)?;
        let state = State::new(views).map_err(Step::State.failed())?;
        let layers = parts.overlaid.into_iter().enumerate().map(|(number, lower)| {
            let upper = state.upper(number, &lower)?;
            Ok(Layer { lower, upper })
        });
        let layers = layers.collect::<std::io::Result<_>>().map_err(Step::State.failed())?;
        let hidden = hidden.into_iter().chain([views.to_path_buf()]).collect::<BTreeSet<_>>().into_iter().collect();
        Ok(Self { state, layers, read_only: parts.read_only, hidden, renamed: Mutex::default() })
    }

    /// The folder that holds all changes made in the view.
    pub(crate) fn changes(&self) -> PathBuf {
        self.state.path().join("upper")
    }

    /// The folders that may be changed in the view, each with the folder that holds its changes.
    pub(crate) fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// The requested folders, or folders below them, in which files can't be changed, because of mounts that can't be
    /// overlaid.
    pub(crate) fn read_only(&self) -> &[PathBuf] {
        &self.read_only
    }

    /// The renames of folders in the view, as pairs of old and new path, in order.
    pub(crate) fn renamed(&self) -> Vec<(PathBuf, PathBuf)> {
        self.renamed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes that folders were renamed in the view, as pairs of old and new path.
    pub(crate) fn note_renamed(&self, renamed: Vec<(PathBuf, PathBuf)>) {
        self.renamed.lock().unwrap_or_else(PoisonError::into_inner).extend(renamed);
    }

    /// Makes the changes stay stored after this value is dropped; [`clean`] deletes them after [`state::KEPT_FOR`].
    ///
    /// # Errors
    /// When that can't be noted on disk: another process may delete them once this one has ended.
    #[cfg_attr(not(test), expect(dead_code, reason = "a commit takes the layers over"))]
    pub(crate) fn keep(&self) -> std::io::Result<()> {
        self.state.keep()
    }
}
