//! Landlock rules for reading everything beside the hidden paths, cached until something changes. There are some
//! hundred rules, each for a file that must be opened; many programs can share one ruleset.

use std::io;
use std::path::{Component, Path, PathBuf};

use landlock::RulesetCreated;
use rustix::fs::{Access, access, stat};
use rustix::process::geteuid;

use super::readable::{self, Hidden, Readable};
use super::rules;
use super::watched::Watched;

/// Cached Landlock rules for everything beside the hidden paths, with the paths to watch for changes.
#[derive(Debug)]
pub(crate) struct BesideHidden {
    /// Folders and files that may be read with all below them, sorted.
    whole: Vec<PathBuf>,
    rules: RulesetCreated,
    watched: Watched,
}

impl BesideHidden {
    /// Makes the Landlock rules for reading everything beside these sorted hidden paths and beside all devices.
    pub(crate) fn of(places: &[PathBuf]) -> io::Result<Self> {
        let mut watched = Watched::new();
        let mut hidden = vec![PathBuf::from("/dev")];
        for place in places {
            let is_within = hidden.iter().any(|other| place.starts_with(other));
            if is_within {
                // Hidden together with the folder above it. artoo's own data changes all the time, so it is not
                // watched.
                continue;
            }
            // Watched before it is read, so that no change is missed: a path may appear in the folder above it, and an
            // existing one may become readable.
            place.parent().into_iter().for_each(|folder| watched.add(folder));
            let is_hidden = could_be_read(place) || {
                watched.add(place);
                could_be_read(place)
            };
            if is_hidden {
                hidden.push(place.clone());
            }
        }
        let hidden: Hidden = hidden.into_iter().collect();
        hidden.above().for_each(|folder| watched.add(folder));
        let whole = readable::readable_below(Path::new("/"), &hidden).whole;
        let rules = rules::reading(&whole, &[]).map_err(io::Error::other)?;
        Ok(Self { whole, rules, watched })
    }

    /// Whether nothing that the cached rules depend on has changed.
    pub(crate) fn is_current(&self) -> bool {
        self.watched.is_unchanged()
    }

    /// Whether `is_current` can notice every later change; if not, the Landlock rules must not be cached.
    pub(crate) fn can_be_kept(&self) -> bool {
        self.watched.tells_changes()
    }

    /// The Landlock rules for reading all allowed paths and the paths in `beyond`, without the paths in `left_out`.
    pub(super) fn rules(&self, beyond: &[&Path], left_out: &[PathBuf]) -> io::Result<RulesetCreated> {
        let beyond = beyond.iter().filter(|path| !self.holds(path)).copied();
        if !left_out.is_empty() {
            let left_out: Hidden = left_out.iter().cloned().collect();
            let beside =
                self.whole.iter().map(PathBuf::as_path).chain(beyond).map(|at| readable::readable_below(at, &left_out));
            let beside: Vec<Readable> = beside.collect();
            if beside.iter().any(|readable| readable.left_out > 0) {
                let too_many = "too many files lie beside those that may hold secrets";
                return Err(io::Error::new(io::ErrorKind::QuotaExceeded, too_many));
            }
            let whole: Vec<PathBuf> = beside.into_iter().flat_map(|readable| readable.whole).collect();
            return rules::reading(&whole, &[]).map_err(io::Error::other);
        }
        let beyond: Vec<&Path> = beyond.collect();
        if beyond.is_empty() {
            // A second handle of the same ruleset; no rules may be added to it.
            return self.rules.try_clone();
        }
        rules::reading(&self.whole, &beyond).map_err(io::Error::other)
    }

    /// Whether the cached rules allow reading this path.
    fn holds(&self, path: &Path) -> bool {
        let is_plain = path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
        is_plain
            && path.ancestors().any(|above| self.whole.binary_search_by(|whole| whole.as_path().cmp(above)).is_ok())
    }
}

/// Whether the user can read a path, or owns it and could add the permission.
fn could_be_read(place: &Path) -> bool {
    access(place, Access::READ_OK).is_ok() || stat(place).is_ok_and(|found| found.st_uid == geteuid().as_raw())
}

/// Tests that cached Landlock rules are outdated by the changes that matter, and only by these.
#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::thread;
    use std::time::Duration;

    use tempfile::TempDir;

    use super::BesideHidden;

    /// Reads the rules beside hidden paths, then calls `change` with a folder that contains them; returns whether the
    /// rules are still current.
    fn is_current_after(places: &[&str], change: impl FnOnce(&Path)) -> bool {
        let dir = TempDir::new_in("/var/tmp").unwrap();
        let folder = dir.path().canonicalize().unwrap();
        fs::create_dir_all(folder.join("keys")).unwrap();
        fs::create_dir_all(folder.join("open/inner")).unwrap();
        let places: Vec<_> = places.iter().map(|place| folder.join(place)).collect();
        let visible = BesideHidden::of(&places).unwrap();
        thread::sleep(Duration::from_millis(20));
        change(&folder);
        visible.is_current()
    }

    /// Cached rules are invalid after a change in a folder above a hidden path, and stay valid after changes elsewhere.
    #[doc = "holds: law 1.20"]
    #[test]
    fn changes_above_hidden_paths_invalidate_rules() {
        assert!(!is_current_after(&["keys"], |folder| fs::write(folder.join("new"), "").unwrap()));
        assert!(!is_current_after(&["keys"], |folder| fs::rename(folder.join("open"), folder.join("moved")).unwrap()));
        // A path that does not exist yet.
        assert!(!is_current_after(&["open/keys"], |folder| fs::create_dir(folder.join("open/keys")).unwrap()));
        assert!(!is_current_after(&["a/b/keys"], |folder| fs::create_dir(folder.join("a")).unwrap()));
        // Other programs may create files beside the folder at the same time.
        let stays_once = |places, change: fn(&Path)| (0..20).any(|_| is_current_after(places, change));
        assert!(stays_once(&["keys"], |_| ()));
        assert!(stays_once(&["keys"], |folder| fs::write(folder.join("open/new"), "").unwrap()));
        assert!(stays_once(&["open/keys"], |folder| fs::write(folder.join("open/inner/new"), "").unwrap()));
        // The content of a hidden folder is hidden with it.
        assert!(stays_once(&["keys", "keys/inner"], |folder| fs::create_dir(folder.join("keys/inner")).unwrap()));
        assert!(!is_current_after(&["keys", "keys/inner"], |folder| fs::remove_dir(folder.join("keys")).unwrap()));
    }

    /// A second change within a clock tick leaves the same time, so a recent change prevents caching.
    #[doc = "holds: law 1.20"]
    #[test]
    fn recent_changes_prevent_caching() {
        let dir = TempDir::new_in("/var/tmp").unwrap();
        let place = dir.path().canonicalize().unwrap().join("keys");
        fs::create_dir(&place).unwrap();
        assert!(!BesideHidden::of(std::slice::from_ref(&place)).unwrap().can_be_kept());
        thread::sleep(Duration::from_millis(200));
        // Other programs may create files in that folder too.
        assert!((0..20).any(|_| {
            thread::sleep(Duration::from_millis(50));
            BesideHidden::of(std::slice::from_ref(&place)).unwrap().can_be_kept()
        }));
    }
}
