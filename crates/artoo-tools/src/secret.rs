//! Detects files that may hold secrets in any folder, by their name and by the beginning of their content.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet, VecDeque};
use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::os::unix::fs::{DirEntryExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use artoo_proto::redact::{redact, redact_keys};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::{open, paths, texts};

/// Bytes of a file that are searched for keys; the first line of a key file identifies it.
const HEAD_BYTES: u64 = 4096;

/// Maximum number of entries whose names are compared in one search for secrets.
pub(crate) const SEARCHED_MAX: usize = 1_000_000;

/// Below one folder a search opens at most one file for this many entries of its limit, to look for keys; of other
/// files only the names are checked.
const OPENED_PART: usize = 5;

/// Maximum number of files opened below one folder that is searched.
const OPENED_MAX: usize = 2_000;

/// Maximum number of files opened in all folders of one search.
const OPENED_TOTAL_MAX: usize = 8_000;

/// Maximum number of symlinks followed in one search for secrets.
const LINKS_MAX: usize = 2_000;

/// Maximum number of directory entries that are searched in folders to which symlinks lead.
const LED_TO_MAX: usize = 20_000;

/// Number of levels below a folder of libraries that are searched for names of secrets.
const LIBRARY_DEPTH: usize = 2;

/// Maximum number of entries whose names are compared in folders of libraries.
const LIBRARY_ENTRIES_MAX: usize = 50_000;

/// Folders of installed programs and libraries. Keys in them belong to tests, so only names are compared.
const PROGRAM_FOLDERS: [&str; 8] =
    ["node_modules", ".cache", ".rustup", "registry", "site-packages", "dist-packages", "vendor", "target"];

/// Files named in a message about files that were left out; the others are counted.
const NAMED_MAX: usize = 5;

/// Lowercase patterns of paths of files with secrets, grouped by kind. A pattern with a trailing `/` stands for
/// everything in such a folder, and `+` for a space.
const FAMILIES: [&str; 6] = [
    // Settings of programs, with passwords in them.
    ".env .env.* .env-* .env_* *.env .envrc master.key wp-config.php rclone.conf .m2/settings.xml",
    // Keys, and stores of keys and passwords.
    ".ssh/ .gnupg/ .password-store/ id_rsa id_dsa id_ecdsa id_ecdsa_sk id_ed25519 id_ed25519_sk *.pem *.p12 *.pfx *.jks \
        *.keystore *.ppk *.kdbx *.kdb *.1pux *.keychain *.keychain-db *.ovpn wallet.dat age/keys.txt etc/shadow etc/shadow- etc/gshadow \
        etc/gshadow- backups/shadow backups/gshadow",
    // Credentials and tokens.
    "credentials .credentials credentials.json credentials.toml credentials.yml credentials.yaml credentials.ini \
        credentials.csv credentials.db .credentials.* *-credentials.json *_credentials.json client_secret*.json \
        service-account*.json service_account*.json oauth_creds.json token.json .token *.token .secrets/ secret.json \
        secret.yml secret.yaml secret.toml secrets.json secrets.yml secrets.yaml secrets.toml .netrc _netrc .npmrc .pypirc \
        .pgpass .my.cnf .mylogin.cnf .git-credentials .vault-token .htpasswd .boto .s3cfg .terraformrc",
    // Credentials of other programs, coding agents included.
    ".claude.json .codex/auth.json opencode/auth.json github-copilot/*.json huggingface/token huggingface/stored_tokens \
        .composer/auth.json containers/auth.json gh/hosts.yml doctl/config.yaml .fly/config.yml supabase/access-token \
        firebase-tools.json",
    // Clouds and clusters.
    ".aws/ .azure/ .kube/ access_tokens.db .dockercfg .docker/config.json kubeconfig *.kubeconfig kubeconfig.* *.tfstate \
        *.tfstate.* *.tfvars *.tfvars.json",
    // Histories of browsers, shells and databases.
    "logins.json key3.db key4.db login+data cookies cookies.sqlite cookies.txt .*_history fish_history .histfile .zhistory",
];

/// The compiled patterns of names of secrets, matched against lowercase paths.
static PATTERNS: LazyLock<GlobSet> = LazyLock::new(|| {
    let mut set = GlobSetBuilder::new();
    for pattern in FAMILIES.iter().flat_map(|family| family.split_whitespace()).map(|name| name.replace('+', " ")) {
        let below = if pattern.ends_with('/') { "**" } else { "" };
        if let Ok(glob) = GlobBuilder::new(&format!("**/{pattern}{below}")).literal_separator(true).build() {
            set.add(glob);
        }
    }
    set.build().unwrap_or_default()
});

/// Endings of file names, such as `.example`, that mark templates, which hold no secrets.
const TEMPLATES: [&str; 5] = [".example", ".sample", ".template", ".dist", ".tmpl"];

/// Endings of file names that mark backups, older versions, and compressed or edited copies.
const BACKUP_ENDINGS: [&str; 19] = [
    "~", ".bak", ".old", ".orig", ".save", ".saved", ".backup", ".copy", ".prev", ".swp", ".swo", ".gz", ".bz2", ".xz",
    ".zst", ".zip", "_bak", "_old", "-old",
];

/// Maximum number of backup endings that are removed from one name.
const BACKUP_ENDINGS_MAX: usize = 4;

/// Whether a file may hold secrets, judged by its name, the name behind its symlinks, and its first bytes.
pub(crate) fn is_secret(path: &Path) -> bool {
    is_named_so(path) || is_named_so(&paths::real(path)) || begins_so(path)
}

/// Whether a file may hold secrets, judged by its path alone. A backup counts by the name of its original; a template,
/// such as `.env.example`, holds none.
pub(crate) fn is_named_so(path: &Path) -> bool {
    let path = path.to_string_lossy().to_lowercase();
    let is_backup = path.split('/').any(|name| without_backup_ending(name) != name);
    let original = if is_backup {
        Cow::Owned(path.split('/').map(without_backup_ending).collect::<Vec<_>>().join("/"))
    } else {
        Cow::Borrowed(path.as_str())
    };
    let is_template = TEMPLATES.iter().any(|end| original.ends_with(end));
    !is_template && (PATTERNS.is_match(&path) || is_backup && PATTERNS.is_match(&*original))
}

/// A file name without endings and marks of backups, older versions, and compressed or edited copies: `.env.bak` gives
/// `.env`.
fn without_backup_ending(name: &str) -> &str {
    let mut rest = name;
    for _ in 0..BACKUP_ENDINGS_MAX {
        let number = rest.trim_end_matches(|c: char| c.is_ascii_digit());
        let shorter = BACKUP_ENDINGS.iter().find_map(|end| rest.strip_suffix(end));
        let shorter = shorter.or_else(|| number.strip_suffix('.').filter(|_| number.len() < rest.len()));
        match shorter.filter(|shorter| !shorter.is_empty()) {
            Some(shorter) => rest = shorter,
            None => break,
        }
    }
    // Editors name backup copies with one more dot in front, or between number signs.
    let rest = if rest.len() < name.len() && rest.starts_with("..") { &rest[1..] } else { rest };
    rest.strip_prefix('#').and_then(|rest| rest.strip_suffix('#')).unwrap_or(rest)
}

/// Whether the first bytes of a file contain a private key or token; in a `.git/config`, also a password in a URL.
/// `false` if it is not a regular file or can't be read.
pub(crate) fn begins_so(path: &Path) -> bool {
    let mut head = Vec::new();
    let Ok(file) = open::regular(path) else { return false };
    if file.take(HEAD_BYTES).read_to_end(&mut head).is_err() {
        return false;
    }
    let head = String::from_utf8_lossy(&head);
    let looks = if path.ends_with(".git/config") { redact } else { redact_keys };
    looks(&head) != head
}

/// A message that names the files left out of a search because they may hold secrets; `None` if there are none.
pub(crate) fn left_out(files: &[PathBuf]) -> Option<String> {
    let named = texts::first(files.iter().map(|path| paths::line(path)), NAMED_MAX);
    let counted = texts::exactly(files.len() as u64, "file", "files");
    (!files.is_empty()).then(|| format!("left out {counted} that may hold secrets: {named}"))
}

/// A program's output with keys and tokens removed, and a note if there were any.
pub(crate) fn without_keys(text: String) -> String {
    match redact_keys(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(rest) => format!("{rest}\n[what has the shape of a key was taken out]"),
    }
}

/// A search of folders for files that may hold secrets. Each folder is searched once.
pub(crate) struct Walk<'a, F> {
    linked: &'a HashSet<(u64, u64)>,
    skip: F,
    entries_max: usize,
    entries: usize,
    /// Entries of folders of libraries.
    library_entries: usize,
    opened: usize,
    links: usize,
    /// Folders outside the searched ones to which links in them lead.
    led_to: Vec<PathBuf>,
    /// The folders searched, each with whether the search was complete.
    searched: Vec<(PathBuf, bool)>,
    found: BTreeSet<PathBuf>,
}

impl<'a, F: Fn(&Path) -> bool> Walk<'a, F> {
    /// A search for secrets among at most this many entries. `linked`: files protected under other names, by device and
    /// inode; `skip` excludes paths.
    pub(crate) fn new(entries_max: usize, linked: &'a HashSet<(u64, u64)>, skip: F) -> Self {
        Self {
            linked,
            skip,
            entries_max,
            entries: 0,
            library_entries: 0,
            opened: 0,
            links: 0,
            led_to: Vec::new(),
            searched: Vec::new(),
            found: BTreeSet::new(),
        }
    }

    /// Searches a folder, by its real path, for secrets; `false` if the limit of entries was reached before all were
    /// compared.
    pub(crate) fn search(&mut self, root: &Path) -> bool {
        if (self.skip)(root) {
            return true;
        }
        if let Some((_, is_whole)) = self.searched.iter().find(|(above, _)| root.starts_with(above)) {
            return *is_whole;
        }
        // Folders that come first must leave a share of the opened files for the later ones.
        let opened_max = self.opened + OPENED_MAX.min(self.entries_max / OPENED_PART);
        let mut folders = VecDeque::from([(root.to_path_buf(), library_depth(root))]);
        let mut is_whole = true;
        while let Some((folder, depth)) = folders.pop_front() {
            let Ok(listed) = fs::read_dir(&folder) else { continue };
            for entry in git_settings_alone(&folder, listed) {
                match depth {
                    None => self.entries += 1,
                    Some(_) => self.library_entries += 1,
                }
                if self.entries > self.entries_max {
                    is_whole = false;
                    break;
                }
                let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
                if (self.skip)(&path) {
                    continue;
                }
                if kind.is_symlink() && depth.is_none() {
                    self.follow(&path);
                } else if kind.is_dir() {
                    let inner = depth.map(|depth| depth - 1).or_else(|| library_depth(&path));
                    let is_done = inner == Some(0) || self.library_entries > LIBRARY_ENTRIES_MAX && inner.is_some();
                    if !is_done && !self.searched.iter().any(|(other, _)| *other == path) {
                        folders.push_back((path, inner));
                    }
                } else if kind.is_file() && self.is_secret(&path, depth.is_some(), opened_max) {
                    self.found.insert(path);
                }
            }
        }
        self.searched.push((root.to_path_buf(), is_whole));
        is_whole
    }

    /// Whether a file may hold secrets; the content is read only as long as files may be opened, and in libraries only
    /// of `.pem` files.
    fn is_secret(&mut self, path: &Path, is_library: bool, opened_max: usize) -> bool {
        if is_library {
            // Libraries come with public certificates.
            return is_named_so(path) && (path.extension() != Some(OsStr::new("pem")) || begins_so(path));
        }
        self.opened += 1;
        is_named_so(path) || (self.opened <= opened_max.min(OPENED_TOTAL_MAX) && begins_so(path))
    }

    /// Handles a symlink met in the search: judges its target by name if that is a file, or searches it later if it is
    /// a folder.
    fn follow(&mut self, link: &Path) {
        self.links += 1;
        let Some(real) = Some(link).filter(|_| self.links <= LINKS_MAX).and_then(|link| link.canonicalize().ok())
        else {
            return;
        };
        if (self.skip)(&real) {
        } else if real.is_dir() {
            self.led_to.push(real);
        } else if is_named_so(link) || is_named_so(&real) {
            self.found.insert(real);
        }
    }

    /// The secrets found, also in folders to which symlinks lead, with their other hard links and the hard links of
    /// `linked` files.
    pub(crate) fn into_found(mut self) -> BTreeSet<PathBuf> {
        self.entries_max = self.entries_max.min(self.entries + LED_TO_MAX);
        for folder in std::mem::take(&mut self.led_to) {
            // A link to an ancestor leads to a folder that is searched already.
            if folder.parent().is_some() && !self.searched.iter().any(|(root, _)| root.starts_with(&folder)) {
                self.search(&folder);
            }
        }
        let metadata = self.found.iter().filter_map(|file| file.metadata().ok());
        let several = metadata.filter(|metadata| metadata.nlink() > 1).map(|metadata| (metadata.dev(), metadata.ino()));
        let linked: HashSet<(u64, u64)> = several.chain(self.linked.iter().copied()).collect();
        if !linked.is_empty() {
            self.find_other_names(&linked);
        }
        self.found
    }

    /// Finds other names (hard links) of these files, given by device and inode, in the folders that were searched.
    fn find_other_names(&mut self, linked: &HashSet<(u64, u64)>) {
        let numbers: HashSet<u64> = linked.iter().map(|(_, number)| *number).collect();
        let mut folders: Vec<PathBuf> = self.searched.iter().map(|(root, _)| root.clone()).collect();
        let mut entries = self.entries;
        while let Some(folder) = folders.pop() {
            let Ok(listed) = fs::read_dir(&folder) else { continue };
            for entry in git_settings_alone(&folder, listed) {
                let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
                if (self.skip)(&path) {
                    continue;
                }
                if kind.is_dir() && library_depth(&path).is_none() && entries > 0 {
                    folders.push(path);
                } else if kind.is_file()
                    && numbers.contains(&entry.ino())
                    && entry.metadata().is_ok_and(|metadata| linked.contains(&(metadata.dev(), metadata.ino())))
                {
                    self.found.insert(path);
                }
                entries = entries.saturating_sub(1);
            }
        }
    }
}

/// The entries of a folder; of a `.git` folder only `config`, since its other files are not readable text.
fn git_settings_alone(folder: &Path, listed: fs::ReadDir) -> impl Iterator<Item = fs::DirEntry> {
    let is_git = folder.file_name() == Some(OsStr::new(".git"));
    listed.flatten().filter(move |entry| !is_git || entry.file_name() == "config")
}

/// How many levels below a folder of libraries are searched for secrets; `None` for a folder of another kind.
fn library_depth(path: &Path) -> Option<usize> {
    PROGRAM_FOLDERS.iter().any(|name| path.file_name() == Some(OsStr::new(name))).then_some(LIBRARY_DEPTH)
}

/// Tests of detecting files with secrets.
#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::{Path, PathBuf};

    use tempfile::TempDir;

    use super::{FAMILIES, PATTERNS, Walk, is_named_so};

    /// The secrets found below a folder, and whether the search was complete.
    fn below(folder: &Path, entries_max: usize, skip: impl Fn(&Path) -> bool) -> (Vec<PathBuf>, bool) {
        let linked = HashSet::new();
        let mut walk = Walk::new(entries_max, &linked, skip);
        let is_whole = walk.search(folder);
        (walk.into_found().into_iter().collect(), is_whole)
    }

    /// A search reports that it was incomplete if there are more entries than its limit.
    #[test]
    fn search_beyond_the_limit_is_incomplete() {
        let dir = TempDir::new().unwrap();
        for name in ["a", "b", ".env"] {
            fs::write(dir.path().join(name), "").unwrap();
        }
        let (found, is_all) = below(dir.path(), 3, |_| false);
        assert_eq!((found, is_all), (vec![dir.path().join(".env")], true));
        assert!(!below(dir.path(), 2, |_| false).1);
        assert!(below(dir.path(), 3, |path| path.ends_with(".env")).0.is_empty());
    }

    /// A backup such as `.env.bak` counts as a secret if the name without the backup ending does.
    #[test]
    fn backups_are_named_as_their_originals() {
        for path in [
            "/a/.env~",
            "/a/.netrc~",
            "/a/id_rsa.bak",
            "/a/.pgpass.old",
            "/a/credentials.json~",
            "/a/.ssh.bak/mykey",
            "/a/.bash_history.1",
            "/a/.bash_history.1.gz",
            "/a/..env.swp",
            "/a/#.npmrc#",
            "/etc/shadow-",
            "/var/backups/shadow.bak",
            "/var/backups/gshadow.bak",
        ] {
            assert!(is_named_so(path.as_ref()), "{path}");
        }
        for path in
            ["/a/.env.example~", "/a/notes~", "/a/id_rsa.pub.bak", "/a/env.bak", "/a/1.gz", "/a/~", "/a/.1", "/a/..."]
        {
            assert!(!is_named_so(path.as_ref()), "{path}");
        }
    }

    /// A temporary folder with these files.
    fn folder(files: &[&str]) -> TempDir {
        let dir = TempDir::new().unwrap();
        for path in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        dir
    }

    /// Secrets in folders of libraries, such as `node_modules`, are found by name down to two levels; a `.pem` file
    /// without a key is not one.
    #[test]
    fn names_are_compared_in_libraries_too() {
        let dir = folder(&[
            "vendor/.env",
            "target/.env",
            "node_modules/a/.npmrc",
            "node_modules/a/b/.env",
            "vendor/a/ca.pem",
        ]);
        let found = below(dir.path(), 100, |_| false);
        let expected = ["node_modules/a/.npmrc", "target/.env", "vendor/.env"].map(|path| dir.path().join(path));
        assert_eq!(found, (expected.to_vec(), true));
    }

    /// Secrets reached by hard links and symlinks in a searched folder are found too.
    #[test]
    fn other_names_of_secrets_are_found() {
        let dir = folder(&["in/.env", "in/a.txt", "out/.env", "out/app/.ssh/x", "out/n.txt"]);
        let (inner, outer) = (dir.path().join("in"), dir.path().join("out"));
        fs::hard_link(inner.join(".env"), inner.join("same.txt")).unwrap();
        symlink("../out/.env", inner.join("settings")).unwrap();
        symlink("../out/app", inner.join("app")).unwrap();
        symlink("..", inner.join("up")).unwrap();
        let (found, is_whole) = below(&inner, 100, |_| false);
        let expected = [inner.join(".env"), inner.join("same.txt"), outer.join(".env"), outer.join("app/.ssh/x")];
        assert_eq!((found, is_whole), (expected.map(|path| path.canonicalize().unwrap()).to_vec(), true));
    }

    /// Names of secrets are recognised whatever letter case they have.
    #[test]
    fn secret_names_match_in_any_case() {
        for path in ["/a/.ENV", "/a/Server.PEM", "/b/.SSH/x/y", "/b/Login Data", "/x/.docker/config.json"] {
            assert!(is_named_so(path.as_ref()), "{path}");
        }
        let patterns = FAMILIES.iter().flat_map(|family| family.split_whitespace()).count();
        assert_eq!(PATTERNS.len(), patterns, "each is compiled");
        for path in ["/a/docker/config.json", "/a/env", "/a/pem", "/a/.sshd/x", "/.env/x", "/a/.pem.txt", "/", "token"]
        {
            assert!(!is_named_so(path.as_ref()), "{path}");
        }
    }
}
