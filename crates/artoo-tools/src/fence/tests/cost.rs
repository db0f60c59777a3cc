//! Cost of the sandbox and of a view: the same program is started with and without them in turns.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::test_home::TestHome;
use crate::fence::Fence;
use crate::process::{self, Invocation, Order};
use crate::view::View;

/// Number of starts measured for each way of starting a program, by turns, so that a busy moment affects all ways.
const TURNS: usize = 200;

/// Maximum time that a reading run may take longer than the same program without sandbox.
const READING_MAX: Duration = Duration::from_millis(3);

/// Number of measured starts for a command that creates many files.
const FEW_TURNS: usize = 5;

/// How a program is started: without a sandbox (`Predicted`), in the sandbox, as a reading run, or in a view.
#[derive(Clone, Copy, PartialEq)]
enum StartMode {
    Predicted,
    Fenced,
    Reading,
    View,
}

/// Measures the time of a program from start to end, including the creation and deletion of its view.
fn time(home: &TestHome, way: StartMode, command: &[&str]) -> Duration {
    let (program, arguments) = command.split_first().unwrap();
    let workspace = &home.config.environment.workspace;
    let begun = Instant::now();
    if way == StartMode::Predicted {
        let mut command = Command::new(program);
        let output = command.args(arguments).current_dir(workspace).stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success());
        return begun.elapsed();
    }
    let invocation = Invocation {
        program: program.into(),
        name: program.into(),
        arguments: arguments.iter().map(Into::into).collect(),
        environment: Vec::new(),
    };
    let environment = process::environment(&home.config);
    let prepare = || Arc::new(View::prepare(&home.config, &home.protected, &[]).unwrap());
    let view = (way == StartMode::View).then(prepare);
    let fence = if way == StartMode::Reading { Fence::of_reading_run(&home.protected) } else { home.fence() };
    let order = Order { view, ..invocation.order(&home.config, &home.read_allowlist, &environment, fence) };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let ended = runtime.block_on(process::run(&home.config, order, Duration::from_secs(60))).unwrap();
    assert_eq!((ended.exit_code, &ended.denied), (Some(0), &Vec::new()), "{}", ended.text(1000).0);
    begun.elapsed()
}

/// The median time of each way to run a command; `between` runs after each start.
fn medians<const N: usize>(
    home: &TestHome,
    ways: [StartMode; N],
    turns: usize,
    command: &[&str],
    between: impl Fn(),
) -> [Duration; N] {
    let mut times = ways.map(|way| (way, Vec::new()));
    for _ in 0..turns {
        for (way, times) in &mut times {
            times.push(time(home, *way, command));
            between();
        }
    }
    times.map(|(_, mut times)| {
        times.sort();
        times[turns / 2]
    })
}

/// Compares how long the start of a program takes with and without the sandbox and a view; checks [`READING_MAX`].
#[test]
#[ignore = "a measurement"]
fn cost_of_a_start() {
    let home = super::in_view::home_within(Path::new("/var/tmp"));
    for place in [".ssh/id", ".aws/credentials", ".bashrc", ".config/gh/hosts.yml", ".mozilla/x", ".netrc", ".gnupg/x"]
    {
        home.file(place, "secret");
    }
    // Recent changes prevent caching.
    std::thread::sleep(Duration::from_millis(500));
    let ways = [StartMode::Predicted, StartMode::Fenced, StartMode::Reading, StartMode::View];
    for way in ways {
        time(&home, way, &["/bin/true"]);
    }
    let [bare, fenced, reading, view] = medians(&home, ways, TURNS, &["/bin/true"], || ());
    super::print_uncaptured(&format!(
        "median start to end: bare {bare:?}, fenced {fenced:?} (+{:?}), reading run {reading:?} (+{:?}), in a view {view:?} \
         (+{:?})",
        fenced.saturating_sub(bare),
        reading.saturating_sub(bare),
        view.saturating_sub(bare)
    ));
    assert!(reading <= bare + READING_MAX, "{reading:?}");
}

/// Compares how long a command that creates 20,000 files takes with and without the sandbox and a view.
#[test]
#[ignore = "a measurement"]
fn cost_of_many_files() {
    let mut home = super::in_view::home_within(Path::new("/var/tmp"));
    home.config.environment.cwd = home.config.environment.workspace.clone();
    let command = "mkdir n && cd n && perl -e 'for (1..20000) { open(F, q(>), $_); print F q(x); close F }'";
    let folder = format!("{}/n", home.config.environment.workspace);
    let ways = [StartMode::Predicted, StartMode::Fenced, StartMode::View];
    let [bare, fenced, view] = medians(&home, ways, FEW_TURNS, &["/bin/sh", "-c", command], || {
        let _ = std::fs::remove_dir_all(&folder);
    });
    let ratio = view.as_secs_f64() / bare.as_secs_f64();
    super::print_uncaptured(&format!(
        "20,000 new files: bare {bare:?}, fenced {fenced:?}, in a view {view:?}, ratio {ratio:.2}"
    ));
}
