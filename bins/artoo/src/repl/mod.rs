//! The interactive prompt: tasks one after another in a session, and commands of its own.

mod command;
mod editor;
mod history;
mod line;
mod session;

use std::sync::Arc;

use artoo_proto::{AbandonReason, Ending, MemoryAction, escape};
use artoo_roles::runtime::{MemoryView, System};
use rustyline::error::ReadlineError;

use crate::audit;
use crate::display::Line;
use crate::display::writer::Screen;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::model::Models;
use crate::settings::Settings;
use crate::signals::{Signals, exit_now};
use crate::spending::Spending;
use crate::task;
use crate::terminal::modes::EchoOff;
use crate::variables::Variables;
use command::{Command, Said, Slip};
use editor::{Prompt, Typed};
use history::HistoryFile;
use session::Session;

/// Number of the newest remembered intents (kinds of request) that `/memory` shows.
const INTENTS_SHOWN: usize = 10;

/// Maximum length of an intent's last outcome as shown by `/memory`, in characters.
const OUTCOME_CHARS: usize = 160;

/// Values of the variable `TERM` for terminals on which lines can't be edited.
const PLAIN_TERMINALS: [&str; 3] = ["dumb", "cons25", "emacs"];

/// Runs the interactive prompt until the user leaves. The outcome of tasks does not change the exit code.
pub(crate) async fn run(
    settings: &Settings,
    models: Models,
    variables: &Variables,
    screen: &Screen,
) -> Result<Exit, Failure> {
    // This must come first: the line editor installs its own Ctrl-C handler and afterwards restores the previous one.
    let mut signals = Signals::listen()?;
    let spending = Arc::clone(&models.spending);
    let system = task::system(settings, models, screen)?;
    let is_plain = variables.raw("TERM").is_some_and(|term| PLAIN_TERMINALS.iter().any(|plain| term == plain));
    let silent = if is_plain { None } else { EchoOff::begin(screen) };
    screen.tell(&greeting(&system));
    let repl = Repl {
        settings,
        system: &system,
        screen,
        spending: &spending,
        session: Session::default(),
        was_interrupted: false,
    };
    let prompt = Prompt::new(screen, HistoryFile::of(&settings.data_dir));
    let ended = repl.live(prompt, &mut signals).await;
    let mut signals = Signals::listen()?;
    let close = tokio::select! {
        close = system.close() => close,
        () = signals.stop() => exit_now(screen),
    };
    drop(silent);
    screen.tell(&spending.total());
    screen.tell(&task::closing(&close));
    ended.map(|exit| exit.after(&close))
}

/// The lines shown when the prompt starts: version, model and the runtime's notes.
fn greeting(system: &System) -> Vec<Line> {
    let model = system.model_name();
    let mut lines = vec![Line::faint(format!(
        "artoo {}, model {model}: say what you want done; /help lists the commands, Ctrl-D leaves",
        env!("CARGO_PKG_VERSION")
    ))];
    lines.extend(task::noted(system.notes()));
    lines
}

/// The running prompt, with what its tasks and commands use.
struct Repl<'a> {
    settings: &'a Settings,
    system: &'a System,
    screen: &'a Screen,
    spending: &'a Spending,
    session: Session,
    /// Whether the last input was Ctrl-C; a second Ctrl-C on an empty line ends the prompt.
    was_interrupted: bool,
}

impl Repl<'_> {
    /// Reads and handles lines until the user leaves or a signal other than Ctrl-C arrives.
    async fn live(mut self, mut prompt: Prompt, signals: &mut Signals) -> Result<Exit, Failure> {
        loop {
            self.screen.tell(&self.system.take_audit_reports().iter().filter_map(audit::noted).collect::<Vec<_>>());
            let typed = tokio::select! {
                typed = prompt.read() => typed.map_err(|error| unusable(&error))?,
                () = signals.leave() => return Ok(Exit::Cancelled),
            };
            let was_interrupted = std::mem::take(&mut self.was_interrupted);
            match typed {
                Typed::Input(text) => match command::read(&text) {
                    Said::Task(words) => self.task(&words, &mut prompt).await?,
                    Said::Command(Command::Exit) => return Ok(Exit::Accepted),
                    Said::Command(command) => self.command(command).await?,
                    Said::Slip(slip) => self.screen.insist(&of_slip(&slip)),
                    Said::Nothing => {}
                },
                Typed::Interrupted { was_empty: true } if was_interrupted => return Ok(Exit::Accepted),
                Typed::Interrupted { .. } => {
                    self.was_interrupted = true;
                    self.screen.insist(&[Line::faint("Ctrl-C once more, or Ctrl-D, leaves")]);
                }
                Typed::End => return Ok(Exit::Accepted),
            }
        }
    }

    async fn task(&mut self, words: &str, prompt: &mut Prompt) -> Result<(), Failure> {
        // Only signals from here on are meant for this task.
        let mut signals = Signals::listen()?;
        let turns = self.session.turns();
        let performed =
            task::perform(self.system, self.settings, words, turns, &mut signals, self.screen, self.spending).await;
        let outcome = match performed {
            Ok(performed) => performed.outcome,
            // A limit that is too low is shown, but does not end the prompt: a shorter request may still be affordable.
            Err(failure) if failure.exit == Exit::Usage => {
                self.screen.insist(&[Line::warning(failure.message)]);
                return Ok(());
            }
            Err(failure) => return Err(failure),
        };
        if matches!(outcome.result.ending, Ending::Abandon { reason: AbandonReason::Cancelled, .. }) {
            prompt.discard_input();
        }
        self.session.ended(words, &outcome);
        Ok(())
    }

    async fn command(&self, command: Command) -> Result<(), Failure> {
        match command {
            Command::Help => self.screen.answer(&help()),
            Command::Audit => {
                // A report of this session's tasks, for the log that is read next.
                if let Err(error) = self.system.audit_report() {
                    self.screen.insist(&[Line::warning(error.to_string())]);
                }
                audit::run(self.settings, false, self.screen)?;
            }
            Command::Memory => {
                let view = self.system.memory(INTENTS_SHOWN).await?;
                self.screen.answer(&of_memory(view.as_ref()));
            }
            Command::Cost => {
                self.screen.answer(&self.session.costs());
                self.screen.answer(&self.spending.total());
            }
            Command::Exit => {}
        }
        Ok(())
    }
}

/// The error for a line editor that fails.
fn unusable(error: &ReadlineError) -> Failure {
    Failure::new(Exit::Internal, "the prompt can't go on")
        .caused_by(error)
        .with_remedy("give the request on the command line: artoo \"<what you want done>\"")
}

fn help() -> Vec<Line> {
    let mut lines = vec![Line::plain("Say what you want done, in your own words. Besides that:")];
    lines.extend(Command::ALL.map(|(word, _, what)| Line::plain(format!("  {word:<8} {what}"))));
    let keys = [
        "Ctrl-C stops a task; at the prompt it clears the line.",
        "A pasted block is one input. A line that ends with \\ goes on in the next.",
        "\"It\", \"those\", \"again\" mean the last five requests.",
    ];
    lines.extend(keys.map(Line::plain));
    lines
}

/// Lines about a mistyped line: the problem and what to type instead.
fn of_slip(slip: &Slip) -> [Line; 2] {
    let (what, instead) = slip.problem_and_remedy();
    [Line::warning(escape::one_line(&what)), Line::plain(format!("  {}", escape::one_line(&instead)))]
}

/// Lines of `/memory`: the number of records, and the newest intents with what memory advises.
fn of_memory(view: Option<&MemoryView>) -> Vec<Line> {
    let Some(view) = view else { return vec![Line::plain("memory is not kept in this run")] };
    let mut lines = vec![Line::plain(format!("records: {}", view.megrams))];
    for known in &view.intents {
        let advice = match known.potentials.action {
            MemoryAction::Exploit => "it worked: preferred",
            MemoryAction::Avoid => "it failed: avoided",
            MemoryAction::Caution => "undecided: with care",
            MemoryAction::Ignore => "too little known",
        };
        let (attention, decision) = (known.potentials.attention, known.potentials.decision);
        let (intent, approach) = (escape::one_line(&known.intent), escape::one_line(&known.approach));
        lines.push(Line::strong(format!("{intent} ({approach})")));
        lines.push(Line::plain(format!("  {advice}; attention {attention:.2}, decision {decision:+.2}")));
        let happened = escape::shorten(&escape::one_line(&known.last), OUTCOME_CHARS);
        lines.push(Line::plain(format!("  last, {}: {happened}", known.at)));
    }
    lines
}
