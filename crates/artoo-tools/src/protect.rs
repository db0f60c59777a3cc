//! Protected places (keys, passwords, shell start-up files and history, artoo's own data), which no file tool uses and
//! a command reads only with approval, and files with secrets elsewhere, which no model reads without approval.

mod expand;
mod homes;
mod mounts;
mod search;

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use artoo_proto::Environment;

use crate::{paths, secret, texts};
pub(crate) use search::FoundSecrets;

/// Protected places, grouped by kind; `~/` is the home folder and `+` a space.
const PLACES: [&str; 6] = [
    // Keys of this machine and of its user.
    "/etc/shadow /etc/shadow- /etc/gshadow /etc/gshadow- /etc/sudoers /etc/sudoers.d /etc/ssl/private ~/.ssh ~/.gnupg ~/.config/sops ~/.config/age \
        ~/.pki ~/.cert ~/.local/share/remmina ~/.vnc /etc/krb5.keytab /etc/wireguard /etc/ipsec.secrets \
        /etc/NetworkManager/system-connections /etc/ssh/ssh_host_rsa_key /etc/ssh/ssh_host_ecdsa_key \
        /etc/ssh/ssh_host_ed25519_key",
    // Stores of passwords.
    "~/.password-store ~/.local/share/keyrings ~/.local/share/kwalletd ~/.config/op ~/.config/Bitwarden \
        ~/.config/1Password ~/.config/keepassxc ~/snap/bitwarden ~/snap/keepassxc ~/Library/Keychains \
        ~/.config/rbw ~/.local/share/rbw ~/.local/share/gopass ~/.local/share/lpass ~/.lpass ~/.local/share/kwalletd5 \
        ~/.electrum ~/.bitcoin ~/.ethereum ~/.config/solana",
    // Credentials of clouds and clusters.
    "~/.aws ~/.azure ~/.kube ~/.docker ~/.oci ~/.config/gcloud ~/.config/doctl ~/.config/rclone ~/.terraform.d ~/.vault-token \
        ~/.s3cfg ~/.boto ~/.aliyun ~/.bluemix ~/.config/hcloud ~/.config/scw ~/.config/linode-cli ~/.config/containers/auth.json \
        ~/.config/helm ~/.fly ~/.config/ngrok ~/.ngrok2 ~/.config/stripe ~/.pulumi ~/.config/.wrangler",
    // Credentials of other programs, coding agents included.
    "~/.config/gh ~/.config/hub ~/.config/github-copilot ~/.netrc ~/.npmrc ~/.pypirc ~/.pgpass ~/.my.cnf ~/.git-credentials \
        ~/.config/git/credentials ~/.cargo/credentials.toml ~/.cache/huggingface/token ~/.claude/.credentials.json \
        ~/.codex/auth.json ~/.gemini/oauth_creds.json \
        ~/.qwen/oauth_creds.json ~/.local/share/opencode/auth.json ~/.config/glab-cli ~/.gem/credentials \
        ~/.composer/auth.json ~/.config/composer/auth.json \
        ~/.config/pypoetry/auth.toml ~/.kaggle ~/.cache/huggingface/stored_tokens ~/.mylogin.cnf ~/.smbcredentials \
        ~/.davfs2 ~/.msmtprc ~/.config/msmtp ~/.fetchmailrc ~/.authinfo ~/.authinfo.gpg ~/.config/filezilla",
    // Browsers, mail and messages; `.var/app` has the data of flatpaks.
    "~/.mozilla ~/.thunderbird ~/.config/google-chrome ~/.config/chromium ~/.config/BraveSoftware ~/.config/vivaldi \
        ~/.config/opera ~/.config/microsoft-edge ~/.config/Signal ~/.var/app ~/snap/firefox ~/snap/chromium ~/snap/brave \
        ~/snap/thunderbird ~/snap/signal-desktop ~/snap/vivaldi ~/snap/opera ~/snap/slack ~/snap/discord \
        ~/snap/telegram-desktop ~/.librewolf ~/.waterfox ~/.config/google-chrome-beta ~/.config/google-chrome-unstable \
        ~/.config/microsoft-edge-beta ~/.config/microsoft-edge-dev ~/.config/epiphany ~/.local/share/epiphany \
        ~/.config/evolution ~/.local/share/evolution ~/.local/share/geary ~/.config/Slack ~/.config/discord \
        ~/.config/Element ~/.local/share/TelegramDesktop ~/.purple ~/Library/Cookies ~/Library/Application+Support/Google/Chrome \
        ~/Library/Application+Support/Firefox",
    // Histories of shells and databases.
    "~/.bash_history ~/.zsh_history ~/.python_history ~/.psql_history ~/.mysql_history ~/.sqlite_history \
        ~/.node_repl_history ~/.local/share/fish/fish_history \
        ~/.ash_history ~/.sh_history ~/.histfile ~/.zhistory ~/.rediscli_history ~/.irb_history ~/.lesshst ~/.viminfo \
        ~/.local/state/nvim/shada ~/.local/share/nvim/shada ~/.mongodb",
];

/// Folders in which the system gives secrets to its services. Hidden if they exist.
const HANDED_OVER: [&str; 1] = ["/run/secrets /var/run/secrets"];

/// artoo's own data folders, which are protected besides the configured ones.
const OWN_PLACES: [&str; 1] = ["~/.artoo ~/.config/artoo"];

/// Start-up files of shells. A tool may read them; a command may read one only if it names it.
const START_UP: [&str; 1] =
    ["~/.bashrc ~/.bash_profile ~/.bash_login ~/.bash_logout ~/.profile ~/.zshrc ~/.zshenv ~/.zprofile ~/.zlogin \
    ~/.zlogout ~/.kshrc ~/.config/fish ~/.config/environment.d ~/.xprofile ~/.xsessionrc ~/.pam_environment"];

/// The protected places of one machine.
#[derive(Debug, Clone)]
pub(crate) struct Protected {
    places: Vec<PathBuf>,
    /// The same places in the same order, each [`folded`].
    folded: Vec<Vec<u8>>,
    start_up: Vec<PathBuf>,
    own_data: Vec<PathBuf>,
    /// Whether models may read secrets outside these places without approval.
    pub(crate) trusts_model: bool,
}

impl Protected {
    /// The built-in places, those of other users' homes included, and the configured places, each also with its
    /// symlinks resolved and under further mounts.
    pub(crate) fn new(environment: &Environment, more: &[PathBuf]) -> Self {
        let home = Path::new(&environment.home);
        let own: Vec<PathBuf> = written(home, &OWN_PLACES).chain(more.iter().cloned()).collect();
        let mut places: Vec<PathBuf> = written(home, &PLACES).chain(own.iter().cloned()).collect();
        let homes = homes::read();
        let others = homes.iter().flat_map(|other| written(other, &PLACES)).chain(written(home, &HANDED_OVER));
        places.extend(others.filter(|place| place.symlink_metadata().is_ok()));
        let led_to: Vec<PathBuf> = places.iter().map(|place| paths::real(place)).collect();
        places.extend(led_to);
        let mounts = mounts::Mounts::read();
        let mounted: Vec<PathBuf> = places.iter().flat_map(|place| mounts.aliases(place)).collect();
        places.extend(mounted);
        // Comparing paths component by component is slow, so they are sorted by bytes.
        places.sort_unstable_by(|one, two| one.as_os_str().cmp(two.as_os_str()));
        places.dedup();
        let folded = places.iter().map(|place| folded(place)).collect();
        let with_aliases = |place: PathBuf| [mounts.aliases(&place), vec![place]].concat();
        let start_up = written(home, &START_UP).flat_map(|place| with_aliases(paths::real(&place))).collect();
        let own_data = own.iter().flat_map(|place| with_aliases(paths::real(place))).collect();
        Self { places, folded, start_up, own_data, trusts_model: false }
    }

    /// Real paths of artoo's own data folders and of the configured places; no command may change them, with or without
    /// approval.
    pub(crate) fn own_data(&self) -> Vec<PathBuf> {
        self.own_data.clone()
    }

    /// All protected places, also those that do not exist.
    #[cfg(test)]
    pub(crate) fn places(&self) -> &[PathBuf] {
        &self.places
    }

    /// The paths that a sandboxed command may not read: as written, and with symlinks resolved.
    pub(crate) fn hidden_places(&self) -> BTreeSet<PathBuf> {
        self.places.iter().chain(&self.start_up).cloned().collect()
    }

    /// The reason why no tool may use this path; `None` if it is neither protected nor in `/proc`. Checks the path as
    /// written and with symlinks resolved.
    pub(crate) fn refusal(&self, path: &Path) -> Option<String> {
        let real = paths::real(path);
        if self.holds(path) || self.holds(&real) {
            return Some(format!("{} is protected: it may hold keys or artoo's own data", paths::line(path)));
        }
        if is_process_memory(path) || is_process_memory(&real) {
            return Some(format!("{} is protected: it may show a process's secrets", paths::line(path)));
        }
        None
    }

    /// The reason why a tool needs approval to read this file, which may hold secrets; `None` if it needs none.
    pub(crate) fn secret(&self, path: &Path) -> Option<String> {
        let is_kept = !self.trusts_model && secret::is_secret(path);
        is_kept.then(|| texts::may_hold_secrets(paths::line(path)))
    }

    /// For a command that reads this path or pattern: the real path of its nearest existing ancestor, to be approved.
    /// `None` unless that is in a protected place other than artoo's own data.
    pub(crate) fn readable_place(&self, path: &Path) -> Option<PathBuf> {
        let there = path.ancestors().find(|path| path.symlink_metadata().is_ok())?;
        let real = paths::real(there);
        let is_own = self.own_data.iter().any(|own| real.starts_with(own));
        let is_kept = self.holds(there) || self.holds(&real);
        (is_kept && !is_own).then_some(real)
    }

    /// Whether a protected place that exists is this folder or below it; always for `/`.
    pub(crate) fn lies_below(&self, folder: &Path) -> bool {
        let real = paths::real(folder);
        let both = [folded(folder), folded(&real)];
        let lies_there = |place: &[u8]| both.iter().any(|folder| is_below(place, folder));
        real == Path::new("/")
            || self
                .places
                .iter()
                .zip(&self.folded)
                .any(|(place, folded)| lies_there(folded) && place.symlink_metadata().is_ok())
    }

    /// Whether a path as written, without resolving symlinks, is in a protected place, in any letter case.
    pub(crate) fn holds(&self, path: &Path) -> bool {
        let path = folded(path);
        self.folded.iter().any(|place| is_below(&path, place))
    }
}

/// A path for comparison: lowercase, since some file systems ignore letter case, with a `/` after each name.
fn folded(path: &Path) -> Vec<u8> {
    let mut out = Vec::with_capacity(path.as_os_str().len() + 1);
    for component in path.components() {
        out.extend(component.as_os_str().as_bytes().iter().map(u8::to_ascii_lowercase));
        if component != Component::RootDir {
            out.push(b'/');
        }
    }
    out
}

/// Whether a path is the folder or below it; both are [`folded`].
fn is_below(path: &[u8], folder: &[u8]) -> bool {
    path.starts_with(folder)
}

/// The protected places of a table as absolute paths; `+` stands for a space and `~/` for the home.
fn written<'a>(home: &'a Path, families: &'a [&str]) -> impl Iterator<Item = PathBuf> + 'a {
    let places = families.iter().flat_map(|family| family.split_whitespace()).map(|place| place.replace('+', " "));
    places.map(|place| place.strip_prefix("~/").map_or_else(|| PathBuf::from(&place), |below| home.join(below)))
}

/// Whether the path is in `/proc`, whose files may show the memory of processes; some files about the whole machine are
/// excepted.
fn is_process_memory(path: &Path) -> bool {
    let Ok(below) = path.strip_prefix("/proc") else { return false };
    let facts =
        "cpuinfo meminfo version uptime loadavg stat filesystems partitions diskstats swaps cmdline devices vmstat";
    !facts.split(' ').chain(["modules"]).any(|fact| below == Path::new(fact))
}

/// Tests that paths are compared with protected places name by name.
#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;

    use super::{folded, is_below};

    /// Whether a path is a folder or below it, by comparing names one by one, as the reference for [`is_below`] in
    /// tests.
    fn is_below_by_name(path: &Path, folder: &Path) -> bool {
        let mut names = path.components();
        folder
            .components()
            .all(|wanted| names.next().is_some_and(|found| found.as_os_str().eq_ignore_ascii_case(wanted.as_os_str())))
    }

    /// Whether a path is in a folder by [`is_below`]; panics if the slower reference disagrees.
    #[track_caller]
    fn check(path: &str, folder: &str) -> bool {
        let (path, folder) = (Path::new(path), Path::new(folder));
        let found = is_below(&folded(path), &folded(folder));
        assert_eq!(found, is_below_by_name(path, folder), "{path:?} below {folder:?}");
        found
    }

    /// A place covers a path only if whole names match: `.sshd` is not below `.ssh`. Case and `.` are ignored.
    #[test]
    fn places_are_compared_by_whole_names() {
        assert!(check("/h/.ssh", "/h/.ssh"));
        assert!(check("/h/.SSH/id", "/H/.ssh/"));
        assert!(check("/h//./.ssh/id", "/h/.ssh"));
        assert!(check("/h", "/"));
        assert!(!check("/h/.sshd", "/h/.ssh"));
        assert!(!check("/h", "/h/.ssh"));
        assert!(!check("h/.ssh", "/h/.ssh"));
        assert!(!check("/h/.ssh", "h/.ssh"));
    }

    proptest! {
        /// Random paths: comparing folded paths by bytes agrees with comparing them name by name.
        #[test]
        fn folded_paths_compare_as_their_names_do(path in "/?([aAbä.]{0,2}/{0,2}){0,4}", folder in "/?([aAbä.]{0,2}/{0,2}){0,3}") {
            check(&path, &folder);
        }
    }
}
