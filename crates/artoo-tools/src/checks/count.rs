//! Counting files a second way: a plain recursion, written apart from the walk that tools use.

use std::fs;
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};

use super::{CHECK_TIMEOUT, CheckInput, CheckVerdict, same_number};
use crate::limit::Limit;
use crate::paths;

/// Longest pattern, in bytes.
const PATTERN_MAX_BYTES: usize = 1000;

struct Counted {
    files: u64,
    /// Hidden files and folders that were passed over.
    hidden: u64,
}

/// The output must be the number of files in the folder. As for `glob`, a name with a leading dot (or below a folder
/// with one) counts only if the pattern starts with a dot too; how many names were passed over is told.
pub(super) fn files(input: &CheckInput<'_>, path: &str, pattern: &str, recursive: bool) -> CheckVerdict {
    let folder = match paths::absolute(input.environment, path) {
        Ok(folder) => folder,
        Err(problem) => return CheckVerdict::new(false, problem.to_string()),
    };
    let matcher = match matcher(pattern) {
        Ok(matcher) => matcher,
        Err(problem) => return CheckVerdict::new(false, problem),
    };
    match count(&folder, matcher.as_ref(), recursive, pattern.starts_with('.')) {
        Err(problem) => CheckVerdict::hindered(problem),
        Ok(Counted { files, hidden }) => {
            let passed_over =
                if hidden == 0 { String::new() } else { format!(" and {hidden} hidden names, not counted") };
            same_number(input.output, files, &format!("{} has {files} such files{passed_over}", paths::line(&folder)))
        }
    }
}

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

fn count(root: &Path, matcher: Option<&GlobMatcher>, recursive: bool, with_hidden: bool) -> Result<Counted, String> {
    let limit = Limit::after(CHECK_TIMEOUT);
    let mut counted = Counted { files: 0, hidden: 0 };
    let mut open: Vec<PathBuf> = vec![root.to_path_buf()];
    while let Some(folder) = open.pop() {
        if limit.reached() {
            return Err(format!("{}: there was no time to count all of it", paths::line(root)));
        }
        let failed = |error: std::io::Error| format!("{}: {error}", paths::line(&folder));
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let kind = entry.file_type().map_err(failed)?;
            let name = entry.file_name();
            if paths::is_hidden(&name) && !with_hidden {
                counted.hidden += 1;
            } else if kind.is_dir() && recursive {
                open.push(entry.path());
            } else if kind.is_file() && matcher.is_none_or(|matcher| matcher.is_match(&name)) {
                counted.files += 1;
            }
        }
    }
    Ok(counted)
}
