//! The process is killed at each step of a commit and of its undo: afterwards each entry is old or new, and an undo
//! restores all but times.

use std::collections::BTreeSet;
use std::process::Stdio;

use super::*;
use crate::undo::{ItemOutcome, Report};

/// Name of the environment variable with the number of the fault point at which the child kills itself; see
/// `undo/fault.rs`.
const KILL_AT: &str = "ARTOO_TEST_KILL_AT";

/// Name of the environment variable with the folder in which the child runs a commit or an undo.
const ROOT: &str = "ARTOO_TEST_CHANGE_ROOT";
const ROLE: &str = "ARTOO_TEST_CHANGE_ROLE";

/// Name of the environment variable that makes a kill lose what was not synced, as a power cut would; see
/// `undo/fault.rs`.
const POWER: &str = "ARTOO_TEST_POWER";

/// Upper bound on the number of fault points; the test's loop ends when a child is not killed.
const MOMENTS_MAX: u64 = 600;

/// Code of the child processes that other tests start and kill: commits or undoes; does nothing without the variables.
#[test]
fn child() {
    let (Ok(root), Ok(role)) = (std::env::var(ROOT), std::env::var(ROLE)) else { return };
    let home = Home::at(Path::new(&root));
    if role == "undo" {
        let last = home.store().last().unwrap().unwrap();
        home.store().undo(&last.id).unwrap();
    } else {
        home.commit(&renamed_change_set(&home));
    }
}

/// Reads the change set of a home in whose layer the folder `ws/k` was renamed to `ws/k2`.
fn renamed_change_set(home: &Home) -> ChangeSet {
    let pair = ["ws/k", "ws/k2"].map(|path| home.home.join(path));
    scan_changes(&[home.layer()], &[pair.into()], SystemTime::now(), &limit()).unwrap()
}

/// Runs the child killed at fault point `kill_at`, and returns the point's name; `None` if it was not killed. At odd
/// numbers unsynced data is lost too.
fn run(home: &Home, role: &str, kill_at: Option<u64>) -> Option<String> {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "change::tests::kills::child", "--test-threads=1"]).env(ROOT, &home.root).env(ROLE, role);
    command.envs(kill_at.map(|at| (KILL_AT, at.to_string()))).stdout(Stdio::null());
    command.envs(kill_at.filter(|at| at % 2 == 1).map(|_| (POWER, "1"))).arg("--nocapture");
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let point = said.lines().find_map(|line| line.split_once("killed: ").map(|(_, point)| point.to_owned()));
    let was_killed = std::os::unix::process::ExitStatusExt::signal(&output.status) == Some(9);
    assert!(output.status.success() || was_killed && point.is_some(), "the child failed: {}: {said}", output.status);
    point
}

/// Checks that a child process was killed at every one of these fault points.
#[track_caller]
fn check_points(points: &BTreeSet<String>, wanted: &[&str]) {
    let missing: Vec<_> = wanted.iter().filter(|point| !points.contains(**point)).collect();
    assert!(missing.is_empty(), "never killed at {missing:?}, but at {points:?}");
}

/// A home whose layer holds at least one change of each form; `None` if this machine supports no views, or no second
/// file system for `is_elsewhere`.
fn changed(is_elsewhere: bool) -> Option<Home> {
    let home = if is_elsewhere { Home::on_another_file_system()? } else { Home::new(true) };
    for n in 0..12 {
        home.file(&format!("ws/f{n}"), &format!("old {n}\n"));
    }
    for path in ["ws/d/one", "ws/d/sub/two", "ws/e/x", "ws/shut/in", "ws/g/y", "ws/k/z"] {
        home.file(path, path);
    }
    home.run_bare("ln -s f0 ws/link; chmod 500 ws/shut ws/d/sub; mkdir ws/h; echo h > ws/h/in");
    if !is_elsewhere {
        home.run_bare("ln ws/f11 ws/hard");
    }
    let script = "for n in 0 1 2 3; do echo new $n > ws/f$n; done; rm ws/f4 ws/f5; rm -rf ws/d; mv ws/f6 ws/moved;
        mkdir -p ws/n/e; echo n > ws/n/e/w; chmod 555 ws/n; chmod 600 ws/f7; ln -sfn f1 ws/link; rm -r ws/e; echo e > ws/e;
        rm ws/f8; mkdir ws/f8; echo 8 > ws/f8/in; chmod u+w ws/shut; echo x > ws/shut/new; rm ws/shut/in; chmod 500 ws/shut;
        echo more >> ws/f11; echo a > ws/new1; echo b > ws/new2; chmod 711 ws/g;
        rm -r ws/h; mkdir ws/h; chmod 700 ws/h; echo again > ws/h/again; cp -a ws/k ws/k2; rm -r ws/k";
    // A pipe can't be copied to another file system, and hard links become separate files there.
    let more = if is_elsewhere { "" } else { "; mkfifo ws/pipe; ln ws/f9 ws/nine" };
    home.run_in_view(&format!("{script}{more}")).then_some(home)
}

/// Undoes the newest undoable entry again and again until none is left; returns the reports.
fn undo_all(home: &Home) -> Vec<Report> {
    let mut reports = Vec::new();
    while let Some(last) = home.store().last().unwrap() {
        let report = home.store().undo(&last.id).unwrap();
        // If nothing was changed, or everything is restored already, the undo has no entry of its own.
        let is_over = report.redo.is_none();
        reports.push(report);
        assert!(reports.len() < 5, "{reports:#?}");
        if is_over {
            break;
        }
    }
    reports
}

/// Undoes all entries, and checks that the tree is as before, times apart, and that no path was left changed.
#[track_caller]
fn check_undone(home: &Home, before: &Tree, moment: &str) {
    let reports = undo_all(home);
    let differ = differences(&timeless(&home.tree()), &timeless(before));
    assert!(differ.is_empty(), "{moment}: {differ:#?}\n{reports:#?}");
    let left = |item: &&crate::undo::Item| !matches!(item.outcome, ItemOutcome::Done | ItemOutcome::Already);
    assert_eq!(reports.iter().flat_map(|report| &report.items).find(left), None, "{moment}");
}

/// Checks that each path is as before or as after, apart from modes, times and hard links; returns whether the whole
/// tree is neither.
#[track_caller]
fn check_each(home: &Home, before: &Tree, after: &Tree, moment: &str) -> bool {
    let found = home.tree();
    let mode = |thing: &PathState| PathState { mode: 0, first_name: PathBuf::new(), time: None, ..thing.clone() };
    let is_aside = |path: &&PathBuf| path.iter().any(|name| name.to_string_lossy().starts_with(".artoo-undo-"));
    for path in before.keys().chain(after.keys()).chain(found.keys().filter(|path| !is_aside(path))) {
        let is = |tree: &Tree| tree.get(path).map(mode) == found.get(path).map(mode);
        // Paths below a folder that exists in one of the two states only appear and disappear with it.
        assert!(is(before) || is(after), "{moment}: {} is neither old nor new: {:?}", path.display(), found.get(path));
    }
    timeless(&found) != timeless(before) && timeless(&found) != timeless(after)
}

/// The names of the fault points that a commit of the tests' changes passes on any file system.
const COMMIT_POINTS: [&str; 13] = [
    "contents are kept",
    "a note is made",
    "a note is synced",
    "a step is due",
    "a step is written",
    "a folder is renamed",
    "the old is moved",
    "old and new are exchanged",
    "the old is stored",
    "facts are set",
    "the act is over",
    "the act is reconciled",
    "ended is written",
];

/// A commit that is killed at any point leaves each path's content either old or new, and an undo restores all but
/// times.
#[doc = "holds: law 1.12"]
#[test]
fn killed_commit_leaves_old_or_new() {
    for is_elsewhere in [false, true] {
        let Some(whole) = changed(is_elsewhere) else { return };
        let before = whole.tree();
        assert_eq!(run(&whole, "commit", None), None);
        let after = whole.tree();
        check_undone(&whole, &before, "not killed");
        let (mut in_the_middle, mut points) = (0, BTreeSet::new());
        let last = (0..MOMENTS_MAX).find(|moment| {
            let home = changed(is_elsewhere).unwrap();
            let before = home.tree();
            let point = run(&home, "commit", Some(*moment));
            let name = format!("killed at moment {moment} of the commit, {point:?}, elsewhere: {is_elsewhere}");
            let is_ended = point.is_none();
            points.extend(point);
            in_the_middle += usize::from(check_each(&home, &before, &after, &name));
            check_undone(&home, &before, &name);
            is_ended
        });
        let last = last.expect("the child comes to its end");
        eprintln!("{last} kills of a commit, {in_the_middle} of them in the middle, elsewhere: {is_elsewhere}");
        assert!(last > 40 && in_the_middle > 20, "{last} moments, {in_the_middle} in the middle");
        check_points(&points, &COMMIT_POINTS);
        check_points(&points, if is_elsewhere { &["the new has its temporary name"] } else { &["the new is put"] });
    }
}

/// An undo of a commit that is killed at any point (any fifth, to another file system) can be run again, and then
/// restores all but times.
#[doc = "holds: law 1.12"]
#[test]
fn killed_undo_of_a_commit_resumes() {
    for (is_elsewhere, step) in [(false, 1), (true, 5)] {
        let mut points = BTreeSet::new();
        let last = (0..MOMENTS_MAX).step_by(step).find(|moment| {
            let Some(home) = changed(is_elsewhere) else { return true };
            let before = home.tree();
            assert_eq!(run(&home, "commit", None), None);
            let point = run(&home, "undo", Some(*moment));
            let name = format!("killed at moment {moment} of the undo, {point:?}, elsewhere: {is_elsewhere}");
            check_undone(&home, &before, &name);
            let is_ended = point.is_none();
            points.extend(point);
            is_ended
        });
        eprintln!(
            "{} kills of an undo, elsewhere: {is_elsewhere}",
            last.expect("the child comes to its end") / step as u64
        );
        if !is_elsewhere {
            let exchanged = ["the new has its temporary name", "old and new are exchanged"];
            check_points(&points, &[&exchanged[..], &["the old is kept", "a move back is due"]].concat());
        }
    }
}

/// If the process is killed while it removes an original that was copied to another disk, no file is lost.
#[doc = "holds: law 1.12"]
#[test]
fn kill_while_removing_an_original_loses_nothing() {
    let mut seen = 0;
    for moment in 0..MOMENTS_MAX {
        let Some(home) = changed(true) else { return };
        let before = home.tree();
        let point = run(&home, "commit", Some(moment));
        if point.is_none() {
            assert!(seen > 2, "{seen}: a deleted folder, replaced folders and files are copied");
            return;
        }
        if point.as_deref() != Some("the copy is whole") {
            continue;
        }
        seen += 1;
        // The states in which the removal of a folder may have been interrupted.
        for entry in fs::read_dir(home.workspace()).unwrap().map(Result::unwrap) {
            let is_original = entry.file_name().to_string_lossy().starts_with(".artoo-undo-");
            if is_original && entry.file_type().unwrap().is_dir() {
                for inner in fs::read_dir(entry.path()).unwrap().map(|inner| inner.unwrap().path()) {
                    let _ = fs::remove_file(inner);
                }
            }
        }
        check_undone(&home, &before, &format!("killed at moment {moment} of the commit"));
    }
}
