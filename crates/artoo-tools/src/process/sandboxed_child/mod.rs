//! A sandboxed program. A thread per program prepares the rules and runs the supervisor. A *monitor*, a process that
//! shares artoo's memory, restricts its own signals, starts the program, waits for it and kills its remaining
//! descendants, which it knows since the kernel lets it signal no others. The monitor also does so when artoo is
//! killed: then its control pipe is closed.

mod descendants;
mod monitor;

use std::ffi::{CString, NulError};
use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

use tokio::process::{ChildStderr, ChildStdout};
use tokio::sync::oneshot;

use super::scratch::Scratch;
use super::{Invocation, Order, Verdict};
use crate::fence::{self, Denial, Disk, Fence, Filters, Layers, Listening, RunLimits, SharedObserved, Supervisor};
use crate::view::View;
use crate::view::child::Program;

/// Commands to the monitor, a byte each. The end of the pipe means kill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Command {
    /// Send SIGTERM to every process.
    End = b'e' as isize,
    /// Kill every process.
    Kill = b'k' as isize,
}

/// A running sandboxed program. Dropping it makes the monitor kill the program and all of its descendants.
#[derive(Debug)]
pub(crate) struct SandboxedChild {
    control: File,
    verdict: oneshot::Receiver<Verdict>,
}

/// Messages from the monitor to the thread that started it: a listener to answer, the start, and the end of the
/// program.
#[derive(Debug)]
enum Event {
    /// The program has a listener, whose notifications must be answered.
    Listening(Listening),
    Started(io::Result<()>),
    Ended(Verdict),
}

/// Everything that the monitor process needs to start and restrict a program.
struct Orders {
    order: Order,
    program: Program,
    scratch: PathBuf,
    layers: Option<Layers>,
    filters: Filters,
    /// Whether a restricted process is known to signal no process outside.
    signals_are_held: bool,
}

/// The ends of the pipes that the program gets as standard input, output and error.
struct Streams {
    /// `None` for an empty input.
    stdin: Option<Arc<PipeReader>>,
    stdout: PipeWriter,
    stderr: PipeWriter,
}

impl SandboxedChild {
    /// Starts a program; once it has been started, returns it with its standard output and standard error.
    pub(crate) async fn start(mut order: Order) -> io::Result<(Self, ChildStdout, ChildStderr)> {
        let (control_read, control) = io::pipe()?;
        let (stdout, stdout_write) = io::pipe()?;
        let (stderr, stderr_write) = io::pipe()?;
        let streams = Streams { stdin: order.input.take(), stdout: stdout_write, stderr: stderr_write };
        let (started_send, started) = oneshot::channel();
        let (verdict_send, verdict) = oneshot::channel();
        thread::Builder::new()
            .name("artoo-sandboxed_child".to_owned())
            .spawn(move || supervise(order, &control_read, streams, started_send, verdict_send))?;
        let sandboxed_child = Self { control: File::from(OwnedFd::from(control)), verdict };
        started.await.unwrap_or_else(|_| Err(io::Error::other("the thread that starts programs has failed")))?;
        let stdout = ChildStdout::from_std(OwnedFd::from(stdout).into())?;
        let stderr = ChildStderr::from_std(OwnedFd::from(stderr).into())?;
        Ok((sandboxed_child, stdout, stderr))
    }

    /// Asks the monitor to send SIGTERM, then SIGCONT, to the program and all descendants.
    pub(crate) fn ask_to_end(&mut self) {
        self.send(Command::End);
    }

    /// Asks the monitor to kill the program and all descendants.
    pub(crate) fn kill(&mut self) {
        self.send(Command::Kill);
    }

    /// Waits for the program's end and returns how it ended; `None` if it can't be known. Can be awaited again after a
    /// timeout.
    pub(crate) async fn ended(&mut self) -> Option<Verdict> {
        (&mut self.verdict).await.ok()
    }

    /// Sends a command (end or kill all processes of the program) to the monitor through its pipe.
    fn send(&mut self, command: Command) {
        // The pipe is closed once the monitor has ended.
        let _ = self.control.write_all(&[command as u8]);
    }
}

/// Prepares a run, starts the monitor and runs the supervisor until the end; the body of the thread of a program.
fn supervise(
    order: Order,
    control: &PipeReader,
    streams: Streams,
    started: oneshot::Sender<io::Result<()>>,
    verdict: oneshot::Sender<Verdict>,
) {
    let (fence, limits, mut view) = (order.fence.clone(), order.limits.clone(), order.view.clone());
    // The folder is deleted at the end.
    let (scratch, orders) = match prepare(order) {
        Ok(prepared) => prepared,
        Err(error) => {
            let _ = started.send(Err(error));
            return;
        }
    };
    let (send, events) = mpsc::channel();
    let observed = SharedObserved::default();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let for_monitor = observed.clone();
        scope.spawn(move || monitor::run(orders, control, streams, &for_monitor, &send));
        let mut started = Some(started);
        let mut verdict = Some(verdict);
        let mut fence = Some(fence);
        let mut serving = None;
        // The monitor has its own file table, so it can't wake tokio; it reports through this channel.
        for event in events {
            match event {
                Event::Listening(asking) => {
                    if let Some(fence) = fence.take() {
                        let kind = fence.kind(view.is_some());
                        let disk = disk(&fence, view.as_deref(), scratch.path(), limits.disk_bytes);
                        let run_limits = RunLimits { file_bytes: limits.file_bytes, disk };
                        let supervisor =
                            Supervisor::new(asking, fence, kind, scratch.path(), run_limits, observed.clone());
                        serving = Some(scope.spawn(|| supervisor.serve(|| is_over.load(Ordering::Relaxed))));
                    }
                }
                Event::Started(outcome) => {
                    let _ = started.take().map(|started| started.send(outcome));
                }
                Event::Ended(how) => {
                    is_over.store(true, Ordering::Relaxed);
                    // Its last look at the disk belongs to the verdict.
                    let _ = serving.take().map(thread::ScopedJoinHandle::join);
                    let mut observed = observed.lock();
                    // Dropped before the verdict is sent, since the receiver may expect to own the view alone.
                    if let Some(view) = view.take() {
                        view.note_renamed(std::mem::take(&mut observed.renamed));
                    }
                    // Without a listener nothing was recorded.
                    let stayed_off = fence.is_none() && !observed.reached_out;
                    let left = observed.temporaries.remove_all();
                    observed.denied.extend(left.into_iter().map(Denial::Write));
                    let (denied, is_stopped) = (std::mem::take(&mut observed.denied), observed.is_stopped);
                    let how = Verdict { denied, is_stopped, stayed_off, full: observed.full, ..how };
                    let _ = verdict.take().map(|verdict| verdict.send(how));
                }
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
    drop(scratch);
}

/// The limit on disk space of a run, with the folders in which its use is measured.
fn disk(fence: &Fence, view: Option<&View>, scratch: &Path, most: u64) -> Disk {
    // A granted file may not exist yet.
    let real = fence.granted.iter().filter_map(|path| path.parent());
    let changes = view.map(View::changes);
    Disk::new(real.filter(|_| view.is_none()).chain(changes.as_deref()).chain([scratch]), most)
}

/// Creates the temporary folder, and prepares everything that the monitor needs before it starts.
fn prepare(order: Order) -> io::Result<(Scratch, Orders)> {
    let scratch = Scratch::new()?;
    let layers = match &order.view {
        Some(_) => Layers::of_view(&order.fence, scratch.path())?,
        None => Layers::of(&order.fence, &order.read_allowlist, scratch.path())?,
    };
    let filters = Filters::of(order.fence.kind(order.view.is_some()), order.fence.reach.network_scope())?;
    let Invocation { program, name, arguments, environment } = &order.invocation;
    let arguments = std::iter::once(name).chain(arguments).map(|argument| text(&[argument.as_bytes()]));
    let temporary = ("TMPDIR".to_owned(), scratch.path().as_os_str().to_owned());
    let variables = environment.iter().filter(|(name, _)| *name != temporary.0).chain([&temporary]);
    let variables = variables.map(|(name, value)| text(&[name.as_bytes(), b"=", value.as_bytes()]));
    let (arguments, variables) = (arguments.collect::<io::Result<_>>()?, variables.collect::<io::Result<_>>()?);
    let orders = Orders {
        program: Program::new(text(&[program.as_os_str().as_bytes()])?, arguments, variables),
        order,
        scratch: scratch.path().to_path_buf(),
        layers: Some(layers),
        filters,
        signals_are_held: fence::signals_are_held(),
    };
    Ok((scratch, orders))
}

/// The parts joined as one C string; an error if one has a NUL byte.
fn text(parts: &[&[u8]]) -> io::Result<CString> {
    CString::new(parts.concat()).map_err(|error: NulError| io::Error::new(io::ErrorKind::InvalidInput, error))
}
