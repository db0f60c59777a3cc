//! The one door to every tool: who may call what, what must be asked first, and the record of what happened.

mod keep;
mod leave;
mod prepared;

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use artoo_proto::{ConsentHash, ConsentScope, EffectClass, TaskId, ToolOrder, ToolOutcome, ToolSpec, escape};

use crate::blocked;
use crate::builtin;
use crate::config::ToolConfig;
use crate::consent::{CallKey, Grant, looks};
use crate::custom::{self, Custom, ToolProblem};
use crate::evidence::EvidenceStore;
use crate::fence::{self, FenceReport};
use crate::files::{Files, Trash};
use crate::glob::Glob;
use crate::limit::{Limit, Stopped};
#[cfg(feature = "mcp")]
use crate::mcp;
use crate::mdfind::Mdfind;
use crate::read_file::ReadFile;
use crate::record::{Noted, Record};
use crate::recording::{Prospect, Recorder};
use crate::registry::leave::Asking;
use crate::registry::prepared::Prepared;
use crate::secret;
use crate::shell::Shell;
use crate::tool::{Call, Machine, Tool, Watch};
#[cfg(feature = "web")]
use crate::web::Search;
use crate::write_file::WriteFile;

/// The tools of this machine. Cheap to clone; clones are the same registry.
#[derive(Debug, Clone)]
pub struct Registry {
    machine: Arc<Machine>,
    tools: Arc<[(ToolSpec, Arc<dyn Tool>)]>,
    problems: Arc<[ToolProblem]>,
}

impl Registry {
    /// Looks at what is installed and offers the tools that have a backend here.
    #[must_use]
    pub fn detect(mut config: ToolConfig) -> Self {
        config.protected.extend(config.undo.iter().map(|undo| undo.folder.clone()));
        config.evidence = config.data_dir.as_deref().map(EvidenceStore::new);
        if let Some(evidence) = &config.evidence {
            evidence.sweep(SystemTime::now());
            // A store that can't be used is no reason not to work: then no record names any.
            drop(evidence.prepare(leave::now()));
        }
        fence::clean_views(&config);
        let mut tools = installed(&config);
        #[cfg_attr(not(feature = "mcp"), expect(unused_mut, reason = "only servers add to them"))]
        let mut problems = add_own(&config, &mut tools);
        let machine = Arc::new(Machine::new(config));
        #[cfg(feature = "mcp")]
        {
            let (remote, more) = mcp::tools(&machine);
            tools.extend(remote);
            problems.extend(more);
        }
        let tools = tools.into_iter().map(|tool| (tool.spec(), tool)).collect();
        Self { machine, tools, problems: problems.into() }
    }

    /// What this machine can hold a running command to, found out by trying.
    #[must_use]
    pub fn fence_report(&self) -> FenceReport {
        let mut report = self.machine.fence();
        report.words.push(fence::views_in_words(&self.machine.config));
        report
    }

    /// Where the whole outputs of calls are kept; `None` without a data folder.
    #[must_use]
    pub fn evidence(&self) -> Option<&EvidenceStore> {
        self.machine.config.evidence.as_ref()
    }

    #[cfg(test)]
    pub(crate) fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Tools of the person's own that can't be offered, each with what is wrong.
    #[must_use]
    pub fn problems(&self) -> &[ToolProblem] {
        &self.problems
    }

    /// The tools there are, first choice first.
    #[must_use]
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools.iter().map(|(spec, _)| spec.clone()).collect()
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
        self.machine.tasks.refused(task_id, hash);
    }

    /// The task is over: what was allowed, refused and tried in it is forgotten.
    pub fn forget(&self, task_id: &TaskId) {
        self.machine.tasks.forget(task_id);
    }

    /// Makes a call, or says what a person must allow first.
    ///
    /// `said` is the task in the person's own words, empty if there are none: a question to the network that is made of
    /// them needs no consent.
    ///
    /// Never fails: what went wrong is in the record. A grant that is not needed is used up all the same. Must run
    /// inside a tokio runtime with time and I/O; dropping the future ends every process of the call's group.
    pub async fn call(&self, context: &ToolOrder, said: &str, grant: Option<Grant>) -> ToolOutcome {
        let config = &self.machine.config;
        let watch = Watch { started: Instant::now(), time: config.call_timeout };
        let mut noted = Noted::default();
        let outcome = self.attempt(context, said, grant, watch, &mut noted).await;
        match outcome {
            Ok(record) | Err(Instead::Record(record)) => {
                let mut record = self.keep(context, record).await;
                // The evidence is whole; nobody was asked before this goes to the model.
                if noted.leave.is_none() && !config.trusts_model {
                    record.text = secret::without_keys(record.text);
                }
                let call = record.into_call(context, noted, watch.started.elapsed(), config.output_max_chars);
                ToolOutcome::Called { call }
            }
            Err(Instead::Question(question)) => *question,
        }
    }

    async fn attempt(
        &self,
        context: &ToolOrder,
        said: &str,
        grant: Option<Grant>,
        watch: Watch,
        noted: &mut Noted,
    ) -> Result<Record, Instead> {
        let name = context.request.tool.as_str();
        let Some((_, tool)) = self.tools.iter().find(|(spec, _)| spec.name == name) else {
            let name = escape::one_line(&escape::shorten(name, 80));
            return Err(refused(&format!("there is no tool named {name:?}")));
        };
        if let Some(reason) = blocked::tool_refusal(name, &context.allowed_tools, &context.blocked_tools) {
            return Err(refused(&reason));
        }
        let (machine, tool) = (Arc::clone(&self.machine), Arc::clone(tool));
        let (request, blocked_targets) = (context.request.clone(), context.blocked_targets.clone());
        let read = move |_: &Limit| {
            let prepared = Prepared::new(tool.as_ref(), &machine, &request.input);
            unless_blocked(prepared, &machine, &request.tool, &blocked_targets)
        };
        let prepared = watch.blocking(read).await?;
        prepared.target().clone_into(&mut noted.target);
        let (footprint, looks) = prepared.known();
        let job = prepared.into_job().map_err(|record| Instead::Record(*record))?;
        let key = CallKey::of(&context.request);
        if let Some(record) = self.machine.tasks.failed(&context.task_id, &key, &looks, Instant::now()) {
            return Err(Instead::Record(record.class(job.class())));
        }
        let prospect = match Prospect::of(&self.machine, job.as_ref()) {
            Ok(prospect) => prospect,
            Err(places) => Prospect::of_places(&self.machine, places, watch).await?,
        };
        let asking =
            Asking { context, said, job: job.as_ref(), footprint: footprint.as_ref(), prospect: &prospect, watch };
        noted.leave = self.leave(&asking, grant).await?;
        let (task, tool, what) = (context.task_id.clone(), name.to_owned(), noted.target.clone());
        let recorder = Recorder { task, tool, what, prospect };
        let call = Call { machine: Arc::clone(&self.machine), watch, recorder };
        let record = job.run(call).await.unwrap_or_else(stopped);
        self.machine.tasks.ended(&context.task_id, key, looks, &record, Instant::now());
        Ok(record)
    }
}

/// The tools that have a backend here, in the order they are tried.
fn installed(config: &ToolConfig) -> Vec<Arc<dyn Tool>> {
    let mut tools: Vec<Arc<dyn Tool>> = vec![
        Arc::new(Mdfind::detect(config)),
        Arc::new(Glob),
        Arc::new(ReadFile),
        Arc::new(WriteFile),
        Arc::new(Files),
        Arc::new(Trash),
    ];
    if let Some(shell) = Shell::detect(config) {
        tools.push(Arc::new(shell));
    }
    #[cfg(feature = "web")]
    if let Some(search) = Search::detect(config) {
        tools.push(Arc::new(search));
    }
    tools
}

/// Every name that artoo may ever give a tool of its own, here or on another machine.
const OWN_NAMES: [&str; 11] = [
    "mdfind",
    "glob",
    "read_file",
    "write_file",
    "files",
    "shell",
    "search",
    "desktop",
    "applescript",
    "shortcuts",
    "trash",
];

/// Adds the tools that the person wrote; what is wrong with some of them is given back.
fn add_own(config: &ToolConfig, tools: &mut Vec<Arc<dyn Tool>>) -> Vec<ToolProblem> {
    let (built_in, mut problems) = builtin::detect(config);
    tools.extend(built_in.into_iter().map(|tool| Arc::new(tool) as Arc<dyn Tool>));
    let Some(folder) = &config.custom else { return problems };
    let (manifests, more) = custom::load(config, folder, &OWN_NAMES);
    problems.extend(more);
    tools.extend(manifests.into_iter().map(|manifest| Arc::new(Custom::new(manifest)) as Arc<dyn Tool>));
    problems
}

fn unless_blocked(prepared: Prepared, machine: &Machine, tool: &str, blocked_targets: &[String]) -> Prepared {
    let Some(touched) = prepared.touched() else { return prepared };
    match blocked::target_refusal(&machine.config, tool, &touched, blocked_targets) {
        None => prepared.looked_at(looks(&touched.paths)),
        Some(reason) => prepared.refused(&reason),
    }
}

/// What ends an attempt before its tool has run.
enum Instead {
    Record(Record),
    Question(Box<ToolOutcome>),
}

impl From<Stopped> for Instead {
    fn from(why: Stopped) -> Self {
        Self::Record(stopped(why))
    }
}

fn stopped(why: Stopped) -> Record {
    match why {
        Stopped::TimedOut => Record::timed_out("the time was up; the file system did not answer"),
        Stopped::Panicked => Record::unusable("the tool failed on an error of its own"),
    }
}

fn refused(reason: &str) -> Instead {
    Instead::Record(Record::denied(reason).class(EffectClass::Unproven))
}
