//! The programs that are known, with the options that are known to write nothing. What is not here is not proven.

mod developer;
mod files;
mod git;
mod packages;
mod processes;
mod system;
mod text;

use super::programs::Program;

/// Every known program, by family.
pub(super) fn families() -> [&'static [Program]; 7] {
    [files::FILES, text::TEXT, system::SYSTEM, processes::PROCESSES, git::GIT, developer::DEVELOPER, packages::PACKAGES]
}
