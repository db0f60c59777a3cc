//! The tool `read_file`.

use artoo_proto::{EffectClass, ToolClass, ToolSpec};
use serde_json::Value;

use crate::effects::CallEffects;
use crate::paths;
use crate::read_file::{self, Reading};
use crate::record::Record;
use crate::tool::{Machine, Question, Request, Tool, UserContext, spec, work};

/// The tool `read_file`, which reads text files, some of their lines, or the number of lines.
#[derive(Debug)]
pub(crate) struct ReadFile;

impl Tool for ReadFile {
    fn spec(&self) -> ToolSpec {
        let description = "read a text file, some of its lines, or count them";
        spec("read_file", ToolClass::Text, 3, description, read_file::schema())
    }

    fn read(&self, machine: &Machine, _: &UserContext<'_>, input: &Value) -> Result<Request, Box<Record>> {
        let reading = Reading::parse(&machine.config.environment, input);
        let reading = reading.map_err(|record| record.of_class(EffectClass::ReadOnly))?;
        let target = paths::line(&reading.path);
        let files = vec![reading.path.clone()];
        let lines = vec![format!("shows what {target} says")];
        let effects = CallEffects { lines, ..CallEffects::of_reading(files.clone()) };
        let shown = format!("read_file: {target}");
        let question = reading.secret(&machine.protected).map(|reason| Question {
            text: shown.clone(),
            files,
            shown,
            reason,
            details: Vec::new(),
        });
        Ok(Request {
            target,
            effects,
            question,
            job: work(move |machine, _, limit| read_file::run(&reading, machine, limit)),
        })
    }
}
