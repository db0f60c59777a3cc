//! Manifests of tools, read strictly: one with an unknown key or an invalid value is rejected as a whole.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use artoo_proto::EffectClass;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::config::{CONSENTED_PATH, ToolConfig};
use crate::custom::document::openable;
use crate::custom::field::{self, Field, Kind};
use crate::custom::name::is_name;
use crate::custom::problem::ManifestProblem;
use crate::custom::template::{self, Group};
use crate::record::Record;
use crate::tool::Machine;
use crate::{paths, process, suggest, trust};

/// Largest manifest file in bytes: about a hundred times what one needs.
const FILE_MAX_BYTES: u64 = 64 * 1024;

/// Longest description of a tool, in characters: it is in every prompt.
const DESCRIPTION_MAX_CHARS: usize = 300;

/// Maximum number of inputs of one tool: with more, models make mistakes.
const INPUTS_MAX: usize = 16;

/// Maximum number of arguments in a manifest's command, before inputs are filled in.
const ARGUMENTS_MAX: usize = 64;

/// Longest time limit of a tool, in seconds.
const TIMEOUT_MAX_S: u64 = 600;

/// Time limit of a tool if its manifest has none, in seconds.
const TIMEOUT_S: u64 = 30;

const KEYS: [&str; 9] = ["name", "description", "command", "effect", "network", "granted", "ask", "timeout_s", "input"];

/// The manifest of a user's own tool or of a built-in action; its program and arguments are set when it is validated.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Manifest {
    pub(crate) name: String,
    pub(crate) description: String,
    #[serde(default)]
    pub(crate) command: Vec<Argument>,
    /// What the author claims that the tool does. It is not proven.
    #[serde(rename = "effect", deserialize_with = "class")]
    pub(crate) class: EffectClass,
    /// Whether the tool may use the network; otherwise its sandbox blocks it.
    #[serde(default)]
    pub(crate) network: bool,
    /// Whether the user allows calls that change something or use the network without a question.
    #[serde(default)]
    pub(crate) granted: bool,
    /// Why the user is asked before every call.
    pub(crate) ask: Option<String>,
    timeout_s: Option<u64>,
    #[serde(rename = "input", default)]
    fields: BTreeMap<String, Field>,
    #[serde(skip)]
    pub(crate) program: PathBuf,
    #[serde(skip)]
    groups: Vec<Group>,
}

/// An entry of a manifest's `command`: one text, or the texts of an optional group.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(crate) enum Argument {
    One(String),
    Group(Vec<String>),
}

/// Deserialises the field `effect` of a manifest into an effect class.
fn class<'de, D: serde::Deserializer<'de>>(text: D) -> Result<EffectClass, D::Error> {
    match String::deserialize(text)?.as_str() {
        "read_only" => Ok(EffectClass::ReadOnly),
        "creating" => Ok(EffectClass::Creating),
        "changing" => Ok(EffectClass::Unproven),
        other => Err(serde::de::Error::unknown_variant(other, &["read_only", "creating", "changing"])),
    }
}

impl Manifest {
    /// Reads a manifest and checks its program; runs nothing.
    pub(crate) fn read(config: &ToolConfig, path: &Path) -> Result<Self, ManifestProblem> {
        let folder = path.parent().unwrap_or(Path::new("/"));
        parse(&read_toml(path)?)?.validated(|program| find_program(config, folder, program))
    }

    /// The manifest, checked and with its program located by `find`; an error says what is wrong.
    pub(crate) fn validated(
        self,
        find: impl FnOnce(&str) -> Result<PathBuf, ManifestProblem>,
    ) -> Result<Self, ManifestProblem> {
        is_name(&self.name).then_some(()).ok_or_else(|| ManifestProblem::name(&self.name))?;
        check_text("description", &self.description, DESCRIPTION_MAX_CHARS)?;
        if let Some(reason) = &self.ask {
            check_text("ask", reason, DESCRIPTION_MAX_CHARS)?;
        }
        check_fields(&self.fields)?;
        let Some((Argument::One(program), arguments)) = self.command.split_first() else {
            return Err(ManifestProblem::command(ARGUMENTS_MAX));
        };
        let program = find(program)?;
        let texts: Vec<Vec<String>> = arguments.iter().map(Argument::texts).collect();
        if texts.iter().map(Vec::len).sum::<usize>() > ARGUMENTS_MAX {
            return Err(ManifestProblem::command(ARGUMENTS_MAX));
        }
        for text in texts.iter().flatten() {
            if artoo_proto::escape::visible(text) != *text {
                return Err(ManifestProblem::new("command: it contains characters that can't be shown"));
            }
        }
        let groups =
            template::groups(&texts, &self.fields, |at| matches!(arguments.get(at), Some(Argument::Group(_))))?;
        timeout(self.timeout_s)?;
        Ok(Self { program, groups, ..self })
    }

    /// The time limit of a call of this tool.
    pub(crate) fn timeout(&self) -> Duration {
        timeout(self.timeout_s).unwrap_or_default()
    }

    /// The tool's JSON schema for models; `selector` is the input that selects this action among several.
    pub(crate) fn schema(&self, selector: Option<&str>) -> Value {
        let named = selector.map(|key| (key.to_owned(), json!({"const": self.name})));
        let fields = self.fields.iter().map(|(name, field)| (name.clone(), field.schema()));
        let properties: Map<String, Value> = fields.chain(named).collect();
        let required: Vec<&str> = selector.into_iter().chain(self.required()).collect();
        json!({"type": "object", "additionalProperties": false, "required": required, "properties": properties})
    }

    /// The names of the inputs that a call must give.
    fn required(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().filter(|(_, field)| !field.optional).map(|(name, _)| name.as_str())
    }

    /// Whether an input has every required field.
    pub(crate) fn has_required(&self, input: &Map<String, Value>) -> bool {
        self.required().all(|name| input.contains_key(name))
    }

    /// The values of those inputs in a call that have the type `document`.
    pub(crate) fn documents<'a>(&'a self, input: &'a Map<String, Value>) -> impl Iterator<Item = &'a str> {
        let documents = self.fields.iter().filter(|(_, field)| field.kind == Kind::Document);
        documents.filter_map(|(name, _)| input.get(name)?.as_str())
    }

    /// The program's arguments made from an input; `Err` is the record of an undeclared, missing or invalid input. The
    /// path of a document becomes absolute in `input`.
    pub(crate) fn arguments(
        &self,
        machine: &Machine,
        input: &mut Map<String, Value>,
    ) -> Result<Vec<String>, Box<Record>> {
        for (name, value) in input.iter_mut() {
            let field = self.fields.get(name).ok_or_else(|| template::problem(name, "there is no such input"))?;
            field.check(value).map_err(|reason| template::problem(name, &reason))?;
            if let (Kind::Document, Value::String(text)) = (field.kind, &*value) {
                *value = openable(&machine.config.environment, &machine.protected, text)?.into();
            }
        }
        if let Some(name) = self.required().find(|name| !input.contains_key(*name)) {
            return Err(template::problem(name, "it is missing"));
        }
        template::arguments(&self.groups, input)
    }
}

impl Argument {
    /// The text of an argument that is a single text; `None` for an optional group.
    pub(crate) fn text(&self) -> Option<&str> {
        if let Self::One(text) = self { Some(text) } else { None }
    }

    /// The texts of this argument: one, or all texts of the group.
    fn texts(&self) -> Vec<String> {
        match self {
            Self::One(text) => vec![text.clone()],
            Self::Group(texts) => texts.clone(),
        }
    }
}

/// The text of a manifest file, empty if it is missing; an error if other users could write to it, or it can't be read.
pub(crate) fn read_toml(path: &Path) -> Result<String, ManifestProblem> {
    let text = trust::text(path, FILE_MAX_BYTES, false);
    Ok(text.map_err(|distrust| ManifestProblem::new(distrust.to_string()))?.unwrap_or_default())
}

/// Parses a TOML text; an error has the line number.
pub(crate) fn from_toml<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, ManifestProblem> {
    toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        let line = text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1;
        ManifestProblem::new(format!("line {line}: {}", artoo_proto::escape::one_line(error.message())))
    })
}

/// The time limit that a manifest gives, or else the default; an error if it is zero or too long.
pub(crate) fn timeout(seconds: Option<u64>) -> Result<Duration, ManifestProblem> {
    let seconds = seconds.unwrap_or(TIMEOUT_S);
    let is_one = (1..=TIMEOUT_MAX_S).contains(&seconds);
    if is_one {
        Ok(Duration::from_secs(seconds))
    } else {
        Err(ManifestProblem::new(format!("timeout_s: give 1 to {TIMEOUT_MAX_S} seconds")))
    }
}

/// Parses the text of a manifest and checks that every key is known; the values are checked by [`Manifest::validated`].
fn parse(text: &str) -> Result<Manifest, ManifestProblem> {
    let table: toml::Table = from_toml(text)?;
    check_keys("", table.keys(), &KEYS)?;
    for (name, field) in table.get("input").and_then(toml::Value::as_table).into_iter().flatten() {
        check_keys(&format!("input.{name}."), field.as_table().into_iter().flat_map(toml::Table::keys), &field::KEYS)?;
    }
    from_toml(text)
}

/// Rejects a TOML table with an unknown key, and suggests a similar key.
pub(crate) fn check_keys<'a>(
    table: &str,
    keys: impl IntoIterator<Item = &'a String>,
    known: &'static [&'static str],
) -> Result<(), ManifestProblem> {
    let Some(unknown) = keys.into_iter().find(|key| !known.contains(&key.as_str())) else { return Ok(()) };
    let key = artoo_proto::escape::one_line(&artoo_proto::escape::shorten(&format!("{table}{unknown}"), 80));
    let meant = suggest::nearest(unknown, known).map(|meant| format!(" (did you mean {meant}?)")).unwrap_or_default();
    Err(ManifestProblem::new(format!("{key} is not a known key{meant}; known keys are {}", known.join(", "))))
}

/// Checks the names, declarations and number of a manifest's inputs.
fn check_fields(fields: &BTreeMap<String, Field>) -> Result<(), ManifestProblem> {
    let problem = |field: &str, reason: String| Err(ManifestProblem::new(format!("input.{field}: {reason}")));
    if fields.len() > INPUTS_MAX {
        return problem("", format!("at most {INPUTS_MAX} inputs"));
    }
    for (name, field) in fields {
        if !is_name(name) {
            let name = artoo_proto::escape::one_line(&artoo_proto::escape::shorten(name, 80));
            return problem(&name, "an input's name holds a to z, 0 to 9 and _, a letter first".to_owned());
        }
        if let Err(reason) = field.validate() {
            return problem(name, reason);
        }
    }
    Ok(())
}

/// Checks that a manifest's text, such as a description, is not empty, not too long and on one line.
fn check_text(key: &'static str, text: &str, max: usize) -> Result<(), ManifestProblem> {
    let is_shown = artoo_proto::escape::one_line(text) == text;
    if text.trim().is_empty() || text.chars().count() > max || !is_shown {
        let reason = format!("it is empty, longer than {max} characters, or contains characters that can't be shown");
        return Err(ManifestProblem::new(format!("{key}: {reason}")));
    }
    Ok(())
}

/// Locates and checks a program: an absolute path, a file beside the manifest (`./name`), or a name on the fixed path.
pub(crate) fn find_program(config: &ToolConfig, folder: &Path, spelled: &str) -> Result<PathBuf, ManifestProblem> {
    let refused = |reason: String| {
        let program = artoo_proto::escape::one_line(&artoo_proto::escape::shorten(spelled, 200));
        ManifestProblem::new(format!("command: {program} {reason}"))
    };
    let path = match spelled.strip_prefix("./") {
        Some(name) if !name.contains('/') && name != ".." => folder.join(name),
        Some(_) => return Err(refused("must lie beside the manifest".to_owned())),
        None if spelled.starts_with('/') => paths::normalise(Path::new(spelled)),
        None if spelled.contains('/') => return Err(refused("is neither absolute nor ./name nor a name".to_owned())),
        None => process::find_program(config, spelled)
            .or_else(|| {
                let consented = CONSENTED_PATH.iter().map(|folder| Path::new(folder).join(spelled));
                consented.into_iter().find(|path| path.is_file())
            })
            .ok_or_else(|| refused("is not found where programs lie".to_owned()))?,
    };
    check_program(config, &path).map_err(refused)?;
    Ok(path)
}

/// Checks that a program of a manifest is executable, lies outside the workspace, and can be changed only by the user
/// or root.
pub(super) fn check_program(config: &ToolConfig, path: &Path) -> Result<(), String> {
    let real = path.canonicalize().map_err(|error| format!("can't be found: {error}"))?;
    let found = fs::metadata(&real).map_err(|error| format!("can't be read: {error}"))?;
    if !found.is_file() || found.permissions().mode() & 0o111 == 0 {
        return Err("is no program".to_owned());
    }
    if real.starts_with(paths::real(Path::new(&config.environment.workspace))) {
        return Err("lies in the workspace, where the tools themselves write".to_owned());
    }
    trust::check(&real, &found).map_err(|distrust| format!("is not trusted: {distrust}"))?;
    let folder = real.parent().unwrap_or(Path::new("/"));
    let around = fs::metadata(folder).map_err(|error| format!("can't be read: {error}"))?;
    trust::check(folder, &around).map_err(|distrust| format!("is not trusted: {distrust}"))
}
