//! Glob patterns and their limits.

use std::ffi::OsStr;
use std::path::Path;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::input;
use crate::record::Record;

/// Longest glob pattern, in characters.
pub(crate) const PATTERN_MAX_CHARS: usize = 1000;

/// Maximum number of glob patterns in a list.
pub(crate) const PATTERNS_MAX: usize = 100;

/// Maximum number of `{…}` groups in a pattern: the pattern is expanded to their product.
const BRACE_GROUPS_MAX: usize = 6;

/// Maximum number of commas, which separate alternatives, in a glob pattern with `{…}` groups.
const ALTERNATIVES_MAX: usize = 200;

/// Maximum number of wildcards in a glob pattern.
const WILDCARDS_MAX: usize = 32;

/// A list of patterns. An empty list matches nothing.
#[derive(Debug)]
pub(crate) struct Patterns {
    names: GlobSet,
    paths: GlobSet,
}

impl Patterns {
    /// Compiles glob patterns. One without `/` matches names, one with `/` matches paths below the root.
    pub(crate) fn compile(patterns: &[String], ignore_case: bool) -> Result<Self, Box<Record>> {
        let mut names = GlobSetBuilder::new();
        let mut paths = GlobSetBuilder::new();
        for pattern in patterns {
            check(pattern)?;
            let (set, spelled) = if pattern.contains('/') {
                (&mut paths, pattern.trim_start_matches("./").trim_start_matches('/'))
            } else {
                (&mut names, pattern.as_str())
            };
            if spelled.is_empty() {
                return Err(input::unfit("a pattern is empty"));
            }
            let glob = GlobBuilder::new(spelled).literal_separator(true).case_insensitive(ignore_case).build();
            set.add(glob.map_err(unreadable)?);
        }
        let build = |set: GlobSetBuilder| set.build().map_err(unreadable);
        Ok(Self { names: build(names)?, paths: build(paths)? })
    }

    /// Whether there are no patterns.
    pub(crate) fn is_empty(&self) -> bool {
        self.names.is_empty() && self.paths.is_empty()
    }

    /// Whether one of the patterns matches a directory entry.
    pub(crate) fn matches(&self, below_root: &Path, name: &OsStr) -> bool {
        self.names.is_match(name) || self.paths.is_match(below_root)
    }
}

/// The record of a call whose glob pattern can't be compiled, with the reason.
fn unreadable(error: globset::Error) -> Box<Record> {
    input::unfit(format!("the pattern can't be read: {error}"))
}

/// Checks a glob pattern against the limits on length, braces and wildcards; it may not be empty, hold `..` or a NUL,
/// or end in `/`.
fn check(pattern: &str) -> Result<(), Box<Record>> {
    let chars = pattern.chars().count();
    if chars > PATTERN_MAX_CHARS {
        return Err(input::unfit(format!("the pattern is {chars} characters long; the limit is {PATTERN_MAX_CHARS}")));
    }
    if pattern.is_empty() {
        return Err(input::unfit("a pattern is empty"));
    }
    if pattern.contains('\0') || pattern.split('/').any(|part| part == "..") {
        let reason = "holds \"..\" or a NUL; give the folder as root instead";
        return Err(input::unfit(format!("the pattern {pattern:?} {reason}")));
    }
    if pattern.ends_with('/') {
        let reason = "ends in '/'; ask for kind \"folder\", or add ** for what is inside";
        return Err(input::unfit(format!("the pattern {pattern:?} {reason}")));
    }
    let count = |wanted: &[char]| pattern.chars().filter(|c| wanted.contains(c)).count();
    let groups = count(&['{']);
    let alternatives = if groups == 0 { 0 } else { count(&[',']) };
    if groups > BRACE_GROUPS_MAX || alternatives > ALTERNATIVES_MAX || count(&['*', '?', '[']) > WILDCARDS_MAX {
        let pattern: String = pattern.chars().take(80).collect();
        return Err(input::unfit(format!(
            "the pattern {pattern:?} has too many wildcards or alternatives (limits: {BRACE_GROUPS_MAX} groups, \
             {ALTERNATIVES_MAX} alternatives, {WILDCARDS_MAX} wildcards)"
        )));
    }
    Ok(())
}
