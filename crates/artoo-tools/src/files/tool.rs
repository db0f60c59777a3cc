//! `files` as the registry knows it.

use std::path::PathBuf;

use artoo_proto::{EffectClass, ToolClass, ToolSpec};
use serde_json::Value;

use crate::blocked::Named;
use crate::consent::Footprint;
use crate::files::{self, Act, ActProblem, Plan};
use crate::limit::Limit;
use crate::record::Record;
use crate::recording::Recording;
use crate::tool::{CAUTION, Call, Job, Machine, NO_NETWORK, Question, Running, Said, Tool, spec, unusable};

#[derive(Debug)]
pub(crate) struct Files;

/// The one act of `files` that the design lists as a tool of its own.
#[derive(Debug)]
pub(crate) struct Trash;

impl Tool for Trash {
    fn spec(&self) -> ToolSpec {
        let description = "throw files and folders away, into the trash, from where they can be taken back; asks first";
        spec("trash", ToolClass::Files, 4, description, files::trash_schema())
    }

    fn read(&self, machine: &Machine, input: &Value) -> Result<Box<dyn Job>, Box<Record>> {
        planned(machine, Act::parse_trash(&machine.config.environment, input))
    }
}

impl Tool for Files {
    fn spec(&self) -> ToolSpec {
        let description =
            "create, copy, move, rename, pack, unpack or throw away files and folders; asks first, overwrites nothing";
        spec("files", ToolClass::Files, 4, description, files::schema())
    }

    fn read(&self, machine: &Machine, input: &Value) -> Result<Box<dyn Job>, Box<Record>> {
        planned(machine, Act::parse(&machine.config.environment, input))
    }
}

fn planned(machine: &Machine, act: Result<Act, ActProblem>) -> Result<Box<dyn Job>, Box<Record>> {
    let environment = &machine.config.environment;
    let act = act.map_err(|problem| unusable(&problem).class(EffectClass::Unproven))?;
    let plan = files::plan(environment, &machine.protected, act).map_err(|obstacle| files::hindered(&obstacle))?;
    Ok(Box::new(plan))
}

impl Job for Plan {
    fn target(&self) -> String {
        self.headline.clone()
    }

    fn paths(&self) -> Vec<PathBuf> {
        self.touched.clone()
    }

    fn class(&self) -> EffectClass {
        self.class
    }

    fn question(&self, _: &Machine, said: &Said<'_>) -> Option<Question> {
        let reason = match self.class {
            _ if self.secret.is_some() => self.secret.as_deref().unwrap_or_default(),
            _ if self.stays_in_workspace && !said.confirm => return None,
            _ if self.stays_in_workspace => CAUTION,
            EffectClass::Creating => "it makes something outside the workspace",
            EffectClass::ReadOnly | EffectClass::Unproven => "it takes something from its place",
        };
        Some(Question {
            text: self.contract.clone(),
            program: PathBuf::new(),
            files: Vec::new(),
            shown: format!("files: {}", self.headline),
            effects: self.effects.clone(),
            reason: reason.to_owned(),
        })
    }

    fn footprint(&self) -> Option<Footprint> {
        let unknown = || Footprint::Named { named: Named::default(), is_destructive: true };
        Some(self.reach().filter(|_| self.secret.is_none()).map_or_else(unknown, Footprint::Known))
    }

    fn network(&self, _: &Machine) -> String {
        NO_NETWORK.to_owned()
    }

    fn recording(&self, _: &Machine) -> Recording {
        Recording::Steps
    }

    fn run(self: Box<Self>, call: Call) -> Running {
        let class = self.class;
        let work =
            move |machine: &Machine, act, limit: &Limit| files::run(&self, &machine.config.environment, act, limit);
        Box::pin(call.act(class, work))
    }
}
