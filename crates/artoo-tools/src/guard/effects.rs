//! What a command was found to read and to make, collected while it is judged.

use std::path::{Path, PathBuf};

use super::programs::ExitOne;
use super::scene::{New, Use};
use crate::paths;

/// Paths named in words; the rest is counted.
const NAMED_MAX: usize = 16;

/// What a command does, as far as it has been judged.
#[derive(Debug, Clone, Default)]
pub(crate) struct Effects {
    read: Vec<PathBuf>,
    /// Those of them whose content is read, with all below a folder where it goes that far.
    pub(crate) opened: Vec<PathBuf>,
    pub(crate) created: Vec<PathBuf>,
    /// Created paths that are links or may hold some: what lies at or below them is not known before the command runs.
    unknown: Vec<PathBuf>,
    /// Things made that are no named file: a branch, a temporary folder.
    made: Vec<String>,
    /// Files that may hold secrets below the folders it reads.
    left_out: Vec<PathBuf>,
    pub(crate) measures: bool,
    /// What exit code 1 of the last command means.
    pub(crate) exit_one: Option<ExitOne>,
}

impl Effects {
    pub(crate) fn reads(&mut self, path: &Path, how: Use) {
        let is_new = note(&mut self.read, path);
        if how != Use::Facts && (is_new || !self.opened.iter().any(|known| known == path)) {
            self.opened.push(path.to_path_buf());
        }
    }

    pub(crate) fn leaves_out(&mut self, files: &[PathBuf]) {
        for file in files {
            note(&mut self.left_out, file);
        }
    }

    /// What it may not read below the folders it reads.
    pub(crate) fn left_out(&self) -> &[PathBuf] {
        &self.left_out
    }

    pub(crate) fn creates(&mut self, path: &Path, what: New) {
        note(&mut self.created, path);
        if what == New::Links {
            note(&mut self.unknown, &paths::real(path));
        }
    }

    /// Whether the command itself decides what lies at this path.
    pub(crate) fn is_unknown(&self, path: &Path) -> bool {
        !self.unknown.is_empty() && self.unknown.iter().any(|made| paths::real(path).starts_with(made))
    }

    pub(crate) fn makes(&mut self, what: impl Into<String>) {
        self.made.push(what.into());
    }

    /// Whether it adds anything at all.
    pub(crate) fn makes_anything(&self) -> bool {
        !(self.created.is_empty() && self.made.is_empty())
    }

    /// Every path it names.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        self.created.iter().chain(&self.read).cloned().collect()
    }

    /// The effects, a line each.
    pub(crate) fn in_words(&self) -> Vec<String> {
        let made = self.made.iter().map(|what| format!("creates {what}"));
        let created = self.created.iter().map(|path| format!("creates {}", paths::line(path)));
        let read = self.read.iter().map(|path| format!("reads {}", paths::line(path)));
        let mut words: Vec<String> = created.chain(made).chain(read).collect();
        if words.len() > NAMED_MAX {
            let more = words.len() - NAMED_MAX;
            words.truncate(NAMED_MAX);
            words.push(format!("and {more} more"));
        }
        words
    }
}

/// Notes a path once; whether it is new.
fn note(paths: &mut Vec<PathBuf>, path: &Path) -> bool {
    let is_new = !paths.iter().any(|known| known == path);
    if is_new {
        paths.push(path.to_path_buf());
    }
    is_new
}
