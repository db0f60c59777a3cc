//! The interface between tools and the registry: a tool reads a request, declares its effects, and runs it.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use artoo_proto::{EvidenceId, TaskId, ToolClass, ToolSpec, escape};
use serde_json::Value;

use crate::activity::{Calls, Meter};
use crate::approved::ApprovedPlace;
use crate::config::ToolConfig;
use crate::effects::CallEffects;
use crate::fence::{self, Fence, FenceReport, Reach, ReadAllowlist};
use crate::limit::{Limit, Stopped, blocking};
use crate::process::{self, Ended, Invocation, Order};
use crate::protect::Protected;
use crate::record::Record;
use crate::rules::RuleBook;
use crate::undo::{Act, Journal, Subject};
use crate::view::View;

/// Longest text of a new file shown in a question, in characters. A command is always shown whole.
const SHOWN_MAX_CHARS: usize = 2000;

/// A tool of this machine: it describes itself, and reads requests with their effects.
pub(crate) trait Tool: fmt::Debug + Send + Sync {
    /// The description for users and models.
    fn spec(&self) -> ToolSpec;

    /// Reads a request; may read the disk, changes nothing. `Err` is the record of an invalid request.
    fn read(&self, machine: &Machine, user: &UserContext<'_>, input: &Value) -> Result<Request, Box<Record>>;
}

/// What a tool may know of the user to decide whether a call needs approval: the request's words and the caution.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UserContext<'a> {
    /// Whether a call needs approval even if it only creates files.
    pub(crate) confirm: bool,
    /// The task in the user's own words.
    #[cfg_attr(not(feature = "web"), expect(dead_code, reason = "only web searches are compared with it"))]
    pub(crate) request: &'a str,
}

/// A valid request of a tool with its declared effects, its question if it needs one, and its job.
pub(crate) struct Request {
    /// What it acts on, in one line.
    pub(crate) target: String,
    pub(crate) effects: CallEffects,
    /// The question that must be answered before it runs; `None` if it needs no approval.
    pub(crate) question: Option<Question>,
    pub(crate) job: Job,
}

/// A question for the user: the text to which an approval is bound, what is shown, and why it is asked.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    /// The bytes to which an approval is bound.
    pub(crate) text: String,
    /// Files to whose content an approval is bound.
    pub(crate) files: Vec<PathBuf>,
    /// The call as the user sees it.
    pub(crate) shown: String,
    /// Why it needs approval.
    pub(crate) reason: String,
    /// What is shown on request, a line each.
    pub(crate) details: Vec<String>,
}

impl Question {
    /// The call as the question shows it, without its middle if it is too long.
    pub(crate) fn shortened(shown: &str) -> String {
        escape::shorten(shown, SHOWN_MAX_CHARS)
    }
}

/// A function that runs a request. Dropping its future ends every process that it started.
pub(crate) type Job = Box<dyn FnOnce(Call) -> Running + Send>;

/// Makes a job that runs blocking work on its own thread and returns the work's record.
pub(crate) fn work(work: impl FnOnce(&Machine, Act, &Limit) -> Record + Send + 'static) -> Job {
    Box::new(|call| Box::pin(call.work(work)))
}

/// The future of a running job: it returns the work that finds out what the run changed.
pub(crate) type Running = Pin<Box<dyn Future<Output = Result<Look, Stopped>> + Send>>;

/// The work after a run that finds out what the run changed, on a blocking thread; returns the outcome.
pub(crate) type Look = Box<dyn FnOnce(&Machine, &Limit) -> Outcome + Send>;

/// The outcome of a run: the call's record, or what waits for approval: changes, or a further run with more
/// permissions.
pub(crate) enum Outcome {
    /// The call is over, and this is its record.
    Done(Record),
    /// The changes are not applied yet.
    Pending(Box<Pending>),
}

/// The observed changes of a run that are not applied yet, or the permissions that a further run needs. Dropping it
/// discards the changes.
#[derive(Debug)]
pub(crate) struct Pending {
    /// The effects as they were observed.
    pub(crate) effects: CallEffects,
    /// The question that must be answered before they are applied; `None` if they need no approval.
    pub(crate) question: Option<Question>,
    pub(crate) next: Next,
}

/// What the approval of a pending call leads to: its changes are committed, or it runs again with more permissions.
#[derive(Debug)]
pub(crate) enum Next {
    /// The changes are applied.
    Commit(Box<dyn Staged>),
    /// The call runs again with these permissions.
    RunAgain(Allowed),
}

/// What the user's approval lets a run do besides changing files in a view.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Allowed {
    pub(crate) reach: Reach,
    /// Files and folders that the run may change directly; `None` for a run in a view.
    pub(crate) places: Option<Vec<ApprovedPlace>>,
    /// Places with secrets that the run may read.
    pub(crate) readable: Vec<PathBuf>,
    /// Whether the run may fill the disk.
    pub(crate) fills_disk: bool,
}

/// Changes that a run has made in a view or prepared, and that can be applied once they are approved.
pub(crate) trait Staged: fmt::Debug + Send {
    /// Applies the approved changes and returns the record of the call.
    fn commit(self: Box<Self>, machine: &Machine, limit: &Limit) -> Record;
}

/// Work after a run that has nothing to find out and returns this record.
pub(crate) fn done(record: Record) -> Look {
    Box::new(move |_, _| Outcome::Done(record))
}

/// The state that all tools share: configuration, protected places, journal and sandbox.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) config: ToolConfig,
    pub(crate) protected: Protected,
    /// What sandboxed commands may read.
    pub(crate) read_allowlist: Arc<ReadAllowlist>,
    pub(crate) child_environment: Vec<(String, OsString)>,
    /// The undo journal.
    pub(crate) journal: Option<Journal>,
    /// The user's rules; `None` without a data folder.
    pub(crate) rules: Option<RuleBook>,
    /// Bytes of evidence stored since the store was last swept.
    pub(crate) unswept: AtomicU64,
    pub(crate) calls: Calls,
    /// The callback for a call that is about to act in a way that the undo journal does not record.
    pub(crate) unrecorded: OnceLock<Unrecorded>,
}

/// A callback that is called with the ids of a task and a call.
type TellCall = dyn Fn(&TaskId, &EvidenceId) + Send + Sync;

/// Wraps the callback that learns of calls the undo journal does not record, so that the machine's state can hold it.
pub(crate) struct Unrecorded(pub(crate) Box<TellCall>);

impl fmt::Debug for Unrecorded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Unrecorded")
    }
}

impl Machine {
    /// The shared state for this configuration: protected places, journal and environment of programs. Begins to test
    /// the sandbox.
    pub(crate) fn new(config: ToolConfig) -> Self {
        let mut protected = Protected::new(&config.environment, &config.protected);
        protected.trusts_model = config.trusts_model;
        let child_environment = process::environment(&config);
        let journal = config.undo.clone().map(|undo| Journal::new(undo, protected.clone()));
        let rules = config.data_dir.as_ref().map(RuleBook::new);
        // It takes some milliseconds, during which the first request to a model can be sent.
        fence::try_early();
        let read_allowlist = Arc::new(ReadAllowlist::new(&protected));
        let (unswept, calls) = Default::default();
        let unrecorded = OnceLock::new();
        Self { config, protected, read_allowlist, child_environment, journal, rules, unswept, calls, unrecorded }
    }

    /// Tells the callback that a call is about to act in a way that the undo journal does not record.
    pub(crate) fn announce(&self, source: &Source) {
        if let Some(Unrecorded(tell)) = self.unrecorded.get() {
            tell(&source.task, &source.call);
        }
    }

    /// The order to run a program in this sandbox, in a view or without, or without a sandbox, as `held` says.
    pub(crate) fn order(&self, invocation: Invocation, fence: Fence, held: Held) -> Order {
        let order = invocation.order(&self.config, &self.read_allowlist, &self.child_environment, fence);
        match held {
            Held::Not => Order { is_held: false, ..order },
            Held::Fenced => order,
            Held::InView(view) => Order { view: Some(view), ..order },
        }
    }

    /// Which parts of the sandbox work on this machine; the first call tests them and blocks meanwhile.
    pub(crate) fn fence(&self) -> FenceReport {
        fence::report()
    }
}

/// What the job of a call gets: the machine, deadline, journal entry and permissions, but not the tool's input, which
/// the job holds itself.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) machine: Arc<Machine>,
    pub(crate) deadline: Deadline,
    /// The call's entry in the undo journal.
    pub(crate) act: Act,
    /// The permissions approved after an earlier run.
    pub(crate) allowed: Allowed,
    /// Whether this machine has a sandbox.
    pub(crate) is_held: bool,
    /// Whether every change needs approval.
    pub(crate) confirm: bool,
    pub(crate) source: Source,
}

/// The task, tool, call and target by which the undo journal identifies a call.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    pub(crate) task: TaskId,
    pub(crate) call: EvidenceId,
    pub(crate) tool: String,
    /// What it acts on, in one line.
    pub(crate) target: String,
}

impl Source {
    /// What identifies this call in a journal entry: task, tool, call and target.
    pub(crate) fn subject(&self) -> Subject<'_> {
        Subject { task: &self.task, tool: &self.tool, call: &self.call.0, what: &self.target }
    }
}

impl Call {
    /// Runs blocking work of the call on its own thread, and returns the record that it gives.
    pub(crate) async fn work(
        self,
        work: impl FnOnce(&Machine, Act, &Limit) -> Record + Send + 'static,
    ) -> Result<Look, Stopped> {
        let Self { machine, deadline, act, .. } = self;
        deadline.blocking(move |limit| work(&machine, act, limit)).await.map(done)
    }

    /// Runs a program of the system without a sandbox, since it needs a socket or group that the sandbox denies, for at
    /// most `time`. Its arguments are fixed or approved.
    pub(crate) async fn ask_system(&self, invocation: Invocation, time: Duration) -> io::Result<Ended> {
        self.start(invocation, Fence::default(), Held::Not, time).await
    }

    /// Runs a program as part of the call, and returns its end and output; it is ended after `time` or at the call's
    /// deadline.
    pub(crate) async fn start(
        &self,
        invocation: Invocation,
        fence: Fence,
        held: Held,
        time: Duration,
    ) -> io::Result<Ended> {
        process::run(&self.machine.config, self.order(invocation, fence, held), time.min(self.deadline.left())).await
    }

    /// The order to run a program of this call in this sandbox, with the machine's limits, but without one on disk
    /// space if that is approved.
    pub(crate) fn order(&self, invocation: Invocation, fence: Fence, held: Held) -> Order {
        let mut order = self.machine.order(invocation, fence, held);
        if self.allowed.fills_disk {
            order.limits.disk_bytes = u64::MAX;
        }
        order
    }
}

/// How a running program is restricted: not at all, by the sandbox, or by the sandbox in a view.
#[derive(Debug)]
pub(crate) enum Held {
    /// The program runs without a sandbox.
    Not,
    /// The program runs in its sandbox.
    Fenced,
    /// The program runs in its sandbox, in a view.
    InView(Arc<View>),
}

/// The time limit of a call, with the progress meter of its work.
#[derive(Debug, Clone)]
pub(crate) struct Deadline {
    started: Instant,
    time: Duration,
    pub(crate) meter: Arc<Meter>,
}

impl Deadline {
    /// A deadline this long from now.
    pub(crate) fn after(time: Duration) -> Self {
        Self { started: Instant::now(), time, meter: Arc::default() }
    }

    /// The time since the call began.
    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// The time until the deadline; zero once it has passed.
    pub(crate) fn left(&self) -> Duration {
        self.time.saturating_sub(self.elapsed())
    }

    /// Runs blocking work on its own thread, and tells it to stop at the deadline.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Limit) -> T + Send + 'static,
    ) -> Result<T, Stopped> {
        blocking(self.left(), &self.meter, work).await
    }
}

/// The description of a built-in tool.
pub(crate) fn spec(name: &str, class: ToolClass, priority: u8, description: &str, input_schema: Value) -> ToolSpec {
    ToolSpec { name: name.to_owned(), description: description.to_owned(), class, input_schema, priority }
}
