//! One call of a built-in action.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use artoo_proto::{EffectClass, escape};
use serde_json::{Map, Value};

use crate::builtin::{Run, media};
use crate::custom::{Effect, Manifest, render};
use crate::input::{self, InputProblem};
use crate::process::Invocation;
use crate::record::Record;
use crate::tool::{CAUTION, Call, Job, Machine, NO_NETWORK, Question, Running, Said};

/// Longest target of a call; a script, which is its own target, is cut.
const TARGET_MAX_CHARS: usize = 1500;

pub(super) struct ActionCall {
    manifest: Arc<Manifest>,
    run: Arc<Run>,
    fields: Map<String, Value>,
    arguments: Vec<String>,
}

impl ActionCall {
    pub(super) fn read(
        manifest: &Arc<Manifest>,
        run: &Arc<Run>,
        machine: &Machine,
        mut fields: Map<String, Value>,
    ) -> Result<Self, InputProblem> {
        for text in fields.values().filter_map(Value::as_str) {
            input::check_visible("the input", text, "runs")?;
        }
        let arguments = manifest.arguments(machine, &mut fields)?;
        Ok(Self { manifest: Arc::clone(manifest), run: Arc::clone(run), fields, arguments })
    }

    /// The invocation of the action's program, through its launcher if it has one.
    fn invocation(&self, arguments: &[&str]) -> Invocation {
        let program = self.manifest.program.clone().into_os_string();
        let mut words = self.run.launcher.iter().cloned().chain([program]).chain(arguments.iter().map(OsString::from));
        let program = PathBuf::from(words.next().unwrap_or_default());
        let name = program.file_name().unwrap_or_default().to_owned();
        Invocation { program, name, arguments: words.collect(), environment: self.run.session.clone() }
    }

    async fn record(&self, call: &Call) -> Record {
        let arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        if self.run.is_media {
            return media::run(|arguments| self.invocation(arguments), &arguments, call).await;
        }
        let mut ended = match call.ask_system(self.invocation(&arguments), call.watch.left()).await {
            Ok(ended) => ended,
            Err(error) => return Record::hindered(format!("{}: {error}", self.manifest.program.display())),
        };
        let record = Record::of_program(&mut ended, call.machine.config.output_max_chars);
        let needs_session = !self.run.session.is_empty();
        let has_failed = ended.exit_code != Some(0);
        let text = if self.run.prints || has_failed { record.text } else { format!("done: {}", self.target()) };
        Record { text, environmental: record.environmental || (needs_session && has_failed), ..record }
    }
}

impl Job for ActionCall {
    fn target(&self) -> String {
        let target = render(&self.run.target, &self.fields);
        escape::one_line(&escape::shorten(target.trim(), TARGET_MAX_CHARS))
    }

    fn paths(&self) -> Vec<PathBuf> {
        self.manifest.documents(&self.fields).filter(|text| text.starts_with('/')).map(PathBuf::from).collect()
    }

    fn class(&self) -> EffectClass {
        self.manifest.effect.class()
    }

    fn question(&self, _: &Machine, said: &Said<'_>) -> Option<Question> {
        let reason = match &self.manifest.ask {
            Some(reason) => reason,
            None if self.manifest.effect == Effect::ReadOnly || !said.confirm => return None,
            None => CAUTION,
        };
        Some(Question {
            // The approval is for exactly these inputs, also where what is shown is shortened.
            text: format!("{} {:?}", self.manifest.name, self.fields),
            program: self.manifest.program.clone(),
            files: self.paths(),
            shown: render(&self.run.shown, &self.fields),
            effects: vec![render(&self.run.effect, &self.fields)],
            reason: reason.to_owned(),
        })
    }

    fn network(&self, _: &Machine) -> String {
        if self.manifest.network { "may reach the network" } else { NO_NETWORK }.to_owned()
    }

    fn run(self: Box<Self>, call: Call) -> Running {
        Box::pin(async move {
            let record = self.record(&call).await;
            Ok(Record { measures: record.measures && self.run.prints, ..record.class(self.class()) })
        })
    }
}
