//! A tool of the user's own, described by a manifest.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use artoo_proto::{ToolClass, ToolSpec, escape};
use serde_json::{Map, Value};

use crate::custom::manifest::{self, Effect, Manifest};
use crate::effects::{CallEffects, NetworkUse, UndoMethod};
use crate::fence::{Fence, Reach};
use crate::input;
use crate::limit::Limit;
use crate::paths;
use crate::process::{Ended, Invocation};
use crate::record::Record;
use crate::tool::{CAUTION, Call, Job, Machine, Question, Request, Running, Tool, UserContext};

/// Tried after artoo's own tools and before shell commands.
const PRIORITY: u8 = 5;

/// A tool described by a manifest.
#[derive(Debug)]
pub(crate) struct Custom {
    manifest: Arc<Manifest>,
}

/// A call of such a tool.
pub(crate) struct CustomCall {
    manifest: Arc<Manifest>,
    arguments: Vec<String>,
}

impl Custom {
    pub(crate) fn new(manifest: Manifest) -> Self {
        Self { manifest: Arc::new(manifest) }
    }
}

impl Tool for Custom {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: self.manifest.name.clone(),
            description: self.manifest.description.clone(),
            class: ToolClass::Shell,
            input_schema: self.manifest.schema(None),
            priority: PRIORITY,
        }
    }

    fn read(&self, machine: &Machine, user: &UserContext<'_>, input: &Value) -> Result<Request, Box<Record>> {
        CustomCall::read(&self.manifest, machine, user, input)
    }
}

impl CustomCall {
    /// Checks an input against the manifest.
    pub(crate) fn read(
        manifest: &Arc<Manifest>,
        machine: &Machine,
        user: &UserContext<'_>,
        input: &Value,
    ) -> Result<Request, Box<Record>> {
        let class = manifest.effect.class();
        let mut fields: Map<String, Value> = input::parse(input).map_err(|problem| problem.record(class))?;
        let arguments = manifest.arguments(machine, &mut fields).map_err(|problem| problem.record(class))?;
        let environment = &machine.config.environment;
        let spelled = arguments.iter().filter(|argument| argument.contains('/') || argument.starts_with('~'));
        let named = spelled.flat_map(|argument| {
            // `--file=/a/b` names a path, too.
            let value = argument.split_once('=').map(|(_, value)| value);
            [Some(argument.as_str()), value].into_iter().flatten()
        });
        let paths: Vec<PathBuf> = named.filter_map(|text| paths::absolute(environment, text).ok()).collect();
        if let Some(reason) = paths.iter().find_map(|path| machine.protected.refusal(path)) {
            return Err(Box::new(Record::denied(&reason).class(class)));
        }
        // The program was checked when artoo started; it may have changed since.
        manifest::check_program(&machine.config, &manifest.program).map_err(|reason| {
            let program = paths::line(&manifest.program);
            Box::new(Record::denied(&format!("{program} {reason}")).class(class))
        })?;
        let secret = paths.iter().find_map(|path| machine.protected.secret(path));
        let call = Self { manifest: Arc::clone(manifest), arguments };
        let workspace = PathBuf::from(&environment.workspace);
        let network = if manifest.network { NetworkUse::Possible } else { NetworkUse::Blocked };
        let effects = CallEffects {
            undo: UndoMethod::Snapshot(paths.iter().cloned().chain([workspace]).collect()),
            lines: vec![format!("runs your own tool {}: {}", manifest.name, manifest.description)],
            ..CallEffects::new(class, paths, network)
        };
        let question = call.needs_approval(user, secret).map(|reason| {
            let shown = call.shown();
            let files = [manifest.program.clone()].into_iter().chain(effects.paths.clone()).collect();
            Question { text: shown.clone(), files, shown, reason }
        });
        let target = escape::one_line(&call.arguments.join(" "));
        Ok(Request { target, effects, question, job: Box::new(call) })
    }

    /// Why a call needs approval, if it does. `secret`: why the content of its files does.
    fn needs_approval(&self, user: &UserContext<'_>, secret: Option<String>) -> Option<String> {
        let Manifest { effect, network, granted, .. } = *self.manifest;
        if let Some(reason) = secret.or_else(|| self.manifest.ask.clone()) {
            return Some(reason);
        }
        let reason = match effect {
            Effect::ReadOnly | Effect::Creating if network && !granted => "what it is given may leave this machine",
            Effect::ReadOnly => return None,
            Effect::Changing if !granted => "its manifest says that it changes something",
            Effect::Creating | Effect::Changing if !user.confirm => return None,
            Effect::Creating | Effect::Changing => CAUTION,
        };
        Some(reason.to_owned())
    }

    fn shown(&self) -> String {
        let arguments = self.arguments.iter().map(|argument| format!(" {}", quoted(argument)));
        format!("{}: {}{}", self.manifest.name, paths::line(&self.manifest.program), arguments.collect::<String>())
    }

    /// The sandbox for what the manifest claims.
    fn fence(&self, call: &Call) -> Fence {
        let (config, protected, network) = (&call.machine.config, &call.machine.protected, self.manifest.network);
        let paths = &call.effects.paths;
        match self.manifest.effect {
            Effect::ReadOnly => Fence { reach: Reach::of_network(network), ..Fence::of_reading(protected, paths) },
            // It may create files anywhere in the workspace, as its manifest claims.
            Effect::Creating => {
                let Fence { readable, .. } = Fence::of_reading(protected, paths);
                Fence { readable, ..Fence::of_allowed(config, protected, &[], network) }
            }
            Effect::Changing => Fence::of_allowed(config, protected, paths, network),
        }
    }

    fn invocation(&self) -> Invocation {
        let program = self.manifest.program.clone();
        Invocation {
            name: program.clone().into_os_string(),
            program,
            arguments: self.arguments.iter().map(OsString::from).collect(),
            environment: Vec::new(),
        }
    }
}

impl Job for CustomCall {
    fn run(self: Box<Self>, call: Call) -> Running {
        let (fence, invocation, time) = (self.fence(&call), self.invocation(), self.manifest.timeout());
        let record = move |ended: io::Result<Ended>, machine: &Machine, _: &Limit| match ended {
            Ok(ended) => record(&self.manifest, ended, machine.config.output_max_chars),
            Err(error) => {
                let failed = Record::hindered(format!("{}: {error}", paths::line(&self.manifest.program)));
                Record { measures: false, ..failed.class(self.manifest.effect.class()) }
            }
        };
        Box::pin(async move { Ok(call.run(invocation, fence, time, None, record).await) })
    }
}

fn record(manifest: &Manifest, mut ended: Ended, max_chars: usize) -> Record {
    let claim = match manifest.effect {
        Effect::ReadOnly => "that it changes nothing is its manifest's word, not proven",
        Effect::Creating => "that it only adds is its manifest's word, not proven",
        Effect::Changing => "what it changed is not recorded",
    };
    let record = Record::of_program(&mut ended, max_chars).class(manifest.effect.class());
    let line = if record.text.is_empty() || record.text.ends_with('\n') { "" } else { "\n" };
    Record { text: format!("{}{line}[{}: {claim}]", record.text, manifest.name), ..record }
}

/// An argument for display, in quotes if it has blanks or special characters.
pub(crate) fn quoted(argument: &str) -> String {
    let is_plain =
        |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | ':' | '=' | ',' | '+' | '@' | '%');
    if !argument.is_empty() && argument.chars().all(is_plain) { argument.to_owned() } else { format!("{argument:?}") }
}
