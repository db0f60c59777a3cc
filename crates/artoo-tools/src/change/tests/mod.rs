//! Commands in real overlay views: the change set, the commit, and the undo.

mod classes;
mod commits;
mod cost;
mod kills;
mod random;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use artoo_proto::Environment;
use tempfile::TempDir;

use super::{ChangeSet, Committed, Kind, Layer, commit, scan_changes};
use crate::limit::Limit;
use crate::protect::Protected;
use crate::undo::{Journal, Report, Subject, UndoConfig, UndoStore};

/// A home folder with a workspace, an overlay layer and an undo journal.
pub(super) struct Home {
    _dirs: Vec<TempDir>,
    pub(super) root: PathBuf,
    pub(super) home: PathBuf,
}

/// What is at a path: kind, mode, owner, content, user attributes, and the first of its hard links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PathState {
    mode: u32,
    owner: (u32, u32),
    content: Vec<u8>,
    attributes: Vec<(Vec<u8>, Vec<u8>)>,
    first_name: PathBuf,
    /// Only for a time that was set, far in the past.
    time: Option<(i64, i64)>,
}

/// The state of each path below a folder, by relative path.
pub(super) type Tree = BTreeMap<PathBuf, PathState>;

/// A deadline of several minutes, which no test reaches.
pub(super) fn limit() -> Limit {
    Limit::after(Duration::from_secs(600))
}

impl Home {
    /// A home with a workspace in a temporary folder: on disk, or in memory for tests in which syncs would take most of
    /// the time.
    pub(super) fn new(in_memory: bool) -> Self {
        let dir = if in_memory { TempDir::new_in("/dev/shm").unwrap() } else { TempDir::new().unwrap() };
        let root = dir.path().canonicalize().unwrap();
        let home = Self { _dirs: vec![dir], home: root.join("home"), root };
        fs::create_dir_all(home.workspace()).unwrap();
        home
    }

    /// A home on another file system than its layer and journal; `None` if there is only one file system.
    pub(super) fn on_another_file_system() -> Option<Self> {
        let (dir, other) = (TempDir::new_in("/dev/shm").ok()?, TempDir::new().unwrap());
        let device = |dir: &TempDir| fs::metadata(dir.path()).unwrap().dev();
        if device(&dir) == device(&other) {
            eprintln!("skipped: there is one file system here");
            return None;
        }
        fs::create_dir_all(other.path().join("home/ws")).unwrap();
        std::os::unix::fs::symlink(other.path().join("home"), dir.path().join("home")).unwrap();
        Some(Self { _dirs: vec![other], ..Self::at(dir.path()) }.keeping(dir))
    }

    /// Stores a temporary folder in this value, so that it is deleted together with the home.
    fn keeping(mut self, dir: TempDir) -> Self {
        self._dirs.push(dir);
        self
    }

    /// A test home made of existing folders below `root`, as a child process uses it.
    pub(super) fn at(root: &Path) -> Self {
        let root = root.canonicalize().unwrap();
        Self { _dirs: Vec::new(), home: root.join("home").canonicalize().unwrap(), root }
    }

    /// The workspace folder in this test home.
    pub(super) fn workspace(&self) -> PathBuf {
        self.home.join("ws")
    }

    /// Creates a file in the test home, with its folders.
    pub(super) fn file(&self, path: &str, content: &str) {
        let path = self.home.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// The overlay layer that holds the changes of the test home.
    pub(super) fn layer(&self) -> Layer {
        Layer { lower: self.home.clone(), upper: self.root.join("upper") }
    }

    /// The environment of the test's home: its folders and operating system.
    pub(super) fn environment(&self) -> Environment {
        let text = |path: PathBuf| path.to_str().unwrap().to_owned();
        Environment {
            cwd: text(self.home.clone()),
            home: text(self.home.clone()),
            workspace: text(self.workspace()),
            os: "linux".to_owned(),
            utc_offset_s: 0,
        }
    }

    /// The protected places of the test's home.
    pub(super) fn protected(&self) -> Protected {
        Protected::new(&self.environment(), &[self.config().folder])
    }

    /// The configuration of an undo journal below the test's folder.
    pub(super) fn config(&self) -> UndoConfig {
        UndoConfig::new(self.root.join("journal"))
    }

    /// The undo journal of this test's home.
    pub(super) fn store(&self) -> UndoStore {
        UndoStore::open(self.config(), &self.environment())
    }

    /// Runs a script directly on the real files of the home, without a view.
    pub(super) fn run_bare(&self, script: &str) {
        let _ = shell(&self.home).arg("-c").arg(script).status().unwrap();
    }

    /// Runs a script on a view of the home with a new layer; `false` if this machine supports no views.
    pub(super) fn run_in_view(&self, script: &str) -> bool {
        for folder in ["upper", "work"].map(|name| self.root.join(name)) {
            // An ordinary user can't read the kernel's own folder in it.
            let used = fs::read_dir(&self.root).unwrap().count();
            let _ = fs::rename(&folder, folder.with_extension(used.to_string()));
            fs::create_dir(&folder).unwrap();
        }
        let is_root = rustix::process::geteuid().is_root();
        let flags = if is_root { "-m" } else { "-Urm" };
        // The process that mounts is root in the namespace; the script has the same rights as outside.
        let held = if is_root { "sh" } else { "setpriv --bounding-set=-all sh" };
        let mount =
            "mount -t overlay -o userxattr,index=off,xino=off,lowerdir=$0,upperdir=$1,workdir=$2 view $0 || exit 99
            cd $0; HELD -c \"$3\"; exit 0";
        let mount = mount.replace("HELD", held);
        let mut command = shell(&self.root);
        let command =
            command.args(["-c", "exec unshare \"$@\"", "sh", flags, "sh", "-c", mount.as_str()]).arg(&self.home);
        let command = command.arg(self.root.join("upper")).arg(self.root.join("work")).arg(script);
        let status = command.status().unwrap();
        if !status.success() {
            eprintln!("skipped: this machine makes no overlay views ({status})");
        }
        status.success()
    }

    /// Reads the change set from the layer of the test home.
    pub(super) fn read_changes(&self) -> ChangeSet {
        // Touched when the view was mounted.
        let started = fs::metadata(self.root.join("work")).unwrap().modified().unwrap();
        scan_changes(&[self.layer()], &[], started, &limit()).unwrap()
    }

    /// Commits a change set in the test home, with the default undo journal.
    pub(super) fn commit(&self, set: &ChangeSet) -> Committed {
        self.commit_keeping(set, self.config())
    }

    /// Commits a change set as a task of its own, in an undo journal with this configuration.
    pub(super) fn commit_keeping(&self, set: &ChangeSet, config: UndoConfig) -> Committed {
        let journal = Journal::new(config, self.protected());
        static NUMBER: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        // An undone entry accepts no more acts, so each commit is a task of its own.
        let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let task = format!("task-00000000-0000-4000-8000-{number:012}");
        let task = artoo_proto::TaskId::try_from(task).unwrap();
        let subject = Subject { task: &task, tool: "shell", call: "e1", what: "a script" };
        commit(&journal, subject, &self.protected(), set, &limit()).unwrap()
    }

    /// Commits a change set and checks that nothing stopped the commit.
    #[track_caller]
    pub(super) fn commit_whole(&self, set: &ChangeSet) -> Committed {
        let committed = self.commit(set);
        assert_eq!(committed.stopped, None, "{set:#?}");
        committed
    }

    /// Undoes the newest journal entry of the test home, and checks that each step of it succeeded.
    #[track_caller]
    pub(super) fn undo(&self) -> Report {
        let last = self.store().last().unwrap().expect("something was committed");
        let report = self.store().undo(&last.id).unwrap();
        let is_fine = |item: &crate::undo::Item| {
            matches!(item.outcome, crate::undo::ItemOutcome::Done | crate::undo::ItemOutcome::Already)
        };
        assert!(report.items.iter().all(is_fine), "{report:#?}");
        report
    }

    /// Everything below the test's home folder, to compare it with another state.
    pub(super) fn tree(&self) -> Tree {
        tree(&self.home)
    }

    /// The changed paths of a change set, relative to the home, each with its kind of change.
    pub(super) fn kinds(&self, set: &ChangeSet) -> Vec<(String, &'static str)> {
        let line = |path: &Path| path.strip_prefix(&self.home).unwrap().to_str().unwrap().to_owned();
        set.entries.iter().map(|entry| (line(&entry.path), entry.kind.name())).collect()
    }
}

/// A shell to run in `folder`, with a fixed environment.
fn shell(folder: &Path) -> Command {
    let mut command = Command::new("sh");
    let identity = [("NAME", "a"), ("EMAIL", "a@b.c"), ("DATE", "2001-02-03T04:05:06Z")];
    for role in ["AUTHOR", "COMMITTER"] {
        command.envs(identity.map(|(what, value)| (format!("GIT_{role}_{what}"), value)));
    }
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").env("LC_ALL", "C");
    command.env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin").current_dir(folder);
    command.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::null());
    if std::env::var_os("ARTOO_TEST_SHOW").is_none() {
        command.stderr(std::process::Stdio::null());
    }
    command
}

/// As root: runs the test `test` again in a process without root rights, because the kernel treats root differently.
pub(super) fn also_as_user(test: &str) {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid", "4242", "--regid", "4242", "--clear-groups"]).arg(std::env::current_exe().unwrap());
    let output = command.args(["--exact", &format!("change::tests::{test}"), "--nocapture"]).output();
    let said = |output: &std::process::Output| {
        [&output.stdout, &output.stderr].map(|said| String::from_utf8_lossy(said).into_owned()).concat()
    };
    match output {
        Ok(output) if said(&output).contains("running 1 test") => {
            assert!(output.status.success(), "as an ordinary user: {}", said(&output));
            said(&output).lines().filter(|line| line.contains("skipped")).for_each(|line| eprintln!("{line}"));
        }
        output => eprintln!("skipped: {test} as an ordinary user: {output:?}"),
    }
}

/// Everything below a folder, by relative path, to compare it with another.
pub(super) fn tree(root: &Path) -> Tree {
    let mut all = BTreeMap::new();
    let mut names: BTreeMap<(u64, u64), PathBuf> = BTreeMap::new();
    let mut open = vec![root.to_path_buf()];
    let mut paths = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            // A folder that may be listed but not searched shows names only.
            let Ok(found) = fs::symlink_metadata(&path) else { continue };
            if found.is_dir() {
                open.push(path.clone());
            }
            paths.push(path);
        }
    }
    paths.sort();
    for path in paths {
        let found = fs::symlink_metadata(&path).unwrap();
        let below = path.strip_prefix(root).unwrap().to_path_buf();
        let content = if found.is_symlink() {
            fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec()
        } else if found.is_file() {
            fs::read(&path).unwrap_or_else(|_| b"closed".to_vec())
        } else {
            Vec::new()
        };
        let name = names.entry((found.dev(), found.ino())).or_insert_with(|| below.clone()).clone();
        let is_set = found.mtime() < 1_600_000_000;
        let thing = PathState {
            mode: found.mode(),
            owner: (found.uid(), found.gid()),
            content,
            attributes: if found.is_symlink() { Vec::new() } else { attributes(&path) },
            first_name: if found.is_file() { name } else { PathBuf::new() },
            time: is_set.then(|| (found.mtime(), found.mtime_nsec())),
        };
        all.insert(below, thing);
    }
    all
}

/// The user's extended attributes of a path.
fn attributes(path: &Path) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut names = vec![0_u8; 4096];
    let Ok(length) = rustix::fs::llistxattr(path, &mut names) else { return Vec::new() };
    let names = names[..length].split(|byte| *byte == 0).filter(|name| name.starts_with(b"user."));
    let mut all: Vec<(Vec<u8>, Vec<u8>)> = names
        .map(|name| {
            let mut value = vec![0_u8; 4096];
            let length = rustix::fs::lgetxattr(path, std::ffi::OsStr::from_bytes(name), &mut value).unwrap_or(0);
            (name.to_vec(), value[..length].to_vec())
        })
        .collect();
    all.sort();
    all
}

/// The differences between two trees, one path a line.
pub(super) fn differences(one: &Tree, two: &Tree) -> Vec<String> {
    let paths: std::collections::BTreeSet<&PathBuf> = one.keys().chain(two.keys()).collect();
    let differ = paths.into_iter().filter(|path| one.get(*path) != two.get(*path));
    let told = |thing: Option<&PathState>| {
        let content = thing.map(|thing| String::from_utf8_lossy(&thing.content).into_owned());
        format!("{:?} {content:?}", thing.map(|thing| PathState { content: Vec::new(), ..thing.clone() }))
    };
    differ.map(|path| format!("{}:\n  {}\n  {}", path.display(), told(one.get(path)), told(two.get(path)))).collect()
}

/// The tree without modification times, which an undo need not restore.
pub(super) fn timeless(tree: &Tree) -> Tree {
    tree.iter().map(|(path, thing)| (path.clone(), PathState { time: None, ..thing.clone() })).collect()
}
