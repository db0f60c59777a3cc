//! Tests that a fork bomb in its own PID namespace is limited, and that all of its processes end.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::SHOWN_CHARS;
use super::test_home::TestHome;

const INSIDE: &str = "ARTOO_BOMB_INSIDE";

/// T13: a fork bomb stays near the limit on processes, and all of it ends with its call; not tested without namespaces.
#[doc = "holds: law 1.27; design T13"]
#[test]
fn fork_bomb_is_limited_and_killed() {
    if std::env::var_os(INSIDE).is_some() {
        return run_fork_bomb();
    }
    let own = std::env::current_exe().unwrap();
    // The kernel enforces the limit on processes for every user except the machine's own root, in any namespace.
    let mut command = if rustix::process::getuid().is_root() {
        let mut command = Command::new("setpriv");
        command.args(["--reuid", "54321", "--regid", "54321", "--clear-groups", "unshare"]);
        command
    } else {
        Command::new("unshare")
    };
    let unshare = command
        .args(["--user", "--map-user=12345", "--pid", "--fork", "--kill-child", "--mount-proc", "--mount"])
        .arg(own)
        .args(["--exact", "fence::tests::bomb::fork_bomb_is_limited_and_killed", "--nocapture"])
        .env(INSIDE, "1")
        .stdin(Stdio::null())
        .output();
    match unshare {
        Ok(output) if output.status.success() => {}
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
            let is_refused = ["unshare:", "setpriv:"].iter().any(|program| said.contains(program));
            assert!(is_refused, "{said}");
            super::print_uncaptured(&format!("no bomb was tried, namespaces are not allowed here: {said}"));
        }
        Err(error) => super::print_uncaptured(&format!("no bomb was tried, there is no unshare: {error}")),
    }
}

/// Runs a fork bomb in the sandbox, and checks the limit and that no process is left.
fn run_fork_bomb() {
    let mut home = TestHome::new();
    // All threads of this process count as well.
    home.config.limits.processes = 120;
    let started = Instant::now();
    let most = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let (seen, over) = (std::sync::Arc::clone(&most), std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false)));
    let is_over = std::sync::Arc::clone(&over);
    let watch = std::thread::spawn(move || {
        while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
            seen.fetch_max(processes(), std::sync::atomic::Ordering::Relaxed);
            std::thread::sleep(Duration::from_millis(5));
        }
    });
    let ended = home.run_in(home.fence(), "b() { b | b & }; b; sleep 9", Duration::from_millis(1500)).unwrap();
    over.store(true, std::sync::atomic::Ordering::Relaxed);
    watch.join().unwrap();
    let most = most.load(std::sync::atomic::Ordering::Relaxed);
    assert!(
        ended.timed_out.is_some() || ended.left_behind || ended.stderr.total() > 0,
        "{}",
        ended.text(SHOWN_CHARS).0
    );
    assert!((3..=140).contains(&most), "{most} processes at once");
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    for _ in 0..500 {
        if processes() == 1 {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("{} processes are left", processes() - 1);
}

/// Number of living processes; zombies are not counted, since the namespace's first process does not reap them.
fn processes() -> usize {
    let stats = std::fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| {
        entry.file_name().to_str()?.parse::<u32>().ok()?;
        std::fs::read_to_string(entry.path().join("stat")).ok()
    });
    stats.filter(|stat| !stat.contains(") Z ")).count()
}
