//! Built-in tools that run one program of the system: `desktop`, `applescript` and `shortcuts`, each described by
//! manifests like those of [`crate::custom`].

mod call;
mod media;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use artoo_proto::{EffectClass, ToolClass, ToolSpec, escape};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::config::ToolConfig;
use crate::custom::{self, Manifest, ManifestProblem, ToolProblem};
use crate::input;
use crate::process::find_program;
use crate::record::Record;
use crate::tool::{Machine, Request, Tool, UserContext, spec};

use call::ActionCall;

/// A built-in tool as its TOML table describes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolTable {
    description: String,
    priority: u8,
    selector: Option<String>,
    action: Vec<ActionTable>,
}

/// An action of a built-in tool as its TOML table describes it, with the ways to run it on different machines.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ActionTable {
    manifest: Manifest,
    run: Run,
    backend: Vec<Backend>,
}

/// One way to run a built-in action, and what the machine must have for it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Backend {
    command: Vec<custom::Argument>,
    #[serde(default)]
    needs: Vec<Vec<String>>,
    #[serde(default)]
    unless: Vec<String>,
    #[serde(default)]
    detached: bool,
}

/// How a built-in action is shown in a question and how its program is started.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Run {
    target: String,
    #[serde(default)]
    shown: String,
    #[serde(default)]
    effect: String,
    #[serde(default)]
    prints: bool,
    #[serde(default)]
    is_media: bool,
    /// The variables that lead to the desktop session; empty for a program that needs no session.
    #[serde(skip)]
    session: Vec<(String, OsString)>,
    /// The command that starts the program outside the call's own processes.
    #[serde(skip)]
    launcher: Vec<OsString>,
}

/// One action of a built-in tool. `run` is `None` for a program of the user's own, which runs as a custom tool.
#[derive(Debug)]
struct Action {
    manifest: Arc<Manifest>,
    run: Option<Arc<Run>>,
}

/// A built-in tool whose input selects one of several actions, each with a manifest.
#[derive(Debug)]
pub(crate) struct ManifestTool {
    name: String,
    description: String,
    priority: u8,
    /// The input that holds an action's name; without one, the first action whose required inputs are given is chosen.
    selector: Option<String>,
    actions: Vec<Arc<Action>>,
}

/// The tools from built-in manifests with at least one action that this machine can run, and problems of manifests. If
/// `shortcuts` is not among them, the manifests in the user's folder of shortcuts make that tool.
pub(crate) fn detect(config: &ToolConfig) -> (Vec<ManifestTool>, Vec<ToolProblem>) {
    let (mut tools, mut problems) = (Vec::new(), Vec::new());
    match built_in(config) {
        Ok(found) => tools.extend(found.into_iter().filter(|tool| !tool.actions.is_empty())),
        Err(problem) => problems.push(ToolProblem { path: PathBuf::from("built-in manifests"), problem }),
    }
    let has_shortcuts = tools.iter().any(|tool| tool.name == "shortcuts");
    if let Some(folder) = config.shortcuts.as_ref().filter(|_| !has_shortcuts) {
        let (manifests, more) = custom::load(config, folder, &[]);
        let actions =
            manifests.into_iter().map(|manifest| Arc::new(Action { manifest: Arc::new(manifest), run: None }));
        let own = ManifestTool {
            name: "shortcuts".to_owned(),
            description: "run one of the user's own programs".to_owned(),
            priority: 5,
            selector: Some("name".to_owned()),
            actions: actions.collect(),
        };
        tools.extend(Some(own).filter(|tool| !tool.actions.is_empty()));
        problems.extend(more);
    }
    (tools, problems)
}

/// Reads the embedded `manifests.toml`, and returns each tool with the actions, perhaps none, that this machine can
/// run.
fn built_in(config: &ToolConfig) -> Result<Vec<ManifestTool>, ManifestProblem> {
    let tables: BTreeMap<String, ToolTable> = custom::from_toml(include_str!("manifests.toml"))?;
    let tool = |(name, table): (String, ToolTable)| {
        let available = table.action.into_iter().filter_map(|action| action.available(config).transpose());
        let actions: Vec<Arc<Action>> = available.collect::<Result<_, _>>()?;
        let names: Vec<&str> = actions.iter().map(|action| action.manifest.name.as_str()).collect();
        let description = table.description.replace("{actions}", &names.join(", "));
        Ok(ManifestTool { name, description, priority: table.priority, selector: table.selector, actions })
    };
    tables.into_iter().map(tool).collect()
}

impl ActionTable {
    /// The action with its first backend whose program, session and (if detached) systemd this machine has; `None` if
    /// it has none.
    fn available(mut self, config: &ToolConfig) -> Result<Option<Arc<Action>>, ManifestProblem> {
        for backend in self.backend {
            let program = backend.command.first().and_then(|program| find_program(config, program.text()?));
            let (Some(program), Some(session)) = (program, session(&backend, config)) else { continue };
            let launcher = if backend.detached { launcher(config, &session) } else { Some(Vec::new()) };
            let Some(launcher) = launcher else { continue };
            self.manifest.command = backend.command;
            let manifest = Arc::new(self.manifest.validated(|_| Ok(program))?);
            return Ok(Some(Arc::new(Action { manifest, run: Some(Arc::new(Run { session, launcher, ..self.run })) })));
        }
        Ok(None)
    }
}

/// The session's variables for a backend, empty if it needs none; `None` if one in `needs` is missing or one in
/// `unless` set.
fn session(backend: &Backend, config: &ToolConfig) -> Option<Vec<(String, OsString)>> {
    let has = |name: &String| config.session.iter().any(|(known, _)| known == name);
    let is_usable = backend.needs.iter().all(|any| any.iter().any(has)) && !backend.unless.iter().any(has);
    is_usable.then(|| if backend.needs.is_empty() { Vec::new() } else { config.session.clone() })
}

/// The start of a command line that runs a program as a unit of the user's systemd, so that it outlives the call;
/// `None` without `systemd-run`, or if a variable is not UTF-8.
fn launcher(config: &ToolConfig, session: &[(String, OsString)]) -> Option<Vec<OsString>> {
    let mut command = vec![find_program(config, "systemd-run")?.into_os_string()];
    command.extend(["--user", "--quiet", "--collect", "--property=ExitType=cgroup"].map(OsString::from));
    for (name, value) in session {
        command.push(format!("--setenv={name}={}", value.to_str()?).into());
    }
    command.push("--".into());
    Some(command)
}

impl ManifestTool {
    /// The action that a call's input selects, by the selector field (which is removed) or as the first whose required
    /// inputs are given; `Err` is the record of an input that selects none.
    fn choose(&self, fields: &mut Map<String, Value>) -> Result<&Arc<Action>, Box<Record>> {
        let names: Vec<&str> = self.actions.iter().map(|action| action.manifest.name.as_str()).collect();
        let names = names.join(", ");
        let (found, problem) = match self.selector.as_ref().map(|key| (key, fields.remove(key))) {
            None => (
                self.actions.iter().find(|action| action.manifest.has_required(fields)),
                format!("give the inputs of one of {names}"),
            ),
            Some((key, Some(Value::String(wanted)))) => (
                self.actions.iter().find(|action| action.manifest.name == wanted),
                format!("{key}: this machine has no program for {}; there are {names}", escape::one_line(&wanted)),
            ),
            Some((key, _)) => (None, format!("give {key}: one of {names}")),
        };
        found.ok_or(input::unfit(problem))
    }

    /// The JSON schema of one action's input.
    fn schema(&self, action: &Action) -> Value {
        let Manifest { name, description, .. } = &*action.manifest;
        match action.run {
            Some(_) => action.manifest.schema(self.selector.as_deref()),
            None => json!({
                "type": "object",
                "description": description,
                "additionalProperties": false,
                "required": ["name", "input"],
                "properties": {"name": {"const": name}, "input": action.manifest.schema(None)}
            }),
        }
    }
}

impl Tool for ManifestTool {
    fn spec(&self) -> ToolSpec {
        let schema = match (self.actions.as_slice(), &self.selector) {
            ([only], None) => self.schema(only),
            (all, _) => {
                let each: Vec<Value> = all.iter().map(|action| self.schema(action)).collect();
                json!({"type": "object", "oneOf": each})
            }
        };
        spec(&self.name, ToolClass::Desktop, self.priority, &self.description, schema)
    }

    fn read(&self, machine: &Machine, user: &UserContext<'_>, value: &Value) -> Result<Request, Box<Record>> {
        let unproven = |record: Box<Record>| record.of_class(EffectClass::Unproven);
        let mut fields: Map<String, Value> = input::parse(value).map_err(unproven)?;
        let action = self.choose(&mut fields).map_err(unproven)?;
        if let Some(run) = &action.run {
            return ActionCall::read(&action.manifest, run, machine, user, fields).map_err(unproven);
        }
        let input = fields.remove("input").unwrap_or_else(|| json!({}));
        if let Some(unknown) = fields.keys().next() {
            return Err(unproven(input::unfit(format!("{}: there is no such input", escape::one_line(unknown)))));
        }
        custom::read(&action.manifest, machine, &input)
    }
}
