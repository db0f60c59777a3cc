//! The tool `mdfind`.

use std::sync::Arc;

use artoo_proto::{EffectClass, ToolClass, ToolSpec, escape};
use serde_json::Value;

use crate::config::ToolConfig;
use crate::effects::CallEffects;
use crate::limit::Stopped;
use crate::mdfind::index::Index;
use crate::mdfind::{self, Query};
use crate::record::Record;
use crate::tool::{Call, Look, Machine, Request, Running, Tool, UserContext, done, spec};
use crate::{glob, paths};

/// The tool `mdfind`, which finds files by words, with the installed indexes.
#[derive(Debug)]
pub(crate) struct Mdfind {
    indexes: Vec<Index>,
}

impl Mdfind {
    /// The tool for this machine; without an index it walks the folder.
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
        let indexes = self.indexes.clone();
        let job = Box::new(move |call| Box::pin(find(query, indexes, call)) as Running);
        Ok(Request { target, effects, question: None, job })
    }
}

/// Asks the indexes one after the other, and walks the folder if none has a match.
async fn find(query: Query, indexes: Vec<Index>, call: Call) -> Result<Look, Stopped> {
    let (machine, root) = (Arc::clone(&call.machine), query.root.clone());
    let unusable = call.deadline.blocking(move |_| glob::unusable_root(&root, &machine.protected)).await?;
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
            Ok(None) => silent.push(format!("{name} has no match")),
            Err(why) => silent.push(format!("{name} failed: {why}")),
        }
    }
    call.work(move |machine, _, limit| mdfind::walk(&query, &machine.protected, &silent, limit)).await
}
