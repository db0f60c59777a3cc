//! Law 1, second layer: what the kernel lets a command do, whatever was proven or allowed about it.
//!
//! On Linux a thread restricts itself with Landlock and seccomp and then starts the program, so that artoo itself stays
//! as it was and every process that comes of the program is held. On macOS `sandbox-exec` holds it.

#[cfg(target_os = "linux")]
mod broker;
#[cfg(target_os = "linux")]
mod call;
#[cfg(target_os = "linux")]
mod capabilities;
#[cfg(target_os = "linux")]
mod filter;
#[cfg(target_os = "linux")]
pub(crate) mod kernel;
#[cfg(target_os = "linux")]
mod place;
mod readable;
mod report;
#[cfg(target_os = "linux")]
mod rules;

use std::path::{Path, PathBuf};

use crate::config::ToolConfig;
use crate::paths;

#[cfg(target_os = "linux")]
pub(crate) use broker::{Broker, Notes};
#[cfg(target_os = "linux")]
pub(crate) use capabilities::drop_capabilities;
#[cfg(target_os = "linux")]
pub(crate) use filter::Filters;
pub use report::FenceReport;
pub(crate) use report::report;
#[cfg(target_os = "linux")]
pub(crate) use report::signals_are_held;
#[cfg(target_os = "linux")]
pub(crate) use rules::ruleset;

/// What one command may do.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fence {
    /// Folders in which everything may be made, changed and removed.
    pub(crate) writable: Vec<PathBuf>,
    /// Paths a person was shown and allowed: these may be changed, made and removed, and what lies below them.
    pub(crate) granted: Vec<PathBuf>,
    /// Paths that may be read although they would otherwise be kept back.
    pub(crate) readable: Vec<PathBuf>,
    /// Whether it may reach the network.
    pub(crate) network: bool,
}

impl Fence {
    /// The fence of a program that is to change nothing.
    pub(crate) fn of_reading(named: &[PathBuf]) -> Self {
        Self { readable: real(named), ..Self::default() }
    }

    /// The fence of a command that was proven harmless: the workspace is writable, and what it names is readable.
    pub(crate) fn of_proven(config: &ToolConfig, named: &[PathBuf]) -> Self {
        Self { writable: vec![workspace(config)], readable: real(named), ..Self::default() }
    }

    /// The fence of a command a person allowed: also what they were shown.
    pub(crate) fn of_allowed(config: &ToolConfig, shown: &[PathBuf], network: bool) -> Self {
        let shown = real(shown);
        Self { writable: vec![workspace(config)], granted: shown.clone(), readable: shown, network }
    }
}

/// Whether filters can be made for this machine's processor at all.
#[cfg(target_os = "linux")]
pub(crate) fn can_be_made() -> bool {
    Filters::of(&Fence::default()).is_ok()
}

fn workspace(config: &ToolConfig) -> PathBuf {
    paths::real(Path::new(&config.environment.workspace))
}

/// Where paths really lead: that is what the kernel decides about.
fn real(named: &[PathBuf]) -> Vec<PathBuf> {
    named.iter().map(|path| paths::real(path)).collect()
}
