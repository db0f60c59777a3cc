//! Running one program: its own process group, no stdin, a scrubbed environment, an end in every case.

mod capture;
mod group;

use std::ffi::OsString;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use artoo_proto::KeptOutput;
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep_until, timeout};

use crate::config::{CAPTURE_END_BYTES, CONSENTED_PATH, ToolConfig};
use crate::record::Record;

pub(crate) use capture::Captured;
use group::Group;

/// Variables of the user's own shell that a program gets; none of them carries a secret or code.
const PASSED_ON: [&str; 6] = ["USER", "LOGNAME", "TZ", "TMPDIR", "SHELL", "LANG"];

/// After SIGKILL a process that does not go sits in the kernel; it is not waited for longer than this.
const REAP_GRACE: Duration = Duration::from_secs(1);

/// Characters that marks and remarks around the streams take at most.
const REMARKS_CHARS: usize = 400;

/// What is to be run.
#[derive(Debug, Clone)]
pub(crate) struct Invocation {
    pub(crate) program: PathBuf,
    /// What the program sees as its own name.
    pub(crate) name: OsString,
    pub(crate) arguments: Vec<OsString>,
    /// Variables set on top of the environment every program gets.
    pub(crate) environment: Vec<(String, OsString)>,
}

/// How it went.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) exit_code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) stdout: Captured,
    pub(crate) stderr: Captured,
    /// The time was up and it was ended.
    pub(crate) timed_out: Option<Duration>,
    /// Other processes of its group were still running after its end, and were ended.
    pub(crate) left_behind: bool,
}

impl Ended {
    /// Bytes of both streams.
    pub(crate) fn total(&self) -> u64 {
        self.stdout.total().saturating_add(self.stderr.total())
    }

    /// Both streams settled in the evidence store.
    pub(crate) fn keep(&mut self) -> Vec<KeptOutput> {
        [self.stdout.keep("stdout"), self.stderr.keep("stderr")].into_iter().flatten().collect()
    }

    /// Both streams as text of at most `max_chars` characters: what went to standard error follows under a mark. Also
    /// whether anything of them is left out.
    pub(crate) fn text(&self, max_chars: usize) -> (String, bool) {
        let max_chars = max_chars.saturating_sub(REMARKS_CHARS.min(max_chars / 4));
        // A program that fails says why on standard error, and seldom at length.
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
        if self.left_behind {
            remark("[processes it left running were ended]", "");
        }
        (text, is_cut || errors_cut)
    }

    /// The record of a program that did not end by itself in time.
    pub(crate) fn problem(&self, max_chars: usize) -> Option<Record> {
        let after = self.timed_out?;
        let (text, _) = self.text(max_chars);
        let line = if text.is_empty() { "" } else { "\n" };
        Some(Record {
            signal: self.signal,
            output_bytes: Some(self.total()),
            truncated: true,
            ..Record::timed_out(format!("{text}{line}[timed out after {} ms and was ended]", after.as_millis()))
        })
    }
}

/// The environment every program gets: nothing of artoo's own but an allow-list.
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

/// Runs a program to its end, or to the end of its time.
///
/// Dropping the future ends the program and every other process of its group at once.
///
/// # Errors
/// When it can't be started: not found, not executable, arguments too long.
pub(crate) async fn run(
    config: &ToolConfig,
    environment: &[(String, OsString)],
    invocation: &Invocation,
    time: Duration,
) -> io::Result<Ended> {
    let mut command = Command::new(&invocation.program);
    command
        .arg0(&invocation.name)
        .args(&invocation.arguments)
        .env_clear()
        .envs(environment.iter().chain(&invocation.environment).map(|(name, value)| (name, value)))
        .current_dir(&config.environment.cwd)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    let mut child = command.spawn()?;
    let mut group = Group::of(child.id());
    let spill = || config.evidence.as_ref().and_then(|store| store.spill().ok());
    let mut stdout = Captured::new(CAPTURE_END_BYTES).with_spill(spill());
    let mut stderr = Captured::new(CAPTURE_END_BYTES).with_spill(spill());
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let (status, timed_out) = {
        let drain = async {
            // A stream that can't be read on is as good as ended: the exit status still tells.
            let out = async {
                if let Some(out) = out {
                    let _ = stdout.drain(out).await;
                }
            };
            let err = async {
                if let Some(err) = err {
                    let _ = stderr.drain(err).await;
                }
            };
            tokio::join!(out, err);
        };
        let mut drain = pin!(drain);
        let mut drained = false;
        let deadline = Instant::now() + time;
        let mut status = wait(&mut child, drain.as_mut(), &mut drained, deadline).await?;
        let timed_out = status.is_none().then_some(time);
        if status.is_none() {
            group.ask_to_end();
            let grace = Instant::now() + config.kill_grace;
            status = wait(&mut child, drain.as_mut(), &mut drained, grace).await?;
        }
        if status.is_none() {
            group.kill();
            status = timeout(REAP_GRACE, child.wait()).await.ok().transpose()?;
        }
        if !drained {
            // Something else may hold the pipe open for ever.
            let _ = timeout(config.exit_grace, drain).await;
        }
        (status, timed_out)
    };
    // What is left of the group ends with this scope.
    let left_behind = group.is_alive() && timed_out.is_none();
    Ok(Ended {
        exit_code: status.and_then(|status| status.code()),
        signal: status.and_then(|status| status.signal()),
        stdout,
        stderr,
        timed_out,
        left_behind,
    })
}

/// Waits for the program's end while its output is read; `None` when the moment came first.
async fn wait(
    child: &mut Child,
    mut drain: std::pin::Pin<&mut impl Future<Output = ()>>,
    drained: &mut bool,
    until: Instant,
) -> io::Result<Option<ExitStatus>> {
    loop {
        tokio::select! {
            status = child.wait() => return status.map(Some),
            () = drain.as_mut(), if !*drained => *drained = true,
            () = sleep_until(until) => return Ok(None),
        }
    }
}
