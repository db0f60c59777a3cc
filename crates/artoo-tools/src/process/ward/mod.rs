//! A program held by the kernel: started by a thread that has fenced itself in, and ended with all that came of it.
//!
//! Two threads a program. The *outer* one stays free: it prepares the rules and holds this side's ends of the pipes.
//! The *inner* one gets a table of files of its own, fences itself in, starts the program, waits for it, and ends what is
//! left: being inside the fence it can tell who else is, by whom the kernel lets it signal.

mod census;
mod inner;
mod spawn;

use std::ffi::{CString, NulError, OsString};
use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;

use tokio::process::{ChildStderr, ChildStdout};
use tokio::sync::oneshot;

use super::scratch::Scratch;
use super::{Order, Verdict};
use crate::config::ProcessLimits;
use crate::fence::{self, Broker, Filters, Layers, Notes};

/// What the outer side says to the inner one, a byte each. The end of the pipe means: kill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    /// Ask every process to end.
    End = b'e' as isize,
    /// Kill every process.
    Kill = b'k' as isize,
}

/// A running program. Dropping it kills every process that came of it.
#[derive(Debug)]
pub(crate) struct Ward {
    control: File,
    verdict: oneshot::Receiver<Verdict>,
}

/// How far the inner thread is.
#[derive(Debug)]
enum Stage {
    /// What the program will ask is answered through this.
    Listener(OwnedFd),
    /// It has its own copies of the pipes' ends.
    HasFiles,
    Started(io::Result<()>),
    Ended(Verdict),
}

/// What the inner thread needs.
struct Orders {
    program: CString,
    arguments: Vec<CString>,
    environment: Vec<CString>,
    cwd: PathBuf,
    limits: ProcessLimits,
    layers: Layers,
    filters: Filters,
    /// Whether a thread in such a fence can signal nobody outside.
    signals_are_held: bool,
}

/// The program's ends of the pipes, and the inner thread's end of the control pipe.
struct Ends {
    control: PipeReader,
    stdout: PipeWriter,
    stderr: PipeWriter,
}

impl Ward {
    /// Starts a program; returns when it has been started or could not be.
    pub(crate) async fn start(order: Order) -> io::Result<(Self, ChildStdout, ChildStderr)> {
        let (control_read, control) = io::pipe()?;
        let (stdout, stdout_write) = io::pipe()?;
        let (stderr, stderr_write) = io::pipe()?;
        let ends = Ends { control: control_read, stdout: stdout_write, stderr: stderr_write };
        let (started_tell, started) = oneshot::channel();
        let (verdict_tell, verdict) = oneshot::channel();
        thread::Builder::new()
            .name("artoo-ward".to_owned())
            .spawn(move || outer(order, ends, started_tell, verdict_tell))?;
        let ward = Self { control: File::from(OwnedFd::from(control)), verdict };
        started.await.unwrap_or_else(|_| Err(io::Error::other("the thread that starts programs has failed")))?;
        let stdout = ChildStdout::from_std(OwnedFd::from(stdout).into())?;
        let stderr = ChildStderr::from_std(OwnedFd::from(stderr).into())?;
        Ok((ward, stdout, stderr))
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

fn outer(order: Order, ends: Ends, started: oneshot::Sender<io::Result<()>>, verdict: oneshot::Sender<Verdict>) {
    let (fence, limits) = (order.fence.clone(), order.limits.clone());
    // Its folder is removed when everything is over.
    let (scratch, orders) = match prepare(order) {
        Ok(prepared) => prepared,
        Err(error) => {
            let _ = started.send(Err(error));
            return;
        }
    };
    let (tell, told) = mpsc::channel();
    let notes = Notes::default();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let numbers = inner::Numbers::of(&ends);
        let seen = notes.clone();
        scope.spawn(move || inner::run(orders, numbers, &seen, &tell));
        // Until the inner thread has its own table, closing these here would close them for it.
        let mut ends = Some(ends);
        let mut started = Some(started);
        let mut verdict = Some(verdict);
        let mut rights = Some((fence, limits));
        // The inner thread wakes nobody itself: what wakes a runtime is a file, and it has got none of ours any more.
        for stage in told {
            match stage {
                Stage::Listener(listener) => {
                    if let Some((rights, limits)) = rights.take() {
                        let broker = Broker::new(listener, &rights, scratch.path(), limits, notes.clone());
                        scope.spawn(|| broker.serve(|| is_over.load(Ordering::Relaxed)));
                    }
                }
                Stage::HasFiles => drop(ends.take()),
                Stage::Started(outcome) => {
                    let _ = started.take().map(|started| started.send(outcome));
                }
                Stage::Ended(how) => {
                    let seen = notes.seen();
                    // Where nobody could be asked, nothing was seen.
                    let stayed_off = rights.is_none() && !seen.reached_out;
                    let (denied, is_stopped) = (seen.denied.clone(), seen.is_stopped);
                    let how = Verdict { denied, is_stopped, stayed_off, ..how };
                    let _ = verdict.take().map(|verdict| verdict.send(how));
                }
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
    drop(scratch);
}

fn prepare(order: Order) -> io::Result<(Scratch, Orders)> {
    let scratch = Scratch::new()?;
    let layers = Layers::of(&order.fence, &order.sight, scratch.path())?;
    let filters = Filters::of(&order.fence).map_err(io::Error::other)?;
    let temporary = [("TMPDIR".to_owned(), scratch.path().as_os_str().to_owned())];
    let mut variables: Vec<(String, OsString)> = order.environment;
    variables.retain(|(name, _)| name != "TMPDIR");
    variables.extend(temporary);
    let orders = Orders {
        program: text(order.program.as_os_str().as_bytes())?,
        arguments: std::iter::once(&order.name)
            .chain(&order.arguments)
            .map(|argument| text(argument.as_bytes()))
            .collect::<io::Result<_>>()?,
        environment: variables
            .iter()
            .map(|(name, value)| text(&[name.as_bytes(), b"=", value.as_bytes()].concat()))
            .collect::<io::Result<_>>()?,
        cwd: Path::new(&order.cwd).to_path_buf(),
        limits: order.limits,
        layers,
        filters,
        signals_are_held: fence::signals_are_held(),
    };
    Ok((scratch, orders))
}

fn text(bytes: &[u8]) -> io::Result<CString> {
    CString::new(bytes).map_err(|error: NulError| io::Error::new(io::ErrorKind::InvalidInput, error))
}
