//! The places an unproven command spells, with what its patterns match now.

use std::path::{Path, PathBuf};

use artoo_proto::Environment;

use crate::consent::PATHS_MAX;
use crate::{guard, paths};

/// What is spelled.
#[derive(Debug, Default)]
pub(super) struct Spelled {
    /// Paths, best effort: every word that could be one.
    pub(super) paths: Vec<PathBuf>,
    /// Folders of patterns that match too much to be listed, or that are not read here: all in them may change.
    pub(super) folders: Vec<PathBuf>,
}

impl Spelled {
    /// Looks at the disk for what patterns match.
    pub(super) fn of(environment: &Environment, command: &str) -> Self {
        let home = &environment.home;
        let text = command.replace("${HOME}", home).replace("$HOME", home);
        let mut spelled = Self::default();
        let words = guard::path_like(&text);
        for path in words.iter().filter_map(|word| paths::absolute(environment, word).ok()) {
            let before = before_pattern(&path);
            if before == path {
                spelled.paths.push(path);
                continue;
            }
            // What the kernel shows of processes, artoo's own among them, is nothing a person allows to be changed.
            if before.starts_with("/proc") {
                continue;
            }
            let room = PATHS_MAX.saturating_sub(spelled.paths.len());
            match guard::matches_now(&path).filter(|matches| matches.len() <= room) {
                Some(matches) => spelled.paths.extend(matches),
                // The home folder itself is never meant as a whole: such a command has to name what it changes.
                None if Path::new(home).starts_with(&before) => {}
                None => spelled.folders.push(before),
            }
        }
        spelled.paths.truncate(PATHS_MAX);
        spelled.folders.sort_unstable();
        spelled.folders.dedup();
        spelled
    }
}

/// The path, or where it holds a pattern of the shell's, the folder that the pattern is looked for in.
fn before_pattern(path: &Path) -> PathBuf {
    if std::fs::symlink_metadata(path).is_ok() {
        return path.to_path_buf();
    }
    path.iter().take_while(|part| !is_pattern(&part.to_string_lossy())).collect()
}

/// A bracket or a brace alone is the shell's own word, and no pattern.
fn is_pattern(part: &str) -> bool {
    let within =
        |open, close| part.split_once(open).and_then(|(_, rest)| rest.rsplit_once(close)).map(|(inner, _)| inner);
    part.contains(['*', '?'])
        || within('[', ']').is_some_and(|set| !set.is_empty())
        || within('{', '}').is_some_and(|choice| choice.contains(',') || choice.contains(".."))
}

#[cfg(test)]
mod tests {
    use super::is_pattern;

    #[test]
    fn the_shell_s_own_brackets_are_no_patterns() {
        for (part, expected) in [
            ("*.tmp", true),
            ("a?", true),
            ("[ab]c", true),
            ("x{a,b}", true),
            ("{1..9}", true),
            ("[", false),
            ("]", false),
            ("[]", false),
            ("{", false),
            ("{#x}", false),
            ("plain", false),
        ] {
            assert_eq!(is_pattern(part), expected, "{part}");
        }
    }
}
