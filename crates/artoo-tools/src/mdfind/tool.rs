//! `mdfind` as the registry knows it.

use std::path::PathBuf;
use std::sync::Arc;

use artoo_proto::{EffectClass, ToolClass, ToolSpec, escape};
use serde_json::Value;

use crate::config::ToolConfig;
use crate::limit::Stopped;
use crate::mdfind::{self, Query};
use crate::process::{self, Invocation};
use crate::record::Record;
use crate::tool::{Call, Job, Machine, Question, Running, Said, Tool, spec, unusable};
use crate::{glob, paths};

#[derive(Debug)]
pub(crate) struct Mdfind {
    /// Spotlight, where it is installed.
    index: Option<PathBuf>,
}

/// A query and where its answer comes from.
struct Find {
    query: Query,
    index: Option<PathBuf>,
}

impl Mdfind {
    pub(crate) fn detect(config: &ToolConfig) -> Self {
        Self { index: process::find_program(config, "mdfind") }
    }
}

impl Tool for Mdfind {
    fn spec(&self) -> ToolSpec {
        let description = match self.index {
            Some(_) => "find personal files by words, from the Spotlight index",
            None => "find personal files by words in their names, by walking the folder",
        };
        spec("mdfind", ToolClass::Files, 1, description, mdfind::schema())
    }

    fn read(&self, machine: &Machine, input: &Value) -> Result<Box<dyn Job>, Box<Record>> {
        let query = Query::parse(&machine.config.environment, input).map_err(|problem| unusable(&problem))?;
        Ok(Box::new(Find { query, index: self.index.clone() }))
    }
}

impl Job for Find {
    fn target(&self) -> String {
        format!("{} in {}", escape::one_line(&self.query.words.join(" ")), paths::line(&self.query.root))
    }

    fn paths(&self) -> Vec<PathBuf> {
        vec![self.query.root.clone()]
    }

    fn class(&self) -> EffectClass {
        EffectClass::ReadOnly
    }

    fn question(&self, _: &Machine, _: &Said<'_>) -> Option<Question> {
        None
    }

    fn run(self: Box<Self>, call: Call) -> Running {
        Box::pin(find(*self, call))
    }
}

async fn find(find: Find, call: Call) -> Result<Record, Stopped> {
    let Find { query, index } = find;
    let Some(program) = index else {
        return call.work(move |machine, limit| mdfind::walk(&query, &machine.protected, limit)).await;
    };
    let refused = {
        let (machine, root) = (Arc::clone(&call.machine), query.root.clone());
        call.watch.blocking(move |_| glob::unusable_root(&root, &machine.protected)).await?
    };
    if let Some(refused) = refused {
        return Ok(refused);
    }
    let arguments = query.arguments();
    let invocation = Invocation { program, name: "mdfind".into(), arguments, environment: Vec::new() };
    match call.run(&invocation).await {
        Ok(ended) => call.work(move |machine, _| mdfind::from_index(&query, &machine.protected, &ended)).await,
        Err(error) => Ok(Record::hindered(format!("mdfind could not be started: {error}"))),
    }
}
