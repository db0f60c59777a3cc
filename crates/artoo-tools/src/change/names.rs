//! New names that need an approval: those that other programs run, and a repository's own data.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::class::Reason;
use crate::config::{CONSENTED_PATH, ToolConfig};
use crate::run_by::run_by;
use crate::{paths, texts};

/// Folders below the home that hold the user's own programs, such as `.local/bin`.
const OWN_PROGRAMS: [&str; 3] = ["bin", ".local/bin", ".cargo/bin"];

/// Maximum number of noted names that are listed; the rest is counted.
const LISTED_MAX: usize = 500;

/// Maximum number of entries of a copied or moved folder that are checked for names needing approval.
const TREE_MAX: usize = 100_000;

/// Real folders from which commands are run by their name.
pub(crate) fn command_folders(config: &ToolConfig) -> Vec<PathBuf> {
    let own = OWN_PROGRAMS.iter().map(|folder| Path::new(&config.environment.home).join(folder));
    let system = config.program_path.iter().cloned().chain(CONSENTED_PATH.iter().map(PathBuf::from));
    system.chain(own).map(|folder| paths::real(&folder)).collect()
}

/// The reason if other programs run or read a file or folder of this path because of its name, or users run it as a
/// command; `None` if not. `can_run`: it is a program or a link.
pub(super) fn run_by_others(
    path: &Path,
    is_folder: bool,
    can_run: bool,
    command_folders: &[PathBuf],
) -> Option<&'static str> {
    let by_name = || (can_run && is_command(path, command_folders)).then_some("it is run by its name without a path");
    run_by(path, is_folder).or_else(by_name)
}

/// Whether a path is one from which commands are run by name, or has a command's name in a folder `bin`.
fn is_command(path: &Path, command_folders: &[PathBuf]) -> bool {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return false };
    let is_bin = folder.file_name().is_some_and(|name| name.eq_ignore_ascii_case("bin"));
    let is_there = |place: &PathBuf| place.join(name).symlink_metadata().is_ok();
    command_folders.iter().any(|place| place == folder) || is_bin && command_folders.iter().any(is_there)
}

/// Notes the new names of a call that need an approval in any folder, such as `Makefile` or `.git`.
#[derive(Debug)]
pub(crate) struct NewNames {
    command_folders: Vec<PathBuf>,
    listed: Vec<(PathBuf, Reason)>,
    more: usize,
}

impl NewNames {
    /// An empty list of new names, with the folders from which programs of this machine are run.
    pub(crate) fn new(config: &ToolConfig) -> Self {
        Self { command_folders: command_folders(config), listed: Vec::new(), more: 0 }
    }

    /// Notes the path of a new file or folder if its name needs an approval, with the reason. A new file counts as a
    /// program.
    pub(crate) fn add(&mut self, path: &Path, is_folder: bool) {
        let is_git = path.iter().any(|name| name.eq_ignore_ascii_case(".git"));
        let run_by = || run_by_others(path, is_folder, !is_folder, &self.command_folders).map(Reason::RunByOthers);
        let Some(reason) = is_git.then_some(Reason::Repository).or_else(run_by) else { return };
        // A folder represents everything in it.
        if self.listed.iter().rev().take(1).any(|(above, known)| path.starts_with(above) && *known == reason) {
            return;
        }
        if self.listed.len() < LISTED_MAX {
            self.listed.push((path.to_path_buf(), reason));
        } else {
            self.more += 1;
        }
    }

    /// Notes the names needing approval that a file or folder, and everything below it, gets when it is copied or
    /// moved; an error if something can't be read or there are more than [`TREE_MAX`] entries.
    pub(crate) fn add_tree(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let mut open = vec![(from.to_path_buf(), to.to_path_buf())];
        let mut seen = 0;
        while let Some((from, to)) = open.pop() {
            seen += 1;
            if seen > TREE_MAX {
                return Err(io::Error::other(format!("it holds more than {TREE_MAX} entries")));
            }
            let is_folder = from.symlink_metadata()?.is_dir();
            self.add(&to, is_folder);
            if is_folder {
                for entry in fs::read_dir(&from)? {
                    let name = entry?.file_name();
                    open.push((from.join(&name), to.join(&name)));
                }
            }
        }
        Ok(())
    }

    /// Why a call needs an approval because of its new names, with the first of them; `None` if there are none.
    pub(crate) fn reason(&self) -> Option<String> {
        let (first, _) = self.listed.first()?;
        let reasons: BTreeSet<String> = self.listed.iter().map(|(_, reason)| reason.to_string()).collect();
        let reasons: Vec<String> = reasons.into_iter().collect();
        let more = self.listed.len() - 1 + self.more;
        Some(format!("{}{}: {}", paths::line(first), texts::more(more), reasons.join("; ")))
    }

    /// One line for each noted name, with the reason why it needs an approval.
    pub(crate) fn lines(&self) -> Vec<String> {
        let line = |(path, reason): &(PathBuf, Reason)| format!("new {}: {reason}", paths::line(path));
        let more = (self.more > 0).then(|| format!("and {} more", self.more));
        self.listed.iter().map(line).chain(more).collect()
    }
}
