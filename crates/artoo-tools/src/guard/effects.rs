//! What a command was found to read and to make, collected while it is judged.

use std::path::{Path, PathBuf};

use super::programs::ExitOne;
use crate::paths;

/// Paths named in words; the rest is counted.
const NAMED_MAX: usize = 16;

/// What a command does, as far as it has been judged.
#[derive(Debug, Clone, Default)]
pub(crate) struct Effects {
    read: Vec<PathBuf>,
    created: Vec<PathBuf>,
    /// Things made that are no named file: a branch, a temporary folder.
    made: Vec<String>,
    /// Files that may hold secrets below the folders it reads.
    left_out: Vec<PathBuf>,
    pub(crate) measures: bool,
    /// What exit code 1 of the last command means.
    pub(crate) exit_one: Option<ExitOne>,
}

impl Effects {
    pub(crate) fn reads(&mut self, path: &Path) {
        note(&mut self.read, path);
    }

    pub(crate) fn leaves_out(&mut self, files: &[PathBuf]) {
        files.iter().for_each(|file| note(&mut self.left_out, file));
    }

    /// What it may not read below the folders it reads.
    pub(crate) fn left_out(&self) -> &[PathBuf] {
        &self.left_out
    }

    pub(crate) fn creates(&mut self, path: &Path) {
        note(&mut self.created, path);
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

fn note(paths: &mut Vec<PathBuf>, path: &Path) {
    if !paths.iter().any(|known| known == path) {
        paths.push(path.to_path_buf());
    }
}
