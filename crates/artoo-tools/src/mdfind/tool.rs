//! The tool `mdfind`.

use std::sync::Arc;

use artoo_proto::{EffectClass, ToolClass, ToolSpec, escape};
use serde_json::Value;

use crate::config::ToolConfig;
use crate::effects::CallEffects;
use crate::limit::{Limit, Stopped};
use crate::mdfind::index::Index;
use crate::mdfind::{self, Query};
use crate::record::Record;
use crate::tool::{Call, Job, Look, Machine, Request, Running, Tool, UserContext, done, spec};
use crate::undo::Act;
use crate::{glob, paths};

#[derive(Debug)]
pub(crate) struct Mdfind {
    indexes: Vec<Index>,
}

/// A query with the indexes to ask.
struct Find {
    query: Query,
    indexes: Vec<Index>,
    /// The record of a root that can't be searched.
    unusable: Option<Record>,
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

    fn read(&self, machine: &Machine, _: &UserContext<'_>, input: &Value) -> Result<Request, Box<Record>> {
        let query = Query::parse(&machine.config.environment, input);
        let query = query.map_err(|record| record.of_class(EffectClass::ReadOnly))?;
        let target = format!("{} in {}", escape::one_line(&query.words.join(" ")), paths::line(&query.root));
        let effects = CallEffects::of_reading(vec![query.root.clone()]);
        let job = Box::new(Find { query, indexes: self.indexes.clone(), unusable: None });
        Ok(Request { target, effects, question: None, job })
    }
}

impl Job for Find {
    fn prepare(&mut self, machine: &Machine, _: &Act, _: &Limit) {
        self.unusable = glob::unusable_root(&self.query.root, &machine.protected);
    }

    fn run(self: Box<Self>, call: Call) -> Running {
        Box::pin(find(*self, call))
    }
}

async fn find(find: Find, call: Call) -> Result<Look, Stopped> {
    let Find { query, indexes, unusable } = find;
    if let Some(record) = unusable {
        return Ok(done(record));
    }
    let mut silent: Vec<String> = Vec::new();
    for index in indexes {
        // Half of the time is left for the walk, whatever an index does.
        let asked = call.ask_system(index.invocation(&query, &call.machine.config), call.deadline.left() / 2).await;
        let name = index.name();
        let found = match asked {
            Err(error) => Err(format!("it could not be started: {error}")),
            Ok(ended) => {
                let (machine, query, silent) = (Arc::clone(&call.machine), query.clone(), silent.clone());
                let read = move |_: &_| mdfind::from_index(&query, &machine.protected, &index, &ended, &silent);
                call.deadline.blocking(read).await?
            }
        };
        match found {
            Ok(Some(record)) => return Ok(done(record)),
            Ok(None) => silent.push(format!("{name} knows of none")),
            Err(why) => silent.push(format!("{name} was of no use: {why}")),
        }
    }
    call.work(move |machine, _, limit| mdfind::walk(&query, &machine.protected, &silent, limit)).await
}
