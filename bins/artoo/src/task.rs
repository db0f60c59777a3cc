//! One task from its words to its exit code.

use std::io;
use std::time::{Duration, Instant};

use artoo_bus::TapEvent;
use artoo_llm::Model;
use artoo_roles::runtime::{CloseReport, Progress, System, TaskHandle, TaskOutcome, Unattended};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{MissedTickBehavior, interval};

use crate::display::writer::Screen;
use crate::display::{Line, json, live, result};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::settings::Settings;
use crate::terminal::Terminal;

/// How often the display looks whether a wait has become long enough to mention.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Runs the words as a task and shows what comes of it.
pub(crate) async fn run(
    settings: &Settings,
    model: Box<dyn Model>,
    words: &str,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let mut signals = Signals::install().map_err(|source| Failure::System { source })?;
    let builder =
        System::builder().model(model).environment(settings.environment.clone()).data_dir(settings.data_dir.clone());
    let builder = match Terminal::detect(screen) {
        Some(person) => builder.operator(person),
        None => builder.operator(Unattended),
    };
    let system = builder.start().map_err(|source| Failure::Runtime { source })?;
    let mut handle = system.run_with(words, Vec::new(), settings.limit_ms);
    let mut watcher = Watcher { screen, json: settings.json, live: live::Live::default() };
    watcher.started(settings, &system, handle.task_id().as_str(), words);
    let outcome = watch(&mut handle, &mut signals, &mut watcher).await?;
    let exit = Exit::of(&outcome.result);
    let rendered = result::render(&outcome.result, &outcome.usage);
    if !settings.json {
        screen.tell(&rendered.before);
        screen.answer(&rendered.answer);
        screen.tell(&rendered.after);
    }
    let notes = system.notes().to_vec();
    let close = tokio::select! {
        close = system.close() => close,
        () = signals.stop() => leave_at_once(),
    };
    if settings.json {
        if let Some(report) = &close.report {
            screen.json(&json::audit(report));
        }
        screen.json(&json::result(&outcome, exit, &close));
    } else {
        screen.tell(&closing(&notes, &close));
    }
    Ok(exit)
}

/// Follows a task to its end; the first signal cancels it, the second ends the process.
async fn watch(
    handle: &mut TaskHandle,
    signals: &mut Signals,
    watcher: &mut Watcher<'_>,
) -> Result<TaskOutcome, Failure> {
    let task_id = handle.task_id().clone();
    let mut look = interval(LOOK_EVERY);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut is_cancelled = false;
    loop {
        tokio::select! {
            progress = handle.next() => match progress {
                Progress::Event(event) if live::is_of_task(&event, &task_id) => watcher.event(&event),
                Progress::Event(_) => {}
                Progress::Ended(outcome) => return outcome.map_err(|source| Failure::Runtime { source }),
            },
            () = signals.stop() => {
                if is_cancelled {
                    leave_at_once();
                }
                is_cancelled = true;
                handle.cancel();
                watcher.screen.live(&[Line::warning("cancelling; once more ends artoo at once")]);
            }
            _ = look.tick() => watcher.waits(),
        }
    }
}

/// A person who asks twice is not kept waiting for the end of anything.
fn leave_at_once() -> ! {
    std::process::exit(i32::from(Exit::Cancelled.code()))
}

/// Shows what happens, in the form asked for.
struct Watcher<'a> {
    screen: &'a Screen,
    json: bool,
    live: live::Live,
}

impl Watcher<'_> {
    fn started(&self, settings: &Settings, system: &System, task_id: &str, words: &str) {
        if self.json {
            self.screen.json(&json::started(&json::Started {
                task_id,
                request: words,
                model: &system.model_name(),
                workspace: &settings.environment.workspace,
                data_dir: &settings.data_dir.to_string_lossy(),
                limit_ms: settings.limit_ms,
                notes: system.notes(),
            }));
        }
    }

    fn event(&mut self, event: &TapEvent) {
        if self.json {
            self.screen.json(&json::event(event));
        } else if self.screen.is_live() {
            self.screen.live(&self.live.lines(event, Instant::now()));
        }
    }

    /// Says what is being waited for, once it has taken a while.
    fn waits(&mut self) {
        if !self.json {
            self.screen.live(&self.live.waits(Instant::now()));
        }
    }
}

/// What should be known about the run itself.
fn closing(notes: &[String], close: &CloseReport) -> Vec<Line> {
    let mut lines: Vec<Line> = notes.iter().map(|note| Line::plain(format!("note: {note}"))).collect();
    lines.extend(close.problems.iter().map(|problem| Line::warning(format!("problem: {problem}"))));
    lines.extend(close.report.iter().flat_map(result::audit));
    lines
}

/// Ctrl-C, and what asks a process to end.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl Signals {
    fn install() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for any of them.
    async fn stop(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hang_up.recv() => {}
        }
    }
}
