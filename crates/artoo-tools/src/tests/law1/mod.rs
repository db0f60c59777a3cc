//! Every row of the command tables, run for real with all questions unanswered: only new files in the workspace appear,
//! nothing is revealed or sent, and no other process is touched.

mod harmless;
mod home;
mod reading;
mod rows;
mod world;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use artoo_proto::{ToolOrder, ToolOutcome};
use serde_json::json;

use super::Fixture;
use home::{State, furnish, remove_new, script, state};
use rows::Row;
use world::World;

/// Time limit for one command of the tables; commands that wait for input or events are killed then.
const TIME: Duration = Duration::from_secs(3);

/// Folders outside the home that must not change either, compared before and after each command.
const OTHERS: [&str; 4] = ["/tmp", "/var/tmp", "/dev/shm", "/run"];

/// File names that other programs run without being asked, such as `Makefile`, and which no command may create unasked.
const RUN_BY_OTHERS: [&str; 6] = [".git", ".envrc", "Makefile", "GNUmakefile", ".vscode", ".husky"];

/// Of this many rows of the other tables one is run, unless `ARTOO_LAW1_ALL` is set: all rows take a quarter of an
/// hour.
const PART: usize = 8;

/// A way to run the table's commands: in views or not, by which tool, and in which folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Way {
    views: bool,
    tool: &'static str,
    /// Whether the working folder is the workspace.
    at_workspace: bool,
}

/// The reason why a command of the tables is not run on this machine; `None` if it is run.
fn left_out(row: &Row) -> Option<&'static str> {
    let command = &row.command;
    let is_bomb = command.contains(":|:&") || command.contains("b | b &");
    if is_bomb && rustix::process::getuid().is_root() {
        return Some("the kernel holds root to no number of processes, and the machine would come to a halt");
    }
    let words = command.split(|c: char| c.is_whitespace() || "=>'\"".contains(c));
    let mut devices = words.filter(|word| word.starts_with("/dev/"));
    let is_disk = |path: &str| {
        use std::os::unix::fs::FileTypeExt;
        fs::metadata(path).is_ok_and(|found| found.file_type().is_block_device())
    };
    devices
        .any(|path| !path.starts_with("/dev/loop") && is_disk(path))
        .then_some("it names a disk of this machine, which a hole would destroy")
}

/// A fixture with the home that the table's commands expect, for one way to run them.
fn fixture(way: Way) -> Fixture {
    let mut fixture = Fixture::with(|config| {
        config.views = way.views;
        config.call_timeout = TIME;
        config.output_max_chars = 1_000_000;
        config.limits.file_bytes = 16 << 20;
        config.limits.memory_bytes = 512 << 20;
        config.limits.processes = 300;
        if way.at_workspace {
            config.environment.cwd = config.environment.workspace.clone();
        }
    });
    fixture.registry.add_for_test(Arc::new(harmless::Harmless));
    furnish(&fixture);
    fixture
}

/// The order of a call of this tool with this command.
fn order(tool: &str, command: &str) -> ToolOrder {
    ToolOrder { allowed_tools: vec![tool.to_owned()], ..Fixture::context(tool, json!({"command": command})) }
}

/// All bytes that a call disclosed: its record or question, and its complete stored output.
fn given_out(fixture: &Fixture, outcome: &ToolOutcome) -> Vec<u8> {
    let mut out = format!("{outcome:?}").into_bytes();
    if let ToolOutcome::Called { call } = outcome {
        let store = fixture.registry.evidence().unwrap();
        call.kept.iter().for_each(|kept| out.extend(store.read(&kept.sha256).unwrap_or_default()));
    }
    out
}

/// Whether a text contains a secret as it is, backwards, in hex or in base64.
fn reveals(text: &[u8]) -> bool {
    let mark = home::MARK.as_bytes();
    let backwards: Vec<u8> = mark.iter().rev().copied().collect();
    let hex: String = mark.iter().map(|byte| format!("{byte:02x}")).collect();
    let spaced: String = text.iter().filter(|byte| !byte.is_ascii_whitespace()).map(|byte| char::from(*byte)).collect();
    let found = |part: &str| spaced.contains(part);
    found(&String::from_utf8_lossy(mark))
        || found(&String::from_utf8_lossy(&backwards))
        || found(&hex)
        || BASE64.iter().any(|part| found(part))
}

/// The middle of the secrets' mark ([`home::MARK`]) in base64, in each of its three alignments.
const BASE64: [&str; 3] = ["elE3c2VjcmV0", "pRN3NlY3JldF", "6UTdzZWNyZXRY"];

/// Changes between two states that the row was not allowed to make, one line each; new files in the workspace are
/// allowed, except those of [`RUN_BY_OTHERS`].
fn changed(fixture: &Fixture, before: &State, after: &State) -> Vec<String> {
    let workspace = fixture.workspace();
    let is_run_by_others = |path: &Path| {
        let mut names = path.strip_prefix(&workspace).into_iter().flat_map(Path::components);
        names.any(|name| RUN_BY_OTHERS.iter().any(|other| name.as_os_str() == *other))
    };
    let is_allowed =
        |path: &Path| path.starts_with(&workspace) && !before.contains_key(path) && !is_run_by_others(path);
    let paths = before.keys().chain(after.keys().filter(|path| !before.contains_key(*path)));
    // Changed times alone are not compared.
    let is = |state: &State, path: &Path| state.get(path).map(|facts| facts.is.clone());
    let differing = paths.filter(|path| is(before, path) != is(after, path) && !is_allowed(path));
    let line = |path: &std::path::PathBuf| match (before.get(path), after.get(path)) {
        (Some(_), None) => format!("removed {}", path.display()),
        (None, _) => format!("made {}", path.display()),
        _ => format!("changed {}", path.display()),
    };
    differing.map(line).collect()
}

/// Runs table rows in one way; returns a line for each fault: a row changed, disclosed or touched what it must not, or
/// asks although it only reads.
fn run(rows: &[Row], way: Way) -> Vec<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut world = World::new();
    let mut fixture = fixture(way);
    let mut before = state(&fixture, &OTHERS);
    let (mut broken, mut asked, mut skipped) = (Vec::new(), 0, 0);
    for row in rows {
        if let Some(why) = left_out(row) {
            skipped += 1;
            println!("skipped: {:?}: {why}", row.command);
            continue;
        }
        if !row.setup.is_empty() {
            fixture = self::fixture(way);
            script(&fixture, &row.setup);
            before = state(&fixture, &OTHERS);
        }
        let order = order(way.tool, &row.command);
        let started = std::time::Instant::now();
        let outcome = runtime.block_on(fixture.outcome(&order, None));
        let mut faults = Vec::new();
        let is_asked = matches!(outcome, ToolOutcome::NeedsConsent { .. });
        asked += usize::from(is_asked);
        if is_asked && row.is_reading() {
            faults.push(format!("asks: {outcome:?}"));
        }
        if reveals(&given_out(&fixture, &outcome)) {
            faults.push(format!("reveals a secret: {outcome:?}"));
        }
        fixture.registry.forget(&order.task_id);
        drop(outcome);
        let after = state_after_cleanup(&fixture);
        faults.extend(changed(&fixture, &before, &after));
        faults.extend(world.touched());
        if std::env::var_os("ARTOO_LAW1_TIMES").is_some() && started.elapsed() > Duration::from_secs(1) {
            println!("{:?} {:?}", started.elapsed(), row.command);
        }
        if !faults.is_empty() || !row.setup.is_empty() {
            fixture = self::fixture(way);
            before = state(&fixture, &OTHERS);
        } else if before != after {
            remove_new(&before, &after);
        }
        broken.extend(
            faults.iter().map(|fault| format!("{way:?} {} {}: {:?}: {fault}", row.table, row.class, row.command)),
        );
    }
    println!("{way:?}: {} rows, {asked} asked about, {skipped} skipped, {} broken", rows.len(), broken.len());
    broken
}

/// The state of the home and of [`OTHERS`] once the temporary folders of runs are deleted, which happens in the
/// background, or after a second.
fn state_after_cleanup(fixture: &Fixture) -> State {
    let is_scratch =
        |path: &Path| path.parent() == Some(Path::new("/tmp")) && path.to_string_lossy().contains("/artoo-");
    let mut found = state(fixture, &OTHERS);
    for _ in 0..100 {
        if !found.keys().any(|path| is_scratch(path)) {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
        found = state(fixture, &OTHERS);
    }
    found
}

/// Each way to run the table's commands: as `shell` with and without views, and by a test tool that declares every
/// command harmless.
const WAYS: [Way; 4] = [
    Way { views: true, tool: "shell", at_workspace: false },
    Way { views: false, tool: "shell", at_workspace: true },
    Way { views: true, tool: harmless::NAME, at_workspace: true },
    Way { views: false, tool: harmless::NAME, at_workspace: false },
];

/// The labelled commands, run without any approval, change, send and disclose nothing.
#[doc = "holds: law 1.1; law 1.16"]
#[test]
fn labelled_rows_are_harmless_without_approval() {
    world::run_in_namespaces("labelled_rows_are_harmless_without_approval", || {
        let rows = rows::labelled();
        let broken: Vec<String> = WAYS.into_iter().flat_map(|way| run(&rows, way)).collect();
        assert!(broken.is_empty(), "{} broken:\n{}", broken.len(), broken.join("\n"));
    });
}

/// Commands of the other tables, one of [`PART`] unless all are asked for, run without any approval, change, send and
/// disclose nothing.
#[doc = "holds: law 1.1; law 1.16"]
#[test]
fn other_rows_are_harmless_without_approval() {
    world::run_in_namespaces("other_rows_are_harmless_without_approval", || {
        let all = std::env::var_os("ARTOO_LAW1_ALL").is_some();
        let (ways, part) = if all { (&WAYS[..], 1) } else { (&WAYS[2..], PART) };
        let rows: Vec<Row> = rows::others().into_iter().step_by(part).collect();
        let broken: Vec<String> = ways.iter().flat_map(|way| run(&rows, *way)).collect();
        assert!(broken.is_empty(), "{} broken:\n{}", broken.len(), broken.join("\n"));
    });
}
