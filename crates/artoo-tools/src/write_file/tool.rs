//! The tool `write_file`.

use std::path::Path;

use artoo_proto::{EffectClass, ToolClass, ToolSpec, escape};
use serde_json::Value;

use crate::change::NewNames;
use crate::effects::{Action, CallEffects, EffectSet, FileEffect, NetworkUse, UndoMethod};
use crate::record::Record;
use crate::tool::{Machine, Question, Request, Tool, UserContext, spec, work};
use crate::write_file::{self, NewFile};
use crate::{paths, texts};

/// The tool `write_file`, which creates a text file in the workspace.
#[derive(Debug)]
pub(crate) struct WriteFile;

impl Tool for WriteFile {
    fn spec(&self) -> ToolSpec {
        let description = "create a new text file in the workspace";
        spec("write_file", ToolClass::Text, 3, description, write_file::schema())
    }

    fn read(&self, machine: &Machine, user: &UserContext<'_>, input: &Value) -> Result<Request, Box<Record>> {
        let new = NewFile::parse(&machine.config.environment, input);
        let new = new.map_err(|record| record.of_class(EffectClass::Creating))?;
        let target = paths::line(&new.path);
        let created = FileEffect { action: Action::Create, path: paths::without_links(&new.path), is_recursive: false };
        let mut names = NewNames::new(&machine.config);
        names.add(&created.path, false);
        let asks = names.reason();
        let effects = CallEffects {
            changes: EffectSet::from([created]),
            // An approval of a name that other programs run covers no other call.
            is_complete: asks.is_none(),
            undo: UndoMethod::Steps,
            lines: vec![texts::creates(&new.path, Path::new(&machine.config.environment.home), new.text.len())],
            ..CallEffects::new(EffectClass::Creating, vec![new.path.clone()], NetworkUse::None)
        };
        let reason = asks.or_else(|| user.confirm.then(|| texts::CAUTION.to_owned()));
        let question = reason.map(|reason| Question {
            text: new.text.clone(),
            files: vec![new.path.clone()],
            shown: Question::shortened(&format!("write_file {target}\n{}", escape::visible(&new.text))),
            reason,
            details: Vec::new(),
        });
        let job = work(move |machine, act, limit| {
            write_file::run(&machine.config.environment, &new, &machine.protected, act, limit)
        });
        Ok(Request { target, effects, question, job })
    }
}
