//! Expands the patterns in a command's words to the existing paths that a shell would put in their place, or more.

use std::fs;
use std::path::{Component, Path, PathBuf};

use globset::GlobBuilder;

use crate::effects::is_pattern;

/// The existing paths that an absolute name or glob pattern stands for. `entries`: the number of directory entries that
/// may still be compared; at 0 no more are.
pub(super) fn expand(name: &Path, entries: &mut usize) -> Vec<PathBuf> {
    let mut found = Vec::new();
    if name.symlink_metadata().is_ok() {
        found.push(name.to_path_buf());
    }
    if !name.to_str().is_some_and(is_pattern) {
        return found;
    }
    let mut reached = vec![PathBuf::from("/")];
    for part in name.components() {
        let Component::Normal(part) = part else { continue };
        let pattern = part.to_str().filter(|part| is_pattern(part));
        let Some(glob) = pattern.and_then(|part| GlobBuilder::new(part).build().ok()) else {
            reached.iter_mut().for_each(|path| path.push(part));
            reached.retain(|path| path.symlink_metadata().is_ok());
            continue;
        };
        if part == "**" {
            found.extend(reached.iter().cloned());
        }
        let glob = glob.compile_matcher();
        let mut inner = Vec::new();
        for entry in reached.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten() {
            if *entries == 0 {
                break;
            }
            *entries -= 1;
            if glob.is_match(entry.file_name()) {
                inner.push(entry.path());
            }
        }
        reached = inner;
    }
    found.extend(reached);
    found
}

/// Tests of expanding patterns to existing paths.
#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::expand;

    /// Wildcards in folder names and file names are expanded to all existing matches.
    #[test]
    fn patterns_are_expanded_in_every_folder() {
        let dir = TempDir::new().unwrap();
        for path in ["a/.env", "b/.env", "b/x", "[c]/y"] {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let check = |pattern: &str, expected: &[&str]| {
            let mut found = expand(&dir.path().join(pattern), &mut 100);
            found.sort();
            assert_eq!(found, expected.iter().map(|path| dir.path().join(path)).collect::<Vec<_>>(), "{pattern}");
        };
        check("*/.e*", &["a/.env", "b/.env"]);
        check("[ab]/.en?", &["a/.env", "b/.env"]);
        check("b/x", &["b/x"]);
        check("[c]/y", &["[c]/y"]);
        check("b/*", &["b/.env", "b/x"]);
        check("none/*", &[]);
        let mut entries = 1;
        expand(&dir.path().join("b/*"), &mut entries);
        assert_eq!(entries, 0);
    }
}
