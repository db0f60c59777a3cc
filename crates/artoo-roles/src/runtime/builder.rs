//! Building a runtime, and closing it without losing stored data.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use artoo_audit::{AuditError, AuditService, AuditSummary};
use artoo_llm::Model;
use artoo_proto::{
    AuditReport, Environment, MemoryFeedback, MemoryFeedbackKind, Role, TaskId, ToolSpec, Usage, UserRequest,
};
use artoo_tools::{Activity, Registry, ToolConfig};
use tokio::sync::{broadcast, mpsc, oneshot};
use tokio::task::JoinHandle;
use uuid::Uuid;

use super::decisions::DecisionLog;
use super::driver::{Command, Driver, Waiting};
use super::environment::detect_environment;
use super::error::{RuntimeError, or_disk_full};
use super::handle::{TaskHandle, TaskRequest};
use super::ledgers::Ledgers;
use super::operator::{Operator, Unattended};
use super::perform::EffectRunner;
use super::reflex::Reflex;
use super::resume::Resuming;
use super::skills::Skills;
use super::store::Store;
use super::stores::{Stores, tools_in};
use super::wording::RuleWords;
use crate::limits::HARD_LIMIT_MS;
use crate::record::Record;
use crate::system::SystemConfig;

/// Maximum number of events that a display has not read yet; further ones overwrite the oldest.
const EVENTS: usize = 1_024;
/// Characters of a tool's output carried in messages: whole answers, not excerpts; prompts cut it further.
#[doc(alias = "limit")]
pub const OUTPUT_CHARS: usize = 200_000;

/// Builds a runtime. Every part has a default that works offline.
#[derive(Default)]
pub struct Builder {
    model: Option<Arc<dyn Model>>,
    reflex_first: bool,
    operator: Option<Arc<dyn Operator>>,
    environment: Option<Environment>,
    tools: Option<ToolConfig>,
    data_dir: Option<PathBuf>,
    without_memory: bool,
    profile: Option<artoo_ggs::Profile>,
    resume: Option<Record>,
    seed: Option<Uuid>,
    required: Vec<String>,
    by_required: bool,
}

impl Builder {
    /// Sets the model that answers the roles. Default: the embedded parser.
    #[must_use]
    pub fn model(mut self, model: impl Model + 'static) -> Self {
        self.model = Some(Arc::new(model));
        self
    }

    /// If `first` is true, the embedded parser answers what it understands in full, and the model the rest. Default:
    /// false.
    #[must_use]
    pub fn reflex_first(mut self, first: bool) -> Self {
        self.reflex_first = first;
        self
    }

    /// Sets the operator, who approves calls and answers questions. Default: [`Unattended`], which denies every
    /// approval.
    #[must_use]
    pub fn operator(mut self, operator: impl Operator + 'static) -> Self {
        self.operator = Some(Arc::new(operator));
        self
    }

    /// Sets the facts about the machine that roles see. Default: detected.
    #[must_use]
    pub fn environment(mut self, environment: Environment) -> Self {
        self.environment = Some(environment);
        self
    }

    /// Sets how tools run. Default: the tool configuration for the environment.
    #[must_use]
    pub fn tools(mut self, tools: ToolConfig) -> Self {
        self.tools = Some(tools);
        self
    }

    /// Sets the folder in which memory, undo and the audit log are stored. Without a folder, nothing is stored.
    #[must_use]
    pub fn data_dir(mut self, path: impl Into<PathBuf>) -> Self {
        self.data_dir = Some(path.into());
        self
    }

    /// Neither reads nor writes the memory of the data folder if `without` is true.
    #[must_use]
    pub fn without_memory(mut self, without: bool) -> Self {
        self.without_memory = without;
        self
    }

    /// Sets the decision parameters of the Solver (R7). Default: those of the specification, version 0.8.
    #[must_use]
    pub fn profile(mut self, profile: artoo_ggs::Profile) -> Self {
        self.profile = Some(profile);
        self
    }

    /// Resumes an interrupted task from its record, under the environment, profile and seed that it began with.
    /// [`System::resumed`] then gives its handle.
    #[must_use]
    pub fn resume(mut self, record: Record) -> Self {
        self.resume = Some(record);
        self
    }

    /// Sets the seed from which ids are derived. Default: random.
    #[must_use]
    pub fn seed(mut self, seed: Uuid) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Requires these checks of every task, besides the words of its request; with `only` they decide, and not the
    /// words. A check that can't be read ends the task.
    #[must_use]
    pub fn require(mut self, checks: Vec<String>, only: bool) -> Self {
        (self.required, self.by_required) = (checks, only);
        self
    }

    /// Starts the runtime on the current tokio runtime.
    ///
    /// # Errors
    /// [`RuntimeError`] if the environment can't be detected, if the data folder, the audit log or the stored memory can't
    /// be used, or if the task can't be resumed.
    pub fn start(self) -> Result<System, RuntimeError> {
        let dir = self.data_dir.clone();
        self.try_start().map_err(|error| match dir {
            Some(dir) => or_disk_full(error, &dir),
            None => error,
        })
    }

    /// Starts the runtime. Unlike `start`, it does not convert the errors of a full disk to `DiskFull`.
    fn try_start(self) -> Result<System, RuntimeError> {
        let (required, by_required) = (self.required, self.by_required);
        let resume = self.resume;
        let environment =
            resume.as_ref().map_or(self.environment, |record| Some(record.begun.config.environment.clone()));
        let environment = environment.map_or_else(|| detect_environment(None), Ok)?;
        let mut tool_config = self.tools.unwrap_or_else(|| default_tools(&environment));
        let (commands, receiver) = mpsc::unbounded_channel();
        let (events, _) = broadcast::channel(EVENTS);
        let mut stores = Stores::default();
        if let Some(dir) = &self.data_dir {
            tool_config = tools_in(dir, tool_config)?;
            stores = Stores::open(dir, self.without_memory, &commands)?;
        }
        let Stores { tap, audit, store, memory, mut notes } = stores;
        let stored_memory = store.as_ref().map(Store::memory);
        let tools = Arc::new(Registry::detect(tool_config));
        notes.extend(tools.problems().iter().map(|problem| format!("a tool of yours is not offered: {problem}")));
        let config = SystemConfig {
            environment: environment.clone(),
            tools: tools.specs().into(),
            profile: self.profile.unwrap_or_default(),
            seed: self.seed.unwrap_or_else(Uuid::new_v4),
        };
        let decisions = self.data_dir.as_deref().map(|dir| DecisionLog::new(dir, &config.profile));
        let model = self.model.unwrap_or_else(|| Arc::new(Reflex));
        let ledgers = Ledgers::default();
        let resuming =
            Resuming { record: resume.as_ref(), dir: self.data_dir.as_deref(), ledgers: &ledgers, tools: &tools };
        let (rebuilt, records) = resuming.rebuilt(config, &model.name(), memory, audit.as_ref())?;
        let (waiting, resumed) = waited(resume.as_ref(), rebuilt.usage, &commands, &events);
        let runner = Arc::new(EffectRunner {
            model,
            reflex_first: self.reflex_first,
            skills: Skills::new(stored_memory.as_ref()),
            operator: self.operator.unwrap_or_else(|| Arc::new(Unattended)),
            environment,
            tools,
            ledgers,
            records: records.clone(),
        });
        let driver = Driver {
            system: rebuilt.system,
            runner: Arc::clone(&runner),
            commands: receiver,
            sender: commands.clone(),
            tap,
            events: events.clone(),
            store,
            decisions,
            records,
            resumption: rebuilt.resumption,
            started: Instant::now(),
            uptime_ms: rebuilt.uptime_ms,
            effects: BTreeMap::new(),
            work: BTreeMap::new(),
            waiting,
            rules: RuleWords::default(),
        };
        Ok(System {
            commands,
            events,
            runner,
            driver: tokio::spawn(driver.run()),
            audit: Mutex::new(audit),
            stored_memory,
            resumed: Mutex::new(resumed),
            notes,
            required,
            by_required,
        })
    }
}

/// The configuration of the tools that the runtime uses if the caller gives none.
fn default_tools(environment: &Environment) -> ToolConfig {
    let mut config = ToolConfig::new(environment.clone());
    config.output_max_chars = OUTPUT_CHARS;
    config
}

/// The task of `record`, registered so that a caller can wait for its result, with its handle; empty and `None` without
/// a record.
fn waited(
    record: Option<&Record>,
    usage: BTreeMap<Role, Usage>,
    commands: &mpsc::UnboundedSender<Command>,
    events: &broadcast::Sender<Arc<artoo_bus::TapEvent>>,
) -> (BTreeMap<TaskId, Waiting>, Option<TaskHandle>) {
    let Some(record) = record else { return (BTreeMap::new(), None) };
    let (reply, outcome) = oneshot::channel();
    let (task_id, user_request) = (record.task_id().clone(), record.request().raw_input.clone());
    let waiting = BTreeMap::from([(task_id.clone(), Waiting { reply, usage, user_request })]);
    (waiting, Some(TaskHandle { task_id, commands: commands.clone(), events: events.subscribe(), outcome }))
}

/// A running artoo: starts tasks and gives access to their events, the memory and the audit report.
pub struct System {
    commands: mpsc::UnboundedSender<Command>,
    events: broadcast::Sender<Arc<artoo_bus::TapEvent>>,
    runner: Arc<EffectRunner>,
    driver: JoinHandle<Option<Store>>,
    // Taken when the runtime closes; the lock is never held across an await.
    audit: Mutex<Option<AuditService>>,
    stored_memory: Option<Arc<artoo_mkct::Memory>>,
    // Taken once.
    resumed: Mutex<Option<TaskHandle>>,
    notes: Vec<String>,
    required: Vec<String>,
    by_required: bool,
}

/// What the auditor reported, and what could not be stored, when a runtime closed.
#[derive(Debug, Default)]
pub struct CloseReport {
    /// The auditor's last report; `None` without a data folder, or if the report failed.
    pub report: Option<AuditReport>,
    /// What was written to the audit log; `None` without a data folder, or if the end of the log is not on the disk.
    pub audit: Option<AuditSummary>,
    /// Data that could not be stored, as texts for the user; empty if everything was.
    pub problems: Vec<String>,
}

impl System {
    /// Starts building a runtime with the default parts.
    #[must_use]
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Problems found at the start, as texts for the user, such as a damaged memory or a tool that can't be offered.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The name of the model that answers the roles' requests, for display.
    #[must_use]
    pub fn model_name(&self) -> String {
        self.runner.model.name()
    }

    /// The tools that plans may use.
    #[must_use]
    pub fn tools(&self) -> Vec<ToolSpec> {
        self.runner.tools.specs()
    }

    /// The progress of the running calls that report how much of their work is done.
    #[must_use]
    pub fn activity(&self) -> Vec<Activity> {
        self.runner.tools.activity()
    }

    /// Starts a task from the user's words, with the default time limit and without earlier requests.
    #[must_use]
    pub fn run(&self, words: &str) -> TaskHandle {
        self.run_with(TaskRequest { words: words.to_owned(), ..TaskRequest::default() })
    }

    /// Starts a task from a request with its earlier turns, material and time limit.
    #[must_use]
    pub fn run_with(&self, task: TaskRequest) -> TaskHandle {
        let slug: String = task.words.split_whitespace().take(3).collect::<Vec<_>>().join(" ");
        let task_id = TaskId::new(&slug, Uuid::new_v4());
        let request = UserRequest {
            task_id: task_id.clone(),
            raw_input: task.words,
            session: task.session,
            material: task.material,
            interactive: self.runner.operator.is_present(),
            hard_limit_ms: task.limit_ms.unwrap_or(HARD_LIMIT_MS),
            required: self.required.clone(),
            by_required: self.by_required,
        };
        let (reply, outcome) = oneshot::channel();
        let events = self.events.subscribe();
        // If the driver has ended, the handle reports that.
        drop(self.commands.send(Command::Submit { request, reply }));
        TaskHandle { task_id, commands: self.commands.clone(), events, outcome }
    }

    /// The auditor's report on everything since its last report; `None` without a data folder.
    ///
    /// # Errors
    /// [`RuntimeError::Audit`] if the auditor does not answer in time; [`RuntimeError::Stopped`] after a panic.
    pub fn audit_report(&self) -> Result<Option<AuditReport>, RuntimeError> {
        let audit = self.audit.lock().map_err(|_| RuntimeError::Stopped)?;
        audit.as_ref().map(AuditService::report).transpose().map_err(RuntimeError::Audit)
    }

    /// Takes the auditor's periodic reports that the caller has not taken yet, oldest first.
    #[must_use]
    pub fn take_audit_reports(&self) -> Vec<AuditReport> {
        let audit = self.audit.lock().ok();
        audit.and_then(|audit| audit.as_ref().map(AuditService::take_reports)).unwrap_or_default()
    }

    /// The handle of the task that this runtime resumed; `None` if it resumed none, or after the handle was taken once.
    #[must_use]
    pub fn resumed(&self) -> Option<TaskHandle> {
        self.resumed.lock().ok()?.take()
    }

    /// The stored memory; `None` without a data folder or memory.
    #[must_use]
    pub fn stored_memory(&self) -> Option<&artoo_mkct::Memory> {
        self.stored_memory.as_deref()
    }

    /// Passes the user's feedback on a task of this run or an earlier one through R7 (the Solver) to memory, and waits
    /// until it is synced to the disk. Returns the number of records that memory made of it: 0 if memory knows nothing
    /// of the task, or has the feedback already.
    ///
    /// # Errors
    /// [`RuntimeError::NotKept`] when the write failed, [`RuntimeError::Stopped`] when the runtime ended.
    pub async fn feedback(&self, task_id: TaskId, feedback: MemoryFeedbackKind) -> Result<usize, RuntimeError> {
        let (reply, records) = oneshot::channel();
        let message = MemoryFeedback { task_id, feedback };
        self.commands.send(Command::Feedback { message, reply }).map_err(|_| RuntimeError::Stopped)?;
        records.await.map_err(|_| RuntimeError::Stopped)?.map_err(RuntimeError::NotKept)
    }

    /// Cancels open tasks, writes memory and the audit log to the disk, and reports what could not be stored.
    pub async fn close(self) -> CloseReport {
        let mut close = CloseReport::default();
        // The store closes the memory, which no other code may use then.
        drop(self.stored_memory);
        let (closed, done) = oneshot::channel();
        if self.commands.send(Command::Close { closed }).is_ok() {
            drop(done.await);
        }
        let store = self.driver.await.unwrap_or_else(|_| {
            close.problems.push("the driver ended by a panic".to_owned());
            None
        });
        let audit = self.audit.into_inner().ok().flatten();
        let drained = tokio::task::spawn_blocking(move || {
            let memory = store.map_or(Ok(()), Store::close);
            let report = audit.as_ref().map(AuditService::report);
            (memory, report, audit.map(AuditService::close))
        });
        match drained.await {
            Ok((memory, report, summary)) => {
                close.problems.extend(memory.err().map(|error| format!("memory: {error}")));
                let mut problem = |error: AuditError| close.problems.push(format!("audit: {error}"));
                close.report = report.and_then(|report| report.map_err(&mut problem).ok());
                close.audit = summary.and_then(|summary| summary.map_err(&mut problem).ok());
            }
            Err(_) => close.problems.push("closing the stores panicked".to_owned()),
        }
        close
    }
}
