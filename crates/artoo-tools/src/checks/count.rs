//! Counts files for a check, with code of its own, independent of the walk of the tools.

use std::fs;
use std::path::{Path, PathBuf};

use artoo_proto::CheckOutcome;
use globset::{GlobBuilder, GlobMatcher};

use super::{CHECK_TIMEOUT, CheckInput, same_number};
use crate::limit::Limit;
use crate::paths;

/// Longest glob pattern of a check, in bytes.
const PATTERN_MAX_BYTES: usize = 1000;

/// The number of files counted by a check, and of the hidden ones among them.
struct Counted {
    files: u64,
    /// How many of them are hidden, or in a hidden folder.
    hidden: u64,
}

/// A check: the output must be the number of files whose names match, in a folder or (`recursive`) also below it.
/// Hidden files count; their number is added to the evidence.
pub(super) fn files(input: &CheckInput<'_>, path: &str, pattern: &str, recursive: bool) -> CheckOutcome {
    let folder = match paths::absolute(input.environment, path) {
        Ok(folder) => folder,
        Err(problem) => return CheckOutcome::fail(problem.to_string()),
    };
    let matcher = match matcher(pattern) {
        Ok(matcher) => matcher,
        Err(problem) => return CheckOutcome::fail(problem),
    };
    match count(&folder, matcher.as_ref(), recursive) {
        Err(problem) => CheckOutcome::hindered(problem),
        Ok(Counted { files, hidden }) => {
            let of_them = if hidden == 0 { String::new() } else { format!(", {hidden} of them hidden") };
            same_number(input.output, files, &format!("{} has {files} such files{of_them}", paths::line(&folder)))
        }
    }
}

/// Compiles a glob pattern for file names; `None` if it is empty, so that every name matches.
fn matcher(pattern: &str) -> Result<Option<GlobMatcher>, String> {
    if pattern.is_empty() {
        return Ok(None);
    }
    if pattern.len() > PATTERN_MAX_BYTES || pattern.contains('/') {
        return Err("the pattern is no glob over file names".to_owned());
    }
    let glob = GlobBuilder::new(pattern).literal_separator(true).build().map_err(|error| error.to_string())?;
    Ok(Some(glob.compile_matcher()))
}

/// Counts the regular files whose names match, in the folder `root` or also below it; an error if something can't be
/// read, or not in time.
fn count(root: &Path, matcher: Option<&GlobMatcher>, recursive: bool) -> Result<Counted, String> {
    let limit = Limit::after(CHECK_TIMEOUT);
    let mut counted = Counted { files: 0, hidden: 0 };
    let mut open: Vec<(PathBuf, bool)> = vec![(root.to_path_buf(), false)];
    while let Some((folder, is_below_hidden)) = open.pop() {
        if limit.reached() {
            return Err(format!("{}: there was no time to count all of it", paths::line(root)));
        }
        let failed = |error: std::io::Error| format!("{}: {error}", paths::line(&folder));
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let kind = entry.file_type().map_err(failed)?;
            let name = entry.file_name();
            let is_hidden = is_below_hidden || paths::is_hidden(&name);
            if kind.is_dir() && recursive {
                open.push((entry.path(), is_hidden));
            } else if kind.is_file() && matcher.is_none_or(|matcher| matcher.is_match(&name)) {
                counted.files += 1;
                counted.hidden += u64::from(is_hidden);
            }
        }
    }
    Ok(counted)
}
