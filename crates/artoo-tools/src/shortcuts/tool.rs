//! `shortcuts` as the registry knows it.

use std::path::Path;

use artoo_proto::{EffectClass, ToolClass, ToolSpec, escape};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::custom::CustomCall;
use crate::input::{self, InputProblem};
use crate::record::Record;
use crate::shortcuts::Shortcuts;
use crate::system_program::SystemProgram;
use crate::tool::{Job, Machine, Question, Tool, spec};

/// Longest name of a shortcut.
const NAME_MAX_CHARS: usize = 200;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    name: Option<String>,
    list: Option<bool>,
    input: Option<Value>,
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
        let unfit = |why: &str| InputProblem::Unfit(why.to_owned()).record(EffectClass::Unproven);
        let wire: Wire = input::parse(value).map_err(|problem| problem.record(EffectClass::Unproven))?;
        match (self, wire.name, wire.list) {
            (Self::Apple { program }, None, Some(true)) if wire.input.is_none() => Ok(Box::new(SystemProgram {
                program: program.clone(),
                arguments: vec!["list".into()],
                target: "the list of shortcuts".to_owned(),
                question: None,
            })),
            (Self::Apple { program }, Some(name), None) => {
                if wire.input.is_some() {
                    return Err(unfit("input: a shortcut of macOS takes none here"));
                }
                let is_shown = escape::one_line(&name) == name && !name.trim().is_empty();
                if name.starts_with('-') || !is_shown || name.chars().count() > NAME_MAX_CHARS {
                    return Err(unfit("name: it is empty, starts with '-' or holds a character that can't be shown"));
                }
                Ok(Box::new(apple(program, name)))
            }
            (Self::Own { manifests }, Some(name), None) => {
                let Some(manifest) = manifests.iter().find(|manifest| manifest.name == name) else {
                    let names: Vec<&str> = manifests.iter().map(|manifest| manifest.name.as_str()).collect();
                    return Err(unfit(&format!("name: there is none of that name; there are {}", names.join(", "))));
                };
                let input = wire.input.unwrap_or_else(|| json!({}));
                CustomCall::read(manifest, machine, &input).map(|call| Box::new(call) as Box<dyn Job>)
            }
            (_, _, _) => Err(unfit("give name for a shortcut, or list: true for their names")),
        }
    }
}

/// A run of one of Apple's.
fn apple(program: &Path, name: String) -> SystemProgram {
    let text = format!("shortcuts run {name:?}");
    let question = Question {
        shown: text.clone(),
        text,
        program: program.to_path_buf(),
        files: Vec::new(),
        effects: vec![format!("runs your shortcut {name:?}, which may do whatever you built into it")],
        reason: "nothing proves what a shortcut does".to_owned(),
    };
    SystemProgram {
        program: program.to_path_buf(),
        arguments: vec!["run".into(), name.clone().into()],
        target: name,
        question: Some(question),
    }
}
