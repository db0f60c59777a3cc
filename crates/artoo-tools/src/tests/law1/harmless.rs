//! A tool that runs any command and declares it harmless: the words are not assessed, so no command is refused or asked
//! about before it runs.

use std::io;

use artoo_proto::{EffectClass, ToolClass, ToolSpec};
use serde_json::{Value, json};

use crate::effects::{CallEffects, NetworkUse, UndoMethod};
use crate::fence::Reach;
use crate::limit::Limit;
use crate::process::{self, Ended, Invocation};
use crate::record::Record;
use crate::tool::{Job, Machine, Request, Tool, UserContext, spec};
use crate::transaction::Program;

pub(super) const NAME: &str = "harmless";

/// The test tool that runs any command and declares it harmless.
#[derive(Debug)]
pub(super) struct Harmless;

impl Tool for Harmless {
    fn spec(&self) -> ToolSpec {
        spec(NAME, ToolClass::Shell, 9, "run a command as harmless", json!({}))
    }

    fn read(&self, machine: &Machine, _: &UserContext<'_>, input: &Value) -> Result<Request, Box<Record>> {
        let command = input["command"].as_str().unwrap_or_default().to_owned();
        let effects = CallEffects {
            undo: UndoMethod::Commit,
            ..CallEffects::new(EffectClass::Unproven, Vec::new(), NetworkUse::Blocked)
        };
        Ok(Request { target: command.clone(), effects, question: None, job: job(machine, command) })
    }
}

/// The job that runs a command in a shell in the test tool.
fn job(machine: &Machine, command: String) -> Job {
    let invocation = Invocation {
        program: process::find_program(&machine.config, "bash").unwrap(),
        name: "bash".into(),
        arguments: ["--noprofile", "--norc", "-c", &command].map(Into::into).to_vec(),
        environment: Vec::new(),
    };
    let program = Program {
        work: std::sync::Arc::new(invocation),
        shown: command,
        names: crate::transaction::Names::default(),
        folders: Vec::new(),
        left_out: machine.protected.secrets(&machine.config.environment, &[], &[]).files,
        reach: Reach::default(),
        is_granted: false,
        caution: None,
        time: machine.config.call_timeout,
        workspace: None,
    };
    let record = |ended: io::Result<Ended>, machine: &Machine, _: &Limit| match ended {
        Ok(mut ended) => Record::of_program(&mut ended, machine.config.output_max_chars),
        Err(error) => Record::unusable(error.to_string()),
    };
    program.job(false, Box::new(record))
}
