//! What the fence costs: the same program started with it and without, in one run.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::yard::Yard;
use crate::fence::Fence;
use crate::process::{self, Invocation};

/// Starts taken each way, in turns, so that a busy moment hits all.
const TURNS: usize = 200;

/// What a reading run may cost beyond a bare one.
const READING_MAX: Duration = Duration::from_millis(3);

#[test]
#[ignore = "a measurement"]
fn cost_of_a_start() {
    // Not where temporary files come and go: what may be read is looked up anew with every change on the way.
    let yard = Yard::within(Path::new("/var/tmp"));
    let environment = process::environment(&yard.config);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let fenced = |fence: Fence| {
        let invocation = Invocation {
            program: "/bin/true".into(),
            name: "true".into(),
            arguments: Vec::new(),
            environment: Vec::new(),
        };
        let order = invocation.order(&yard.config, &yard.sight, &environment, fence);
        let begun = Instant::now();
        let ended = runtime.block_on(process::run(&yard.config, order, Duration::from_secs(20))).unwrap();
        assert_eq!((ended.exit_code, ended.denied), (Some(0), Vec::new()));
        begun.elapsed()
    };
    let bare = || {
        let begun = Instant::now();
        let output = Command::new("/bin/true").stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success());
        begun.elapsed()
    };
    let turns = (0..TURNS).map(|_| (bare(), fenced(Fence::of_reading_run(&yard.protected)), fenced(yard.fence())));
    let turns: Vec<_> = turns.collect();
    let median = |of: fn(&(Duration, Duration, Duration)) -> Duration| {
        let mut all: Vec<Duration> = turns.iter().map(of).collect();
        all.sort();
        all[TURNS / 2]
    };
    let (bare, reading, allowed) = (median(|turn| turn.0), median(|turn| turn.1), median(|turn| turn.2));
    super::say(&format!("median start to end: bare {bare:?}, reading run {reading:?}, allowed command {allowed:?}"));
    assert!(reading <= bare + READING_MAX, "{reading:?}");
}
