//! Law 1, second layer: what the kernel lets a command do, whatever was proven or allowed about it.
//!
//! On Linux a thread restricts itself with Landlock and seccomp and then starts the program, so that artoo itself stays
//! as it was and every process that comes of the program is held. On macOS `sandbox-exec` holds it.

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
    Asking, Disk, Filters, Layers, Most, SharedObserved, Supervisor, can_be_made, drop_capabilities, hold_signals,
    kernel,
};
pub(crate) use reach::{NetworkScope, Reach};
pub(crate) use read_allowlist::ReadAllowlist;
pub use report::FenceReport;
#[cfg(target_os = "linux")]
pub(crate) use report::signals_are_held;
pub(crate) use report::{report, try_early};
pub(crate) use views::{clean_views, views_in_words};

/// How a program is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunKind {
    /// It changes what its fence allows; whatever else it tries is denied.
    Fenced,
    /// It changes its temporary folder alone, and is killed at its first denial.
    Reading,
    /// It changes files in a view.
    View,
}

/// What one command may do.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fence {
    /// Paths a person was shown and allowed: these may be changed, made and removed, and what lies below them.
    pub(crate) granted: Vec<PathBuf>,
    /// Places that stay as they are even where a folder above them was allowed: artoo's own data.
    pub(crate) kept_back: Vec<PathBuf>,
    /// Paths that may be read although they would otherwise be kept back.
    pub(crate) readable: Vec<PathBuf>,
    /// Files that may not be read although a folder above them may: they may hold secrets.
    pub(crate) left_out: Vec<PathBuf>,
    /// What it may reach beyond files.
    pub(crate) reach: Reach,
    /// Whether the whole run is killed at the first denial. In a view nothing is.
    pub(crate) stops_at_denial: bool,
}

impl Fence {
    /// The fence of a program that is to change nothing. Of what it opens, a place that is hidden by itself may be read;
    /// never a protected one, or a folder in which something is hidden.
    pub(crate) fn of_reading(protected: &Protected, opened: &[PathBuf]) -> Self {
        let hidden = protected.hidden_places();
        let may_be_read = |path: &PathBuf| {
            protected.refusal(path).is_none() && !hidden.iter().any(|place| place != path && place.starts_with(path))
        };
        let readable = real(opened).into_iter().filter(may_be_read).collect();
        Self { readable, kept_back: protected.own_data(), ..Self::default() }
    }

    /// How a program with this fence is held, in a view or outside.
    pub(crate) fn kind(&self, in_view: bool) -> RunKind {
        match (in_view, self.stops_at_denial) {
            (true, _) => RunKind::View,
            (false, true) => RunKind::Reading,
            (false, false) => RunKind::Fenced,
        }
    }

    /// The fence of a reading run: nothing is changed but a private folder, and the first denial ends the run.
    pub(crate) fn of_reading_run(protected: &Protected) -> Self {
        Self { stops_at_denial: true, ..Self::of_reading(protected, &[]) }
    }

    /// The fence of a command that was proven to make these names: what is not there yet, and in the workspace.
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
        // A folder made on the way is named with the first of the folders that are missing.
        let granted = granted.filter_map(|path| path.ancestors().take_while(is_missing).last().map(Path::to_path_buf));
        Self { granted: granted.collect(), ..Self::of_reading(protected, opened) }
    }

    /// The fence of a command a person allowed: also what they were shown, artoo's own data never.
    #[cfg(test)]
    pub(crate) fn of_allowed(config: &ToolConfig, protected: &Protected, shown: &[PathBuf], network: bool) -> Self {
        let kept_back = protected.own_data();
        let is_own = |path: &PathBuf| kept_back.iter().any(|kept| path.starts_with(kept));
        let shown: Vec<PathBuf> = real(shown).into_iter().filter(|path| !is_own(path)).collect();
        // Reading all below a folder that holds artoo's own data would read that too.
        let readable = shown.iter().filter(|path| !kept_back.iter().any(|kept| kept.starts_with(path)));
        let readable = readable.cloned().collect();
        let reach = Reach::of_network(network);
        let granted = shown.into_iter().chain([workspace(config)]).collect();
        Self { granted, kept_back, readable, reach, ..Self::default() }
    }
}

#[cfg(test)]
fn workspace(config: &ToolConfig) -> PathBuf {
    paths::real(Path::new(&config.environment.workspace))
}

/// Where paths really lead: that is what the kernel decides about.
fn real(named: &[PathBuf]) -> Vec<PathBuf> {
    named.iter().map(|path| paths::real(path)).collect()
}

#[cfg(test)]
mod tests;
