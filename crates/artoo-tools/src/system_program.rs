//! A program of macOS itself, run with arguments that were checked: what `applescript` and Apple's shortcuts come to.

use std::ffi::OsString;
use std::path::PathBuf;

use artoo_proto::EffectClass;

use crate::process::Invocation;
use crate::record::Record;
use crate::tool::{Call, Job, Machine, Question, Running, Said};

/// One run of it.
pub(crate) struct SystemProgram {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) target: String,
    /// What the person is asked first: `None` for a run that only reads.
    pub(crate) question: Option<Question>,
}

impl Job for SystemProgram {
    fn target(&self) -> String {
        self.target.clone()
    }

    fn paths(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    fn class(&self) -> EffectClass {
        if self.question.is_some() { EffectClass::Unproven } else { EffectClass::ReadOnly }
    }

    fn question(&self, _: &Machine, _: &Said<'_>) -> Option<Question> {
        self.question.clone()
    }

    fn run(self: Box<Self>, call: Call) -> Running {
        Box::pin(async move {
            let class = self.class();
            let name = self.program.file_name().unwrap_or_default().to_owned();
            let problem = format!("{} could not be started", name.display());
            let Self { program, arguments, .. } = *self;
            let invocation = Invocation { program, name, arguments, environment: Vec::new() };
            Ok(match call.ask_system(invocation, call.watch.left()).await {
                Ok(mut ended) => Record::of_program(&mut ended, call.machine.config.output_max_chars),
                Err(error) => Record::hindered(format!("{problem}: {error}")),
            }
            .class(class))
        })
    }
}
