//! What the registry knows of every tool: its name and schema, and a request read as a job to ask about and to run.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use artoo_proto::{EffectClass, ToolClass, ToolSpec};
use serde_json::Value;

use crate::config::ToolConfig;
use crate::fence::{self, Fence, FenceReport};
use crate::limit::{Limit, Stopped, blocking};
use crate::process::{self, Ended, Invocation};
use crate::protect::Protected;
use crate::record::Record;

/// Why a call that only creates is asked about under [`crate::CallContext::confirm`].
pub(crate) const CAUTION: &str = "caution is advised for this step, and the call is not read-only";

/// One tool of this machine.
pub(crate) trait Tool: fmt::Debug + Send + Sync {
    /// What is said of it to people and models.
    fn spec(&self) -> ToolSpec;

    /// Reads a request; may look at the disk, changes nothing. `Err` is the record that ends the call.
    fn read(&self, machine: &Machine, input: &Value) -> Result<Box<dyn Job>, Box<Record>>;
}

/// A request that makes sense.
pub(crate) trait Job: Send {
    /// What it acts on, in one line.
    fn target(&self) -> String;

    /// The paths it would use, absolute.
    fn paths(&self) -> Vec<PathBuf>;

    /// What it may do to the machine.
    fn class(&self) -> EffectClass;

    /// What a person must be asked before it runs; `None` when nobody must.
    fn question(&self, machine: &Machine, said: &Said<'_>) -> Option<Question>;

    /// Carries it out. Dropping the future ends whatever it started.
    fn run(self: Box<Self>, call: Call) -> Running;
}

/// What the person said that decides whether to ask.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Said<'a> {
    /// Caution: a call that is not read-only asks even if it only creates.
    pub(crate) confirm: bool,
    /// The task in the person's own words.
    #[cfg_attr(not(feature = "web"), expect(dead_code, reason = "only the network asks for them"))]
    pub(crate) words: &'a str,
}

/// A job at work.
pub(crate) type Running = Pin<Box<dyn Future<Output = Result<Record, Stopped>> + Send>>;

/// What a person is asked.
#[derive(Debug)]
pub(crate) struct Question {
    /// The bytes the consent is for.
    pub(crate) text: String,
    /// The program that would run, where one is known.
    pub(crate) program: PathBuf,
    /// Files whose content the consent is for, too.
    pub(crate) files: Vec<PathBuf>,
    pub(crate) shown: String,
    pub(crate) effects: Vec<String>,
    pub(crate) reason: String,
}

/// What every tool needs of this machine.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) config: ToolConfig,
    pub(crate) protected: Protected,
    pub(crate) child_environment: Vec<(String, OsString)>,
    pub(crate) fence: FenceReport,
}

impl Machine {
    pub(crate) fn new(config: ToolConfig) -> Self {
        let protected = Protected::new(&config.environment, &config.protected);
        let child_environment = process::environment(&config);
        Self { config, protected, child_environment, fence: fence::report() }
    }
}

/// A call under way: the machine, and the time that is left.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) machine: Arc<Machine>,
    pub(crate) watch: Watch,
}

impl Call {
    /// Work that blocks and ends in a record.
    pub(crate) async fn work(
        &self,
        work: impl FnOnce(&Machine, &Limit) -> Record + Send + 'static,
    ) -> Result<Record, Stopped> {
        let machine = Arc::clone(&self.machine);
        self.watch.blocking(move |limit| work(&machine, limit)).await
    }

    /// Runs a program in a fence, for `time` or as long as is left.
    pub(crate) async fn run(&self, invocation: Invocation, fence: Fence, time: Duration) -> std::io::Result<Ended> {
        self.start(invocation, Some(fence), time).await
    }

    /// Runs a program of the system's own, with arguments of ours or what a person allowed: what it works on lies behind a
    /// socket, or belongs to a group that it alone gets, and a fence would keep it from both.
    pub(crate) async fn ask_system(&self, invocation: Invocation, time: Duration) -> std::io::Result<Ended> {
        self.start(invocation, None, time).await
    }

    async fn start(&self, invocation: Invocation, fence: Option<Fence>, time: Duration) -> std::io::Result<Ended> {
        let Machine { config, protected, child_environment, .. } = &*self.machine;
        let order = invocation.order(config, protected, child_environment, fence);
        process::run(config, order, time.min(self.watch.left())).await
    }
}

/// One call's time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Watch {
    pub(crate) started: Instant,
    pub(crate) time: Duration,
}

impl Watch {
    pub(crate) fn left(&self) -> Duration {
        self.time.saturating_sub(self.started.elapsed())
    }

    /// Work on a thread of its own, told to stop when the time is up.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Limit) -> T + Send + 'static,
    ) -> Result<T, Stopped> {
        blocking(self.left(), work).await
    }
}

/// A built-in tool's spec.
pub(crate) fn spec(name: &str, class: ToolClass, priority: u8, description: &str, input_schema: Value) -> ToolSpec {
    ToolSpec { name: name.to_owned(), description: description.to_owned(), class, input_schema, priority }
}

/// The record of a request that makes no sense, with its causes, each once.
pub(crate) fn unusable(problem: &dyn std::error::Error) -> Record {
    let source = problem.source().map(|source| format!(": {source}")).unwrap_or_default();
    let text = problem.to_string();
    Record::unusable(if text.ends_with(&source) { text } else { format!("{text}{source}") })
}
