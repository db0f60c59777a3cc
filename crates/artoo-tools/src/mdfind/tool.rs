//! `mdfind` as the registry knows it.

use std::path::PathBuf;
use std::sync::Arc;

use artoo_proto::{EffectClass, ToolClass, ToolSpec, escape};
use serde_json::Value;

use crate::config::ToolConfig;
use crate::limit::Stopped;
use crate::mdfind::index::Index;
use crate::mdfind::{self, Query};
use crate::record::Record;
use crate::tool::{Call, Job, Machine, Question, Running, Said, Tool, spec, unusable};
use crate::{glob, paths};

#[derive(Debug)]
pub(crate) struct Mdfind {
    indexes: Vec<Index>,
}

/// A query and where its answer comes from.
struct Find {
    query: Query,
    indexes: Vec<Index>,
}

impl Mdfind {
    pub(crate) fn detect(config: &ToolConfig) -> Self {
        Self { indexes: Index::installed(config) }
    }
}

impl Tool for Mdfind {
    fn spec(&self) -> ToolSpec {
        let description = match self.indexes.first() {
            Some(index) => format!("find personal files by words, from {}, else by walking the folder", index.name()),
            None => "find personal files by words in their names, by walking the folder".to_owned(),
        };
        spec("mdfind", ToolClass::Files, 1, &description, mdfind::schema())
    }

    fn read(&self, machine: &Machine, input: &Value) -> Result<Box<dyn Job>, Box<Record>> {
        let query = Query::parse(&machine.config.environment, input).map_err(|problem| unusable(&problem))?;
        Ok(Box::new(Find { query, indexes: self.indexes.clone() }))
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
    let Find { query, indexes } = find;
    let refused = {
        let (machine, root) = (Arc::clone(&call.machine), query.root.clone());
        call.watch.blocking(move |_| glob::unusable_root(&root, &machine.protected)).await?
    };
    if let Some(refused) = refused {
        return Ok(refused);
    }
    let mut silent: Vec<String> = Vec::new();
    for index in indexes {
        // Whatever an index does, half of the time is left for the walk.
        let asked = call.ask_system(index.invocation(&query, &call.machine.config), call.watch.left() / 2).await;
        let name = index.name();
        let found = match asked {
            Err(error) => Err(format!("it could not be started: {error}")),
            Ok(ended) => {
                let (machine, query, silent) = (Arc::clone(&call.machine), query.clone(), silent.clone());
                let look = move |_: &_| mdfind::from_index(&query, &machine.protected, &index, &ended, &silent);
                call.watch.blocking(look).await?
            }
        };
        match found {
            Ok(Some(record)) => return Ok(record),
            Ok(None) => silent.push(format!("{name} knows of none")),
            Err(why) => silent.push(format!("{name} was of no use: {why}")),
        }
    }
    call.work(move |machine, limit| mdfind::walk(&query, &machine.protected, &silent, limit)).await
}
