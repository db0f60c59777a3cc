//! Building a runtime, and closing it without losing stored data.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Instant, SystemTime};

use artoo_audit::{AuditConfig, AuditError, AuditService, AuditSummary, REPORT_EVERY};
use artoo_bus::{TAP_CAPACITY, Tap};
use artoo_llm::Model;
use artoo_mkct::memory::OpenError;
use artoo_proto::{AuditReport, Environment, TaskId, ToolSpec, UserRequest};
use artoo_tools::undo::UndoConfig;
use artoo_tools::{Activity, Registry, ToolConfig};
use tokio::sync::{broadcast, mpsc, oneshot};
use tokio::task::JoinHandle;
use uuid::Uuid;

use super::driver::{Command, Driver};
use super::environment::{EnvironmentError, detect_environment};
use super::handle::{TaskHandle, TaskRequest};
use super::ledgers::Ledgers;
use super::operator::{Operator, Unattended};
use super::perform::EffectRunner;
use super::reflex::Reflex;
use super::store::{self, Store};
use crate::limits::HARD_LIMIT_MS;
use crate::memory::{Memory, MemoryView};
use crate::system::SystemConfig;

/// Maximum number of events that a display has not read yet; further ones overwrite the oldest.
const EVENTS: usize = 1_024;
/// Characters of a tool's output carried in messages: whole answers, not excerpts; prompts cut it further.
#[doc(alias = "limit")]
pub const OUTPUT_CHARS: usize = 200_000;

/// Name of the folder for undo inside the data folder.
pub const UNDO: &str = "undo";

/// The runtime could not start, or has stopped.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    /// The home folder or the current folder could not be determined.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// The data folder or the input log can't be created or written.
    #[error("the data folder {path} can't be used; choose another with --data-dir")]
    DataDir {
        /// The data folder, or the file of the input log.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        source: std::io::Error,
    },
    /// The disk of the data folder is full.
    #[error("the disk is full: nothing can be kept in {path}")]
    DiskFull {
        /// The data folder.
        path: PathBuf,
    },
    /// The audit log can't be written; artoo doesn't run without it.
    #[error("the audit log can't be written, and artoo does not run unobserved")]
    Audit(#[from] AuditError),
    /// The stored memory can't be opened.
    #[error("the memory can't be opened; move memory.journal away to start with an empty one")]
    Memory(#[from] OpenError),
    /// The runtime has stopped.
    #[error("the runtime has stopped")]
    Stopped,
}

/// Builds a runtime. Every part has a default that works offline.
#[derive(Default)]
pub struct Builder {
    model: Option<Arc<dyn Model>>,
    operator: Option<Arc<dyn Operator>>,
    environment: Option<Environment>,
    tools: Option<ToolConfig>,
    data_dir: Option<PathBuf>,
    profile: Option<artoo_ggs::Profile>,
    input_log: Option<PathBuf>,
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

    /// Sets the decision parameters of the Solver (R7). Default: those of the specification, version 0.8.
    #[must_use]
    pub fn profile(mut self, profile: artoo_ggs::Profile) -> Self {
        self.profile = Some(profile);
        self
    }

    /// Writes every input of the System to this file, one JSON line each, so that the run can be replayed.
    #[must_use]
    pub fn input_log(mut self, path: impl Into<PathBuf>) -> Self {
        self.input_log = Some(path.into());
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
    /// [`RuntimeError`] if the environment can't be detected, or if the data folder, the audit log, the stored memory
    /// or the input log can't be used.
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
        let environment = self.environment.map_or_else(|| detect_environment(None), Ok)?;
        let mut tool_config = self.tools.unwrap_or_else(|| {
            let mut config = ToolConfig::new(environment.clone());
            config.output_max_chars = OUTPUT_CHARS;
            config
        });
        let (commands, receiver) = mpsc::unbounded_channel();
        let (events, _) = broadcast::channel(EVENTS);
        let mut notes = Vec::new();
        let (mut tap, mut audit, mut store) = (None, None, None);
        let mut memory = Memory::new(artoo_mkct::Engine::new());
        if let Some(dir) = &self.data_dir {
            tool_config = tools_in(dir, tool_config)?;
            let (sender, receiver) = artoo_bus::tap(TAP_CAPACITY);
            let auditor = audit_in(dir, receiver)?;
            notes.extend(auditor.gaps().iter().map(|gap| format!("audit log: {gap} (artoo audit)")));
            audit = Some(auditor);
            tap = Some(sender);
            let (opened, engine, found) = store::open(dir)?;
            (memory, store) = (Memory::new(engine), Some(opened));
            notes.extend(found);
        }
        let tools = Arc::new(Registry::detect(tool_config));
        notes.extend(tools.problems().iter().map(|problem| format!("a tool of yours is not offered: {problem}")));
        let config = SystemConfig {
            environment: environment.clone(),
            tools: tools.specs().into(),
            profile: self.profile.unwrap_or_default(),
            seed: self.seed.unwrap_or_else(Uuid::new_v4),
        };
        let input_log = self.input_log.map(|path| open_input_log(&path, &config)).transpose()?;
        let runner = EffectRunner {
            model: self.model.unwrap_or_else(|| Arc::new(Reflex)),
            operator: self.operator.unwrap_or_else(|| Arc::new(Unattended)),
            environment,
            tools,
            ledgers: Ledgers::default(),
        };
        let runner = Arc::new(runner);
        let driver = Driver {
            system: crate::System::new(config, memory),
            runner: Arc::clone(&runner),
            commands: receiver,
            sender: commands.clone(),
            tap,
            events: events.clone(),
            store,
            input_log,
            started: Instant::now(),
            work: BTreeMap::new(),
            waiting: BTreeMap::new(),
        };
        Ok(System {
            commands,
            events,
            runner,
            driver: tokio::spawn(driver.run()),
            audit: Mutex::new(audit),
            notes,
            required,
            by_required,
        })
    }
}

/// The error as [`RuntimeError::DiskFull`] if the disk of the data folder is full.
pub(super) fn or_disk_full(error: RuntimeError, dir: &Path) -> RuntimeError {
    if is_disk_full(&error) { RuntimeError::DiskFull { path: dir.to_owned() } } else { error }
}

/// Files and folders in a data folder that only a run with an audit log leaves.
#[must_use]
pub fn run_traces(dir: &Path) -> Vec<PathBuf> {
    ["memory.journal", "evidence", UNDO].map(|name| dir.join(name)).into()
}

/// Starts the auditor, which writes the events of the tap to the audit log of a data folder.
pub(super) fn audit_in(dir: &Path, tap: Tap) -> Result<AuditService, AuditError> {
    let clock = Box::new(|| SystemTime::now().into());
    let config = AuditConfig { dir: dir.to_owned(), traces: run_traces(dir), clock, report_every: REPORT_EVERY };
    artoo_audit::spawn(tap, config)
}

/// Whether an error, or one of its sources, is a full disk or an exceeded quota.
fn is_disk_full(error: &(dyn Error + 'static)) -> bool {
    let is_full = |error: &io::Error| matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded);
    error.downcast_ref::<io::Error>().is_some_and(is_full) || error.source().is_some_and(is_disk_full)
}

/// Adds a data folder, which is created if missing, to the configuration of the tools: for undo, evidence and rules.
///
/// # Errors
/// [`RuntimeError::DataDir`] if the folder can't be created or made private.
pub fn tools_in(dir: &Path, mut config: ToolConfig) -> Result<ToolConfig, RuntimeError> {
    make_private_dir(dir)?;
    config.protected.push(dir.to_owned());
    config.undo.get_or_insert_with(|| UndoConfig::new(dir.join(UNDO)));
    config.data_dir = Some(dir.to_owned());
    Ok(config)
}

/// Creates a folder with its parents if missing, and lets only the owner use it.
fn make_private_dir(path: &Path) -> Result<(), RuntimeError> {
    let failed = |source| RuntimeError::DataDir { path: path.to_owned(), source };
    fs::create_dir_all(path).map_err(failed)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(0o700)).map_err(failed)?;
    }
    Ok(())
}

/// Creates the input log, readable by the owner only, with the configuration of the System as its first line.
fn open_input_log(path: &Path, config: &SystemConfig) -> Result<File, RuntimeError> {
    use std::io::Write as _;
    let failed = |source| RuntimeError::DataDir { path: path.to_owned(), source };
    let mut options = OpenOptions::new();
    options.create(true).write(true).truncate(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let mut file = options.open(path).map_err(failed)?;
    let mut line = serde_json::to_vec(config).map_err(|error| failed(error.into()))?;
    line.push(b'\n');
    file.write_all(&line).map_err(failed)?;
    Ok(file)
}

/// A running artoo: starts tasks and gives access to their events, the memory and the audit report.
pub struct System {
    commands: mpsc::UnboundedSender<Command>,
    events: broadcast::Sender<Arc<artoo_bus::TapEvent>>,
    runner: Arc<EffectRunner>,
    driver: JoinHandle<Option<Store>>,
    // Taken when the runtime closes; the lock is never held across an await.
    audit: Mutex<Option<AuditService>>,
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

    /// The name of the model that answers the roles.
    #[must_use]
    pub fn model_name(&self) -> String {
        self.runner.model.name()
    }

    /// The tools that plans may use.
    #[must_use]
    pub fn tools(&self) -> Vec<ToolSpec> {
        self.runner.tools.specs()
    }

    /// The progress of the calls whose work is counted at this moment.
    #[must_use]
    pub fn activity(&self) -> Vec<Activity> {
        self.runner.tools.activity()
    }

    /// Starts a task from the user's words, with the default time limit and without earlier requests.
    #[must_use]
    pub fn run(&self, words: &str) -> TaskHandle {
        self.run_with(TaskRequest { words: words.to_owned(), ..TaskRequest::default() })
    }

    /// Starts a task from a request with what it refers to.
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

    /// The auditor's periodic reports that were not taken yet, oldest first.
    #[must_use]
    pub fn take_audit_reports(&self) -> Vec<AuditReport> {
        let audit = self.audit.lock().ok();
        audit.and_then(|audit| audit.as_ref().map(AuditService::take_reports)).unwrap_or_default()
    }

    /// What memory holds about the newest intents, at most `limit` of them; `None` if the memory is not available.
    ///
    /// # Errors
    /// [`RuntimeError::Stopped`] when the runtime ended.
    pub async fn memory(&self, limit: usize) -> Result<Option<MemoryView>, RuntimeError> {
        let (reply, view) = oneshot::channel();
        self.commands.send(Command::ViewMemory { limit, reply }).map_err(|_| RuntimeError::Stopped)?;
        view.await.map_err(|_| RuntimeError::Stopped)
    }

    /// Cancels open tasks, writes memory and the audit log to the disk, and reports what could not be stored.
    pub async fn close(self) -> CloseReport {
        let mut close = CloseReport::default();
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
