//! The files with secrets that a command may not read: those its words name, and those below the folders it may read.

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use artoo_proto::Environment;

use super::Protected;
use super::expand::expand;
use super::mounts::Mounts;
use crate::paths;
use crate::secret::{self, Walk};
use crate::undo::is_system;

/// Maximum number of directory entries compared with the wildcards of one command line, in the search for secrets.
const EXPANDED_MAX: usize = 100_000;

/// Maximum number of files, matched by the wildcards of one command line, whose beginning is read to find keys.
const MATCHED_OPENED_MAX: usize = 20_000;

/// Maximum number of entries of protected places whose inodes are compared, to find hard links to them.
const LINKED_MAX: usize = 5_000;

/// Folders of the system's programs and of public certificates, installed for everyone to read.
const PROGRAM_PLACES: &str = "/usr/bin /usr/sbin /usr/lib /usr/lib32 /usr/lib64 /usr/libexec /usr/share /usr/include \
    /bin /sbin /lib /lib32 /lib64 /etc/ssl/certs /etc/ca-certificates /usr/local/share/ca-certificates";

/// The secrets that a command could read, as real paths, and whether the search was complete.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FoundSecrets {
    /// Files that the command may not read.
    pub(crate) files: Vec<PathBuf>,
    /// Those of the files that the command's words name, by patterns too.
    pub(crate) named: Vec<PathBuf>,
    /// Settings of git that contain a password; git can't work without them.
    pub(crate) git_settings: Vec<PathBuf>,
    /// Whether the words name a repository's own folder or a file in it.
    pub(crate) names_git_folder: bool,
    /// Whether a folder or pattern in the words was not searched completely.
    pub(crate) misses_named: bool,
    /// Whether the working folder was not searched completely.
    pub(crate) misses_cwd: bool,
}

impl Protected {
    /// Finds the files with secrets among the named paths and below the folders, which a command may not read; none if
    /// models are trusted with secrets.
    ///
    /// Files that its words name are judged whatever the limits of the search, and so are files that its patterns match.
    /// Then the folders that it names, the working folder, the workspace and the home are searched in this order: all
    /// names, up to [`secret::SEARCHED_MAX`] entries, and the beginning of the first files. Not found: a secret that only
    /// its content shows beyond the first files, below a folder that no word names beyond the first entries, deep in a
    /// folder of libraries, and in packed data such as archives.
    pub(crate) fn secrets(&self, environment: &Environment, named: &[PathBuf], folders: &[PathBuf]) -> FoundSecrets {
        self.secrets_within(environment, named, folders, secret::SEARCHED_MAX)
    }

    /// Finds files with secrets among these names and below these folders, comparing at most `entries_max` directory
    /// entries, besides those that wildcards are compared with.
    fn secrets_within(
        &self,
        environment: &Environment,
        named: &[PathBuf],
        folders: &[PathBuf],
        entries_max: usize,
    ) -> FoundSecrets {
        if self.trusts_model {
            return FoundSecrets::default();
        }
        let (mut entries, mut opened) = (EXPANDED_MAX, MATCHED_OPENED_MAX);
        let mut found = FoundSecrets::default();
        let linked = self.linked_files();
        let (mut files, mut roots, mut named_files) = (BTreeSet::new(), Vec::new(), BTreeSet::new());
        let expanded: Vec<PathBuf> = named.iter().flat_map(|name| expand(name, &mut entries)).collect();
        for path in &expanded {
            let real = paths::real(path);
            found.names_git_folder |= is_in_git(path) || is_in_git(&real);
            if self.is_skipped(&real) {
                continue;
            }
            let Ok(metadata) = real.metadata() else { continue };
            if metadata.is_dir() {
                roots.push(real);
                continue;
            }
            named_files.insert(real.clone());
            if secret::is_named_so(path)
                || secret::is_named_so(&real)
                || linked.contains(&(metadata.dev(), metadata.ino()))
                || may_open(&mut opened, named.contains(path)) && secret::begins_so(&real)
            {
                files.insert(real);
            }
        }
        let own = [&environment.cwd, &environment.workspace, &environment.home].map(PathBuf::from);
        roots.extend(folders.iter().filter(|folder| **folder != own[0]).map(|folder| paths::real(folder)));
        let named_roots = roots.len();
        roots.extend(own.iter().map(|folder| paths::real(folder)));
        let mut walk = Walk::new(entries_max, &linked, |path| self.is_skipped(path));
        for (number, root) in roots.iter().enumerate().filter(|(_, root)| root.parent().is_some()) {
            if !walk.search(root) {
                found.misses_named |= number < named_roots;
                found.misses_cwd |= number == named_roots;
            }
        }
        found.misses_named |= entries == 0 || opened == 0;
        files.extend(walk.into_found());
        self.add_aliases(&mut files);
        let (settings, files) = files.into_iter().partition(|file| file.ends_with(".git/config"));
        found.files = files;
        found.named = named_files.into_iter().filter(|file| found.files.contains(file)).collect();
        found.files.sort_by_key(|file| file.components().count());
        found.git_settings = settings;
        found
    }

    /// Adds to `files` the other paths under which further mounts show the same files.
    fn add_aliases(&self, files: &mut BTreeSet<PathBuf>) {
        let mounts = Mounts::read();
        let aliases: Vec<PathBuf> = files.iter().flat_map(|file| mounts.aliases(file)).collect();
        files.extend(aliases);
    }

    /// Whether a real path is left out of the search for secrets: kernel files, protected places, and the system's
    /// programs.
    fn is_skipped(&self, path: &Path) -> bool {
        is_system(path) || self.holds(path) || PROGRAM_PLACES.split(' ').any(|place| path.starts_with(place))
    }

    /// Device and inode of files in protected places, artoo's own excepted, that have other hard links; the first
    /// [`LINKED_MAX`] entries are searched, outermost first.
    fn linked_files(&self) -> HashSet<(u64, u64)> {
        let is_own = |place: &&PathBuf| self.own_data.iter().any(|own| place.starts_with(own));
        let mut open: VecDeque<PathBuf> = self.places.iter().filter(|place| !is_own(place)).cloned().collect();
        let (mut linked, mut entries) = (HashSet::new(), 0);
        while let Some(path) = open.pop_front() {
            entries += 1;
            if entries > LINKED_MAX {
                break;
            }
            let Ok(metadata) = path.symlink_metadata() else { continue };
            if metadata.is_file() && metadata.nlink() > 1 {
                linked.insert((metadata.dev(), metadata.ino()));
            } else if metadata.is_dir() && !is_system(&path) {
                let inner = fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path());
                open.extend(inner.take(LINKED_MAX));
            }
        }
        linked
    }
}

/// Whether the search may open one more file. Files that matched a pattern with wildcards are counted down in `opened`;
/// others always may.
fn may_open(opened: &mut usize, is_literal: bool) -> bool {
    let may = is_literal || *opened > 0;
    if !is_literal {
        *opened = opened.saturating_sub(1);
    }
    may
}

/// Whether a path is a `.git` folder or in one.
fn is_in_git(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == ".git")
}

/// Tests of the search for files with secrets that a command may not read.
#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use artoo_proto::Environment;
    use tempfile::TempDir;

    use super::{FoundSecrets, Protected};

    /// Searches a home for secrets that these names may mean, comparing at most `entries_max` directory entries.
    fn found(home: &Path, cwd: &str, named: &[&str], entries_max: usize) -> FoundSecrets {
        let text = |path: &str| home.join(path).to_str().unwrap().to_owned();
        let environment = Environment {
            cwd: text(cwd),
            home: text(""),
            workspace: text("artoo_workspace"),
            os: "linux".to_owned(),
            utc_offset_s: 0,
        };
        let named: Vec<PathBuf> = named.iter().map(|name| home.join(cwd).join(name)).collect();
        Protected::new(&environment, &[]).secrets_within(&environment, &named, &[], entries_max)
    }

    /// Secrets that a command names are found even if the search reaches its limit of entries; named folders are
    /// searched first, then the working folder, then the home.
    #[test]
    fn named_secrets_are_found_beyond_every_limit() {
        let dir = TempDir::new().unwrap();
        let home = dir.path().canonicalize().unwrap();
        for path in ["big/1", "big/2", "big/3", "big/4", "proj/x/y/.env", "proj/x/y/a.txt", "small/a", "small/.env"] {
            let path = home.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let key = "-----BEGIN RSA PRIVATE KEY-----\nMIIx\n-----END RSA PRIVATE KEY-----\n";
        fs::write(home.join("proj/x/y/deploy"), key).unwrap();
        for name in [".env", ".e*", "deploy", "dep*"] {
            let found = found(&home, "proj/x/y", &[name], 1);
            let expected = home.join("proj/x/y").join(if name.starts_with('.') { ".env" } else { "deploy" });
            assert_eq!((found.named, found.misses_named), (vec![expected], false), "{name}");
        }
        // The working folder comes before the home, and named folders before both.
        let whole = found(&home, "small", &[], 2);
        assert!(!whole.misses_cwd && whole.files.contains(&home.join("small/.env")), "{whole:?}");
        assert!(found(&home, "big", &[], 2).misses_cwd);
        let named = found(&home, "big", &["../small"], 2);
        assert!(!named.misses_named && named.misses_cwd && named.files.contains(&home.join("small/.env")), "{named:?}");
        assert!(found(&home, "small", &["../big"], 2).misses_named);
    }
}
