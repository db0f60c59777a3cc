//! `applescript` on macOS: a script for the person's own programs. Nothing proves what one does, so each is asked about.

use std::path::PathBuf;

use artoo_proto::{EffectClass, ToolClass, ToolSpec, escape};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::config::ToolConfig;
use crate::input::{self, InputProblem};
use crate::process;
use crate::record::Record;
use crate::system_program::SystemProgram;
use crate::tool::{Job, Machine, Question, Tool, spec};

/// Longest script: it is shown whole when it is asked about.
const SCRIPT_MAX_CHARS: usize = 8000;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    script: String,
}

/// The tool, with `osascript`.
#[derive(Debug, Clone)]
pub(crate) struct AppleScript {
    program: PathBuf,
}

impl AppleScript {
    pub(crate) fn detect(config: &ToolConfig) -> Option<Self> {
        process::find_program(config, "osascript").map(|program| Self { program })
    }
}

fn parse(value: &Value) -> Result<String, InputProblem> {
    let Wire { script } = input::parse(value)?;
    input::check_length("script", &script, SCRIPT_MAX_CHARS)?;
    if script.trim().is_empty() {
        return Err(InputProblem::Unfit("the script is empty".to_owned()));
    }
    input::check_visible("the script", &script, "runs")?;
    Ok(script)
}

impl Tool for AppleScript {
    fn spec(&self) -> ToolSpec {
        let schema = json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["script"],
            "properties": {"script": {"type": "string", "minLength": 1, "maxLength": SCRIPT_MAX_CHARS}}
        });
        let description =
            "control Mail, Calendar, Reminders, Music and other programs of macOS; each script is asked about";
        spec("applescript", ToolClass::Desktop, 4, description, schema)
    }

    fn read(&self, _: &Machine, input: &Value) -> Result<Box<dyn Job>, Box<Record>> {
        let text = parse(input).map_err(|problem| problem.record(EffectClass::Unproven))?;
        let question = Question {
            shown: text.clone(),
            text: text.clone(),
            program: self.program.clone(),
            files: Vec::new(),
            effects: vec!["runs an AppleScript, which may do whatever your programs can".to_owned()],
            reason: "nothing proves what a script does".to_owned(),
        };
        Ok(Box::new(SystemProgram {
            program: self.program.clone(),
            target: escape::one_line(&escape::shorten(text.trim(), 200)),
            arguments: vec!["-e".into(), text.into()],
            question: Some(question),
        }))
    }
}
