//! Every tool through the registry, on real files and real processes.

mod account;
mod activity;
mod change_set;
mod consent;
mod covered;
mod custom;
mod desktop;
mod edit;
mod evidence;
mod failed;
mod files;
mod glob;
#[cfg(target_os = "linux")]
mod law1;
#[cfg(feature = "mcp")]
mod mcp;
mod mdfind;
mod must_not;
mod pending;
mod process;
mod read_file;
mod rewrites;
mod run_by_others;
mod scope;
mod secrets;
mod shell;
mod transaction;
mod undo;
#[cfg(feature = "web")]
mod web;
mod write_file;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use artoo_proto::{
    CallStatus, ConsentScope, Environment, EvidenceId, TaskId, ToolCall, ToolOrder, ToolOutcome, ToolRequest,
};
use serde_json::Value;
use tempfile::TempDir;

use crate::undo::UndoConfig;
use crate::{Grant, Registry, ToolConfig};

const ALL_TOOLS: [&str; 9] =
    ["mdfind", "glob", "read_file", "write_file", "shell", "search", "desktop", "applescript", "shortcuts"];

/// The task id under which undo tests make all their calls, so that they share one journal entry.
pub(crate) fn task() -> TaskId {
    TaskId::try_from("task-00000000-0000-4000-8000-000000000001".to_owned()).unwrap()
}

/// What most tests work with: a registry of tools with its own home folder and configuration.
struct Fixture {
    _dir: TempDir,
    home: PathBuf,
    config: ToolConfig,
    registry: Registry,
    /// Whether all calls are of one task, so that they are undone together.
    is_one_task: bool,
}

impl Fixture {
    /// A fixture with the default configuration.
    fn new() -> Self {
        Self::with(|_| {})
    }

    /// A fixture with this change made to the default configuration.
    fn with(change: impl FnOnce(&mut ToolConfig)) -> Self {
        Self::within(TempDir::new().unwrap(), change)
    }

    /// A fixture in memory if possible, for tests with thousands of calls.
    fn in_memory() -> Self {
        Self::within(TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap(), |_| {})
    }

    /// A fixture whose home lies in this temporary folder, with this change of the configuration.
    fn within(dir: TempDir, change: impl FnOnce(&mut ToolConfig)) -> Self {
        // Without symlinks in it, so that paths can be compared as they are.
        let home = dir.path().canonicalize().unwrap().join("home");
        let text = |path: PathBuf| path.to_str().unwrap().to_owned();
        fs::create_dir_all(home.join("work")).unwrap();
        let environment = Environment {
            cwd: text(home.join("work")),
            home: text(home.clone()),
            workspace: text(home.join("artoo_workspace")),
            os: std::env::consts::OS.to_owned(),
            utc_offset_s: 0,
        };
        let mut config = ToolConfig::new(environment);
        config.call_timeout = Duration::from_secs(20);
        config.kill_grace = Duration::from_millis(200);
        change(&mut config);
        let is_one_task = config.undo.is_some();
        let data = config.data_dir.get_or_insert_with(|| dir.path().canonicalize().unwrap().join("data")).clone();
        fs::create_dir_all(&data).unwrap();
        config.undo.get_or_insert_with(|| UndoConfig::new(data.join("undo")));
        Self { _dir: dir, home, registry: Registry::detect(config.clone()), config, is_one_task }
    }

    /// Creates a file in the fixture's home folder, with its folders; returns its path.
    fn file(&self, path: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.home.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// The path of the fixture's workspace.
    fn workspace(&self) -> PathBuf {
        PathBuf::from(&self.config.environment.workspace)
    }

    /// A tool call's order in a new task, in which the tools of [`ALL_TOOLS`] are allowed.
    fn context(tool: &str, input: Value) -> ToolOrder {
        ToolOrder {
            task_id: next_task(),
            request: ToolRequest { tool: tool.to_owned(), input },
            evidence_id: EvidenceId("e1".to_owned()),
            allowed_tools: ALL_TOOLS.map(str::to_owned).to_vec(),
            blocked_tools: Vec::new(),
            blocked_targets: Vec::new(),
            confirm: false,
            consent: None,
            scope: ConsentScope::Once,
        }
    }

    /// The outcome of a call by this order, with the user's approval if `grant` has one.
    async fn outcome(&self, context: &ToolOrder, grant: Option<Grant>) -> ToolOutcome {
        self.outcome_for(context, "", grant).await
    }

    /// The outcome of a call in a task in which the user's words are `said`.
    async fn outcome_for(&self, context: &ToolOrder, said: &str, grant: Option<Grant>) -> ToolOutcome {
        self.registry.call(&self.in_task(context), said, grant).await
    }

    /// The order in the task of the fixture: if the test configures undo, calls with an id of [`next_task`] belong to
    /// one task, so that they are undone together.
    fn in_task(&self, context: &ToolOrder) -> ToolOrder {
        let is_any = self.is_one_task && context.task_id.as_str().starts_with("test-");
        let task_id = if is_any { task() } else { context.task_id.clone() };
        ToolOrder { task_id, ..context.clone() }
    }

    /// The record of a call of a tool that needs no approval; panics if it asks.
    async fn call(&self, tool: &str, input: Value) -> ToolCall {
        called(self.outcome(&Self::context(tool, input), None).await)
    }

    /// The output of a call of this tool with this input; panics if it does not succeed.
    async fn output(&self, tool: &str, input: Value) -> String {
        let call = self.call(tool, input).await;
        assert_eq!(call.status, CallStatus::Ok, "{call:?}");
        call.output
    }

    /// Runs a shell command with an approval of each of its questions, two at most.
    async fn allowed(&self, command: &str) -> ToolCall {
        let context = Self::context("shell", serde_json::json!({"command": command}));
        let mut grant = None;
        for _ in 0..3 {
            match self.outcome(&context, grant).await {
                ToolOutcome::NeedsConsent { hash, shown, .. } => {
                    assert_eq!(shown, command, "shown is what runs, byte for byte");
                    grant = Some(self.registry.grant(&hash, ConsentScope::Once));
                }
                ToolOutcome::Called { call } => return call,
            }
        }
        panic!("{command} is asked about again and again")
    }
}

/// Creates a file with its folders, with this text and mode.
fn put(path: &Path, text: &str, mode: u32) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// A fixture on whose search path only these scripts are, given as name and text.
fn with_programs(programs: &[(&str, &str)]) -> Fixture {
    Fixture::with(|config| only_programs(config, programs))
}

/// Sets up a program folder in which only these scripts are, and makes it the configured search path.
fn only_programs(config: &mut ToolConfig, programs: &[(&str, &str)]) {
    let bin = Path::new(&config.environment.home).join("bin");
    fs::create_dir_all(&bin).unwrap();
    programs.iter().for_each(|(name, script)| put(&bin.join(name), script, 0o755));
    config.program_path = vec![bin];
}

/// A new task id for each call, so that no state of one call affects another.
fn next_task() -> TaskId {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    TaskId::try_from(format!("test-00000000-0000-4000-8000-{number:012}")).unwrap()
}

/// The record of a call's outcome; panics if the outcome asks for approval instead.
fn called(outcome: ToolOutcome) -> ToolCall {
    match outcome {
        ToolOutcome::Called { call } => call,
        ToolOutcome::NeedsConsent { reason, shown, .. } => panic!("asks about {shown:?}: {reason}"),
    }
}

/// Everything below a folder with its content, to compare it later.
fn snapshot(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                open.push(entry.path());
            }
            let content = if kind.is_file() { fs::read(entry.path()).unwrap() } else { Vec::new() };
            all.push((entry.path(), content));
        }
    }
    all.sort();
    all
}

/// Creates a named pipe at this path.
fn make_fifo(path: &Path) {
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// The present time as a timestamp.
fn now() -> artoo_proto::Timestamp {
    let since_1970 = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    artoo_proto::Timestamp::from_millis(since_1970.as_millis().try_into().unwrap())
}
