//! The interactive prompt: tasks one after another in a session, and commands of its own.

mod command;
mod editor;
mod history;
mod line;
mod names;

use std::path::Path;
use std::sync::Arc;

use artoo_proto::{AbandonReason, Ending, SessionTurn, escape};
use artoo_roles::runtime::System;

use crate::args::UndoOptions;
use crate::display::user_format::UserFormat;
use crate::memory::{self, CommandOutput, MemoryText};
use crate::model::Models;
use crate::model_choice::ModelChoice;
use crate::session::Session;
use crate::signals::{Signals, exit_now};
use crate::spending::Spending;
use crate::task::RequestedTask;
use crate::terminal::modes::{EchoOff, EchoOn};
use crate::{Exit, Failure, Line, Screen, Settings, Variables, audit, clock, help, task, texts, undo};
use command::{Command, TypedLine, TypingMistake};
use editor::{Prompt, Typed};
use history::HistoryFile;

/// Values of the variable `TERM` for terminals on which lines can't be edited.
const PLAIN_TERMINALS: [&str; 3] = ["dumb", "cons25", "emacs"];

/// Runs the interactive prompt until the user leaves. The outcome of tasks does not change the exit code.
pub(crate) async fn run(
    mut settings: Settings,
    mut models: Models,
    turns: Vec<SessionTurn>,
    variables: &Variables,
    screen: &Screen,
) -> Result<Exit, Failure> {
    // This must come first: the line editor installs its own Ctrl-C handler and afterwards restores the previous one.
    let mut signals = Signals::listen()?;
    let is_plain = variables.raw("TERM").is_some_and(|term| PLAIN_TERMINALS.iter().any(|plain| term == plain));
    let silent = if is_plain { None } else { EchoOff::begin(screen) };
    let mut prompt = Prompt::new(screen, HistoryFile::of(&settings.data_dir), Path::new(&settings.environment.cwd));
    let mut session = Session::of(turns);
    loop {
        let spending = Arc::clone(&models.spending);
        let system = task::system(&settings, models, None, screen)?;
        screen.tell(&greeting(&system));
        let repl = Repl {
            settings: &settings,
            system: &system,
            screen,
            spending: &spending,
            variables,
            session: &mut session,
            was_interrupted: false,
        };
        let ended = repl.live(&mut prompt, &mut signals).await;
        let mut closing = Signals::listen()?;
        let close = tokio::select! {
            close = system.close() => close,
            () = closing.stop() => exit_now(screen),
        };
        let problems = task::closing(&close, settings.verbose);
        models = match ended {
            Ok(PromptEnd::For(changed, models)) => {
                screen.tell(&problems);
                settings = *changed;
                models
            }
            Ok(PromptEnd::With(exit)) => {
                drop(silent);
                screen.tell(&spending.total().map(Line::plain).into_iter().collect::<Vec<_>>());
                screen.tell(&problems);
                return Ok(exit.after(&close));
            }
            Err(failure) => {
                drop(silent);
                screen.tell(&problems);
                return Err(failure);
            }
        };
    }
}

/// Why the prompt loop ended: the user left, or the user chose another model with which it begins again.
enum PromptEnd {
    /// The user ended the session; artoo exits with this code.
    With(Exit),
    /// The user chose another model: a new session starts with these settings and this model client.
    For(Box<Settings>, Models),
}

/// The lines shown when the prompt starts: version, model and the runtime's notes.
fn greeting(system: &System) -> Vec<Line> {
    let model = system.model_name();
    let mut lines = vec![Line::faint(texts::greeting(env!("CARGO_PKG_VERSION"), &model))];
    lines.extend(task::noted(system.notes()));
    lines
}

/// The running prompt, with what its tasks and commands use.
struct Repl<'a> {
    settings: &'a Settings,
    system: &'a System,
    screen: &'a Screen,
    spending: &'a Spending,
    variables: &'a Variables,
    session: &'a mut Session,
    /// Whether the last input was Ctrl-C; a second Ctrl-C on an empty line ends the prompt.
    was_interrupted: bool,
}

impl Repl<'_> {
    /// The prompt's loop: reads and handles lines until the user leaves, chooses another model, or a signal other than
    /// Ctrl-C arrives.
    async fn live(mut self, prompt: &mut Prompt, signals: &mut Signals) -> Result<PromptEnd, Failure> {
        loop {
            self.screen.tell(&self.system.take_audit_reports().iter().filter_map(audit::noted).collect::<Vec<_>>());
            let typed = tokio::select! {
                typed = prompt.read() => typed.map_err(|source| Failure::Prompt { source })?,
                () = signals.leave() => return Ok(PromptEnd::With(Exit::Cancelled)),
            };
            let was_interrupted = std::mem::take(&mut self.was_interrupted);
            match typed {
                Typed::Input(text) if self.session.take_answered() && command::is_correction(&text) => {
                    self.memory(Command::Wrong, "").await;
                }
                Typed::Input(text) => match command::read(&text) {
                    TypedLine::Task(words) if let Some(lines) = help::greeting_for(&words) => {
                        self.screen.answer(&lines)
                    }
                    TypedLine::Task(words) => self.task(&names::expanded(&words, self.cwd()), prompt).await?,
                    TypedLine::Command(Command::Exit) => return Ok(PromptEnd::With(Exit::Accepted)),
                    TypedLine::Command(Command::Retry) => self.retry(prompt).await?,
                    TypedLine::Command(command) => self.command(command).await?,
                    TypedLine::UseModel(name) => {
                        if let Some((settings, models)) = self.chosen(&name) {
                            return Ok(PromptEnd::For(Box::new(settings), models));
                        }
                    }
                    TypedLine::Memory(command, words) => self.memory(command, &words).await,
                    TypedLine::Mistake(slip) => self.screen.insist(&of_slip(&slip)),
                    TypedLine::Nothing => {}
                },
                Typed::Interrupted { was_empty: true } if was_interrupted => {
                    return Ok(PromptEnd::With(Exit::Accepted));
                }
                Typed::Interrupted { .. } => {
                    self.was_interrupted = true;
                    self.screen.insist(&[Line::faint("Ctrl-C once more, or Ctrl-D, leaves")]);
                }
                Typed::End => return Ok(PromptEnd::With(Exit::Accepted)),
            }
        }
    }

    /// The current folder.
    fn cwd(&self) -> &Path {
        Path::new(&self.settings.environment.cwd)
    }

    /// Runs a request as a task; if it was declined with an offer of another request, runs that one after the user
    /// agrees.
    async fn task(&mut self, words: &str, prompt: &mut Prompt) -> Result<(), Failure> {
        self.perform(words, prompt).await?;
        let Some((_, declined)) = self.session.last().filter(|(last, _)| last == words) else { return Ok(()) };
        match task::offered(&declined.outcome.result, self.settings, self.screen).await {
            Some(offered) => self.perform(&offered, prompt).await,
            None => Ok(()),
        }
    }

    /// Runs a request as a task of the session, and records its result as the last one.
    async fn perform(&mut self, words: &str, prompt: &mut Prompt) -> Result<(), Failure> {
        // Only signals from here on are meant for this task.
        let mut signals = Signals::listen()?;
        let asked =
            RequestedTask { words: words.to_owned(), session: self.session.turns(), ..RequestedTask::default() };
        let performed =
            task::perform(self.system, self.settings, asked, &mut signals, self.screen, self.spending).await;
        let ended = match performed {
            Ok(ended) => ended,
            // A limit that is too low is shown, but does not end the prompt: a shorter request may still be affordable.
            Err(failure) if matches!(failure.exit(), Exit::Usage | Exit::Unwritten) => {
                self.screen.insist(&[Line::warning(failure.message())]);
                return Ok(());
            }
            Err(failure) => return Err(failure),
        };
        if matches!(ended.outcome.result.ending, Ending::Abandon { reason: AbandonReason::Cancelled, .. }) {
            prompt.discard_input();
        }
        self.session.ended(words, ended);
        Ok(())
    }

    /// Runs the last request again.
    async fn retry(&mut self, prompt: &mut Prompt) -> Result<(), Failure> {
        match self.session.last().map(|(words, _)| words.clone()) {
            Some(words) => self.task(&words, prompt).await,
            None => {
                self.screen.insist(&[Line::plain(texts::NOTHING_YET)]);
                Ok(())
            }
        }
    }

    /// Runs a command of the prompt other than `/exit`, `/retry`, `/wrong`, `/remember` and `/forget`, for which it
    /// does nothing.
    async fn command(&self, command: Command) -> Result<(), Failure> {
        match command {
            Command::Help => self.screen.answer(&help()),
            Command::Why => {
                let user_format = UserFormat::of(&self.settings.environment, self.settings.exact);
                let nothing = || vec![Line::plain(texts::NOTHING_YET)];
                self.screen.answer(&self.session.last().map_or_else(nothing, |(_, last)| last.details(&user_format)));
            }
            Command::Undo => {
                let last = undo::store(self.settings).last().ok().flatten();
                if last.is_some_and(|last| !self.session.has_task(&last.id)) {
                    self.screen.insist(&[Line::plain(texts::BEFORE_SESSION)]);
                }
                let echo = EchoOn::begin(self.screen);
                let undone =
                    undo::run(&UndoOptions { task: None, list: false, yes: false }, self.settings, self.screen);
                drop(echo);
                undone.map_or_else(|failure| self.screen.insist(&[Line::warning(failure.message())]), drop);
            }
            Command::Model => {
                self.screen.answer(&[Line::plain(texts::model_in_use(&self.system.model_name()))]);
            }
            Command::Audit => {
                // A report of this session's tasks, for the log that is read next.
                if let Err(error) = self.system.audit_report() {
                    self.screen.insist(&[Line::warning(error.to_string())]);
                }
                audit::run(self.settings, false, self.screen)?;
            }
            Command::Memory => {
                let told = self
                    .system
                    .stored_memory()
                    .map(|memory| MemoryText::new(&memory.engine(), clock::now(), self.settings).overview());
                self.show(told.ok_or(Failure::MemoryOff {}));
            }
            Command::Cost => {
                let total = self.spending.total().unwrap_or_else(|| texts::NO_MODEL_CALLS.to_owned());
                self.screen.answer(&[Line::plain(format!("{}; {total}", self.session.count_tasks()))]);
            }
            Command::Exit | Command::Retry | Command::Wrong | Command::Remember | Command::Forget => {}
        }
        Ok(())
    }

    /// Runs a memory command of the prompt: marks the last result as wrong or (`undo`) takes that back, stores a note,
    /// or deletes records with these words, without words those of the last task.
    async fn memory(&self, command: Command, words: &str) {
        let Some(stored) = self.system.stored_memory() else { return self.show(Err(Failure::MemoryOff {})) };
        let last =
            self.session.last().map(|(words, ended)| (ended.outcome.result.task_id.as_str().to_owned(), words.clone()));
        let task = last.as_ref().map(|(task, _)| task.clone()).unwrap_or_default();
        let told = if command == Command::Remember {
            memory::remember(self.system, words, "/forget").await
        } else if command == Command::Forget {
            let what = if words.is_empty() { &task } else { words };
            let records = memory::chosen(&stored.engine(), what);
            let _echo = EchoOn::begin(self.screen);
            match records.is_empty() {
                true => {
                    Ok(MemoryText::new(&stored.engine(), clock::now(), self.settings).none(what, Exit::NotAchieved))
                }
                false => memory::forget(stored, &records, false, self.settings, self.screen),
            }
        } else if words == "undo" {
            memory::take_back(stored, &task)
        } else {
            memory::wrong(self.system, last, words, "/wrong undo").await
        };
        self.show(told);
    }

    /// Shows the output of a memory command, or its error.
    fn show(&self, told: Result<CommandOutput, Failure>) {
        match told {
            Ok((lines, ..)) => self.screen.answer(&lines),
            Err(failure) => self.screen.insist(&[Line::warning(failure.message())]),
        }
    }

    /// Builds the settings and models for another model name; `None` if it can't be used, after showing why.
    fn chosen(&self, name: &str) -> Option<(Settings, Models)> {
        let read = || -> Result<(Settings, Models), Failure> {
            let kind = name.parse().map_err(|problem: &str| Failure::Variable {
                name: format!("the model {name:?}"),
                problem: problem.to_owned(),
            })?;
            let mut settings = self.settings.clone();
            settings.model = ModelChoice::resolve(Some(kind), self.variables)?;
            settings.tools.trusts_model = settings.model.is_trusted_with_secrets(self.variables)?;
            let models = Models::build(&settings, self.variables)?;
            Ok((settings, models))
        };
        read().map_err(|failure| self.screen.insist(&[Line::warning(failure.message())])).ok()
    }
}

/// The lines of `/help`.
fn help() -> Vec<Line> {
    let mut lines = vec![Line::plain("Say what you want done, in your own words. Besides that:")];
    lines.extend(Command::ALL.map(|(word, _, what)| Line::plain(format!("  {word:<9} {what}"))));
    let keys = [
        "Ctrl-C stops a task; at the prompt it clears the line.",
        "A pasted block is one input. A line that ends with \\ goes on in the next.",
        "\"It\", \"those\", \"the second one\" mean the last answer; \"again\" and \"put it back\" work too.",
        "@ and the beginning of a file's name, then Tab, completes the name.",
    ];
    lines.extend(keys.map(Line::plain));
    lines
}

/// Two lines about a typing mistake: the problem, and what to type instead.
fn of_slip(slip: &TypingMistake) -> [Line; 2] {
    let (what, instead) = slip.problem_and_remedy();
    [Line::warning(escape::one_line(&what)), Line::plain(format!("  {}", escape::one_line(&instead)))]
}
