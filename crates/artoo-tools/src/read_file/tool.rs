//! `read_file` as the registry knows it.

use std::path::PathBuf;

use artoo_proto::{EffectClass, ToolClass, ToolSpec};
use serde_json::Value;

use crate::paths;
use crate::read_file::{self, Reading};
use crate::record::Record;
use crate::tool::{Call, Job, Machine, NO_NETWORK, Question, Running, Said, Tool, spec, unusable};

#[derive(Debug)]
pub(crate) struct ReadFile;

impl Tool for ReadFile {
    fn spec(&self) -> ToolSpec {
        let description = "read a text file, some of its lines, or count them";
        spec("read_file", ToolClass::Text, 3, description, read_file::schema())
    }

    fn read(&self, machine: &Machine, input: &Value) -> Result<Box<dyn Job>, Box<Record>> {
        let reading = Reading::parse(&machine.config.environment, input).map_err(|problem| unusable(&problem))?;
        Ok(Box::new(reading.looked_at(&machine.protected)))
    }
}

impl Job for Reading {
    fn target(&self) -> String {
        paths::line(&self.path)
    }

    fn paths(&self) -> Vec<PathBuf> {
        vec![self.path.clone()]
    }

    fn class(&self) -> EffectClass {
        EffectClass::ReadOnly
    }

    fn question(&self, _: &Machine, _: &Said<'_>) -> Option<Question> {
        let reason = self.secret.clone()?;
        let shown = format!("read_file: {}", self.target());
        let effects = vec![format!("shows what {} says", self.target())];
        Some(Question { text: shown.clone(), program: PathBuf::new(), files: self.paths(), shown, effects, reason })
    }

    fn network(&self, _: &Machine) -> String {
        NO_NETWORK.to_owned()
    }

    fn run(self: Box<Self>, call: Call) -> Running {
        Box::pin(async move { call.work(move |machine, limit| read_file::run(&self, machine, limit)).await })
    }
}
