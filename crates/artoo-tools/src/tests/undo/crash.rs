//! The process is killed between any two writes of the journal: after an undo every file is as before, or the report
//! names it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use artoo_proto::Environment;
use serde_json::json;
use tempfile::TempDir;

use super::{Fixture, furnish, tree};
use crate::undo::{Report, UndoConfig, UndoStore};
use crate::{Registry, ToolConfig};

/// Name of the environment variable with the number of the fault point at which the child kills itself; see
/// `undo/fault.rs`.
const KILL_AT: &str = "ARTOO_TEST_KILL_AT";

/// Name of the environment variable with the home folder in which the child works.
const HOME: &str = "ARTOO_TEST_HOME";

/// Name of the environment variable with the task of the child process: `act` or `undo`.
const ROLE: &str = "ARTOO_TEST_ROLE";

/// Upper bound on the number of fault points; the test's loop ends earlier, when a child is not killed.
const MOMENTS_MAX: u64 = 400;

impl Fixture {
    /// A fixture in an existing home folder, which the test and its child process share.
    fn at(home: &Path, dir: TempDir) -> Self {
        let text = |path: PathBuf| path.to_str().unwrap().to_owned();
        let mut config = ToolConfig::new(Environment {
            cwd: text(home.join("work")),
            home: text(home.to_path_buf()),
            workspace: text(home.join("artoo_workspace")),
            os: std::env::consts::OS.to_owned(),
            utc_offset_s: 0,
        });
        config.undo = Some(UndoConfig::new(home.with_file_name("journal")));
        Self {
            _dir: dir,
            home: home.to_path_buf(),
            registry: Registry::detect(config.clone()),
            config,
            is_one_task: true,
        }
    }
}

/// The folder for the child's temporary files, which is removed with the fixture, since the child is killed.
fn temporary(home: &Path) -> PathBuf {
    home.with_file_name("tmp")
}

/// A fixture for a crash test, with files of many kinds, in memory if possible.
fn fresh() -> Fixture {
    // In memory if possible, since each sync to a disk takes time.
    let dir = TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap();
    let home = dir.path().canonicalize().unwrap().join("home");
    fs::create_dir_all(home.join("work")).unwrap();
    fs::create_dir(temporary(&home)).unwrap();
    let fixture = Fixture::at(&home, dir);
    furnish(&fixture);
    fixture.file("docs/one.txt", "1");
    fixture.file("docs/sub/two.txt", "22");
    fixture
}

/// Makes all the changes to the home that the child process of the crash tests makes.
async fn change(fixture: &Fixture) {
    let ws = fixture.workspace();
    let ws = ws.to_str().unwrap();
    fixture.allowed(&format!("rm -r {ws}/deep; echo new > {ws}/a.txt; chmod 640 {ws}/run.sh; mkdir {ws}/n")).await;
    let docs = fixture.home.join("docs");
    fixture.files(json!({"act": "move", "paths": [docs.join("sub")], "to": fixture.home.join("x/y/")})).await;
    fixture.files(json!({"act": "copy", "paths": [&docs], "to": fixture.home.join("copy")})).await;
    fixture.files(json!({"act": "delete", "paths": [&docs, fixture.home.join("x/y/sub/two.txt")]})).await;
    fixture.call("write_file", json!({"path": "w/new.txt", "text": "w"})).await;
    fixture
        .allowed(&format!("rm {ws}/b.txt; ln -s a.txt {ws}/b.txt; ln {ws}/a.txt {ws}/hard; echo more >> {ws}/hard"))
        .await;
}

/// Code of the child processes that other tests start and kill: acts or undoes, by variable; without the variables,
/// does nothing.
#[tokio::test]
async fn child() {
    let (Ok(home), Ok(role)) = (std::env::var(HOME), std::env::var(ROLE)) else { return };
    let fixture = Fixture::at(Path::new(&home), TempDir::new().unwrap());
    match role.as_str() {
        "act" => change(&fixture).await,
        _ => {
            if let Some(last) = fixture.store().last().unwrap() {
                fixture.store().undo(&last.id).unwrap();
            }
        }
    }
}

/// Runs the child test in its own process, killed at fault point `kill_at`; `true` if it ended by itself.
fn run(fixture: &Fixture, role: &str, kill_at: Option<u64>) -> bool {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "tests::undo::crash::child", "--test-threads=1"]).env(HOME, &fixture.home).env(ROLE, role);
    command.env("TMPDIR", temporary(&fixture.home));
    command.envs(kill_at.map(|at| (KILL_AT, at.to_string()))).stdout(Stdio::null()).stderr(Stdio::null());
    let status = command.status().unwrap();
    let was_killed = std::os::unix::process::ExitStatusExt::signal(&status) == Some(9);
    assert!(status.success() || was_killed, "the child failed: {status}");
    status.success()
}

/// Undoes the newest entry again and again, up to four times, until none is left or one can't be undone completely;
/// returns the reports.
fn undo_all(store: &UndoStore) -> Vec<Report> {
    let mut reports = Vec::new();
    while let Some(last) = store.last().unwrap() {
        let report = store.undo(&last.id).unwrap();
        let is_whole = report.redo.is_some();
        reports.push(report);
        // Entries that can't be restored stay in the list.
        if !is_whole || reports.len() > 3 {
            break;
        }
    }
    reports
}

/// Checks that every path outside the trash is as before the act, or is named in a report as not restored, and that no
/// temporary file is left.
#[track_caller]
fn check(fixture: &Fixture, before: &super::Tree, reports: &[Report], moment: &str) {
    let found = tree(&fixture.home);
    let told: BTreeSet<&str> = reports
        .iter()
        .flat_map(|report| &report.items)
        .filter(|item| !super::is_fine(&item.outcome))
        .map(|item| item.path.as_str())
        .collect();
    let all: BTreeSet<&PathBuf> = before.keys().chain(found.keys()).collect();
    for path in all.into_iter().filter(|path| before.get(*path) != found.get(*path)) {
        let line = crate::paths::line(path);
        let is_trash = path.starts_with(fixture.home.join(".local"));
        assert!(told.contains(line.as_str()) || is_trash, "{moment}: {line} is not as before\n{reports:#?}");
    }
    let rests: Vec<&PathBuf> = found.keys().filter(|path| path.to_string_lossy().contains(".artoo-undo-")).collect();
    assert!(rests.is_empty(), "{moment}: {rests:?} is left lying around");
}

/// After a kill at any fault point of several acts, an undo restores every file or reports it.
#[doc = "holds: law 1.12"]
#[test]
fn kill_during_an_act_keeps_undo_complete() {
    let mut told = 0;
    for moment in 0..MOMENTS_MAX {
        let fixture = fresh();
        let before = tree(&fixture.home);
        let ended = run(&fixture, "act", Some(moment));
        let reports = undo_all(&fixture.store());
        check(&fixture, &before, &reports, &format!("killed at moment {moment} of the acts"));
        told += reports.iter().flat_map(|report| &report.items).filter(|item| !super::is_fine(&item.outcome)).count();
        if ended {
            assert!(moment > 40, "only {moment} moments: the child does not act");
            assert_eq!(told, 0, "nothing had to be left");
            return;
        }
    }
    panic!("the child never came to its end");
}

/// An undo that was killed at any fault point can be run again, and then every file is restored or reported.
#[doc = "holds: law 1.12"]
#[test]
fn killed_undo_can_be_resumed() {
    for moment in 0..MOMENTS_MAX {
        let fixture = fresh();
        let before = tree(&fixture.home);
        assert!(run(&fixture, "act", None));
        let ended = run(&fixture, "undo", Some(moment));
        let reports = undo_all(&fixture.store());
        check(&fixture, &before, &reports, &format!("killed at moment {moment} of the undo"));
        if ended {
            assert!(moment > 40, "only {moment} moments: the child does not undo");
            return;
        }
    }
    panic!("the child never came to its end");
}
