//! Programs that hang, flood, fork or linger: each call ends with a clear result and leaves no process behind.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use artoo_proto::{CallStatus, ConsentScope, EffectClass, ToolCall, ToolOutcome};
use serde_json::json;

use super::{Fixture, called};

/// A number of seconds for `sleep` that no other test run uses, by which the process is recognised.
fn mark(seconds: u32) -> String {
    format!("{seconds}.{}", std::process::id())
}

/// The number of processes whose command line contains the mark.
fn alive(mark: &str) -> usize {
    command_lines(mark).len()
}

/// The command lines of living processes that contain the mark.
fn command_lines(mark: &str) -> Vec<String> {
    let entries = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let lines = entries.filter_map(|entry| {
        let state = fs::read_to_string(entry.path().join("stat")).ok()?;
        let is_zombie = state.rsplit(')').next()?.trim_start().starts_with('Z');
        (!is_zombie).then(|| fs::read(entry.path().join("cmdline")).ok()).flatten()
    });
    lines.map(|line| String::from_utf8_lossy(&line).into_owned()).filter(|line| line.contains(mark)).collect()
}

/// Whether this machine has `/proc`.
fn has_proc() -> bool {
    Path::new("/proc/self/stat").exists()
}

/// Waits until no process with this mark is left; `false` if one remains for too long.
async fn wait_until_gone(mark: &str) -> bool {
    let deadline = Instant::now() + LONG;
    while alive(mark) > 0 {
        if Instant::now() > deadline {
            return false;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    true
}

/// Timeout that no step of a test needs, and after which a hanging test fails.
const LONG: Duration = Duration::from_secs(60);

/// A program that hangs gets SIGTERM at its timeout, and is killed if it ignores that.
#[doc = "holds: law 1.27; design T1, T2"]
#[tokio::test]
async fn hanging_program_ignoring_sigterm_is_killed() {
    let nap = mark(71);
    // A program that handles SIGTERM gets the whole grace time; one that ignores it gets little.
    let grace = [LONG, Duration::from_millis(200)];
    let commands = [format!("echo up; sleep {nap}; true"), format!("trap '' TERM; echo up; sleep {nap}; sleep {nap}")];
    for ((command, signal), kill_grace) in commands.into_iter().zip([15, 9]).zip(grace) {
        let started = Instant::now();
        let call = timed_out_once_up(&command, kill_grace).await;
        assert_eq!(
            (call.status, call.environmental, call.signal),
            (CallStatus::TimedOut, true, Some(signal)),
            "{call:?}"
        );
        assert!(call.output.contains("timed out after") && call.truncated, "{call:?}");
        assert!(started.elapsed() < LONG, "{:?}", started.elapsed());
        if has_proc() {
            assert!(wait_until_gone(&nap).await, "a survivor of {command}");
        }
    }
    let fixture = Fixture::with(|config| config.call_timeout = Duration::from_millis(700));
    let call = fixture.call("shell", json!({"command": "sleep 71.2"})).await;
    assert_eq!((call.status, call.measures), (CallStatus::TimedOut, false), "a proven one too: {call:?}");
}

/// The record of a command that prints `up` and hangs, with a timeout that is long enough on this machine to print it.
async fn timed_out_once_up(command: &str, kill_grace: Duration) -> ToolCall {
    let mut call_timeout = Duration::from_millis(350);
    loop {
        call_timeout *= 2;
        let fixture = Fixture::with(|config| (config.call_timeout, config.kill_grace) = (call_timeout, kill_grace));
        let call = fixture.allowed(command).await;
        if call.output.starts_with("up\n") || call_timeout > LONG / 8 {
            return call;
        }
    }
}

/// The signal that ended a program is in the record.
#[doc = "holds: design T5"]
#[tokio::test]
async fn ending_signal_is_recorded() {
    let call = Fixture::new().allowed("kill -SEGV $$").await;
    assert_eq!((call.status, call.exit_code, call.signal), (CallStatus::Failed, None, Some(11)), "{call:?}");
    assert!(call.output.contains("[ended by signal 11]"), "{call:?}");
}

/// Output beyond the limit is counted exactly, and its beginning and end are shown.
#[doc = "holds: law 0.11; design T6, T7"]
#[tokio::test]
async fn large_output_is_counted_with_both_ends() {
    let fixture = Fixture::new();
    let call = fixture.allowed("printf START; head -c 200000000 /dev/zero | tr '\\0' x; printf END").await;
    assert_eq!((call.status, call.output_bytes, call.truncated), (CallStatus::Ok, 200_000_008, true));
    assert!(call.output.starts_with("STARTxxx") && call.output.ends_with("xxxEND"), "{:?}", &call.output[..20]);
    assert!(call.output.chars().count() < 4200);
}

/// Output that is not text is marked in the record.
#[doc = "holds: design T8"]
#[tokio::test]
async fn binary_output_is_marked() {
    let call = Fixture::new().allowed("printf 'a\\377b'; true").await;
    assert_eq!(call.output, "a\u{fffd}b\n[not text: 1 bytes are not UTF-8 and shown as \u{fffd}]");
}

/// A command returns although a background process that it left holds the output pipe open; that process is ended.
#[doc = "holds: law 1.27; design T9"]
#[tokio::test]
async fn daemon_with_open_pipe_does_not_block() {
    let fixture = Fixture::new();
    let started = Instant::now();
    let nap = mark(72);
    let call = fixture.allowed(&format!("sleep {nap} & echo out")).await;
    assert!(started.elapsed() < LONG, "{:?}", started.elapsed());
    assert_eq!(call.status, CallStatus::Ok, "{call:?}");
    assert_eq!(call.output, "out\n[processes it left running were ended]");
    assert!(!has_proc() || wait_until_gone(&nap).await);
}

/// The standard input of a command is empty.
#[doc = "holds: design T10, T11"]
#[tokio::test]
async fn standard_input_is_empty() {
    let fixture = Fixture::new();
    assert_eq!(fixture.allowed("cat; echo done").await.output, "done\n");
    assert_eq!(fixture.call("shell", json!({"command": "cat"})).await.output, "");
}

/// Standard output and standard error of a command are both in its record.
#[doc = "holds: design T15"]
#[tokio::test]
async fn both_streams_are_passed_on() {
    let call = Fixture::new().allowed("echo out; echo err >&2; exit 3").await;
    assert_eq!((call.exit_code, call.output.as_str()), (Some(3), "out\n[stderr]\nerr\n"), "{call:?}");
}

/// A program does not inherit artoo's open files.
#[cfg(target_os = "linux")]
#[doc = "holds: design T18"]
#[tokio::test]
async fn open_files_are_not_inherited() {
    let fixture = Fixture::new();
    let ours = fixture.file("ours-and-open", "");
    let _open = fs::File::open(&ours).unwrap();
    let call = fixture.allowed("for f in /proc/self/fd/*; do readlink $f; done").await;
    assert!(call.output.contains("/dev/null") && !call.output.contains("ours-and-open"), "{call:?}");
}

/// A program gets only allowlisted environment variables.
#[doc = "holds: law 1.20; design T19"]
#[tokio::test]
async fn environment_is_an_allowlist() {
    let fixture = Fixture::new();
    // Cargo sets many variables for this process; none of them may be passed on.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    let call = fixture.allowed("env").await;
    let known = [
        "HOME", "PATH", "LC_ALL", "TERM", "USER", "LOGNAME", "TZ", "TMPDIR", "SHELL", "LANG", "PWD", "SHLVL", "_",
        "OLDPWD",
    ];
    for line in call.output.lines() {
        let name = line.split('=').next().unwrap();
        assert!(known.contains(&name), "{line} got through");
    }
    assert!(call.output.contains(&format!("HOME={}\n", fixture.home.display())));
}

/// Processes that leave the session of their command are killed when the call ends.
#[cfg(target_os = "linux")]
#[doc = "holds: law 1.27; design T3"]
#[tokio::test]
async fn detached_descendants_end_with_the_call() {
    let fixture = Fixture::new();
    for (number, escape) in [
        "setsid sleep NAP & true",
        "(setsid sh -c 'setsid sleep NAP & sleep NAP' &) ; true",
        "setsid sh -c '(setsid sh -c \"setsid sleep NAP &\" &) ; exit' ; true",
        "nohup setsid sh -c 'trap \"\" TERM HUP; sleep NAP; sleep NAP' >/dev/null 2>&1 < /dev/null & true",
    ]
    .iter()
    .enumerate()
    {
        let nap = mark(80 + u32::try_from(number).unwrap());
        let call = fixture.allowed(&escape.replace("NAP", &nap)).await;
        assert_eq!(call.status, CallStatus::Ok, "{call:?}");
        assert!(call.output.contains("[processes it left running were ended]"), "{call:?}");
        assert!(wait_until_gone(&nap).await, "a survivor of {escape}");
    }
}

/// T3, T4: after 200 calls were cancelled, each with its own process tree, no process of them is left.
#[cfg(target_os = "linux")]
#[doc = "holds: law 1.27; design T3, T4"]
#[tokio::test]
async fn processes_end_after_200_cancelled_commands() {
    let fixture = Fixture::new();
    let nap = mark(90);
    let own_zombies = || {
        let own = std::process::id();
        let tasks = fs::read_dir(format!("/proc/{own}/task")).unwrap().flatten();
        let children = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
        let children: Vec<String> =
            children.flat_map(|line| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect();
        children
            .iter()
            .filter(|pid| fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| stat.contains(") Z ")))
            .count()
    };
    for round in 0..20 {
        // Half of them run in a view.
        let first = if round % 2 == 0 { "touch changed; " } else { "" };
        let command =
            format!("{first}setsid sleep {nap} & sleep {nap} & (setsid sh -c 'sleep {nap}' &); sleep {nap}; true");
        let context = Fixture::context("shell", json!({"command": command}));
        let calls = (0..10).map(|_| {
            let (registry, context) = (fixture.registry.clone(), context.clone());
            tokio::spawn(async move { registry.call(&context, "", None).await })
        });
        let calls: Vec<_> = calls.collect();
        // Some calls are dropped before they have started anything, some after.
        tokio::time::sleep(Duration::from_millis(60)).await;
        for call in calls {
            call.abort();
            let _ = call.await;
        }
    }
    assert!(wait_until_gone(&nap).await, "{} alive", alive(&nap));
    let deadline = Instant::now() + LONG;
    while own_zombies() > 0 {
        assert!(Instant::now() < deadline, "{} zombies of ours", own_zombies());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// A program that writes a file beyond the size limit is ended, and the record says so.
#[cfg(target_os = "linux")]
#[doc = "holds: design T12"]
#[tokio::test]
async fn file_size_limit_ends_the_program() {
    let fixture = Fixture::with(|config| config.limits.file_bytes = 1024 * 1024);
    let call = fixture.allowed("exec head -c 5000000 /dev/zero > ~/artoo_workspace/fill").await;
    assert_eq!((call.status, call.signal), (CallStatus::Failed, Some(25)), "{call:?}");
    assert!(call.output.contains("wrote a file past the limit of 1.0 MB"), "{call:?}");
    assert!(call.output.contains("nothing that it changed was kept"), "{call:?}");
    assert!(!fixture.workspace().join("fill").exists());
    let call = fixture.allowed("fallocate -l 900G ~/artoo_workspace/big").await;
    assert_eq!(call.status, CallStatus::Failed, "{call:?}");
}

/// Programs that use too much memory or processor time are ended.
#[cfg(target_os = "linux")]
#[doc = "holds: design T14"]
#[tokio::test]
async fn memory_and_processor_time_are_limited() {
    let fixture = Fixture::with(|config| {
        config.limits.memory_bytes = 64 * 1024 * 1024;
        config.limits.cpu_s = 1;
    });
    // bash itself holds the text in memory.
    let call = fixture.allowed("x=$(head -c 200000000 /dev/zero | tr '\\0' x); echo ${#x}").await;
    assert_eq!(call.status, CallStatus::Failed, "{call:?}");
    assert!(
        call.output.contains("memory") || call.output.contains("alloc") || call.signal.is_some(),
        "it says what it likes: {call:?}"
    );
    let call = fixture.allowed("while :; do :; done").await;
    assert_eq!((call.status, call.signal), (CallStatus::Failed, Some(9)), "the hard limit: {call:?}");
}

/// A tree of several hundred processes, each in a session of its own, is killed completely when its call ends.
#[cfg(target_os = "linux")]
#[doc = "holds: design T13"]
#[tokio::test]
async fn tree_of_sessions_ends_with_call() {
    let fixture = Fixture::with(|config| {
        config.call_timeout = Duration::from_millis(1500);
        config.limits.processes = 300;
        config.limits.cpu_s = 20;
    });
    let nap = mark(95);
    let command =
        format!("b() {{ [ $1 -gt 7 ] || {{ b $(($1 + 1)) & b $(($1 + 1)) & }}; exec setsid sleep {nap}; }}; b 0; wait");
    let call = fixture.allowed(&command).await;
    assert!(call.status != CallStatus::Ok || call.output.contains("left running were ended"), "{call:?}");
    assert!(wait_until_gone(&nap).await, "{} alive", alive(&nap));
}

/// A program has no terminal, so that it can't ask the user for a password.
#[cfg(target_os = "linux")]
#[doc = "holds: design T11"]
#[tokio::test]
async fn programs_cannot_ask_for_passwords() {
    let fixture = Fixture::new();
    let call = fixture.allowed("echo password? > /dev/tty; stty -a < /dev/tty; ps -o tty= -p $$; ps -o sid= -p $$ | grep -qw $$ && echo own").await;
    assert!(call.output.contains("/dev/tty") && call.output.contains("own"), "{call:?}");
}

/// The changes of a command are shown even if its words hide the path, inside the home and outside.
#[cfg(target_os = "linux")]
#[doc = "holds: law 1.19"]
#[tokio::test]
async fn unnamed_changes_are_shown_and_need_approval() {
    let fixture = Fixture::new();
    let outside = tempfile::TempDir::new().unwrap();
    for folder in ["out", outside.path().join("out").to_str().unwrap()] {
        let context =
            Fixture::context("shell", json!({"command": format!("bash -c 'echo built > $(printf {folder}).txt'")}));
        let ToolOutcome::NeedsConsent { hash, effects, .. } = fixture.outcome(&context, None).await else { panic!() };
        let path = fixture.home.join("work").join(format!("{folder}.txt"));
        let shown = crate::texts::path_from_home(&path, &fixture.home);
        assert_eq!(effects[0], format!("makes 1 file (6 bytes): {shown}"));
        assert!(!path.exists());
        let call = called(fixture.outcome(&context, Some(fixture.registry.grant(&hash, ConsentScope::Once))).await);
        assert_eq!(call.status, CallStatus::Ok, "{call:?}");
        assert_eq!(fs::read_to_string(path).unwrap(), "built\n");
    }
}

/// git commands that only read run without approval, though git would refresh its index; those that write need
/// approval.
#[cfg(target_os = "linux")]
#[doc = "holds: law 1.19"]
#[tokio::test]
async fn git_reads_unasked_and_writes_after_approval() {
    let fixture = Fixture::with(|config| config.environment.cwd.clone_from(&config.environment.workspace));
    fixture.file("artoo_workspace/f", "one\n");
    let setup = "git init -q && git add f && git -c user.name=a -c user.email=a@b commit -qm one";
    assert_eq!(fixture.allowed(setup).await.status, CallStatus::Ok);
    let call = fixture.call("shell", json!({"command": "git describe --always --dirty"})).await;
    assert_eq!((call.status, call.class), (CallStatus::Ok, EffectClass::ReadOnly), "{call:?}");
    let call = fixture.call("shell", json!({"command": "git rev-parse --is-inside-work-tree"})).await;
    assert_eq!(call.output, "true\n", "{call:?}");
    let tag = Fixture::context("shell", json!({"command": "git tag v1 && git tag"}));
    let ToolOutcome::NeedsConsent { hash, reason, .. } = fixture.outcome(&tag, None).await else { panic!() };
    assert!(reason.contains("repository's own data"), "{reason}");
    let call = called(fixture.outcome(&tag, Some(fixture.registry.grant(&hash, ConsentScope::Once))).await);
    assert_eq!((call.status, call.output.as_str()), (CallStatus::Ok, "v1\n"), "{call:?}");
}

/// Access to the network needs an approval of a question that names it, however the command hides it.
#[cfg(target_os = "linux")]
#[doc = "holds: law 1.18"]
#[tokio::test]
async fn network_needs_the_question_to_name_it() {
    let fixture = Fixture::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    // The words don't show the changed path.
    let hidden = format!("exec 5<>/dev/t\"\"cp/127.0.0.1/{port}");
    let context = Fixture::context("shell", json!({"command": hidden}));
    let ToolOutcome::NeedsConsent { effects, reason, .. } = fixture.outcome(&context, None).await else { panic!() };
    assert!(effects.iter().any(|line| line.starts_with("may use the network")), "{effects:?}");
    assert_eq!(reason, format!("it tried to connect to 127.0.0.1:{port}"));
    assert!(listener.accept().is_err());
    let call = fixture.allowed(&hidden).await;
    assert!(call.status == CallStatus::Ok && listener.accept().is_ok(), "{call:?}");
}

/// Dropping the future of a call ends all processes of the call at once, which cancelling relies on.
#[doc = "holds: law 1.27"]
#[tokio::test]
async fn dropped_calls_end_their_processes() {
    let fixture = Fixture::new();
    let nap = mark(73);
    let command = format!("sleep {nap} & (sleep {nap}; true) & sleep {nap}; true");
    let context = Fixture::context("shell", json!({"command": command}));
    {
        let call = fixture.registry.call(&context, "", None);
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
    assert!(!has_proc() || wait_until_gone(&nap).await, "{} survivors", alive(&nap));
}

/// Two calls run at the same time.
#[tokio::test]
async fn parallel_calls_run_at_the_same_time() {
    let fixture = Fixture::with(|config| config.call_timeout = LONG);
    let nap = mark(74);
    let one = Fixture::context("shell", json!({"command": format!("sleep {nap}")}));
    tokio::select! {
        ended = fixture.outcome(&one, None) => panic!("it ended: {ended:?}"),
        ended = fixture.outcome(&one, None) => panic!("it ended: {ended:?}"),
        () = async {
            let asleep = || command_lines(&nap).iter().filter(|line| line.starts_with("sleep\0")).count();
            while has_proc() && asleep() < 2 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        } => {}
    }
    assert!(!has_proc() || wait_until_gone(&nap).await);
}
