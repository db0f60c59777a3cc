//! `shell` as the registry knows it.

use std::path::PathBuf;

use artoo_proto::{EffectClass, ToolClass, ToolSpec};
use serde_json::Value;

use crate::config::ToolConfig;
use crate::guard::Proof;
use crate::limit::{Stopped, blocking};
use crate::process;
use crate::record::Record;
use crate::shell::{self, Command, CommandProblem};
use crate::tool::{CAUTION, Call, Job, Machine, Question, Running, Said, Tool, spec, unusable};

/// Why a proven command that creates something is asked about on some machines.
const UNHELD: &str = "nothing on this machine holds a running command, and this one is not read-only";

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
                CommandProblem::Input(_) | CommandProblem::Empty => unusable(&problem),
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
        self.paths.clone()
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
            Proof::Proven(proven) if proven.class == EffectClass::ReadOnly => return None,
            Proof::Proven(_) if !machine.fence.holds => UNHELD.to_owned(),
            Proof::Proven(_) if !said.confirm => return None,
            Proof::Proven(_) => CAUTION.to_owned(),
        };
        Some(Question {
            text: self.text.clone(),
            program: self.invocation(&machine.config).map_or_else(PathBuf::new, |invocation| invocation.program),
            files: self.paths.clone(),
            shown: self.text.clone(),
            effects: self.effects.clone(),
            reason,
        })
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
    let read_only = command.class() == EffectClass::ReadOnly;
    let named = if read_only { Vec::new() } else { command.paths.clone() };
    let paths = named.clone();
    let before = call.watch.blocking(move |limit| shell::digests(&paths, limit)).await?;
    let fence = command.fence(config);
    if !read_only {
        // What can't be made is missed by the command itself, which says so.
        let _ = std::fs::create_dir_all(&config.environment.workspace);
    }
    match call.run(invocation.clone(), fence, call.watch.left()).await {
        Err(error) => Ok(shell::not_started(&command, &invocation, &config.environment.cwd, &error)),
        // The command has run: whatever time it took, what it changed is looked at.
        Ok(ended) => {
            let look = move |limit: &_| {
                let changed = shell::changes(&before, &shell::digests(&named, limit));
                shell::record(&command, ended, changed)
            };
            blocking(config.call_timeout, look).await
        }
    }
}
