//! Law 1, second layer: the sandbox in which every command runs, whatever was approved. On Linux a thread restricts
//! itself with Landlock and seccomp before it starts the program, so that all descendants are restricted and artoo
//! itself is not. On macOS `sandbox-exec` restricts the program.

mod denial;
#[cfg(target_os = "linux")]
mod linux;
mod reach;
mod read_allowlist;
mod report;
pub(crate) mod seatbelt;
mod views;

#[cfg(test)]
use std::path::Path;
use std::path::PathBuf;

#[cfg(test)]
use crate::config::ToolConfig;
use crate::paths;
use crate::protect::Protected;

pub use denial::Denial;
pub(crate) use denial::remark;
#[cfg(target_os = "linux")]
pub(crate) use linux::{
    Disk, Filters, Layers, Listening, RunLimits, SharedObserved, Supervisor, can_be_made, drop_capabilities,
    hold_signals, kernel,
};
pub(crate) use reach::{NetworkScope, Reach};
pub(crate) use read_allowlist::ReadAllowlist;
pub use report::FenceReport;
#[cfg(target_os = "linux")]
pub(crate) use report::signals_are_held;
pub(crate) use report::{report, try_early};
pub(crate) use views::{clean_views, views_in_words};

/// How a program is sandboxed: as a reading run, in a view, or with direct changes to some places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunKind {
    /// The run may change what its sandbox allows; anything else is denied.
    Fenced,
    /// The run may change its temporary folder only, and is killed at its first denial.
    Reading,
    /// The run changes files in a copy-on-write view.
    View,
}

/// What one command may read, change and reach in its sandbox.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fence {
    /// Paths that the user approved: these and everything below them may be created, changed and deleted.
    pub(crate) granted: Vec<PathBuf>,
    /// artoo's own data: never readable or writable, even if a folder above it was approved.
    pub(crate) kept_back: Vec<PathBuf>,
    /// Paths that may be read although they would be hidden otherwise.
    pub(crate) readable: Vec<PathBuf>,
    /// Files that may hold secrets: not readable, although the folder above them is.
    pub(crate) left_out: Vec<PathBuf>,
    /// Access beyond files.
    pub(crate) reach: Reach,
    /// Whether the run is killed at its first denial; never in a view.
    pub(crate) stops_at_denial: bool,
}

impl Fence {
    /// The sandbox of a program that may change nothing. Of the files it opens, a path that is hidden itself may be
    /// read, but never a protected one or a folder that contains a hidden path.
    pub(crate) fn of_reading(protected: &Protected, opened: &[PathBuf]) -> Self {
        let hidden = protected.hidden_places();
        let may_be_read = |path: &PathBuf| {
            protected.refusal(path).is_none() && !hidden.iter().any(|place| place != path && place.starts_with(path))
        };
        let readable = real(opened).into_iter().filter(may_be_read).collect();
        Self { readable, kept_back: protected.own_data(), ..Self::default() }
    }

    /// The kind of a run in this sandbox: in a view, a reading run, or one with direct changes.
    pub(crate) fn kind(&self, in_view: bool) -> RunKind {
        match (in_view, self.stops_at_denial) {
            (true, _) => RunKind::View,
            (false, true) => RunKind::Reading,
            (false, false) => RunKind::Fenced,
        }
    }

    /// The sandbox of a reading run, which may change its temporary folder only and ends at the first denial.
    pub(crate) fn of_reading_run(protected: &Protected) -> Self {
        Self { stops_at_denial: true, ..Self::of_reading(protected, &[]) }
    }

    /// The sandbox of a command that may create these names if they are missing and in the workspace.
    #[cfg(test)]
    pub(crate) fn of_creating(
        config: &ToolConfig,
        protected: &Protected,
        opened: &[PathBuf],
        created: &[PathBuf],
    ) -> Self {
        let workspace = workspace(config);
        let is_missing = |path: &&Path| path.symlink_metadata().is_err();
        let granted = real(created).into_iter().filter(|path| path.starts_with(&workspace));
        // A new folder is granted by the first of the missing folders on its path.
        let granted = granted.filter_map(|path| path.ancestors().take_while(is_missing).last().map(Path::to_path_buf));
        Self { granted: granted.collect(), ..Self::of_reading(protected, opened) }
    }

    /// The sandbox of an approved command: it may change the workspace and these paths, but not artoo's own data.
    #[cfg(test)]
    pub(crate) fn of_allowed(config: &ToolConfig, protected: &Protected, shown: &[PathBuf], network: bool) -> Self {
        let kept_back = protected.own_data();
        let is_own = |path: &PathBuf| kept_back.iter().any(|kept| path.starts_with(kept));
        let shown: Vec<PathBuf> = real(shown).into_iter().filter(|path| !is_own(path)).collect();
        // A folder that contains artoo's own data is not readable as a whole.
        let readable = shown.iter().filter(|path| !kept_back.iter().any(|kept| kept.starts_with(path)));
        let readable = readable.cloned().collect();
        let reach = Reach::of_network(network);
        let granted = shown.into_iter().chain([workspace(config)]).collect();
        Self { granted, kept_back, readable, reach, ..Self::default() }
    }
}

/// The real path of the workspace, with all symlinks resolved.
#[cfg(test)]
fn workspace(config: &ToolConfig) -> PathBuf {
    paths::real(Path::new(&config.environment.workspace))
}

/// These paths with symlinks resolved, as the kernel resolves them before it decides.
fn real(named: &[PathBuf]) -> Vec<PathBuf> {
    named.iter().map(|path| paths::real(path)).collect()
}

#[cfg(test)]
mod tests;
