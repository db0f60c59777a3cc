//! Detects files that may hold secrets in any folder, by their name and by the beginning of their content.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use artoo_proto::redact::{redact, redact_keys};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::{open, paths};

/// Bytes of a file that are searched for keys; the first line of a key file identifies it.
const HEAD_BYTES: u64 = 4096;

/// Maximum number of entries searched below a folder.
pub(crate) const SEARCHED_MAX: usize = 100_000;

/// One of this many entries may be opened; of the others only the names are checked.
const OPENED_PART: usize = 5;

/// Maximum number of files opened in one search.
const OPENED_MAX: usize = 2_000;

/// Folders of installed programs and libraries; keys in them belong to tests.
const PROGRAM_FOLDERS: [&str; 8] =
    ["node_modules", ".cache", ".rustup", "registry", "site-packages", "dist-packages", "vendor", "target"];

/// Files named in a message about files that were left out; the others are counted.
const NAMED_MAX: usize = 5;

/// Lowercase patterns of paths, grouped by kind. Each matches the end of a path, one with a trailing `/` everything in a
/// folder of that name; `+` is a space.
const FAMILIES: [&str; 6] = [
    // Settings of programs, with passwords in them.
    ".env .env.* .env-* .env_* *.env .envrc master.key wp-config.php rclone.conf .m2/settings.xml",
    // Keys, and stores of keys and passwords.
    ".ssh/ .gnupg/ .password-store/ id_rsa id_dsa id_ecdsa id_ecdsa_sk id_ed25519 id_ed25519_sk *.pem *.p12 *.pfx *.jks \
        *.keystore *.ppk *.kdbx *.kdb *.1pux *.keychain *.keychain-db *.ovpn wallet.dat age/keys.txt etc/shadow etc/gshadow",
    // Credentials and tokens.
    "credentials .credentials credentials.json credentials.toml credentials.yml credentials.yaml credentials.ini \
        credentials.csv credentials.db .credentials.* *-credentials.json *_credentials.json client_secret*.json \
        service-account*.json service_account*.json oauth_creds.json token.json .token *.token .secrets/ secret.json \
        secret.yml secret.yaml secret.toml secrets.json secrets.yml secrets.yaml secrets.toml .netrc _netrc .npmrc .pypirc \
        .pgpass .my.cnf .mylogin.cnf .git-credentials .vault-token .htpasswd .boto .s3cfg .terraformrc",
    // Credentials of other programs, agents among them.
    ".claude.json .codex/auth.json opencode/auth.json github-copilot/*.json huggingface/token huggingface/stored_tokens \
        .composer/auth.json containers/auth.json gh/hosts.yml doctl/config.yaml .fly/config.yml supabase/access-token \
        firebase-tools.json",
    // Clouds and clusters.
    ".aws/ .azure/ .kube/ access_tokens.db .dockercfg .docker/config.json kubeconfig *.kubeconfig kubeconfig.* *.tfstate \
        *.tfstate.* *.tfvars *.tfvars.json",
    // Histories of browsers, shells and databases.
    "logins.json key3.db key4.db login+data cookies cookies.sqlite cookies.txt .*_history fish_history .histfile .zhistory",
];

/// The compiled patterns, matched against lowercase paths. A test checks that each compiles.
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

/// Endings of templates, which hold no secrets.
const TEMPLATES: [&str; 5] = [".example", ".sample", ".template", ".dist", ".tmpl"];

/// Whether a file may hold secrets, by its name, its real name and its content.
pub(crate) fn is_secret(path: &Path) -> bool {
    is_named_so(path) || is_named_so(&paths::real(path)) || begins_so(path)
}

/// Whether a file may hold secrets, by its name alone.
pub(crate) fn is_named_so(path: &Path) -> bool {
    let path = path.to_string_lossy().to_lowercase();
    !TEMPLATES.iter().any(|end| path.ends_with(end)) && PATTERNS.is_match(&path)
}

/// Whether a key is in the beginning of the file; in a `.git/config`, also a password in a URL.
fn begins_so(path: &Path) -> bool {
    let mut head = Vec::new();
    let Ok(file) = open::regular(path) else { return false };
    if file.take(HEAD_BYTES).read_to_end(&mut head).is_err() {
        return false;
    }
    let head = String::from_utf8_lossy(&head);
    let looks = if path.ends_with(".git/config") { redact } else { redact_keys };
    looks(&head) != head
}

/// The message about files that were left out of a search; `None` if there are none.
pub(crate) fn left_out(files: &[PathBuf]) -> Option<String> {
    let (count, noun) = (files.len(), if files.len() == 1 { "file" } else { "files" });
    let named: Vec<String> = files.iter().take(NAMED_MAX).map(|path| paths::line(path)).collect();
    let more = if count > NAMED_MAX { format!(" and {} more", count - NAMED_MAX) } else { String::new() };
    (count > 0).then(|| format!("left out {count} {noun} that may hold secrets: {}{more}", named.join(", ")))
}

/// An output with its keys removed, and a note if there were any.
pub(crate) fn without_keys(text: String) -> String {
    match redact_keys(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(rest) => format!("{rest}\n[what has the shape of a key was taken out]"),
    }
}

/// The files below a folder that may hold secrets, highest first, and whether all entries were searched. `skip` excludes
/// paths. Symlinks are not followed.
pub(crate) fn below(folder: &Path, entries_max: usize, skip: impl Fn(&Path) -> bool) -> (Vec<PathBuf>, bool) {
    let (mut found, mut entries, mut opened) = (Vec::new(), 0, 0);
    let mut folders = VecDeque::from([folder.to_path_buf()]);
    while let Some(folder) = folders.pop_front() {
        let Ok(listed) = fs::read_dir(&folder) else { continue };
        // Of git's own files only the configuration is readable text.
        let is_git = folder.file_name() == Some(OsStr::new(".git"));
        for entry in listed.flatten().filter(|entry| !is_git || entry.file_name() == "config") {
            entries += 1;
            if entries > entries_max {
                return (found, false);
            }
            let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
            let is_programs = PROGRAM_FOLDERS.iter().any(|name| entry.file_name() == *name);
            if kind.is_dir() && !is_programs && !skip(&path) {
                folders.push_back(path);
            } else if kind.is_file() && !skip(&path) {
                opened += 1;
                if is_named_so(&path) || (opened <= OPENED_MAX.min(entries_max / OPENED_PART) && begins_so(&path)) {
                    found.push(path);
                }
            }
        }
    }
    (found, true)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::{FAMILIES, PATTERNS, below, is_named_so};

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
