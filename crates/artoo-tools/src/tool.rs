//! The interface between tools and the registry: a tool reads a request, declares its effects, and runs it.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use artoo_proto::{TaskId, ToolClass, ToolSpec, escape};
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

/// Longest text of a file shown in a question, in characters. A command is shown whole.
const SHOWN_MAX_CHARS: usize = 2000;

/// One tool of this machine.
pub(crate) trait Tool: fmt::Debug + Send + Sync {
    /// The description for users and models.
    fn spec(&self) -> ToolSpec;

    /// Reads a request; may read the disk, changes nothing. `Err` is the record of an invalid request.
    fn read(&self, machine: &Machine, user: &UserContext<'_>, input: &Value) -> Result<Request, Box<Record>>;
}

/// What the user and the plan said that decides whether a call needs approval.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UserContext<'a> {
    /// Whether a call needs approval even if it only creates files.
    pub(crate) confirm: bool,
    /// The task in the user's own words.
    #[cfg_attr(not(feature = "web"), expect(dead_code, reason = "only web searches are compared with it"))]
    pub(crate) request: &'a str,
}

/// A valid request.
pub(crate) struct Request {
    /// What it acts on, in one line.
    pub(crate) target: String,
    pub(crate) effects: CallEffects,
    /// The question that must be answered before it runs; `None` if it needs no approval.
    pub(crate) question: Option<Question>,
    pub(crate) job: Job,
}

/// The question whether a call may have its effects.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    /// The bytes that an approval is bound to.
    pub(crate) text: String,
    /// Files whose content an approval is bound to.
    pub(crate) files: Vec<PathBuf>,
    /// The call as the user sees it.
    pub(crate) shown: String,
    /// Why it needs approval.
    pub(crate) reason: String,
    /// What is shown on request, a line each.
    pub(crate) details: Vec<String>,
}

impl Question {
    /// The beginning and end of a call that is too long to be shown whole.
    pub(crate) fn shortened(shown: &str) -> String {
        escape::shorten(shown, SHOWN_MAX_CHARS)
    }
}

/// Runs a request. Dropping the future ends every process that it started.
pub(crate) type Job = Box<dyn FnOnce(Call) -> Running + Send>;

/// A job of blocking work that gives the record.
pub(crate) fn work(work: impl FnOnce(&Machine, Act, &Limit) -> Record + Send + 'static) -> Job {
    Box::new(|call| Box::pin(call.work(work)))
}

/// A running job.
pub(crate) type Running = Pin<Box<dyn Future<Output = Result<Look, Stopped>> + Send>>;

/// The blocking work after a run that finds out what it did.
pub(crate) type Look = Box<dyn FnOnce(&Machine, &Limit) -> Outcome + Send>;

/// How a run ended.
pub(crate) enum Outcome {
    /// It is over, and this is its record.
    Done(Record),
    /// Its changes are not applied yet.
    Pending(Box<Pending>),
}

/// The observed changes of a run that are not applied yet. Dropping it discards them.
#[derive(Debug)]
pub(crate) struct Pending {
    /// The effects as they were observed.
    pub(crate) effects: CallEffects,
    /// The question that must be answered before they are applied; `None` if they need no approval.
    pub(crate) question: Option<Question>,
    pub(crate) next: Next,
}

/// What an approval of a pending call does.
#[derive(Debug)]
pub(crate) enum Next {
    /// Its changes are applied.
    Commit(Box<dyn Staged>),
    /// It runs again, with this allowed.
    RunAgain(Allowed),
}

/// What a run may do besides changing files in a view.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Allowed {
    pub(crate) reach: Reach,
    /// Files and folders that it may change directly; `None` for a run in a view.
    pub(crate) places: Option<Vec<ApprovedPlace>>,
    /// Places with secrets that it may read.
    pub(crate) readable: Vec<PathBuf>,
    /// Whether it may fill the disk.
    pub(crate) fills_disk: bool,
}

/// Changes that can be applied.
pub(crate) trait Staged: fmt::Debug + Send {
    /// Applies the changes and gives the record of the call.
    fn commit(self: Box<Self>, machine: &Machine, limit: &Limit) -> Record;
}

/// A look with nothing left to find out.
pub(crate) fn done(record: Record) -> Look {
    Box::new(move |_, _| Outcome::Done(record))
}

/// What every tool needs of this machine.
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
}

impl Machine {
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
        Self { config, protected, read_allowlist, child_environment, journal, rules, unswept, calls }
    }

    /// A program on this machine, held like this.
    pub(crate) fn order(&self, invocation: Invocation, fence: Fence, held: Held) -> Order {
        let order = invocation.order(&self.config, &self.read_allowlist, &self.child_environment, fence);
        match held {
            Held::Not => Order { is_held: false, ..order },
            Held::Fenced => order,
            Held::InView(view) => Order { view: Some(view), ..order },
        }
    }

    /// What the sandbox of this machine can enforce. Blocks until that has been tried.
    pub(crate) fn fence(&self) -> FenceReport {
        fence::report()
    }
}

/// A call in progress.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) machine: Arc<Machine>,
    pub(crate) deadline: Deadline,
    /// The call's entry in the undo journal.
    pub(crate) act: Act,
    /// What was approved after an earlier run.
    pub(crate) allowed: Allowed,
    /// Whether this machine has a sandbox.
    pub(crate) is_held: bool,
    /// Whether every change needs approval.
    pub(crate) confirm: bool,
    pub(crate) source: Source,
}

/// Which call of which task it is, for the undo journal.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    pub(crate) task: TaskId,
    pub(crate) tool: String,
    /// What it acts on, in one line.
    pub(crate) target: String,
}

impl Source {
    pub(crate) fn subject(&self) -> Subject<'_> {
        Subject { task: &self.task, tool: &self.tool, what: &self.target }
    }
}

impl Call {
    /// Runs blocking work that gives the record.
    pub(crate) async fn work(
        self,
        work: impl FnOnce(&Machine, Act, &Limit) -> Record + Send + 'static,
    ) -> Result<Look, Stopped> {
        let Self { machine, deadline, act, .. } = self;
        deadline.blocking(move |limit| work(&machine, act, limit)).await.map(done)
    }

    /// Runs a program of the system without a sandbox, with arguments of artoo's own or approved by the user: it needs a
    /// socket or a group that a sandbox would deny.
    pub(crate) async fn ask_system(&self, invocation: Invocation, time: Duration) -> io::Result<Ended> {
        self.start(invocation, Fence::default(), Held::Not, time).await
    }

    /// Starts a program and waits for its end.
    pub(crate) async fn start(
        &self,
        invocation: Invocation,
        fence: Fence,
        held: Held,
        time: Duration,
    ) -> io::Result<Ended> {
        process::run(&self.machine.config, self.order(invocation, fence, held), time.min(self.deadline.left())).await
    }

    /// A program of this call, held like this.
    pub(crate) fn order(&self, invocation: Invocation, fence: Fence, held: Held) -> Order {
        let mut order = self.machine.order(invocation, fence, held);
        if self.allowed.fills_disk {
            order.limits.disk_bytes = u64::MAX;
        }
        order
    }
}

/// What holds a program that runs.
#[derive(Debug)]
pub(crate) enum Held {
    /// Nothing.
    Not,
    /// Its fence.
    Fenced,
    /// Its fence, in a view.
    InView(Arc<View>),
}

/// The time limit of a call, and the meter of its work.
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

    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

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

/// The spec of a built-in tool.
pub(crate) fn spec(name: &str, class: ToolClass, priority: u8, description: &str, input_schema: Value) -> ToolSpec {
    ToolSpec { name: name.to_owned(), description: description.to_owned(), class, input_schema, priority }
}
