//! Places no tool reads or writes without a person: keys, passwords, shell start-up and history, artoo's own data.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use artoo_proto::Environment;

use crate::paths;

/// Under the home folder.
const HOME_PLACES: [&str; 41] = [
    ".artoo",
    ".config/artoo",
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".oci",
    ".config/gcloud",
    ".config/gh",
    ".config/hub",
    ".config/op",
    ".config/rclone",
    ".config/sops",
    ".config/age",
    ".password-store",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".mozilla",
    ".thunderbird",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    "Library/Keychains",
    "Library/Cookies",
    "Library/Application Support/Google/Chrome",
    "Library/Application Support/Firefox",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".git-credentials",
    ".config/git/credentials",
    ".cargo/credentials.toml",
    ".terraform.d",
    ".vault-token",
    ".bash_history",
    ".zsh_history",
    ".python_history",
];

/// Those of them that are artoo's own, besides the configured ones.
const OWN_PLACES: [&str; 2] = [".artoo", ".config/artoo"];

/// Under the home folder as well: what a shell runs when it starts. A tool may show them; a command finds them shut
/// unless it names them.
const START_UP: [&str; 16] = [
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".config/fish",
    ".config/environment.d",
    ".xprofile",
    ".xsessionrc",
    ".pam_environment",
];

/// Outside it.
const SYSTEM_PLACES: [&str; 5] = ["/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/sudoers.d", "/etc/ssl/private"];

/// Files directly under `/proc` that tell about the machine and about no process's secrets.
const PROC_FACTS: [&str; 14] = [
    "cpuinfo",
    "meminfo",
    "version",
    "uptime",
    "loadavg",
    "stat",
    "filesystems",
    "partitions",
    "diskstats",
    "swaps",
    "cmdline",
    "devices",
    "vmstat",
    "modules",
];

/// The protected places of one machine.
#[derive(Debug, Clone)]
pub(crate) struct Protected {
    places: Vec<PathBuf>,
    start_up: Vec<PathBuf>,
    own_data: Vec<PathBuf>,
}

impl Protected {
    /// The built-in list and the configured one, each also where its symlinks lead.
    pub(crate) fn new(environment: &Environment, more: &[PathBuf]) -> Self {
        let home = Path::new(&environment.home);
        let written = HOME_PLACES.iter().map(|place| home.join(place));
        let system = SYSTEM_PLACES.iter().map(PathBuf::from);
        let mut places: Vec<PathBuf> = written.chain(system).chain(more.iter().cloned()).collect();
        let led_to: Vec<PathBuf> = places.iter().map(|place| paths::real(place)).collect();
        places.extend(led_to);
        places.sort();
        places.dedup();
        let start_up = START_UP.iter().map(|place| paths::real(&home.join(place))).collect();
        let own = OWN_PLACES.iter().map(|place| home.join(place)).chain(more.iter().cloned());
        let own_data = own.map(|place| paths::real(&place)).collect();
        Self { places, start_up, own_data }
    }

    /// Where artoo keeps its own data, as it really lies: no command changes that, allowed or not.
    pub(crate) fn own_data(&self) -> Vec<PathBuf> {
        self.own_data.clone()
    }

    /// What a fenced command may not read: as written and where it led when the list was made.
    pub(crate) fn hidden_places(&self) -> BTreeSet<PathBuf> {
        self.places.iter().chain(&self.start_up).cloned().collect()
    }

    /// The places themselves, whether there is something or not.
    pub(crate) fn places(&self) -> &[PathBuf] {
        &self.places
    }

    /// Why this path is out of reach, where it is; the path is taken as written and where it really leads.
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

    /// Whether a walk over this folder that opens every file would open a protected one.
    pub(crate) fn lies_below(&self, folder: &Path) -> bool {
        let real = paths::real(folder);
        real == Path::new("/")
            || self
                .places
                .iter()
                .any(|place| (is_below(place, folder) || is_below(place, &real)) && place.symlink_metadata().is_ok())
    }

    fn holds(&self, path: &Path) -> bool {
        self.places.iter().any(|place| is_below(path, place))
    }
}

/// `path` is `folder` or below it. Letter case is ignored: some file systems do.
fn is_below(path: &Path, folder: &Path) -> bool {
    let mut components = path.components();
    folder
        .components()
        .all(|wanted| components.next().is_some_and(|found| found.as_os_str().eq_ignore_ascii_case(wanted.as_os_str())))
}

fn is_process_memory(path: &Path) -> bool {
    let Ok(below) = path.strip_prefix("/proc") else { return false };
    !PROC_FACTS.iter().any(|fact| below == Path::new(fact))
}
