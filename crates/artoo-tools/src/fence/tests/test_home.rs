//! A home for tests, and a digest of its state.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use artoo_proto::Environment;
use tempfile::TempDir;

use crate::config::ToolConfig;
use crate::digest;
use crate::fence::{Fence, ReadAllowlist};
use crate::process::{self, Ended, Invocation, Order};
use crate::protect::Protected;

/// Content, mode, owner and number of names of everything below some folders, and separately the modification times, to
/// compare before and after a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct State {
    pub(super) facts: BTreeMap<PathBuf, String>,
    pub(super) times: BTreeMap<PathBuf, (i64, i64)>,
}

/// A home folder in a temporary folder, with the configuration of the tools.
pub(super) struct TestHome {
    _dir: TempDir,
    pub(super) path: PathBuf,
    pub(super) config: ToolConfig,
    pub(super) protected: Protected,
    pub(super) read_allowlist: Arc<ReadAllowlist>,
}

impl TestHome {
    /// A test home in a new temporary folder.
    pub(super) fn new() -> Self {
        Self::within(&std::env::temp_dir())
    }

    /// A test home in a new folder below `folder`.
    pub(super) fn within(folder: &Path) -> Self {
        let dir = TempDir::with_prefix_in("home-", folder).unwrap();
        let home = dir.path().canonicalize().unwrap().join("home");
        let text = |path: PathBuf| path.to_str().unwrap().to_owned();
        fs::create_dir_all(home.join("work")).unwrap();
        fs::create_dir_all(home.join("artoo_workspace")).unwrap();
        let environment = Environment {
            cwd: text(home.join("work")),
            home: text(home.clone()),
            workspace: text(home.join("artoo_workspace")),
            os: std::env::consts::OS.to_owned(),
            utc_offset_s: 0,
        };
        let mut config = ToolConfig::new(environment.clone());
        config.kill_grace = Duration::from_millis(200);
        config.limits.file_bytes = 64 * 1024 * 1024;
        config.limits.memory_bytes = 512 * 1024 * 1024;
        let protected = Protected::new(&environment, &[]);
        Self { _dir: dir, path: home, config, read_allowlist: Arc::new(ReadAllowlist::new(&protected)), protected }
    }

    /// Creates a file in the test home, with its folders.
    pub(super) fn file(&self, path: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// Creates an executable shell script in the test home.
    pub(super) fn program(&self, path: &str, script: &str) -> PathBuf {
        let path = self.file(path, format!("#!/bin/sh\n{script}\n"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// The sandbox of an approved command that names no path: the workspace is writable.
    pub(super) fn fence(&self) -> Fence {
        Fence::of_allowed(&self.config, &self.protected, &[], false)
    }

    /// Runs a command directly in this sandbox, without the steps of a tool call.
    pub(super) fn run_in(&self, fence: Fence, command: &str, time: Duration) -> std::io::Result<Ended> {
        self.start(fence, command, time, true)
    }

    /// Runs a command in this sandbox, or without one unless `is_held`.
    pub(super) fn start(&self, fence: Fence, command: &str, time: Duration, is_held: bool) -> std::io::Result<Ended> {
        let invocation = Invocation {
            program: process::find_program(&self.config, "bash").unwrap(),
            name: "bash".into(),
            arguments: ["--noprofile", "--norc", "-c", command].map(Into::into).to_vec(),
            environment: Vec::new(),
        };
        let environment = process::environment(&self.config);
        let order = Order { is_held, ..invocation.order(&self.config, &self.read_allowlist, &environment, fence) };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(process::run(&self.config, order, time))
    }

    /// Runs a command with the permissions of [`TestHome::fence`].
    pub(super) fn run(&self, command: &str) -> Ended {
        self.run_in(self.fence(), command, Duration::from_secs(20)).unwrap()
    }

    /// The state of the home without the workspace.
    pub(super) fn state(&self) -> State {
        state(&[&self.path], Path::new(&self.config.environment.workspace))
    }
}

/// The state (content, mode, owner) of everything below `roots`, except what lies below `without`.
pub(super) fn state(roots: &[&Path], without: &Path) -> State {
    let mut state = State::default();
    let mut open: Vec<PathBuf> = roots.iter().map(|root| root.to_path_buf()).collect();
    while let Some(path) = open.pop() {
        if path == without {
            continue;
        }
        let Ok(found) = fs::symlink_metadata(&path) else { continue };
        let content = if found.is_file() {
            digest::of_parts([fs::read(&path).unwrap_or_default().as_slice()])
        } else if found.is_symlink() {
            format!("{:?}", fs::read_link(&path))
        } else {
            String::new()
        };
        let attributes = if found.is_dir() { 0 } else { found.nlink() };
        let facts = format!("{:o} {} {} {attributes} {content}", found.mode(), found.uid(), found.gid());
        state.facts.insert(path.clone(), facts);
        state.times.insert(path.clone(), (found.mtime(), found.mtime_nsec()));
        if found.is_dir() {
            open.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        }
    }
    state
}
