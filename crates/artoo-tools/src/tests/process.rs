//! Programs that hang, flood, fork or linger: each ends in a clear result and leaves nobody behind.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use artoo_proto::{CallStatus, ConsentScope, ToolOutcome};
use serde_json::json;

use super::{House, called};

/// A number of seconds that no other run of these tests sleeps for.
fn mark(seconds: u32) -> String {
    format!("{seconds}.{}", std::process::id())
}

/// Processes whose command line holds `mark`.
fn alive(mark: &str) -> usize {
    let entries = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let lines = entries.filter_map(|entry| {
        let state = fs::read_to_string(entry.path().join("stat")).ok()?;
        let is_zombie = state.rsplit(')').next()?.trim_start().starts_with('Z');
        (!is_zombie).then(|| fs::read(entry.path().join("cmdline")).ok()).flatten()
    });
    lines.filter(|line| String::from_utf8_lossy(line).contains(mark)).count()
}

fn has_proc() -> bool {
    Path::new("/proc/self/stat").exists()
}

/// Waits until nobody with that mark is left; a killed process takes a moment to go.
async fn gone(mark: &str) -> bool {
    for _ in 0..200 {
        if alive(mark) == 0 {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    false
}

fn impatient() -> House {
    House::with(|config| config.call_timeout = Duration::from_millis(700))
}

#[tokio::test]
async fn t1_t2_a_hang_is_ended_even_when_it_ignores_being_asked() {
    let house = impatient();
    let nap = mark(71);
    for (command, signal) in
        [(format!("sleep {nap}; true"), 15), (format!("trap '' TERM; sleep {nap}; sleep {nap}; sleep {nap}"), 9)]
    {
        let started = Instant::now();
        let call = house.allowed(&command).await;
        assert_eq!(
            (call.status, call.environmental, call.signal),
            (CallStatus::TimedOut, true, Some(signal)),
            "{call:?}"
        );
        assert!(call.output.contains("timed out after") && call.truncated, "{call:?}");
        assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
        if has_proc() {
            assert!(gone(&nap).await, "a survivor of {command}");
        }
    }
    let call = house.call("shell", json!({"command": "sleep 71.2"})).await;
    assert_eq!((call.status, call.measures), (CallStatus::TimedOut, false), "a proven one too: {call:?}");
}

#[tokio::test]
async fn t5_a_signal_is_told() {
    let call = House::new().allowed("kill -SEGV $$").await;
    assert_eq!((call.status, call.exit_code, call.signal), (CallStatus::Failed, None, Some(11)), "{call:?}");
    assert!(call.output.contains("[ended by signal 11]"), "{call:?}");
}

#[tokio::test]
async fn t6_t7_a_flood_is_counted_and_its_ends_are_kept() {
    let house = House::new();
    let call = house.allowed("printf START; head -c 200000000 /dev/zero | tr '\\0' x; printf END").await;
    assert_eq!((call.status, call.output_bytes, call.truncated), (CallStatus::Ok, 200_000_008, true));
    assert!(call.output.starts_with("STARTxxx") && call.output.ends_with("xxxEND"), "{:?}", &call.output[..20]);
    assert!(call.output.chars().count() < 4200);
}

#[tokio::test]
async fn t8_binary_output_is_marked() {
    let call = House::new().allowed("printf 'a\\377b'; true").await;
    assert_eq!(call.output, "a\u{fffd}b\n[not text: 1 bytes are not UTF-8 and shown as \u{fffd}]");
}

#[tokio::test]
async fn t9_a_daemon_that_holds_the_pipe_open_does_not_hold_the_call() {
    let house = House::new();
    let started = Instant::now();
    let nap = mark(72);
    let call = house.allowed(&format!("sleep {nap} & echo out")).await;
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    assert_eq!(call.status, CallStatus::Ok, "{call:?}");
    assert_eq!(call.output, "out\n[processes it left running were ended]");
    assert!(!has_proc() || gone(&nap).await);
}

#[tokio::test]
async fn t10_t11_there_is_nobody_to_read_from() {
    let house = House::new();
    assert_eq!(house.allowed("cat; echo done").await.output, "done\n");
    assert_eq!(house.call("shell", json!({"command": "cat"})).await.output, "");
}

#[tokio::test]
async fn t15_both_streams_are_passed_on() {
    let call = House::new().allowed("echo out; echo err >&2; exit 3").await;
    assert_eq!((call.exit_code, call.output.as_str()), (Some(3), "out\n[stderr]\nerr\n"), "{call:?}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn t18_no_file_of_ours_is_inherited() {
    let house = House::new();
    let ours = house.file("ours-and-open", "");
    let _open = fs::File::open(&ours).unwrap();
    let call = house.allowed("for f in /proc/self/fd/*; do readlink $f; done").await;
    assert!(call.output.contains("/dev/null") && !call.output.contains("ours-and-open"), "{call:?}");
}

#[tokio::test]
async fn t19_the_environment_is_an_allow_list() {
    let house = House::new();
    // Cargo sets plenty of variables for this very process; none may arrive.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    let call = house.allowed("env").await;
    let known = [
        "HOME", "PATH", "LC_ALL", "TERM", "USER", "LOGNAME", "TZ", "TMPDIR", "SHELL", "LANG", "PWD", "SHLVL", "_",
        "OLDPWD",
    ];
    for line in call.output.lines() {
        let name = line.split('=').next().unwrap();
        assert!(known.contains(&name), "{line} got through");
    }
    assert!(call.output.contains(&format!("HOME={}\n", house.home.display())));
}

/// The promise a cancel rests on: dropping the future ends the whole group at once.
#[tokio::test]
async fn dropping_a_call_leaves_no_process() {
    let house = House::new();
    let nap = mark(73);
    let command = format!("sleep {nap} & (sleep {nap}; true) & sleep {nap}; true");
    let context = House::context("shell", json!({"command": command}));
    let ToolOutcome::NeedsConsent { hash, .. } = house.outcome(&context, None).await else { panic!() };
    let grant = house.registry.grant(&hash, ConsentScope::Once);
    {
        let call = house.registry.call(&context, Some(grant));
        tokio::pin!(call);
        tokio::select! {
            outcome = &mut call => panic!("it ended: {outcome:?}"),
            () = async {
                while has_proc() && alive(&nap) < 3 {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
            } => {}
        }
    }
    assert!(!has_proc() || gone(&nap).await, "{} survivors", alive(&nap));
}

#[tokio::test]
async fn calls_run_beside_each_other() {
    let house = House::new();
    let started = Instant::now();
    let one = House::context("shell", json!({"command": "sleep 0.5"}));
    let (a, b) = tokio::join!(house.outcome(&one, None), house.outcome(&one, None));
    assert_eq!((called(a).status, called(b).status), (CallStatus::Ok, CallStatus::Ok));
    assert!(started.elapsed() < Duration::from_millis(950), "{:?}", started.elapsed());
}
