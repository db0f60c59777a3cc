//! `applescript` on macOS: a script for the person's own programs. Nothing proves what one does, so each is asked about.

use std::path::PathBuf;

use artoo_proto::{EffectClass, ToolClass, ToolSpec, escape};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::config::ToolConfig;
use crate::input::{self, InputProblem};
use crate::process::{self, Invocation};
use crate::record::Record;
use crate::tool::{Call, Job, Machine, Question, Running, Said, Tool, spec, unusable};

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

struct Script {
    program: PathBuf,
    text: String,
}

/// Why a script is not even asked about.
#[derive(Debug, thiserror::Error)]
enum ScriptProblem {
    #[error(transparent)]
    Input(#[from] InputProblem),
    #[error("the script is empty")]
    Empty,
    #[error("the script holds invisible or control characters, so what is shown would not be what runs")]
    Hostile,
}

impl AppleScript {
    pub(crate) fn detect(config: &ToolConfig) -> Option<Self> {
        process::find_program(config, "osascript").map(|program| Self { program })
    }
}

fn parse(value: &Value) -> Result<String, ScriptProblem> {
    let Wire { script } = input::parse(value)?;
    input::check_length("script", &script, SCRIPT_MAX_CHARS)?;
    if script.trim().is_empty() {
        return Err(ScriptProblem::Empty);
    }
    if escape::visible(&script) != script {
        return Err(ScriptProblem::Hostile);
    }
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
        let text = parse(input).map_err(|problem| {
            let record = match &problem {
                ScriptProblem::Hostile => Record::denied(&problem.to_string()),
                ScriptProblem::Input(_) | ScriptProblem::Empty => unusable(&problem),
            };
            Box::new(record.class(EffectClass::Unproven))
        })?;
        Ok(Box::new(Script { program: self.program.clone(), text }))
    }
}

impl Job for Script {
    fn target(&self) -> String {
        escape::one_line(&escape::shorten(self.text.trim(), 200))
    }

    fn paths(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    fn class(&self) -> EffectClass {
        EffectClass::Unproven
    }

    fn question(&self, _: &Machine, _: &Said<'_>) -> Option<Question> {
        Some(Question {
            // Shown is what runs, byte for byte, however long it is.
            shown: self.text.clone(),
            text: self.text.clone(),
            program: self.program.clone(),
            files: Vec::new(),
            effects: vec!["runs an AppleScript, which may do whatever your programs can".to_owned()],
            reason: "nothing proves what a script does".to_owned(),
        })
    }

    fn run(self: Box<Self>, call: Call) -> Running {
        Box::pin(async move {
            let arguments = vec!["-e".into(), self.text.clone().into()];
            let (program, name) = (self.program.clone(), "osascript".into());
            let invocation = Invocation { program, name, arguments, environment: Vec::new() };
            Ok(match call.ask_system(invocation, call.watch.left()).await {
                Ok(mut ended) => Record::of_program(&mut ended, call.machine.config.output_max_chars),
                Err(error) => Record::hindered(format!("osascript could not be started: {error}")),
            }
            .class(EffectClass::Unproven))
        })
    }
}
