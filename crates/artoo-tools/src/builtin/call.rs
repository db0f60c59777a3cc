//! A call of a built-in action (`desktop`, `applescript`, `shortcuts`): its checked input and its program.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use artoo_proto::{EffectClass, escape};
use serde_json::{Map, Value};

use crate::builtin::{Run, media};
use crate::custom::{Manifest, render};
use crate::effects::{CallEffects, NetworkUse};
use crate::process::Invocation;
use crate::record::Record;
use crate::tool::{Call, Machine, Question, Request, Running, UserContext, done};
use crate::{input, texts};

/// Longest target of a built-in action's call, in characters; a script, which is its own target, is cut.
const TARGET_MAX_CHARS: usize = 1500;

/// A call of a built-in action whose input was checked: its manifest, its target for display, and the program's
/// arguments.
pub(super) struct ActionCall {
    manifest: Arc<Manifest>,
    run: Arc<Run>,
    target: String,
    arguments: Vec<String>,
}

impl ActionCall {
    /// Checks the input against the action's manifest, and returns the request that runs its program; `Err` is the
    /// record of an invalid or denied input.
    pub(super) fn read(
        manifest: &Arc<Manifest>,
        run: &Arc<Run>,
        machine: &Machine,
        user: &UserContext<'_>,
        mut fields: Map<String, Value>,
    ) -> Result<Request, Box<Record>> {
        for text in fields.values().filter_map(Value::as_str) {
            input::check_visible("the input", text, "runs")?;
        }
        let arguments = manifest.arguments(machine, &mut fields)?;
        let paths: Vec<PathBuf> =
            manifest.documents(&fields).filter(|text| text.starts_with('/')).map(PathBuf::from).collect();
        let network = if manifest.network { NetworkUse::Possible } else { NetworkUse::None };
        let effects = CallEffects {
            lines: vec![render(&run.effect, &fields)],
            ..CallEffects::new(manifest.class, paths.clone(), network)
        };
        let caution = || (manifest.class != EffectClass::ReadOnly && user.confirm).then_some(texts::CAUTION);
        let question = manifest.ask.as_deref().or_else(caution).map(|reason| Question {
            // The approval is for exactly these inputs, also if they are shown shortened.
            text: format!("{} {fields:?} {}", manifest.name, manifest.program.display()),
            files: paths,
            shown: Question::shortened(&render(&run.shown, &fields)),
            reason: reason.to_owned(),
            details: Vec::new(),
        });
        let target = render(&run.target, &fields);
        let target = escape::one_line(&escape::shorten(target.trim(), TARGET_MAX_CHARS));
        let (manifest, run) = (Arc::clone(manifest), Arc::clone(run));
        let action = Self { manifest, run, target: target.clone(), arguments };
        let job = Box::new(move |call| {
            Box::pin(async move {
                let record = action.record(&call).await;
                let measures = record.measures && action.run.prints;
                Ok(done(Record { measures, ..record.class(action.manifest.class) }))
            }) as Running
        });
        Ok(Request { target, effects, question, job })
    }

    /// The invocation of the action's program, through its launcher if it has one.
    fn invocation(&self, arguments: &[&str]) -> Invocation {
        let program = self.manifest.program.clone().into_os_string();
        let mut words = self.run.launcher.iter().cloned().chain([program]).chain(arguments.iter().map(OsString::from));
        let program = PathBuf::from(words.next().unwrap_or_default());
        let name = program.file_name().unwrap_or_default().to_owned();
        Invocation { program, name, arguments: words.collect(), environment: self.run.session.clone() }
    }

    /// Runs the action's program and makes the record of its result.
    async fn record(&self, call: &Call) -> Record {
        let arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        if self.run.is_media {
            return media::run(|arguments| self.invocation(arguments), &arguments, call).await;
        }
        let mut ended = match call.ask_system(self.invocation(&arguments), call.deadline.left()).await {
            Ok(ended) => ended,
            Err(error) => return Record::hindered(format!("{}: {error}", self.manifest.program.display())),
        };
        let record = Record::of_program(&mut ended, call.machine.config.output_max_chars);
        let needs_session = !self.run.session.is_empty();
        let has_failed = ended.exit_code != Some(0);
        let text = if self.run.prints || has_failed { record.text } else { format!("done: {}", self.target) };
        Record { text, environmental: record.environmental || (needs_session && has_failed), ..record }
    }
}
