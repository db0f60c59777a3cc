//! A program held by the kernel: started from a process that is held itself, and ended with all that came of it.
//!
//! A thread a program prepares the rules and answers for it. A *monitor*, a process that shares our memory, holds itself to
//! signals of its own, starts the program, waits for it, and ends what is left: it can tell which processes came of the
//! program, since the kernel lets it signal those alone. It does so too when this process is killed: then its pipe ends.

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
use crate::fence::{self, Asking, Disk, Fence, Filters, Layers, Most, SharedObserved, Supervisor};
use crate::view::View;
use crate::view::child::Program;

/// What we say to the monitor, a byte each. The end of the pipe means: kill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    /// Ask every process to end.
    End = b'e' as isize,
    /// Kill every process.
    Kill = b'k' as isize,
}

/// A running program. Dropping it kills every process that came of it.
#[derive(Debug)]
pub(crate) struct SandboxedChild {
    control: File,
    verdict: oneshot::Receiver<Verdict>,
}

/// How far the monitor is.
#[derive(Debug)]
enum Stage {
    /// The program asks, and is to be answered.
    Asks(Asking),
    Started(io::Result<()>),
    Ended(Verdict),
}

/// What the monitor needs.
struct Orders {
    order: Order,
    program: Program,
    scratch: PathBuf,
    layers: Option<Layers>,
    filters: Filters,
    /// Whether a process that holds itself so can signal nobody outside.
    signals_are_held: bool,
}

/// The program's ends of the pipes.
struct Streams {
    /// `None` for an empty one.
    stdin: Option<Arc<PipeReader>>,
    stdout: PipeWriter,
    stderr: PipeWriter,
}

impl SandboxedChild {
    /// Starts a program; returns when it has been started or could not be.
    pub(crate) async fn start(mut order: Order) -> io::Result<(Self, ChildStdout, ChildStderr)> {
        let (control_read, control) = io::pipe()?;
        let (stdout, stdout_write) = io::pipe()?;
        let (stderr, stderr_write) = io::pipe()?;
        let streams = Streams { stdin: order.input.take(), stdout: stdout_write, stderr: stderr_write };
        let (started_tell, started) = oneshot::channel();
        let (verdict_tell, verdict) = oneshot::channel();
        thread::Builder::new()
            .name("artoo-sandboxed_child".to_owned())
            .spawn(move || outer(order, &control_read, streams, started_tell, verdict_tell))?;
        let sandboxed_child = Self { control: File::from(OwnedFd::from(control)), verdict };
        started.await.unwrap_or_else(|_| Err(io::Error::other("the thread that starts programs has failed")))?;
        let stdout = ChildStdout::from_std(OwnedFd::from(stdout).into())?;
        let stderr = ChildStderr::from_std(OwnedFd::from(stderr).into())?;
        Ok((sandboxed_child, stdout, stderr))
    }

    pub(crate) fn ask_to_end(&mut self) {
        self.say(Word::End);
    }

    pub(crate) fn kill(&mut self) {
        self.say(Word::Kill);
    }

    /// How it ended; `None` when that can't be known any more. Can be awaited again after a timeout.
    pub(crate) async fn ended(&mut self) -> Option<Verdict> {
        (&mut self.verdict).await.ok()
    }

    fn say(&mut self, word: Word) {
        // Nobody listens any more once all is over.
        let _ = self.control.write_all(&[word as u8]);
    }
}

fn outer(
    order: Order,
    control: &PipeReader,
    streams: Streams,
    started: oneshot::Sender<io::Result<()>>,
    verdict: oneshot::Sender<Verdict>,
) {
    let (fence, limits, mut view) = (order.fence.clone(), order.limits.clone(), order.view.clone());
    // Its folder is removed when everything is over.
    let (scratch, orders) = match prepare(order) {
        Ok(prepared) => prepared,
        Err(error) => {
            let _ = started.send(Err(error));
            return;
        }
    };
    let (tell, told) = mpsc::channel();
    let notes = SharedObserved::default();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let seen = notes.clone();
        scope.spawn(move || monitor::run(orders, control, streams, &seen, &tell));
        let mut started = Some(started);
        let mut verdict = Some(verdict);
        let mut fence = Some(fence);
        // The monitor wakes nobody itself: what wakes a runtime is a file, and it has got none of ours any more.
        for stage in told {
            match stage {
                Stage::Asks(asking) => {
                    if let Some(fence) = fence.take() {
                        let kind = fence.kind(view.is_some());
                        let disk = disk(&fence, view.as_deref(), scratch.path(), limits.disk_bytes);
                        let most = Most { file_bytes: limits.file_bytes, disk };
                        let supervisor = Supervisor::new(asking, &fence, kind, scratch.path(), most, notes.clone());
                        scope.spawn(|| supervisor.serve(|| is_over.load(Ordering::Relaxed)));
                    }
                }
                Stage::Started(outcome) => {
                    let _ = started.take().map(|started| started.send(outcome));
                }
                Stage::Ended(how) => {
                    let mut seen = notes.seen();
                    // Whoever gets the verdict may be the last one to have the view.
                    if let Some(view) = view.take() {
                        view.note_renamed(std::mem::take(&mut seen.renamed));
                    }
                    // Where nobody could be asked, nothing was seen.
                    let stayed_off = fence.is_none() && !seen.reached_out;
                    let (denied, is_stopped) = (std::mem::take(&mut seen.denied), seen.is_stopped);
                    let how = Verdict { denied, is_stopped, stayed_off, full: seen.full, ..how };
                    let _ = verdict.take().map(|verdict| verdict.send(how));
                }
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
    drop(scratch);
}

/// The disk space of a run: where it may write.
fn disk(fence: &Fence, view: Option<&View>, scratch: &Path, most: u64) -> Disk {
    // What was granted may be a file that is still to be made.
    let real = fence.granted.iter().filter_map(|path| path.parent());
    let changes = view.map(View::changes);
    Disk::new(real.filter(|_| view.is_none()).chain(changes.as_deref()).chain([scratch]), most)
}

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

fn text(parts: &[&[u8]]) -> io::Result<CString> {
    CString::new(parts.concat()).map_err(|error: NulError| io::Error::new(io::ErrorKind::InvalidInput, error))
}
