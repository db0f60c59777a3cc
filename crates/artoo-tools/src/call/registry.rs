//! The registry: the tools of this machine, and the approvals and denials of the tasks in progress.

use std::sync::Arc;
use std::time::SystemTime;

use artoo_proto::{ConsentHash, ConsentScope, EvidenceId, TaskId, ToolSpec};

use super::record::now;
use super::tasks::Tasks;
use crate::activity::Activity;
use crate::builtin;
use crate::config::ToolConfig;
use crate::consent::Grant;
use crate::custom::{self, ToolProblem};
use crate::evidence::EvidenceStore;
use crate::fence::{self, FenceReport};
use crate::files::Files;
use crate::glob::Glob;
#[cfg(feature = "mcp")]
use crate::mcp;
use crate::mdfind::Mdfind;
use crate::read_file::ReadFile;
use crate::shell::Shell;
use crate::tool::{Machine, Tool, Unrecorded};
#[cfg(feature = "web")]
use crate::web::Search;
use crate::write_file::WriteFile;

/// The tools of this machine and the state of the tasks in progress. Cheap to clone; clones share both.
#[derive(Debug, Clone)]
pub struct Registry {
    machine: Arc<Machine>,
    tasks: Arc<Tasks>,
    tools: Arc<[(ToolSpec, Arc<dyn Tool>)]>,
    problems: Arc<[ToolProblem]>,
}

impl Registry {
    /// Finds the built-in tools that this machine can run, the user's own and those of MCP servers, and returns the
    /// registry with them. Also sweeps the evidence store and deletes old views.
    #[must_use]
    pub fn detect(mut config: ToolConfig) -> Self {
        config.protected.extend(config.undo.iter().map(|undo| undo.folder.clone()));
        config.evidence = config.data_dir.as_deref().map(EvidenceStore::new);
        if let Some(evidence) = &config.evidence {
            evidence.sweep(SystemTime::now());
            // Without a usable store, the records name no evidence.
            drop(evidence.prepare(now()));
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
        Self { machine, tasks: Arc::default(), tools, problems: problems.into() }
    }

    /// Which parts of the sandbox work on this machine, found out by testing.
    #[must_use]
    pub fn fence_report(&self) -> FenceReport {
        let mut report = self.machine.fence();
        report.words.push(fence::views_in_words(&self.machine.config));
        report
    }

    /// The store of the whole outputs of calls; `None` without a data folder.
    #[must_use]
    pub fn evidence(&self) -> Option<&EvidenceStore> {
        self.machine.config.evidence.as_ref()
    }

    /// The progress of the calls whose work is counted at this moment.
    #[must_use]
    pub fn activity(&self) -> Vec<Activity> {
        self.machine.calls.activity()
    }

    /// The state that all tools share: configuration, protected places, journal and sandbox.
    pub(crate) fn machine(&self) -> &Arc<Machine> {
        &self.machine
    }

    /// Adds a tool to the registry of a test.
    #[cfg(test)]
    pub(crate) fn add_for_test(&mut self, tool: Arc<dyn Tool>) {
        self.tools = self.tools.iter().cloned().chain([(tool.spec(), tool)]).collect();
    }

    /// The state of all tasks in progress.
    pub(super) fn tasks(&self) -> &Tasks {
        &self.tasks
    }

    /// The tool with exactly this name.
    pub(super) fn find(&self, name: &str) -> Option<&dyn Tool> {
        self.tools.iter().find(|(spec, _)| spec.name == name).map(|(_, tool)| tool.as_ref())
    }

    /// The manifests of the user's own tools, shortcuts and MCP servers that can't be used, each with the reason.
    #[must_use]
    pub fn problems(&self) -> &[ToolProblem] {
        &self.problems
    }

    /// Whether this is the name of a built-in tool that can't change anything, whatever its input is.
    #[must_use]
    pub fn only_reads(&self, tool: &str) -> bool {
        READING_NAMES.split(' ').any(|name| name == tool)
    }

    /// Sets the callback that is told of each call that is about to act in a way that the undo journal does not record.
    /// A second callback is ignored.
    pub fn on_unrecorded(&self, tell: impl Fn(&TaskId, &EvidenceId) + Send + Sync + 'static) {
        drop(self.machine.unrecorded.set(Unrecorded(Box::new(tell))));
    }

    /// The denials of a task as JSON, to be passed to [`Registry::restore_denials`] when the task is resumed.
    #[must_use]
    pub fn denials(&self, task_id: &TaskId) -> serde_json::Value {
        self.tasks.denials(task_id)
    }

    /// Restores the user's denials of a resumed task, so that the same effects stay denied.
    ///
    /// # Errors
    /// If the value is not one of [`Registry::denials`].
    pub fn restore_denials(&self, task_id: &TaskId, denials: serde_json::Value) -> serde_json::Result<()> {
        self.tasks.restore_denials(task_id, denials)
    }

    /// The descriptions of all tools, built-in ones first; `priority` in each says which of several to try first.
    #[must_use]
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools.iter().map(|(spec, _)| spec.clone()).collect()
    }

    /// The user's approval of the call with this digest, which [`artoo_proto::ToolOutcome::NeedsConsent`] named.
    ///
    /// A scope that the question did not offer counts as [`ConsentScope::Once`].
    #[must_use]
    pub fn grant(&self, hash: &ConsentHash, scope: ConsentScope) -> Grant {
        Grant::new(hash.clone(), scope)
    }

    /// Denies the open question with this digest: no call with the same effects, unless it only reads, runs for the
    /// rest of the task.
    pub fn refuse(&self, task_id: &TaskId, hash: &ConsentHash) {
        self.tasks.deny(task_id, hash);
    }

    /// Removes the open questions, approvals, denials and failed calls of a task that has ended.
    pub fn forget(&self, task_id: &TaskId) {
        self.tasks.forget(task_id);
    }
}

/// The built-in tools that this machine can run, without those from manifests, in a fixed order.
fn installed(config: &ToolConfig) -> Vec<Arc<dyn Tool>> {
    let mut tools: Vec<Arc<dyn Tool>> = vec![
        Arc::new(Mdfind::detect(config)),
        Arc::new(Glob),
        Arc::new(ReadFile),
        Arc::new(WriteFile),
        Arc::new(Files::All),
        Arc::new(Files::Trash),
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

/// The names of the built-in tools of all machines, separated by blanks; the user's own tools can't take them.
const OWN_NAMES: &str = "mdfind glob read_file write_file files trash shell search desktop applescript shortcuts";

/// The names of the built-in tools that only read, separated by blanks.
const READING_NAMES: &str = "mdfind glob read_file search";

/// Adds the tools from built-in manifests and the user's own to the list; returns those that can't be used, with the
/// reasons.
fn add_own(config: &ToolConfig, tools: &mut Vec<Arc<dyn Tool>>) -> Vec<ToolProblem> {
    let (built_in, mut problems) = builtin::detect(config);
    tools.extend(built_in.into_iter().map(|tool| Arc::new(tool) as Arc<dyn Tool>));
    let Some(folder) = &config.custom else { return problems };
    let (manifests, more) = custom::load(config, folder, &OWN_NAMES.split(' ').collect::<Vec<_>>());
    problems.extend(more);
    tools.extend(manifests.into_iter().map(|manifest| Arc::new(manifest) as Arc<dyn Tool>));
    problems
}
