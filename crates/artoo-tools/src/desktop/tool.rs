//! `desktop` as the registry knows it: what asks, and what does not.

use std::path::PathBuf;

use artoo_proto::{CallStatus, EffectClass, ToolClass, ToolSpec, escape};
use serde_json::Value;

use crate::desktop::act::{self, Act};
use crate::desktop::backend::Desktop;
use crate::desktop::media;
use crate::input::InputProblem;
use crate::limit::Stopped;
use crate::process::Ended;
use crate::record::Record;
use crate::tool::{CAUTION, Call, Job, Machine, NO_NETWORK, Question, Running, Said, Tool, spec};

struct Doing {
    desktop: Desktop,
    act: Act,
}

impl Tool for Desktop {
    fn spec(&self) -> ToolSpec {
        let names: Vec<&str> = self.actions().into_iter().map(act::Action::name).collect();
        let description = format!("the person's desktop: {}", names.join(", "));
        spec("desktop", ToolClass::Desktop, 4, &description, act::schema(&self.actions()))
    }

    fn read(&self, machine: &Machine, input: &Value) -> Result<Box<dyn Job>, Box<Record>> {
        let act = Act::parse(&machine.config.environment, &machine.protected, input)
            .map_err(|problem| problem.record(EffectClass::Unproven))?;
        if !self.actions().contains(&act.action()) {
            let problem = format!("this machine has no program for {}", act.action().name());
            return Err(InputProblem::Unfit(problem).record(EffectClass::ReadOnly));
        }
        Ok(Box::new(Doing { desktop: self.clone(), act }))
    }
}

impl Job for Doing {
    fn target(&self) -> String {
        match &self.act {
            Act::Notify { title, .. } => escape::one_line(title),
            Act::Open { target } => escape::one_line(target),
            Act::ReadClipboard {} | Act::WriteClipboard { .. } => "the clipboard".to_owned(),
            Act::Media { command, player } => {
                format!("{} {}", command.method(), escape::one_line(player.as_deref().unwrap_or("the player")))
            }
        }
    }

    fn paths(&self) -> Vec<PathBuf> {
        self.act.path().into_iter().collect()
    }

    fn class(&self) -> EffectClass {
        match &self.act {
            Act::ReadClipboard {} => EffectClass::ReadOnly,
            Act::Notify { .. } => EffectClass::Creating,
            Act::Open { .. } | Act::WriteClipboard { .. } | Act::Media { .. } => EffectClass::Unproven,
        }
    }

    fn question(&self, _: &Machine, said: &Said<'_>) -> Option<Question> {
        let (shown, effect, reason) = match &self.act {
            // Seen and heard at once, and undone by the next click.
            Act::Notify { .. } | Act::Media { .. } if !said.confirm => return None,
            Act::Notify { title, text } => {
                (format!("notify {title:?} {text:?}"), "shows a notification".to_owned(), CAUTION)
            }
            Act::Media { .. } => (self.target(), "tells a media player".to_owned(), CAUTION),
            Act::Open { target } => (
                format!("open {target}"),
                format!("opens {target} with the program your desktop has for it"),
                "what opens may run, send or show something",
            ),
            Act::ReadClipboard {} => (
                "read the clipboard".to_owned(),
                "reads what you copied last and shows it to the model".to_owned(),
                "the clipboard may hold a password",
            ),
            Act::WriteClipboard { text } => (
                format!("write the clipboard: {text:?}"),
                format!("replaces what you copied last with {} characters", text.chars().count()),
                "what is on the clipboard now is lost",
            ),
        };
        Some(Question {
            // The bytes of the consent are the whole of what is done, also where what is shown is shortened.
            text: format!("{:?}", self.act),
            program: PathBuf::new(),
            files: self.paths(),
            shown: format!("desktop: {shown}"),
            effects: vec![effect],
            reason: reason.to_owned(),
        })
    }

    fn network(&self, _: &Machine) -> String {
        match self.act {
            // What opens it decides, and what a player plays may come from anywhere.
            Act::Open { .. } | Act::Media { .. } => "may reach the network".to_owned(),
            Act::Notify { .. } | Act::ReadClipboard {} | Act::WriteClipboard { .. } => NO_NETWORK.to_owned(),
        }
    }

    fn run(self: Box<Self>, call: Call) -> Running {
        Box::pin(run(*self, call))
    }
}

async fn run(doing: Doing, call: Call) -> Result<Record, Stopped> {
    let class = doing.class();
    let measures = matches!(doing.act, Act::ReadClipboard {} | Act::Media { .. });
    let record = match (&doing.act, &doing.desktop.bus, doing.desktop.invocation(&doing.act)) {
        (Act::Media { command, player }, Some(bus), _) => {
            media::run(&doing.desktop, bus, *command, player.as_deref(), &call).await
        }
        (_, _, Some(invocation)) => {
            let program = invocation.program.clone();
            match call.ask_system(invocation, call.watch.left()).await {
                Ok(ended) => done(&doing, &ended, call.machine.config.output_max_chars),
                Err(error) => Record::hindered(format!("{}: {error}", program.display())),
            }
        }
        (_, _, None) => Record::hindered("there is no program for it here any more"),
    };
    Ok(Record { measures, ..record.class(class) })
}

fn done(doing: &Doing, ended: &Ended, max_chars: usize) -> Record {
    if let Some(timed_out) = ended.problem(max_chars) {
        return timed_out;
    }
    let (text, truncated) = match (&doing.act, ended.exit_code) {
        (Act::ReadClipboard {}, Some(0)) => ended.stdout.text(max_chars),
        (_, Some(0)) => (format!("done: {}", doing.target()), false),
        (_, _) => ended.text(max_chars),
    };
    let is_done = ended.exit_code == Some(0);
    Record {
        status: if is_done { CallStatus::Ok } else { CallStatus::Failed },
        exit_code: ended.exit_code,
        signal: ended.signal,
        environmental: !is_done,
        truncated,
        ..Record::read(text)
    }
}
