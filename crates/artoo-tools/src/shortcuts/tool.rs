//! `shortcuts` as the registry knows it.

use std::path::PathBuf;

use artoo_proto::{EffectClass, ToolClass, ToolSpec, escape};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::custom::CustomCall;
use crate::input::{self, InputProblem};
use crate::process::Invocation;
use crate::record::Record;
use crate::shortcuts::Shortcuts;
use crate::tool::{Call, Job, Machine, Question, Running, Said, Tool, spec, unusable};

/// Longest name of a shortcut.
const NAME_MAX_CHARS: usize = 200;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    name: Option<String>,
    list: Option<bool>,
    input: Option<Value>,
}

/// Why no shortcut can be run.
#[derive(Debug, thiserror::Error)]
enum ShortcutProblem {
    #[error(transparent)]
    Input(#[from] InputProblem),
    #[error("give name for a shortcut, or list: true for their names")]
    Mixed,
    #[error("name: it is empty, starts with '-' or holds a character that can't be shown")]
    Name,
    #[error("name: there is none of that name; there are {names}")]
    Unknown { names: String },
    #[error("input: a shortcut of macOS takes none here")]
    NoInput,
}

/// One of Apple's, or their list.
struct AppleShortcut {
    program: PathBuf,
    name: Option<String>,
}

impl Tool for Shortcuts {
    fn spec(&self) -> ToolSpec {
        match self {
            Self::Apple { .. } => {
                let schema = json!({
                    "type": "object",
                    "additionalProperties": false,
                    "properties": {
                        "name": {"type": "string", "minLength": 1, "maxLength": NAME_MAX_CHARS},
                        "list": {"const": true, "description": "instead of name: the names there are"}
                    }
                });
                spec("shortcuts", ToolClass::Desktop, 5, "run one of the person's shortcuts, after a yes", schema)
            }
            Self::Own { manifests } => {
                let each = manifests.iter().map(|manifest| {
                    json!({
                        "type": "object",
                        "description": manifest.description,
                        "additionalProperties": false,
                        "required": ["name", "input"],
                        "properties": {"name": {"const": manifest.name}, "input": manifest.schema()}
                    })
                });
                let schema = json!({"type": "object", "oneOf": each.collect::<Vec<_>>()});
                spec("shortcuts", ToolClass::Desktop, 5, "run one of the person's own programs", schema)
            }
        }
    }

    fn read(&self, machine: &Machine, value: &Value) -> Result<Box<dyn Job>, Box<Record>> {
        let problem = |problem: ShortcutProblem| Box::new(unusable(&problem).class(EffectClass::Unproven));
        let wire: Wire = input::parse(value).map_err(|error| problem(error.into()))?;
        match (self, wire.name, wire.list) {
            (Self::Apple { program }, None, Some(true)) if wire.input.is_none() => {
                Ok(Box::new(AppleShortcut { program: program.clone(), name: None }))
            }
            (Self::Apple { program }, Some(name), None) => {
                if wire.input.is_some() {
                    return Err(problem(ShortcutProblem::NoInput));
                }
                let is_shown = escape::one_line(&name) == name && !name.trim().is_empty();
                if name.starts_with('-') || !is_shown || name.chars().count() > NAME_MAX_CHARS {
                    return Err(problem(ShortcutProblem::Name));
                }
                Ok(Box::new(AppleShortcut { program: program.clone(), name: Some(name) }))
            }
            (Self::Own { manifests }, Some(name), None) => {
                let Some(manifest) = manifests.iter().find(|manifest| manifest.name == name) else {
                    let names: Vec<&str> = manifests.iter().map(|manifest| manifest.name.as_str()).collect();
                    return Err(problem(ShortcutProblem::Unknown { names: names.join(", ") }));
                };
                let input = wire.input.unwrap_or_else(|| json!({}));
                CustomCall::read(manifest, machine, &input).map(|call| Box::new(call) as Box<dyn Job>)
            }
            (_, _, _) => Err(problem(ShortcutProblem::Mixed)),
        }
    }
}

impl Job for AppleShortcut {
    fn target(&self) -> String {
        self.name.clone().unwrap_or_else(|| "the list of shortcuts".to_owned())
    }

    fn paths(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    fn class(&self) -> EffectClass {
        if self.name.is_some() { EffectClass::Unproven } else { EffectClass::ReadOnly }
    }

    fn question(&self, _: &Machine, _: &Said<'_>) -> Option<Question> {
        let name = self.name.as_ref()?;
        let text = format!("shortcuts run {name:?}");
        Some(Question {
            shown: text.clone(),
            text,
            program: self.program.clone(),
            files: Vec::new(),
            effects: vec![format!("runs your shortcut {name:?}, which may do whatever you built into it")],
            reason: "nothing proves what a shortcut does".to_owned(),
        })
    }

    fn run(self: Box<Self>, call: Call) -> Running {
        Box::pin(async move {
            let arguments = match &self.name {
                Some(name) => vec!["run".into(), name.into()],
                None => vec!["list".into()],
            };
            let class = self.class();
            let (program, name) = (self.program.clone(), "shortcuts".into());
            let invocation = Invocation { program, name, arguments, environment: Vec::new() };
            Ok(match call.ask_system(invocation, call.watch.left()).await {
                Ok(mut ended) => Record::of_program(&mut ended, call.machine.config.output_max_chars),
                Err(error) => Record::hindered(format!("shortcuts could not be started: {error}")),
            }
            .class(class))
        })
    }
}
