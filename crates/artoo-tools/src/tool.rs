//! What the registry knows of every tool: its name and schema, and a request read as a job to ask about and to run.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use artoo_proto::{EffectClass, ToolClass, ToolSpec};
use serde_json::Value;

use crate::blocked::Named;
use crate::config::ToolConfig;
use crate::consent::{Footprint, Tasks};
use crate::fence::{self, Fence, FenceReport, Sight};
use crate::limit::{Limit, Stopped, blocking};
use crate::process::{self, Ended, Invocation, Order};
use crate::protect::Protected;
use crate::record::Record;
use crate::recording::{Recorder, Recording};
use crate::rules::RuleBook;
use crate::undo::{Act, Journal};

/// Why a call that only creates is asked about under [`artoo_proto::ToolOrder::confirm`].
pub(crate) const CAUTION: &str = "caution is advised for this step, and the call is not read-only";

/// One tool of this machine.
pub(crate) trait Tool: fmt::Debug + Send + Sync {
    /// What is said of it to people and models.
    fn spec(&self) -> ToolSpec;

    /// Reads a request; may look at the disk, changes nothing. `Err` is the record that ends the call.
    fn read(&self, machine: &Machine, input: &Value) -> Result<Box<dyn Job>, Box<Record>>;
}

/// A request that makes sense.
pub(crate) trait Job: Send + Sync {
    /// What it acts on, in one line.
    fn target(&self) -> String;

    /// The paths it would use, absolute.
    fn paths(&self) -> Vec<PathBuf>;

    /// The simple commands it consists of, however they are spelled; none where it is no command line.
    fn commands(&self) -> Vec<Vec<String>> {
        Vec::new()
    }

    /// What it may do to the machine.
    fn class(&self) -> EffectClass;

    /// What it changes, as far as that is known; `None` for a call that changes nothing.
    fn footprint(&self) -> Option<Footprint> {
        let named = Named { places: self.paths(), ..Named::default() };
        (self.class() != EffectClass::ReadOnly).then_some(Footprint::Named { named, is_destructive: true })
    }

    /// Whether it reaches other machines, in words for the person who is asked, after "it".
    fn network(&self, _: &Machine) -> String {
        "may reach the network".to_owned()
    }

    /// What a person must be asked before it runs; `None` when nobody must.
    fn question(&self, machine: &Machine, said: &Said<'_>) -> Option<Question>;

    /// How what it changes is kept for undo.
    fn recording(&self, _: &Machine) -> Recording {
        Recording::None
    }

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
#[derive(Debug, Clone)]
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
    /// What its commands may see beside them.
    pub(crate) sight: Arc<Sight>,
    pub(crate) child_environment: Vec<(String, OsString)>,
    /// Where what is changed is kept for undo.
    pub(crate) journal: Option<Journal>,
    /// What is remembered of the tasks under way.
    pub(crate) tasks: Tasks,
    /// Where there is a data folder to keep them in.
    pub(crate) rules: Option<RuleBook>,
    /// Bytes of evidence kept since its store was last swept.
    pub(crate) unswept: AtomicU64,
}

impl Machine {
    pub(crate) fn new(config: ToolConfig) -> Self {
        let mut protected = Protected::new(&config.environment, &config.protected);
        protected.trusts_model = config.trusts_model;
        let child_environment = process::environment(&config);
        let journal = config.undo.clone().map(|undo| Journal::new(undo, protected.clone()));
        let rules = config.data_dir.as_ref().map(RuleBook::new);
        let (tasks, unswept) = (Tasks::default(), AtomicU64::new(0));
        // It takes some milliseconds, in which the first call of a model can be on its way.
        fence::try_early();
        let sight = Arc::new(Sight::new(&protected));
        Self { config, protected, sight, child_environment, journal, tasks, rules, unswept }
    }

    /// What this machine can hold a command to. Waits until that has been tried: nothing is decided before.
    pub(crate) fn fence(&self) -> FenceReport {
        fence::report()
    }

    /// Whether a program can have changed nothing but files in the places it was given. `network`: it was let onto it.
    pub(crate) fn has_held(&self, network: bool, ended: &std::io::Result<Ended>) -> bool {
        self.fence().holds && (!network || ended.as_ref().is_ok_and(|ended| ended.stayed_off))
    }
}

/// A call under way: the machine, and the time that is left.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) machine: Arc<Machine>,
    pub(crate) watch: Watch,
    pub(crate) recorder: Recorder,
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

    /// Work that changes files, with what records it.
    pub(crate) async fn act(
        self,
        class: EffectClass,
        work: impl FnOnce(&Machine, Act, &Limit) -> Record + Send + 'static,
    ) -> Result<Record, Stopped> {
        let recorder = self.recorder.clone();
        self.work(move |machine, limit| match recorder.begin(machine, limit) {
            Ok(act) => work(machine, act, limit),
            Err(record) => record.class(class),
        })
        .await
    }

    /// Runs a program in a fence, for `time` or as long as is left.
    pub(crate) async fn run(&self, invocation: Invocation, fence: Fence, time: Duration) -> std::io::Result<Ended> {
        self.start(invocation, fence, true, time).await
    }

    /// Runs a program of the system's own, with arguments of ours or what a person allowed: what it works on lies behind a
    /// socket, or belongs to a group that it alone gets, and a fence would keep it from both.
    pub(crate) async fn ask_system(&self, invocation: Invocation, time: Duration) -> std::io::Result<Ended> {
        self.start(invocation, Fence::default(), false, time).await
    }

    async fn start(
        &self,
        invocation: Invocation,
        fence: Fence,
        is_held: bool,
        time: Duration,
    ) -> std::io::Result<Ended> {
        let Machine { config, sight, child_environment, .. } = &*self.machine;
        let order = Order { is_held, ..invocation.order(config, sight, child_environment, fence) };
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

/// What is told of a tool that works on files alone, after "it".
pub(crate) const NO_NETWORK: &str = "uses no network";

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
