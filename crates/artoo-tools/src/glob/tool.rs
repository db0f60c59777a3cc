//! `glob` as the registry knows it.

use std::path::PathBuf;

use artoo_proto::{EffectClass, ToolClass, ToolSpec, escape};
use serde_json::Value;

use crate::glob::{self, Search};
use crate::paths;
use crate::record::Record;
use crate::tool::{Call, Job, Machine, Question, Running, Said, Tool, spec, unusable};

#[derive(Debug)]
pub(crate) struct Glob;

impl Tool for Glob {
    fn spec(&self) -> ToolSpec {
        let description = "find files and folders by pattern, size, time, content; count or sum them";
        spec("glob", ToolClass::Files, 2, description, glob::schema())
    }

    fn read(&self, machine: &Machine, input: &Value) -> Result<Box<dyn Job>, Box<Record>> {
        let search = Search::parse(&machine.config.environment, input).map_err(|problem| unusable(&problem))?;
        Ok(Box::new(search))
    }
}

impl Job for Search {
    fn target(&self) -> String {
        let root = paths::line(&self.root);
        let root = root.trim_end_matches('/');
        let rest = match self.spelled.as_slice() {
            [] if self.recursive => "**".to_owned(),
            [] => "*".to_owned(),
            [one] if !self.recursive || one.contains('/') => {
                one.trim_start_matches("./").trim_start_matches('/').to_owned()
            }
            [one] => format!("**/{one}"),
            many if self.recursive => format!("**/{{{}}}", many.join(",")),
            many => format!("{{{}}}", many.join(",")),
        };
        format!("{root}/{}", escape::one_line(&rest))
    }

    fn paths(&self) -> Vec<PathBuf> {
        vec![self.root.clone()]
    }

    fn class(&self) -> EffectClass {
        EffectClass::ReadOnly
    }

    fn question(&self, _: &Machine, _: &Said<'_>) -> Option<Question> {
        None
    }

    fn run(self: Box<Self>, call: Call) -> Running {
        Box::pin(async move { call.work(move |machine, limit| glob::run(*self, &machine.protected, limit)).await })
    }
}
