//! A tool of the user's own, described by a manifest.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use artoo_proto::{ToolClass, ToolSpec, escape};
use serde_json::{Map, Value};

use crate::custom::manifest::{self, Effect, Manifest};
use crate::effects::{CallEffects, NetworkUse, UndoMethod};
use crate::fence::Reach;
use crate::input;
use crate::limit::Limit;
use crate::paths;
use crate::process::{Ended, Invocation};
use crate::record::Record;
use crate::tool::{Call, Job, Machine, Question, Request, Running, Tool, UserContext};
use crate::transaction::{Names, Program};
use crate::undo::Act;

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
    /// Paths that it is given.
    paths: Vec<PathBuf>,
    /// Files that it may not read, since they may hold secrets.
    left_out: Vec<PathBuf>,
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

    fn read(&self, machine: &Machine, _: &UserContext<'_>, input: &Value) -> Result<Request, Box<Record>> {
        CustomCall::read(&self.manifest, machine, input)
    }
}

impl CustomCall {
    /// Checks an input against the manifest.
    pub(crate) fn read(manifest: &Arc<Manifest>, machine: &Machine, input: &Value) -> Result<Request, Box<Record>> {
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
        let call = Self { manifest: Arc::clone(manifest), arguments, paths: paths.clone(), left_out: Vec::new() };
        let network = if manifest.network { NetworkUse::Possible } else { NetworkUse::Blocked };
        let effects = CallEffects {
            undo: UndoMethod::Commit,
            lines: vec![format!("runs your own tool {}: {}", manifest.name, manifest.description)],
            ..CallEffects::new(class, paths, network)
        };
        let question = call.needs_approval(secret).map(|reason| {
            let shown = call.shown();
            let files = [manifest.program.clone()].into_iter().chain(effects.paths.clone()).collect();
            Question { text: shown.clone(), files, shown, reason, details: Vec::new() }
        });
        let target = escape::one_line(&call.arguments.join(" "));
        Ok(Request { target, effects, question, job: Box::new(call) })
    }

    /// Why a call needs approval before it runs, if it does. `secret`: why the content of its files does.
    fn needs_approval(&self, secret: Option<String>) -> Option<String> {
        let sends = self.manifest.network && !self.manifest.granted;
        let sending = || sends.then(|| "what it is given may leave this machine".to_owned());
        secret.or_else(|| self.manifest.ask.clone()).or_else(sending)
    }

    fn shown(&self) -> String {
        let arguments = self.arguments.iter().map(|argument| format!(" {}", quoted(argument)));
        format!("{}: {}{}", self.manifest.name, paths::line(&self.manifest.program), arguments.collect::<String>())
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
    fn prepare(&mut self, machine: &Machine, _: &Act, _: &Limit) {
        if self.manifest.effect != Effect::ReadOnly {
            // Where it can't be made, the program tells.
            let _ = std::fs::create_dir_all(&machine.config.environment.workspace);
        }
        self.left_out = machine.protected.left_out(&machine.config.environment, &self.paths);
        self.left_out.retain(|file| !self.paths.contains(file));
    }

    fn run(self: Box<Self>, call: Call) -> Running {
        let network = self.manifest.network;
        let is_reading = self.manifest.effect == Effect::ReadOnly;
        let program = Program {
            work: Arc::new(self.invocation()),
            shown: self.shown(),
            names: Names { paths: self.paths.clone(), ..Names::default() },
            folders: Vec::new(),
            left_out: self.left_out.clone(),
            reach: Reach { network, ..Reach::default() },
            is_granted: self.manifest.granted && self.manifest.effect == Effect::Changing,
            caution: is_reading.then(|| "its manifest says that it changes nothing".to_owned()),
            time: self.manifest.timeout(),
        };
        let record = move |ended: io::Result<Ended>, machine: &Machine, _: &Limit| match ended {
            Ok(mut ended) => Record::of_program(&mut ended, machine.config.output_max_chars),
            Err(error) => {
                let failed = Record::hindered(format!("{}: {error}", paths::line(&self.manifest.program)));
                Record { measures: false, ..failed }
            }
        };
        Box::pin(call.run(program, record))
    }
}

/// An argument for display, in quotes if it has blanks or special characters.
pub(crate) fn quoted(argument: &str) -> String {
    let is_plain =
        |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | ':' | '=' | ',' | '+' | '@' | '%');
    if !argument.is_empty() && argument.chars().all(is_plain) { argument.to_owned() } else { format!("{argument:?}") }
}
