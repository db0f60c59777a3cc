//! Tests once, on processes started for it, which parts of the sandbox work on this machine.

use std::sync::OnceLock;
use std::thread;

/// Which parts of the sandbox work on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FenceReport {
    /// Whether files and the network are restricted. If not, each command needs approval before it runs.
    pub holds: bool,
    /// A sentence for each part that works or is missing.
    pub words: Vec<String>,
}

/// Result of testing the sandbox: whether files, network and signals are restricted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Tried {
    files: bool,
    network: bool,
    signals: bool,
}

static TRIED: OnceLock<Tried> = OnceLock::new();

/// Tests the sandbox on the first call and caches the result; the kernel does not change while artoo runs. Concurrent
/// callers wait for the result.
fn tried() -> Tried {
    *TRIED.get_or_init(try_out)
}

/// Starts testing the sandbox on another thread, so that the first command waits less for the result.
pub(crate) fn try_early() {
    if TRIED.get().is_none() {
        // Without a thread, the first caller of `tried` does it.
        drop(thread::Builder::new().name("artoo-fence".to_owned()).spawn(tried));
    }
}

/// Whether a sandboxed thread can't signal processes outside its sandbox. Killing all descendants by `kill(-1)` relies
/// on this.
#[cfg(target_os = "linux")]
pub(crate) fn signals_are_held() -> bool {
    tried().signals
}

/// Reports which parts of the sandbox work on this machine, with a sentence on each.
pub(crate) fn report() -> FenceReport {
    let Tried { files, network, signals } = tried();
    let words = [
        (
            files,
            "commands write only to the workspace, a temporary folder and what was allowed",
            "nothing keeps a running command from writing wherever you may (Linux 6.2 or later with Landlock does)",
        ),
        (
            network,
            "commands reach the network only where that was allowed",
            "nothing keeps a running command from the network (seccomp does)",
        ),
        (
            signals,
            "commands signal only what they started, and all of it ends with them",
            "a process that leaves its session and its parents is not found again (Linux 6.12 or later finds it)",
        ),
    ];
    FenceReport {
        holds: files && network,
        words: words.iter().map(|(held, yes, no)| (*if *held { yes } else { no }).to_owned()).collect(),
    }
}

/// Reports that files and network are restricted if `sandbox-exec` is installed; signals are not.
#[cfg(not(target_os = "linux"))]
fn try_out() -> Tried {
    let held = super::seatbelt::program().is_some();
    Tried { files: held, network: held, signals: false }
}

/// Tests the sandbox of Linux; if it can't be tested, no part counts as working.
#[cfg(target_os = "linux")]
fn try_out() -> Tried {
    probe::run().unwrap_or_default()
}

#[cfg(target_os = "linux")]
mod probe {
    //! Tests the sandbox: a sandboxed thread tries to open a file, to create a socket and to signal a process.

    use std::fs::OpenOptions;
    use std::io;
    use std::path::Path;
    use std::process::{Child, Command, Stdio};
    use std::thread;

    use landlock::{ABI, LandlockStatus};
    use rustix::process::{Pid, test_kill_process};

    use super::Tried;
    use crate::fence::linux::{Filters, rules};
    use crate::fence::{NetworkScope, RunKind};

    /// Tests every part of the sandbox with a thread and a child process; `None` if one can't be started or the test
    /// fails.
    pub(super) fn run() -> Option<Tried> {
        // It reads from a pipe that is closed at the end, so it never outlives the probe.
        let mut outside = ["/usr/bin/cat", "/bin/cat", "/run/current-system/sw/bin/cat"].iter().find_map(|cat| {
            Command::new(cat).env_clear().stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()
        })?;
        let pid = i32::try_from(outside.id()).ok().and_then(Pid::from_raw);
        let tried = thread::spawn(move || try_inside(pid)).join().ok().and_then(Result::ok);
        end(&mut outside);
        tried
    }

    /// Ends (by closing its input) and reaps the process that the test of the sandbox started outside.
    fn end(outside: &mut Child) {
        drop(outside.stdin.take());
        let _ = outside.wait();
    }

    /// Tests from inside the sandbox what is restricted; `outside` is a process that no signal may reach.
    fn try_inside(outside: Option<Pid>) -> io::Result<Tried> {
        let own = std::env::current_exe()?;
        let filters = Filters::of(RunKind::Fenced, NetworkScope::Nothing)?;
        let could_open = is_open(&own);
        let could_signal = outside.is_some_and(|pid| test_kill_process(pid).is_ok());
        let status = rules::deny_all_ruleset().and_then(|ruleset| ruleset.restrict_self()).map_err(io::Error::other)?;
        // Before ABI 3 Landlock did not restrict truncation.
        let is_new_enough =
            matches!(status.landlock, LandlockStatus::Available { effective_abi, .. } if effective_abi >= ABI::V3);
        filters.apply().map_err(io::Error::other)?;
        Ok(Tried {
            files: is_new_enough && could_open && !is_open(&own),
            network: std::net::UdpSocket::bind("127.0.0.1:0").is_err(),
            signals: could_signal && outside.is_some_and(|pid| test_kill_process(pid).is_err()),
        })
    }

    /// Whether the file can be opened for reading. A running program can't be opened for writing even without a
    /// sandbox.
    fn is_open(path: &Path) -> bool {
        OpenOptions::new().read(true).open(path).is_ok()
    }
}
