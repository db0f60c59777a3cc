//! Runs one program in the sandbox, with its own session and a minimal environment, and ends all of its descendants.

mod capture;
pub(crate) mod limits;
mod plain;
mod running;
#[cfg(target_os = "linux")]
mod sandboxed_child;
mod scratch;
#[cfg(feature = "mcp")]
mod serving;

use std::ffi::OsString;
use std::io::{self, PipeReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use artoo_proto::KeptOutput;
use tokio::time::{Instant, sleep_until, timeout};

use crate::config::{CAPTURE_END_BYTES, CONSENTED_PATH, ProcessLimits, ToolConfig};
use crate::evidence::EvidenceStore;
use crate::fence::{self, Denial, Fence, ReadAllowlist};
use crate::view::View;

pub(crate) use capture::Captured;
use running::Running;
#[cfg(feature = "mcp")]
pub(crate) use serving::{Serving, serve};

/// Names of environment variables that programs get from artoo's own environment; none carries a secret or code.
const PASSED_ON: [&str; 6] = ["USER", "LOGNAME", "TZ", "TMPDIR", "SHELL", "LANG"];

/// How long to wait for a process to end after SIGKILL. One that has not ended by then is blocked in the kernel.
const REAP_GRACE: Duration = Duration::from_secs(4);

/// Maximum characters that a record adds to a program's output: marks for omitted bytes, and messages about its end.
pub(crate) const REMARKS_CHARS: usize = 400;

/// A program to run: its path, name, arguments and environment.
#[derive(Debug, Clone)]
pub(crate) struct Invocation {
    pub(crate) program: PathBuf,
    /// The program's `argv[0]`.
    pub(crate) name: OsString,
    pub(crate) arguments: Vec<OsString>,
    /// Variables in addition to the common environment.
    pub(crate) environment: Vec<(String, OsString)>,
}

impl Invocation {
    /// The order to run this program in a sandbox.
    pub(crate) fn order(
        self,
        config: &ToolConfig,
        read_allowlist: &Arc<ReadAllowlist>,
        environment: &[(String, OsString)],
        fence: Fence,
    ) -> Order {
        let mut variables = environment.to_vec();
        for (name, value) in &self.environment {
            variables.retain(|(known, _)| known != name);
            variables.push((name.clone(), value.clone()));
        }
        Order {
            invocation: Self { environment: variables, ..self },
            cwd: PathBuf::from(&config.environment.cwd),
            fence,
            is_held: true,
            read_allowlist: Arc::clone(read_allowlist),
            limits: config.limits.clone(),
            view: None,
            input: None,
        }
    }
}

/// How a program ended, with the output that was captured.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) exit_code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) stdout: Captured,
    pub(crate) stderr: Captured,
    /// The timeout after which the program was ended, if it was.
    pub(crate) timed_out: Option<Duration>,
    /// Whether descendants were still running at the program's end, and were ended.
    pub(crate) left_behind: bool,
    /// Actions that the sandbox denied, each once.
    pub(crate) denied: Vec<Denial>,
    /// Whether the program was killed at its first denial; its output is then discarded.
    pub(crate) is_stopped: bool,
    /// Whether the program is known to have created no internet socket.
    pub(crate) stayed_off: bool,
    /// Whether the program was killed for exceeding its limit on disk space.
    pub(crate) is_full: bool,
    /// A message about the limit that ended it.
    pub(crate) struck: Option<String>,
}

impl Ended {
    /// A message for the user about what the sandbox denied to the program; `None` if nothing.
    pub(crate) fn kept(&self) -> Option<String> {
        fence::remark(&self.denied)
    }

    /// Total number of bytes that the program printed to both streams.
    pub(crate) fn total(&self) -> u64 {
        self.stdout.total().saturating_add(self.stderr.total())
    }

    /// Stores the program's standard output and standard error in the evidence store; returns the stored items.
    pub(crate) fn keep(&mut self) -> Vec<KeptOutput> {
        [self.stdout.keep("stdout"), self.stderr.keep("stderr")].into_iter().flatten().collect()
    }

    /// Both streams as text of at most `max_chars` characters, standard error last; also returns whether any of it is
    /// omitted.
    pub(crate) fn text(&self, max_chars: usize) -> (String, bool) {
        let max_chars = max_chars.saturating_sub(REMARKS_CHARS.min(max_chars / 4));
        // Error messages are seldom long.
        let for_stderr = if self.stderr.total() > 0 { max_chars / 4 } else { 0 };
        let (mut text, is_cut) = self.stdout.text(max_chars - for_stderr);
        let (errors, errors_cut) = self.stderr.text(for_stderr);
        let mut remark = |mark: &str, more: &str| {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(mark);
            text.push_str(more);
        };
        if self.stderr.total() > 0 {
            remark("[stderr]\n", &errors);
        }
        if let Some(limit) = &self.struck {
            remark(&format!("[{limit}]"), "");
        }
        if self.left_behind {
            remark("[processes it left running were ended]", "");
        }
        (text, is_cut || errors_cut)
    }
}

/// The environment of every program: home, search path, language and terminal, and the allowlisted variables of artoo's
/// own.
pub(crate) fn environment(config: &ToolConfig) -> Vec<(String, OsString)> {
    let path = config.program_path.iter().map(PathBuf::as_path).chain(CONSENTED_PATH.iter().map(Path::new));
    let path = path.map(Path::as_os_str).collect::<Vec<_>>().join(std::ffi::OsStr::new(":"));
    let passed = PASSED_ON.iter().filter_map(|name| std::env::var_os(name).map(|value| ((*name).to_owned(), value)));
    [
        ("HOME", OsString::from(&config.environment.home)),
        ("PATH", path),
        ("LC_ALL", "C.UTF-8".into()),
        ("TERM", "dumb".into()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into_iter()
    .chain(passed)
    .collect()
}

/// The first executable file of that name on the configured path.
pub(crate) fn find_program(config: &ToolConfig, name: &str) -> Option<PathBuf> {
    if name.is_empty() || name.contains('/') {
        return None;
    }
    config
        .program_path
        .iter()
        .map(|folder| folder.join(name))
        .find(|path| path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0))
}

/// A program to run, with its environment, folder, sandbox, limits and input.
#[derive(Debug, Clone)]
pub(crate) struct Order {
    /// The program with its whole environment.
    pub(crate) invocation: Invocation,
    pub(crate) cwd: PathBuf,
    pub(crate) fence: Fence,
    /// Whether the program is sandboxed at all.
    pub(crate) is_held: bool,
    pub(crate) read_allowlist: Arc<ReadAllowlist>,
    pub(crate) limits: ProcessLimits,
    /// The view in which it runs, if any.
    pub(crate) view: Option<Arc<View>>,
    /// Its standard input; `None` for an empty one.
    pub(crate) input: Option<Arc<PipeReader>>,
}

/// How a program ended: exit code or signal, denials, and limits that it exceeded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) exit_code: Option<i32>,
    pub(crate) signal: Option<i32>,
    /// Whether descendants were still running at the program's end, and were ended.
    pub(crate) left_behind: bool,
    /// Actions that the sandbox denied, each once.
    pub(crate) denied: Vec<Denial>,
    /// Whether the program was killed at its first denial.
    pub(crate) is_stopped: bool,
    /// The limit on disk space for which the program was killed, if it was.
    pub(crate) full: Option<u64>,
    /// Whether the program is known to have created no internet socket.
    pub(crate) stayed_off: bool,
}

/// Runs a program until it ends or times out. Dropping the future kills the program and all of its descendants.
///
/// # Errors
/// When it can't be started: not found, not executable, arguments too long.
pub(crate) async fn run(config: &ToolConfig, order: Order, time: Duration) -> io::Result<Ended> {
    let limits = order.limits.clone();
    let (mut running, out, err) = Running::start(order).await?;
    let (mut stdout, mut stderr) = (capture(config), capture(config));
    let (verdict, timed_out) = {
        // A stream with a read error counts as ended: the exit status is still known.
        let drain = async { tokio::join!(stdout.drain(out), stderr.drain(err)) };
        let mut drain = pin!(async {
            let _ = drain.await;
        });
        let mut drained = false;
        let mut verdict = wait(&mut running, drain.as_mut(), &mut drained, time).await;
        let timed_out = verdict.is_none().then_some(time);
        if verdict.is_none() {
            running.ask_to_end();
            verdict = wait(&mut running, drain.as_mut(), &mut drained, config.kill_grace).await;
        }
        if verdict.is_none() {
            running.kill();
            verdict = timeout(REAP_GRACE, running.ended()).await.ok();
        }
        if !drained {
            // Another process may keep the pipe open forever.
            let _ = timeout(config.exit_grace, drain).await;
        }
        (verdict.flatten().unwrap_or_default(), timed_out)
    };
    Ok(verdict.ended(stdout, stderr, timed_out, &limits))
}

impl Verdict {
    /// Combines how a program ended with its captured output, which is dropped if the program was killed at its first
    /// denial.
    pub(crate) fn ended(
        self,
        mut stdout: Captured,
        mut stderr: Captured,
        timed_out: Option<Duration>,
        limits: &ProcessLimits,
    ) -> Ended {
        if self.is_stopped {
            // Without the denial the program would have printed something else.
            (stdout, stderr) = (Captured::new(CAPTURE_END_BYTES), Captured::new(CAPTURE_END_BYTES));
        }
        Ended {
            exit_code: self.exit_code,
            signal: self.signal,
            stdout,
            stderr,
            timed_out,
            left_behind: self.left_behind && timed_out.is_none() && self.full.is_none(),
            denied: self.denied,
            is_stopped: self.is_stopped,
            stayed_off: self.stayed_off,
            is_full: self.full.is_some(),
            struck: self
                .full
                .map(limits::full)
                .or_else(|| self.signal.and_then(|signal| limits::limit_that_ended(signal, limits))),
        }
    }
}

/// A capture of a stream that also stores the stream as evidence, if there is a store.
pub(crate) fn capture(config: &ToolConfig) -> Captured {
    Captured::new(CAPTURE_END_BYTES).with_spill(config.evidence.as_ref().map(EvidenceStore::spill))
}

/// Waits for the program's end while its output is read; `None` after the timeout, `Some(None)` if its end can't be
/// known.
async fn wait(
    running: &mut Running,
    mut drain: std::pin::Pin<&mut impl Future<Output = ()>>,
    drained: &mut bool,
    time: Duration,
) -> Option<Option<Verdict>> {
    let until = Instant::now() + time;
    loop {
        tokio::select! {
            verdict = running.ended() => return Some(verdict),
            () = drain.as_mut(), if !*drained => *drained = true,
            () = sleep_until(until) => return None,
        }
    }
}
