//! The home folder of a run: creates a task's files in it, takes snapshots of it, and compares two snapshots.

use std::collections::BTreeMap;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use crate::Fault;
use crate::task::{Entry, Node, Task};

/// Folders that artoo creates for the trash; they and their content are left out of comparisons.
const TRASH: [&str; 3] = [".local", ".local/share", ".local/share/Trash"];

/// The search path (`PATH`) for programs in setups, checks and runs of artoo.
pub(crate) const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// A temporary home folder with a data folder beside it.
pub(crate) struct World {
    root: TempDir,
}

/// The kind of an entry in the home folder with its content: folder, file or link.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Body {
    Folder,
    File(Vec<u8>),
    Link(PathBuf),
}

/// An entry's kind and content, and its permission bits.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Facts {
    body: Body,
    mode: u32,
}

/// All entries of a home folder by path, without the trash and what is in `.git` folders.
pub(crate) struct Snapshot(BTreeMap<String, Facts>);

impl World {
    /// Creates a temporary home folder with an empty workspace.
    pub(crate) fn new() -> Result<Self, Fault> {
        let world = Self { root: tempfile::Builder::new().prefix("artoo-eval-").tempdir()? };
        fs::create_dir_all(world.home().join("artoo_workspace"))?;
        Ok(world)
    }

    /// The path of the home folder.
    pub(crate) fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    /// The path of the data folder.
    pub(crate) fn data(&self) -> PathBuf {
        self.root.path().join("data")
    }

    /// Creates the files of a task in the home folder and runs its setup commands.
    pub(crate) fn prepare(&self, task: &Task) -> Result<(), Fault> {
        for (path, entry) in &task.setup {
            self.put(path, entry)?;
        }
        match &task.shell {
            Some(script) => self.shell(script).map(drop).map_err(|fault| format!("{}: {fault}", task.id).into()),
            None => Ok(()),
        }
    }

    /// Creates a file, folder or symlink in the home folder, with its missing parents; a file that is there is
    /// overwritten.
    pub(crate) fn put(&self, path: &str, entry: &Entry) -> Result<(), Fault> {
        let (path, node) = (self.home().join(path), entry.node());
        fs::create_dir_all(path.parent().ok_or("a path without a folder")?)?;
        if let Some(target) = &node.link {
            symlink(target, &path)?;
        } else if node.dir {
            fs::create_dir_all(&path)?;
        } else {
            fs::write(&path, node.content().unwrap_or_default())?;
            if let Some(days) = node.days {
                let day = Duration::from_secs(24 * 60 * 60);
                File::open(&path)?.set_modified(SystemTime::now() - day * u32::try_from(days)?)?;
            }
        }
        if let Some(mode) = &node.mode {
            fs::set_permissions(&path, Permissions::from_mode(u32::from_str_radix(mode, 8)?))?;
        }
        Ok(())
    }

    /// Runs a shell script in the home folder and returns its output; a failure is an error.
    ///
    /// # Errors
    ///
    /// If it can't be started or ends with a nonzero exit code.
    pub(crate) fn shell(&self, script: &str) -> Result<String, Fault> {
        let mut command = Command::new("sh");
        command.args(["-c", script]).current_dir(self.home()).env_clear();
        let (name, email) = ("Ada", "ada@example.org");
        command.env("GIT_AUTHOR_NAME", name).env("GIT_AUTHOR_EMAIL", email);
        command.env("GIT_COMMITTER_NAME", name).env("GIT_COMMITTER_EMAIL", email);
        let ran = command.env("PATH", PATH).env("HOME", self.home()).env("LC_ALL", "C.UTF-8").output()?;
        if !ran.status.success() {
            return Err(format!("{script}: {}", String::from_utf8_lossy(&ran.stderr)).into());
        }
        Ok(String::from_utf8_lossy(&ran.stdout).into_owned())
    }

    /// Takes a snapshot of the home folder as it is now.
    pub(crate) fn snapshot(&self) -> Result<Snapshot, Fault> {
        let (home, mut found) = (self.home(), BTreeMap::new());
        let mut folders = vec![home.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder)? {
                let path = entry?.path();
                let name = path.strip_prefix(&home)?.to_string_lossy().into_owned();
                let metadata = fs::symlink_metadata(&path)?;
                if metadata.is_dir() && !path.ends_with(".git") && !path.ends_with(".local/share/Trash") {
                    folders.push(path.clone());
                }
                if TRASH.contains(&name.as_str()) {
                    continue;
                }
                let body = if metadata.is_dir() {
                    Body::Folder
                } else if metadata.is_symlink() {
                    Body::Link(fs::read_link(&path)?)
                } else if metadata.is_file() {
                    Body::File(fs::read(&path).unwrap_or_default())
                } else {
                    continue;
                };
                found.insert(name, Facts { body, mode: metadata.permissions().mode() & 0o7777 });
            }
        }
        Ok(Snapshot(found))
    }
}

impl Snapshot {
    /// What is wrong with this state, as texts: differences from the earlier state plus the required changes.
    pub(crate) fn faults(&self, before: &Self, changes: &BTreeMap<String, Option<Entry>>) -> Vec<String> {
        let mut faults = Vec::new();
        for (path, facts) in &self.0 {
            let leads_to_change = changes.iter().any(|(to, entry)| entry.is_some() && Path::new(to).starts_with(path));
            match before.0.get(path) {
                _ if changes.contains_key(path) => {}
                None if leads_to_change && facts.body == Body::Folder => {}
                None => faults.push(format!("{path:?} was made")),
                Some(earlier) if earlier != facts => faults.push(format!("{path:?} was changed")),
                Some(_) => {}
            }
        }
        let lost = before.0.keys().filter(|path| !self.0.contains_key(*path) && !changes.contains_key(*path));
        faults.extend(lost.map(|path| format!("{path:?} is gone")));
        for (path, wanted) in changes {
            match (wanted, self.0.get(path)) {
                (None, None) => {}
                (None, Some(_)) => faults.push(format!("{path:?} is still there")),
                (Some(_), None) => faults.push(format!("{path:?} is missing")),
                (Some(wanted), Some(facts)) => {
                    let told = check_node(&wanted.node(), facts, before.0.get(path), before).err();
                    faults.extend(told.map(|why| format!("{path:?} {why}")));
                }
            }
        }
        faults
    }
}

/// An error with the difference if an entry does not have the properties that a task requires.
fn check_node(wanted: &Node, facts: &Facts, earlier: Option<&Facts>, before: &Snapshot) -> Result<(), String> {
    if let Some(mode) = &wanted.mode
        && u32::from_str_radix(mode, 8) != Ok(facts.mode)
    {
        return Err(format!("has mode {:o}", facts.mode));
    }
    let content = match &facts.body {
        Body::Folder => return if wanted.dir { Ok(()) } else { Err("is a folder".to_owned()) },
        Body::Link(target) => return Err(format!("is a link to {}", target.display())),
        Body::File(content) => content,
    };
    if wanted.dir {
        return Err("is a file".to_owned());
    }
    let text = String::from_utf8_lossy(content);
    let shown = || format!("contains {:?}", text.chars().take(80).collect::<String>());
    let is_text = wanted.content().is_none_or(|wanted| wanted.trim_end_matches('\n') == text.trim_end_matches('\n'));
    let source = wanted.same_as.as_ref().map(|path| before.0.get(path));
    // Only the permissions change.
    let source = if wanted.mode.is_some() && wanted.text.is_none() { Some(earlier) } else { source };
    let is_copy = source.is_none_or(|source| source.is_some_and(|source| source.body == facts.body));
    if is_text && is_copy && wanted.holds.iter().all(|part| text.contains(part)) { Ok(()) } else { Err(shown()) }
}
