//! The one door to every tool: who may call what, what must be asked first, and the record of what happened.

mod job;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use artoo_proto::{ConsentHash, EffectClass, ToolOutcome, ToolSpec, escape};

use crate::blocked;
use crate::call::CallContext;
use crate::config::ToolConfig;
use crate::consent::{self, Grant, Subject};
use crate::fence::{self, Fence, FenceReport};
use crate::limit::{Stopped, blocking};
use crate::process::{self, Invocation};
use crate::protect::Protected;
use crate::record::Record;
use crate::registry::job::{Job, Prepared};
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
    fence: FenceReport,
    specs: Vec<ToolSpec>,
}

impl Registry {
    /// Looks at what is installed and offers the tools that have a backend here.
    #[must_use]
    pub fn detect(config: ToolConfig) -> Self {
        let index = process::find_program(&config, "mdfind");
        let has_shell = ["bash", "sh"].iter().any(|name| process::find_program(&config, name).is_some());
        let protected = Protected::new(&config.environment, &config.protected);
        let child_environment = process::environment(&config);
        let specs = job::specs(index.is_some(), has_shell);
        let fence = fence::report();
        Self { inner: Arc::new(Inner { config, protected, child_environment, index, fence, specs }) }
    }

    /// What this machine can hold a running command to, found out by trying.
    #[must_use]
    pub fn fence_report(&self) -> FenceReport {
        self.inner.fence.clone()
    }

    /// The tools there are, first choice first.
    #[must_use]
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.inner.specs.clone()
    }

    /// A person's yes to the call with this hash, as [`ToolOutcome::NeedsConsent`] named it.
    #[must_use]
    pub fn grant(&self, hash: &ConsentHash) -> Grant {
        Grant::new(hash.clone())
    }

    /// Makes a call, or says what a person must allow first.
    ///
    /// Never fails: what went wrong is in the record. A grant that is not needed is used up all the same. Must run
    /// inside a tokio runtime with time and I/O; dropping the future ends every process of the call's group.
    pub async fn call(&self, context: &CallContext, grant: Option<Grant>) -> ToolOutcome {
        let watch = Watch { started: Instant::now(), time: self.inner.config.call_timeout };
        let mut target = String::new();
        let outcome = self.attempt(context, grant, &watch, &mut target).await;
        match outcome {
            Ok(record) | Err(Instead::Record(record)) => {
                let max_chars = self.inner.config.output_max_chars;
                ToolOutcome::Called { call: record.into_call(context, target, watch.started.elapsed(), max_chars) }
            }
            Err(Instead::Question(question)) => *question,
        }
    }

    async fn attempt(
        &self,
        context: &CallContext,
        grant: Option<Grant>,
        watch: &Watch,
        target: &mut String,
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
        *target = prepared.target().to_owned();
        let job = prepared.into_job()?;
        self.ask_first(context, &job, grant, watch).await?;
        match job {
            Job::Find(query) => self.find(query, watch).await,
            Job::Shell(command) => self.shell(command, watch).await,
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

    /// Passes when nobody must be asked, or when the grant holds for exactly this call.
    async fn ask_first(
        &self,
        context: &CallContext,
        job: &Job,
        grant: Option<Grant>,
        watch: &Watch,
    ) -> Result<(), Instead> {
        // Where nothing holds a running command, whatever may change something asks.
        let is_held = !matches!(job, Job::Shell(_)) || self.inner.fence.holds;
        let Some(mut question) = job.question(context.confirm || !is_held) else { return Ok(()) };
        let invocation = match job {
            Job::Shell(command) => command.invocation(&self.inner.config),
            Job::Glob(_) | Job::Find(_) | Job::Read(_) | Job::Write(_) | Job::Files(_) => None,
        };
        let program = invocation.map_or_else(PathBuf::new, |invocation| invocation.program);
        let inner = Arc::clone(&self.inner);
        let (tool, text, files) = (context.request.tool.clone(), question.text.clone(), question.files.clone());
        let hash = watch.blocking(move |limit| inner.consent_hash(&tool, &text, &program, &files, limit)).await?;
        match grant {
            None => {
                question.hash = hash;
                Err(Instead::Question(Box::new(question.into_outcome(SHOWN_TEXT_MAX_CHARS))))
            }
            Some(grant) => grant
                .redeem(&hash)
                .map_err(|problem| Instead::Record(Record::denied(&problem.to_string()).class(job.class()))),
        }
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
        match self.run(invocation, Fence::of_proven(&self.inner.config, &self.inner.protected, &[]), watch).await {
            Ok(ended) => self.work(watch, move |inner, _| mdfind::from_index(&query, &inner.protected, &ended)).await,
            Err(error) => Ok(Record::hindered(format!("mdfind could not be started: {error}"))),
        }
    }

    async fn shell(&self, command: shell::Command, watch: &Watch) -> Result<Record, Instead> {
        let config = &self.inner.config;
        let Some(invocation) = command.invocation(config) else {
            return Ok(Record::hindered("no shell is installed").class(EffectClass::Unproven));
        };
        let read_only = command.class() == EffectClass::ReadOnly;
        let named = if read_only { Vec::new() } else { command.paths.clone() };
        let paths = named.clone();
        let before = watch.blocking(move |limit| shell::digests(&paths, limit)).await?;
        let fence = command.fence(config, &self.inner.protected);
        if !read_only {
            // What can't be made is missed by the command itself, which says so.
            let _ = std::fs::create_dir_all(&config.environment.workspace);
        }
        match self.run(invocation.clone(), fence, watch).await {
            Err(error) => Ok(shell::not_started(&command, &invocation, &config.environment.cwd, &error)),
            // The command has run: whatever time it took, what it changed is looked at.
            Ok(ended) => {
                let look = move |limit: &_| {
                    let changed = shell::changes(&before, &shell::digests(&named, limit));
                    shell::record(&command, ended, changed)
                };
                blocking(config.call_timeout, look).await.map_err(Instead::from)
            }
        }
    }

    async fn run(&self, invocation: Invocation, fence: Fence, watch: &Watch) -> std::io::Result<process::Ended> {
        let Inner { config, protected, child_environment, .. } = &*self.inner;
        let order = invocation.order(config, protected, child_environment, fence);
        process::run(config, order, watch.left()).await
    }
}

impl Inner {
    fn prepare(&self, request: &artoo_proto::ToolRequest, blocked_targets: &[String]) -> Prepared {
        let prepared = Prepared::new(&self.config, &self.protected, request);
        let Some(touched) = prepared.touched() else { return prepared };
        match blocked::target_refusal(&self.config.environment, &request.tool, &touched, blocked_targets) {
            None => prepared,
            Some(reason) => prepared.refused(&reason),
        }
    }

    fn consent_hash(
        &self,
        tool: &str,
        text: &str,
        program: &Path,
        files: &[PathBuf],
        limit: &crate::limit::Limit,
    ) -> ConsentHash {
        let subject = Subject {
            tool,
            text,
            program,
            cwd: &self.config.environment.cwd,
            environment: &self.child_environment,
            files,
        };
        consent::hash(&subject, limit)
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
