//! The one door to every tool: who may call what, what must be asked first, and the record of what happened.

mod prepared;

use std::sync::Arc;
use std::time::Instant;

use artoo_proto::{ConsentHash, EffectClass, ToolOutcome, ToolSpec, escape};

use crate::applescript::AppleScript;
use crate::blocked;
use crate::call::CallContext;
use crate::config::ToolConfig;
use crate::consent::{self, Grant, Subject};
use crate::custom::{self, Custom, ToolProblem};
use crate::desktop::Desktop;
use crate::fence::FenceReport;
use crate::files::{Files, Trash};
use crate::glob::Glob;
use crate::limit::{Limit, Stopped};
#[cfg(feature = "mcp")]
use crate::mcp;
use crate::mdfind::Mdfind;
use crate::read_file::ReadFile;
use crate::record::Record;
use crate::recording::{Prospect, Recorder};
use crate::registry::prepared::Prepared;
use crate::shell::Shell;
use crate::shortcuts::Shortcuts;
use crate::tool::{Call, Machine, Question, Said, Tool, Watch};
#[cfg(feature = "web")]
use crate::web::Search;
use crate::write_file::WriteFile;

/// Characters of a new file's text shown when its making is asked about.
const SHOWN_TEXT_MAX_CHARS: usize = 2000;

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
        self.machine.fence.clone()
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
    #[must_use]
    pub fn grant(&self, hash: &ConsentHash) -> Grant {
        Grant::new(hash.clone())
    }

    /// Makes a call, or says what a person must allow first.
    ///
    /// Never fails: what went wrong is in the record. A grant that is not needed is used up all the same. Must run
    /// inside a tokio runtime with time and I/O; dropping the future ends every process of the call's group.
    pub async fn call(&self, context: &CallContext, grant: Option<Grant>) -> ToolOutcome {
        let config = &self.machine.config;
        let watch = Watch { started: Instant::now(), time: config.call_timeout };
        let mut target = String::new();
        let outcome = self.attempt(context, grant, watch, &mut target).await;
        match outcome {
            Ok(record) | Err(Instead::Record(record)) => {
                let call = record.into_call(context, target, watch.started.elapsed(), config.output_max_chars);
                ToolOutcome::Called { call }
            }
            Err(Instead::Question(question)) => *question,
        }
    }

    async fn attempt(
        &self,
        context: &CallContext,
        grant: Option<Grant>,
        watch: Watch,
        target: &mut String,
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
        *target = prepared.target().to_owned();
        let job = prepared.into_job().map_err(|record| Instead::Record(*record))?;
        let said = Said { confirm: context.confirm, words: &context.said };
        let task = context.task_id.as_ref();
        let prospect = match Prospect::of(&self.machine, task, job.as_ref()) {
            Ok(prospect) => prospect,
            Err(places) => Prospect::of_places(&self.machine, places, watch).await?,
        };
        if let Some(mut question) = job.question(&self.machine, &said) {
            question.effects.extend(prospect.said());
            question.text = format!("{}\0{}", question.text, prospect.term());
            self.ask_first(name, job.class(), question, grant, watch).await?;
        }
        let recorder = Recorder { task: task.cloned(), tool: name.to_owned(), what: target.clone(), prospect };
        Ok(job.run(Call { machine: Arc::clone(&self.machine), watch, recorder }).await?)
    }

    /// Passes when the grant holds for exactly this call.
    async fn ask_first(
        &self,
        tool: &str,
        class: EffectClass,
        question: Question,
        grant: Option<Grant>,
        watch: Watch,
    ) -> Result<(), Instead> {
        let (machine, tool) = (Arc::clone(&self.machine), tool.to_owned());
        let hash_of = move |limit: &Limit| (consent_hash(&machine, &tool, &question, limit), question);
        let (hash, question) = watch.blocking(hash_of).await?;
        match grant {
            None => Err(Instead::Question(Box::new(asked(hash, question)))),
            Some(grant) => grant
                .redeem(&hash)
                .map_err(|problem| Instead::Record(Record::denied(&problem.to_string()).class(class))),
        }
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
    if let Some(script) = AppleScript::detect(config) {
        tools.push(Arc::new(script));
    }
    if let Some(desktop) = Desktop::detect(config) {
        tools.push(Arc::new(desktop));
    }
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
    let (shortcuts, mut problems) = Shortcuts::detect(config);
    tools.extend(shortcuts.map(|shortcuts| Arc::new(shortcuts) as Arc<dyn Tool>));
    let Some(folder) = &config.custom else { return problems };
    let (manifests, more) = custom::load(config, folder, &OWN_NAMES);
    problems.extend(more);
    tools.extend(manifests.into_iter().map(|manifest| Arc::new(Custom::new(manifest)) as Arc<dyn Tool>));
    problems
}

fn unless_blocked(prepared: Prepared, machine: &Machine, tool: &str, blocked_targets: &[String]) -> Prepared {
    let Some(touched) = prepared.touched() else { return prepared };
    match blocked::target_refusal(&machine.config.environment, tool, &touched, blocked_targets) {
        None => prepared,
        Some(reason) => prepared.refused(&reason),
    }
}

fn consent_hash(machine: &Machine, tool: &str, question: &Question, limit: &Limit) -> ConsentHash {
    let subject = Subject {
        tool,
        text: &question.text,
        program: &question.program,
        cwd: &machine.config.environment.cwd,
        environment: &machine.child_environment,
        files: &question.files,
    };
    consent::hash(&subject, limit)
}

/// The question as an outcome. A command is shown whole; only a file's text is shortened, and says so.
fn asked(hash: ConsentHash, question: Question) -> ToolOutcome {
    let Question { text, shown, effects, reason, .. } = question;
    let shown = if shown == text { shown } else { escape::shorten(&shown, SHOWN_TEXT_MAX_CHARS) };
    ToolOutcome::NeedsConsent { hash, shown, effects, reason }
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
