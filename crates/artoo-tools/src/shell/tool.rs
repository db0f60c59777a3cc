//! `shell` as the registry knows it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use artoo_proto::{EffectClass, Environment, ToolClass, ToolSpec, escape};
use serde_json::Value;

use crate::config::ToolConfig;
use crate::consent::Footprint;
use crate::guard::{CommandClass, Proof};
use crate::limit::{Limit, Stopped, blocking};
use crate::network;
use crate::paths;
use crate::process;
use crate::record::Record;
use crate::recording::Recording;
use crate::secret;
use crate::shell::{self, Command, CommandProblem};
use crate::tool::{CAUTION, Call, Job, Machine, Question, Running, Said, Tool, spec, unusable};

/// Why a proven command that creates something is asked about on some machines.
const UNHELD: &str = "nothing on this machine holds a running command, and this one is not read-only";

/// The same of one that would otherwise have left something out.
const UNHELD_READING: &str = "nothing on this machine holds a running command, which would otherwise have";

#[derive(Debug)]
pub(crate) struct Shell;

impl Shell {
    /// The tool, where a shell is installed.
    pub(crate) fn detect(config: &ToolConfig) -> Option<Self> {
        ["bash", "sh"].iter().any(|name| process::find_program(config, name).is_some()).then_some(Self)
    }
}

impl Tool for Shell {
    fn spec(&self) -> ToolSpec {
        let description = "run a command; read-only ones at once, others after a yes";
        spec("shell", ToolClass::Shell, 6, description, shell::schema())
    }

    fn read(&self, machine: &Machine, input: &Value) -> Result<Box<dyn Job>, Box<Record>> {
        let command = Command::parse(&machine.config, &machine.protected, input).map_err(|problem| {
            let record = match &problem {
                CommandProblem::Hostile => Record::denied(&problem.to_string()),
                CommandProblem::Input(_) | CommandProblem::Writes(_) | CommandProblem::Empty => unusable(&problem),
            };
            record.class(EffectClass::Unproven)
        })?;
        Ok(Box::new(command))
    }
}

impl Job for Command {
    fn target(&self) -> String {
        self.text.trim().to_owned()
    }

    fn paths(&self) -> Vec<PathBuf> {
        self.touched().into_iter().chain(self.named.places.iter().cloned()).collect()
    }

    fn commands(&self) -> Vec<Vec<String>> {
        self.named.commands.clone()
    }

    fn class(&self) -> EffectClass {
        match &self.proof {
            Proof::Proven(proven) => proven.class,
            Proof::Unproven { .. } => EffectClass::Unproven,
        }
    }

    fn question(&self, machine: &Machine, said: &Said<'_>) -> Option<Question> {
        let reason = match &self.proof {
            Proof::Unproven { reason, .. } => reason.clone(),
            Proof::Proven(proven) if proven.class == EffectClass::ReadOnly => {
                match secret::left_out(proven.effects.left_out()) {
                    Some(left_out) if !machine.fence().holds => format!("{UNHELD_READING} {left_out}"),
                    Some(_) | None => return None,
                }
            }
            Proof::Proven(_) if !machine.fence().holds => UNHELD.to_owned(),
            Proof::Proven(_) if !said.confirm => return None,
            Proof::Proven(_) => CAUTION.to_owned(),
        };
        Some(Question {
            text: self.consent_text(),
            program: self.invocation(&machine.config).map_or_else(PathBuf::new, |invocation| invocation.program),
            files: Job::paths(self),
            shown: self.consent_text(),
            effects: self.effects.clone(),
            reason,
        })
    }

    fn footprint(&self) -> Option<Footprint> {
        let is_destructive = match &self.proof {
            Proof::Proven(proven) if proven.class == EffectClass::ReadOnly => return None,
            Proof::Proven(_) => false,
            Proof::Unproven { class, .. } => *class == CommandClass::Irreversible,
        };
        Some(Footprint::Named { named: self.named.clone(), is_destructive })
    }

    fn network(&self, machine: &Machine) -> String {
        let is_allowed = matches!(self.proof, Proof::Unproven { .. }) && self.network;
        let said = network::said(is_allowed, machine);
        let hosts: Vec<&str> = self.named.hosts.iter().map(String::as_str).collect();
        if hosts.is_empty() { said } else { format!("{said} and names {}", escape::one_line(&hosts.join(", "))) }
    }

    fn recording(&self, machine: &Machine) -> Recording {
        Recording::Places(self.may_change(&machine.config.environment))
    }

    fn run(self: Box<Self>, call: Call) -> Running {
        Box::pin(run(*self, call))
    }
}

async fn run(command: Command, call: Call) -> Result<Record, Stopped> {
    let config = &call.machine.config;
    let Some(invocation) = command.invocation(config) else {
        return Ok(Record::hindered("no shell is installed").class(EffectClass::Unproven));
    };
    let class = command.class();
    let read_only = class == EffectClass::ReadOnly;
    let named = if read_only { Vec::new() } else { command.paths.clone() };
    let (paths, machine, recorder) = (named.clone(), Arc::clone(&call.machine), call.recorder.clone());
    let begin = move |limit: &Limit| {
        let act = recorder.begin(&machine, limit)?;
        let own = if read_only { None } else { make_workspace(&machine.config.environment) };
        let digests = if act.sees_all() { BTreeMap::new() } else { shell::digests(&paths, limit) };
        Ok::<_, Box<Record>>((act, digests, own))
    };
    let (act, before, own) = match call.watch.blocking(begin).await? {
        Ok(begun) => begun,
        Err(record) => return Ok(record.class(class)),
    };
    // What is missing is looked up once the workspace is there.
    let fence = command.fence(config, &call.machine.protected);
    let network = fence.network;
    let ended = call.run(invocation.clone(), fence, call.watch.left()).await;
    let is_held = call.machine.has_held(network, &ended);
    let (cwd, max_chars) = (config.environment.cwd.clone(), config.output_max_chars);
    // The command has run: whatever time it took, what it changed is looked at.
    let look = move |limit: &Limit| {
        let noted = act.end(&[], limit).map(|account| account.without(own.as_deref()));
        let record = match ended {
            Err(error) => shell::not_started(&command, &invocation, &cwd, &error),
            Ok(ended) => {
                let changed = shell::changes(&before, &shell::digests(&named, limit));
                shell::record(&command, ended, changed, max_chars)
            }
        };
        record.noted(noted, is_held)
    };
    blocking(config.call_timeout, look).await
}

/// Makes the workspace where it is missing: undone with the command, and not its doing. What can't be made is missed by
/// the command, which says so.
fn make_workspace(environment: &Environment) -> Option<PathBuf> {
    let workspace = PathBuf::from(&environment.workspace);
    let is_missing = !workspace.exists();
    (is_missing && std::fs::create_dir_all(&workspace).is_ok()).then(|| paths::real(&workspace))
}
