//! Glob patterns: what one may look like, and what it matches.

use std::ffi::OsStr;
use std::path::Path;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// Longest pattern, in characters; no name a person means is longer.
pub(crate) const PATTERN_MAX_CHARS: usize = 1000;

/// Patterns in one list.
pub(crate) const PATTERNS_MAX: usize = 100;

/// `{…}` groups in one pattern: their product is what makes a pattern explode.
const BRACE_GROUPS_MAX: usize = 6;

/// Alternatives in all groups of one pattern.
const ALTERNATIVES_MAX: usize = 200;

/// Wildcards in one pattern.
const WILDCARDS_MAX: usize = 32;

/// Why a pattern is refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PatternProblem {
    #[error("a pattern is empty")]
    Empty,
    #[error("the pattern is {chars} characters long; the limit is {PATTERN_MAX_CHARS}")]
    TooLong { chars: usize },
    #[error(
        "the pattern {pattern:?} has too many wildcards or alternatives (limits: {BRACE_GROUPS_MAX} groups, \
         {ALTERNATIVES_MAX} alternatives, {WILDCARDS_MAX} wildcards)"
    )]
    TooManyParts { pattern: String },
    #[error("the pattern {pattern:?} holds \"..\" or a NUL; give the folder as root instead")]
    LeavesRoot { pattern: String },
    #[error("the pattern {pattern:?} ends in '/'; ask for kind \"folder\", or add ** for what is inside")]
    EndsInSlash { pattern: String },
    #[error("the pattern can't be read")]
    Syntax {
        #[source]
        source: globset::Error,
    },
}

/// Patterns of which any may match; no patterns match nothing (and are told apart by [`Patterns::is_empty`]).
#[derive(Debug)]
pub(crate) struct Patterns {
    names: GlobSet,
    paths: GlobSet,
}

impl Patterns {
    /// A pattern without `/` is matched against names, one with `/` against the path below the root.
    pub(crate) fn compile(patterns: &[String], ignore_case: bool) -> Result<Self, PatternProblem> {
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
                return Err(PatternProblem::Empty);
            }
            let glob = GlobBuilder::new(spelled).literal_separator(true).case_insensitive(ignore_case).build();
            set.add(glob.map_err(|source| PatternProblem::Syntax { source })?);
        }
        let build = |set: GlobSetBuilder| set.build().map_err(|source| PatternProblem::Syntax { source });
        Ok(Self { names: build(names)?, paths: build(paths)? })
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.names.is_empty() && self.paths.is_empty()
    }

    /// Whether any pattern matches an entry.
    pub(crate) fn matches(&self, below_root: &Path, name: &OsStr) -> bool {
        self.names.is_match(name) || self.paths.is_match(below_root)
    }
}

fn check(pattern: &str) -> Result<(), PatternProblem> {
    let chars = pattern.chars().count();
    if chars > PATTERN_MAX_CHARS {
        return Err(PatternProblem::TooLong { chars });
    }
    if pattern.is_empty() {
        return Err(PatternProblem::Empty);
    }
    if pattern.contains('\0') || pattern.split('/').any(|part| part == "..") {
        return Err(PatternProblem::LeavesRoot { pattern: pattern.to_owned() });
    }
    if pattern.ends_with('/') {
        return Err(PatternProblem::EndsInSlash { pattern: pattern.to_owned() });
    }
    let count = |wanted: &[char]| pattern.chars().filter(|c| wanted.contains(c)).count();
    let groups = count(&['{']);
    let alternatives = if groups == 0 { 0 } else { count(&[',']) };
    if groups > BRACE_GROUPS_MAX || alternatives > ALTERNATIVES_MAX || count(&['*', '?', '[']) > WILDCARDS_MAX {
        return Err(PatternProblem::TooManyParts { pattern: pattern.chars().take(80).collect() });
    }
    Ok(())
}
