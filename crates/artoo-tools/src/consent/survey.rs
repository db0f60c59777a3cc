//! The number and size of the files that a call may change, for the question about it.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use artoo_proto::Timestamp;

/// Maximum number of entries counted for a question.
const ENTRIES_MAX: u64 = 50_000;

/// Time limit; the numbers found until then are shown as "at least".
const TIME_MAX: Duration = Duration::from_millis(800);

/// Maximum depth of folders.
const DEPTH_MAX: usize = 128;

/// The result of a survey.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Survey {
    /// Number of paths that exist.
    pub(crate) places: u64,
    /// Number of entries at and below them.
    pub(crate) entries: u64,
    /// Length of their regular files.
    pub(crate) bytes: u64,
    /// The newest change of content.
    pub(crate) newest: Option<Timestamp>,
    /// Whether there are more than were counted.
    pub(crate) is_cut: bool,
}

/// Counts the entries at and below these paths, each once. Symlinks are counted and not followed.
pub(crate) fn survey(paths: &[PathBuf]) -> Survey {
    look(paths, ENTRIES_MAX, Instant::now() + TIME_MAX)
}

fn look(paths: &[PathBuf], entries_max: u64, until: Instant) -> Survey {
    let mut found = Survey::default();
    for path in outermost(paths) {
        let Ok(metadata) = fs::symlink_metadata(path) else { continue };
        found.places += 1;
        found.count(&metadata);
        let mut open = if metadata.is_dir() { vec![(path.clone(), 0)] } else { Vec::new() };
        while let Some((folder, depth)) = open.pop() {
            let Ok(entries) = fs::read_dir(&folder) else {
                // A folder that can't be read may contain anything.
                found.is_cut = true;
                continue;
            };
            for entry in entries {
                if found.entries >= entries_max || Instant::now() >= until {
                    found.is_cut = true;
                    return found;
                }
                let looked = entry.and_then(|entry| entry.metadata().map(|metadata| (entry.path(), metadata)));
                let Ok((path, metadata)) = looked else {
                    found.is_cut = true;
                    continue;
                };
                found.count(&metadata);
                match metadata.is_dir() {
                    true if depth < DEPTH_MAX => open.push((path, depth + 1)),
                    true => found.is_cut = true,
                    false => {}
                }
            }
        }
    }
    found
}

fn outermost(paths: &[PathBuf]) -> Vec<&PathBuf> {
    let is_below = |path: &Path| path.ancestors().skip(1).any(|folder| paths.iter().any(|other| other == folder));
    let mut outermost: Vec<&PathBuf> = paths.iter().filter(|path| !is_below(path)).collect();
    outermost.sort();
    outermost.dedup();
    outermost
}

impl Survey {
    fn count(&mut self, metadata: &Metadata) {
        self.entries += 1;
        if metadata.is_file() {
            self.bytes = self.bytes.saturating_add(metadata.len());
        }
        let ms = metadata.mtime().saturating_mul(1000).saturating_add(metadata.mtime_nsec() / 1_000_000);
        self.newest = self.newest.max(Some(Timestamp::from_millis(ms)));
    }

    /// The numbers for the user; `None` if no path exists.
    pub(crate) fn message(&self, verb: &str) -> Option<String> {
        let newest = self.newest?;
        let at_least = if self.is_cut { "at least " } else { "" };
        let entries = if self.entries == 1 { "entry" } else { "entries" };
        let (count, bytes) = (self.entries, self.bytes);
        Some(format!("{verb} {at_least}{count} {entries}, {at_least}{bytes} bytes, newest change {newest}"))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::time::{Duration, Instant};

    use tempfile::TempDir;

    use super::{Survey, look, survey};

    #[test]
    fn everything_below_is_counted_once_and_links_are_not_followed() {
        let dir = TempDir::new().unwrap();
        let root = dir.path();
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(root.join("a/one"), "12345").unwrap();
        fs::write(root.join("a/b/two"), "123").unwrap();
        fs::write(root.join("out"), "1234567").unwrap();
        symlink(root.join("out"), root.join("a/link")).unwrap();
        symlink(root, root.join("a/b/loop")).unwrap();
        let found = survey(&[root.join("a"), root.join("a/b"), root.join("a"), root.join("gone")]);
        assert_eq!((found.places, found.entries, found.bytes, found.is_cut), (1, 6, 8, false));
        assert!(
            found.message("touches").unwrap().starts_with("touches 6 entries, 8 bytes, newest change 20"),
            "{found:?}"
        );
        assert_eq!(survey(&[root.join("gone")]).message("touches"), None);
    }

    #[test]
    fn what_is_not_looked_at_is_told() {
        let dir = TempDir::new().unwrap();
        for number in 0..20 {
            fs::write(dir.path().join(format!("f{number}")), "x").unwrap();
        }
        let roots = [dir.path().to_path_buf()];
        let later = Instant::now() + Duration::from_secs(60);
        let found: Survey = look(&roots, 10, later);
        assert!(found.is_cut && found.entries == 10, "{found:?}");
        assert!(found.message("touches").unwrap().contains("at least 10 entries, at least 9 bytes"), "{found:?}");
        assert!(!look(&roots, 21, later).is_cut);
        assert!(look(&roots, 100, Instant::now()).is_cut, "the time is up");
    }
}
