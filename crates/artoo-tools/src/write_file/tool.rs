//! `write_file` as the registry knows it.

use std::path::PathBuf;

use artoo_proto::{EffectClass, ToolClass, ToolSpec, escape};
use serde_json::Value;

use crate::consent::{self, Deed, Footprint, Reach, Verb};
use crate::limit::Limit;
use crate::paths;
use crate::record::Record;
use crate::recording::Recording;
use crate::tool::{CAUTION, Call, Job, Machine, NO_NETWORK, Question, Running, Said, Tool, spec, unusable};
use crate::write_file::{self, NewFile};

#[derive(Debug)]
pub(crate) struct WriteFile;

impl Tool for WriteFile {
    fn spec(&self) -> ToolSpec {
        let description = "create a new text file in the workspace";
        spec("write_file", ToolClass::Text, 3, description, write_file::schema())
    }

    fn read(&self, machine: &Machine, input: &Value) -> Result<Box<dyn Job>, Box<Record>> {
        let new = NewFile::parse(&machine.config.environment, input).map_err(|problem| {
            let record = if problem.is_refusal() { Record::denied(&problem.to_string()) } else { unusable(&problem) };
            record.class(EffectClass::Creating)
        })?;
        Ok(Box::new(new))
    }
}

impl Job for NewFile {
    fn target(&self) -> String {
        paths::line(&self.path)
    }

    fn paths(&self) -> Vec<PathBuf> {
        vec![self.path.clone()]
    }

    fn class(&self) -> EffectClass {
        EffectClass::Creating
    }

    fn question(&self, _: &Machine, said: &Said<'_>) -> Option<Question> {
        said.confirm.then(|| {
            let path = paths::line(&self.path);
            Question {
                text: self.text.clone(),
                program: PathBuf::new(),
                files: vec![self.path.clone()],
                shown: format!("write_file {path}\n{}", escape::visible(&self.text)),
                effects: vec![format!("creates {path} ({} bytes)", self.text.len())],
                reason: CAUTION.to_owned(),
            }
        })
    }

    fn footprint(&self) -> Option<Footprint> {
        let made = Deed { verb: Verb::Make, path: consent::place(&self.path), whole: false };
        Reach::of([made]).map(Footprint::Known)
    }

    fn network(&self, _: &Machine) -> String {
        NO_NETWORK.to_owned()
    }

    fn recording(&self, _: &Machine) -> Recording {
        Recording::Steps
    }

    fn run(self: Box<Self>, call: Call) -> Running {
        let work = move |machine: &Machine, act, limit: &Limit| {
            write_file::run(&machine.config.environment, &self, &machine.protected, act, limit)
        };
        Box::pin(call.act(EffectClass::Creating, work))
    }
}
