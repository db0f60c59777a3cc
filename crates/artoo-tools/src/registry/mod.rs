//! The one door to every tool: who may call what, what must be asked first, and the record of what happened.

mod job;
mod keep;
mod leave;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant, SystemTime};

use artoo_proto::{ConsentHash, ConsentScope, EffectClass, TaskId, ToolOutcome, ToolSpec, escape};

use crate::blocked;
use crate::call::CallContext;
use crate::config::ToolConfig;
use crate::consent::{CallKey, Grant, Tasks, looks};
use crate::evidence::EvidenceStore;
use crate::limit::{Stopped, blocking};
use crate::process::{self, Invocation};
use crate::protect::Protected;
use crate::record::{Noted, Record};
use crate::registry::job::{Job, Prepared};
use crate::rules::RuleBook;
use crate::{files, glob, mdfind, read_file, shell, write_file};

/// Characters of a new file's text shown when its making is asked about.
const SHOWN_TEXT_MAX_CHARS: usize = 2000;

/// The tools of this machine. Cheap to clone; clones are the same registry.
#[derive(Debug, Clone)]
pub struct Registry {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    config: ToolConfig,
    protected: Protected,
    child_environment: Vec<(String, std::ffi::OsString)>,
    /// Spotlight, where it is installed.
    index: Option<PathBuf>,
    specs: Vec<ToolSpec>,
    tasks: Tasks,
    /// Where there is a data folder to keep them in.
    rules: Option<RuleBook>,
    /// Bytes kept since the store was last swept.
    unswept: AtomicU64,
}

impl Registry {
    /// Looks at what is installed and offers the tools that have a backend here.
    #[must_use]
    pub fn detect(mut config: ToolConfig) -> Self {
        let index = process::find_program(&config, "mdfind");
        let has_shell = ["bash", "sh"].iter().any(|name| process::find_program(&config, name).is_some());
        let protected = Protected::new(&config.environment, &config.protected);
        let child_environment = process::environment(&config);
        let specs = job::specs(index.is_some(), has_shell);
        let rules = config.data_dir.as_ref().map(RuleBook::new);
        config.evidence = config.data_dir.as_deref().map(EvidenceStore::new);
        if let Some(evidence) = &config.evidence {
            evidence.sweep(SystemTime::now());
            // A store that can't be used is no reason not to work: then no record names any.
            drop(evidence.prepare(leave::now()));
        }
        let tasks = Tasks::default();
        let inner =
            Inner { config, protected, child_environment, index, specs, tasks, rules, unswept: AtomicU64::new(0) };
        Self { inner: Arc::new(inner) }
    }

    /// The tools there are, first choice first.
    #[must_use]
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.inner.specs.clone()
    }

    /// A person's yes to the call with this hash, as [`ToolOutcome::NeedsConsent`] named it.
    ///
    /// A scope that was not offered with the question is one to this call, once.
    #[must_use]
    pub fn grant(&self, hash: &ConsentHash, scope: ConsentScope) -> Grant {
        Grant::new(hash.clone(), scope)
    }

    /// A person's no to the call with this hash: nothing known to do the same is done for the rest of the task.
    pub fn refuse(&self, task_id: &TaskId, hash: &ConsentHash) {
        self.inner.tasks.refused(task_id, hash);
    }

    /// The task is over: what was allowed, refused and tried in it is forgotten.
    pub fn forget(&self, task_id: &TaskId) {
        self.inner.tasks.forget(task_id);
    }

    /// Makes a call, or says what a person must allow first.
    ///
    /// Never fails: what went wrong is in the record. A grant that is not needed is used up all the same. Must run
    /// inside a tokio runtime with time and I/O; dropping the future ends every process of the call's group.
    pub async fn call(&self, context: &CallContext, grant: Option<Grant>) -> ToolOutcome {
        let watch = Watch { started: Instant::now(), time: self.inner.config.call_timeout };
        let mut noted = Noted::default();
        let outcome = self.attempt(context, grant, &watch, &mut noted).await;
        match outcome {
            Ok(record) | Err(Instead::Record(record)) => {
                let record = self.keep(context, record, &mut noted).await;
                let max_chars = self.inner.config.output_max_chars;
                ToolOutcome::Called { call: record.into_call(context, noted, watch.started.elapsed(), max_chars) }
            }
            Err(Instead::Question(question)) => *question,
        }
    }

    async fn attempt(
        &self,
        context: &CallContext,
        grant: Option<Grant>,
        watch: &Watch,
        noted: &mut Noted,
    ) -> Result<Record, Instead> {
        let tool = context.request.tool.as_str();
        if !self.inner.specs.iter().any(|spec| spec.name == tool) {
            let name = escape::one_line(&escape::shorten(tool, 80));
            return Err(refused(&format!("there is no tool named {name:?}")));
        }
        if let Some(reason) = blocked::tool_refusal(tool, &context.allowed_tools, &context.blocked_tools) {
            return Err(refused(&reason));
        }
        let (inner, request) = (Arc::clone(&self.inner), context.request.clone());
        let blocked_targets = context.blocked_targets.clone();
        let prepared = watch.blocking(move |_| inner.prepare(&request, &blocked_targets)).await?;
        noted.target = prepared.target().to_owned();
        let key = CallKey::of(&context.request);
        let (footprint, looks) = prepared.known();
        let job = prepared.into_job()?;
        if let Some(record) = self.inner.tasks.failed(&context.task_id, &key, &looks, Instant::now()) {
            return Err(Instead::Record(record.class(job.class())));
        }
        noted.leave = self.leave(context, &job, footprint.as_ref(), grant, watch).await?;
        let record = match self.perform(job, noted, watch).await {
            Ok(record) | Err(Instead::Record(record)) => record,
            Err(question) => return Err(question),
        };
        self.inner.tasks.ended(&context.task_id, key, looks, &record, Instant::now());
        Ok(record)
    }

    async fn perform(&self, job: Job, noted: &mut Noted, watch: &Watch) -> Result<Record, Instead> {
        match job {
            Job::Find(query) => self.find(query, watch).await,
            Job::Shell(command) => self.shell(command, noted, watch).await,
            Job::Glob(search) => {
                self.work(watch, move |inner, limit| glob::run(*search, &inner.protected, limit)).await
            }
            Job::Read(reading) => {
                self.work(watch, move |inner, limit| read_file::run(&reading, &inner.protected, limit)).await
            }
            Job::Write(new) => {
                let work = move |inner: &Inner, limit: &_| {
                    write_file::run(&inner.config.environment, &new, &inner.protected, limit)
                };
                self.work(watch, work).await
            }
            Job::Files(plan) => {
                self.work(watch, move |inner, limit| files::run(&plan, &inner.config.environment, limit)).await
            }
        }
    }

    async fn work(
        &self,
        watch: &Watch,
        work: impl FnOnce(&Inner, &crate::limit::Limit) -> Record + Send + 'static,
    ) -> Result<Record, Instead> {
        let inner = Arc::clone(&self.inner);
        watch.blocking(move |limit| work(&inner, limit)).await
    }

    async fn find(&self, query: mdfind::Query, watch: &Watch) -> Result<Record, Instead> {
        let Some(program) = self.inner.index.clone() else {
            return self.work(watch, move |inner, limit| mdfind::walk(&query, &inner.protected, limit)).await;
        };
        let refused = {
            let (inner, root) = (Arc::clone(&self.inner), query.root.clone());
            watch.blocking(move |_| glob::unusable_root(&root, &inner.protected)).await?
        };
        if let Some(refused) = refused {
            return Ok(refused);
        }
        let arguments = query.arguments();
        let invocation = Invocation { program, name: "mdfind".into(), arguments, environment: Vec::new() };
        match self.run(&invocation, watch).await {
            Ok(ended) => self.work(watch, move |inner, _| mdfind::from_index(&query, &inner.protected, &ended)).await,
            Err(error) => Ok(Record::hindered(format!("mdfind could not be started: {error}"))),
        }
    }

    async fn shell(&self, command: shell::Command, noted: &mut Noted, watch: &Watch) -> Result<Record, Instead> {
        let config = &self.inner.config;
        let Some(invocation) = command.invocation(config) else {
            return Ok(Record::hindered("no shell is installed").class(EffectClass::Unproven));
        };
        let read_only = command.class() == EffectClass::ReadOnly;
        let named = if read_only { Vec::new() } else { command.paths.clone() };
        let paths = named.clone();
        let before = watch.blocking(move |limit| shell::digests(&paths, limit)).await?;
        match self.run(&invocation, watch).await {
            Err(error) => Ok(shell::not_started(&command, &invocation, &config.environment.cwd, &error)),
            // The command has run: whatever time it took, what it changed is looked at.
            Ok(mut ended) => {
                let max_chars = config.output_max_chars;
                let look = move |limit: &_| {
                    let changed = shell::changes(&before, &shell::digests(&named, limit));
                    let kept = ended.keep();
                    (shell::record(&command, ended, changed, max_chars), kept)
                };
                let (record, kept) = blocking(config.call_timeout, look).await?;
                noted.kept = kept;
                Ok(record)
            }
        }
    }

    async fn run(&self, invocation: &Invocation, watch: &Watch) -> std::io::Result<process::Ended> {
        process::run(&self.inner.config, &self.inner.child_environment, invocation, watch.left()).await
    }
}

impl Inner {
    fn prepare(&self, request: &artoo_proto::ToolRequest, blocked_targets: &[String]) -> Prepared {
        let prepared = Prepared::new(&self.config, &self.protected, request);
        let Some(touched) = prepared.touched() else { return prepared };
        match blocked::target_refusal(&self.config, &request.tool, &touched, blocked_targets) {
            None => prepared.looked_at(looks(&touched.paths)),
            Some(reason) => prepared.refused(&reason),
        }
    }
}

/// What ends an attempt before its tool has run.
enum Instead {
    Record(Record),
    Question(Box<ToolOutcome>),
}

impl From<Stopped> for Instead {
    fn from(stopped: Stopped) -> Self {
        Self::Record(match stopped {
            Stopped::TimedOut => Record::timed_out("the time was up; the file system did not answer"),
            Stopped::Panicked => Record::unusable("the tool failed on an error of its own"),
        })
    }
}

fn refused(reason: &str) -> Instead {
    Instead::Record(Record::denied(reason).class(EffectClass::Unproven))
}

/// One call's time.
struct Watch {
    started: Instant,
    time: Duration,
}

impl Watch {
    fn left(&self) -> Duration {
        self.time.saturating_sub(self.started.elapsed())
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&crate::limit::Limit) -> T + Send + 'static,
    ) -> Result<T, Instead> {
        Ok(blocking(self.left(), work).await?)
    }
}
