//! What this machine can hold, found out by trying it once on processes made for it.

use std::sync::OnceLock;
use std::thread;

/// What the fence holds on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FenceReport {
    /// Whether files, network and signals are all held. Where not, every command that is not proven read-only asks.
    pub holds: bool,
    /// What is held and what is missing, a sentence each.
    pub words: Vec<String>,
}

/// One part of the fence, tried.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Tried {
    files: bool,
    network: bool,
    signals: bool,
}

static TRIED: OnceLock<Tried> = OnceLock::new();

/// Tries the fence, the first time it is asked for; the kernel does not change under a running program. Whoever asks
/// meanwhile waits for the outcome.
fn tried() -> Tried {
    *TRIED.get_or_init(try_out)
}

/// Begins to try the fence on a thread of its own, so that whoever needs the outcome first need not wait for all of it.
pub(crate) fn try_early() {
    if TRIED.get().is_none() {
        // Where no thread can be had, whoever asks first tries it.
        drop(thread::Builder::new().name("artoo-fence".to_owned()).spawn(tried));
    }
}

/// Whether a fenced thread can signal nobody outside. Killing everyone it can signal rests on this.
#[cfg(target_os = "linux")]
pub(crate) fn signals_are_held() -> bool {
    tried().signals
}

/// What is held here.
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

/// The profile denies files, the network and signals alike, or the program does not start at all.
#[cfg(not(target_os = "linux"))]
fn try_out() -> Tried {
    let held = super::seatbelt::program().is_some();
    Tried { files: held, network: held, signals: false }
}

#[cfg(target_os = "linux")]
fn try_out() -> Tried {
    probe::run().unwrap_or_default()
}

#[cfg(target_os = "linux")]
mod probe {
    //! A fenced thread that tries to write, to make a socket, and to signal a process made for this.

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

    pub(super) fn run() -> Option<Tried> {
        // It reads from a pipe that this side closes in the end, so it never outlives the probe.
        let mut outside = ["/usr/bin/cat", "/bin/cat", "/run/current-system/sw/bin/cat"].iter().find_map(|cat| {
            Command::new(cat).env_clear().stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()
        })?;
        let pid = i32::try_from(outside.id()).ok().and_then(Pid::from_raw);
        let tried = thread::spawn(move || try_inside(pid)).join().ok().and_then(Result::ok);
        end(&mut outside);
        tried
    }

    fn end(outside: &mut Child) {
        drop(outside.stdin.take());
        let _ = outside.wait();
    }

    fn try_inside(outside: Option<Pid>) -> io::Result<Tried> {
        let own = std::env::current_exe()?;
        let filters = Filters::of(RunKind::Fenced, NetworkScope::Nothing)?;
        let could_open = is_open(&own);
        let could_signal = outside.is_some_and(|pid| test_kill_process(pid).is_ok());
        let status = rules::nothing().and_then(|ruleset| ruleset.restrict_self()).map_err(io::Error::other)?;
        // Before its third version Landlock did not hold the emptying of files.
        let is_new_enough =
            matches!(status.landlock, LandlockStatus::Available { effective_abi, .. } if effective_abi >= ABI::V3);
        filters.apply().map_err(io::Error::other)?;
        Ok(Tried {
            files: is_new_enough && could_open && !is_open(&own),
            network: std::net::UdpSocket::bind("127.0.0.1:0").is_err(),
            signals: could_signal && outside.is_some_and(|pid| test_kill_process(pid).is_err()),
        })
    }

    /// For reading: a program that runs can't be opened for writing, fence or no fence.
    fn is_open(path: &Path) -> bool {
        OpenOptions::new().read(true).open(path).is_ok()
    }
}
