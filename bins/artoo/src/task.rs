//! One task from its words to its exit code.

use std::sync::Arc;
use std::time::{Duration, Instant};

use artoo_bus::TapEvent;
use artoo_proto::SessionTurn;
use artoo_roles::runtime::{CloseReport, Progress, System, TaskHandle, TaskOutcome, Unattended};
use artoo_tools::EvidenceStore;
use artoo_tools::undo::Entry;
use tokio::time::{MissedTickBehavior, interval};

use crate::call_monitor::CallMonitor;
use crate::display::json::Performed;
use crate::display::writer::Screen;
use crate::display::{Line, json, live, result};
use crate::estimate::Estimate;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::model::Models;
use crate::settings::Settings;
use crate::signals::{Signals, leave_at_once};
use crate::spending::Spending;
use crate::terminal::Terminal;
use crate::undo;

/// How often the display looks whether a wait has become long enough to mention.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Runs the words as a task and shows what comes of it.
pub(crate) async fn run(settings: &Settings, models: Models, words: &str, screen: &Screen) -> Result<Exit, Failure> {
    let mut signals = Signals::listen()?;
    let spending = Arc::clone(&models.spending);
    let system = system(settings, models, screen)?;
    let performed = perform(&system, settings, words, Vec::new(), &mut signals, screen, &spending).await?;
    let exit = Exit::of(&performed.outcome.result);
    let notes = system.notes().to_vec();
    let close = tokio::select! {
        close = system.close() => close,
        () = signals.stop() => leave_at_once(screen),
    };
    if settings.json {
        if let Some(report) = &close.report {
            screen.json(&json::audit(report));
        }
        let changed = changed(settings, &performed.outcome);
        screen.json(&json::result(&performed, exit, &close, changed.as_ref()));
    } else {
        screen.tell(&noted(&notes));
        screen.tell(&closing(&close));
    }
    Ok(exit)
}

/// The runtime, with whoever sits at the terminal.
pub(crate) fn system(settings: &Settings, models: Models, screen: &Screen) -> Result<System, Failure> {
    let builder = System::builder()
        .model(models)
        .environment(settings.environment.clone())
        .tools(settings.tools.clone())
        .data_dir(settings.data_dir.clone());
    let builder = match Terminal::detect(screen) {
        Some(person) => builder.operator(person),
        None => builder.operator(Unattended),
    };
    Ok(builder.start()?)
}

/// Runs one task to its end and shows its result; as JSON it is the caller's to show, with what closing brings.
pub(crate) async fn perform(
    system: &System,
    settings: &Settings,
    words: &str,
    session: Vec<SessionTurn>,
    signals: &mut Signals,
    screen: &Screen,
    spending: &Spending,
) -> Result<Performed, Failure> {
    let expected = Estimate::of(settings, spending, &system.tools(), words, &session);
    expected.as_ref().map_or(Ok(()), |expected| expected.check(spending))?;
    let mut handle = system.run_with(words, session, settings.limit_ms);
    let mut watcher = Watcher { screen, json: settings.json, live: live::Live::default(), monitor: &spending.monitor };
    watcher.started(settings, system, handle.task_id().as_str(), words);
    watcher.expects(expected.as_ref());
    let outcome = watch(&mut handle, signals, &mut watcher).await?;
    // A question that was cancelled with its task still has to give the terminal back.
    drop(screen.turn().await);
    spending.learn(&outcome.result);
    let task_id = &outcome.result.task_id;
    if !settings.json {
        let rendered = result::render(&outcome.result, &outcome.usage);
        screen.tell(&rendered.before);
        screen.answer_with(&rendered.answer, &outcome.result.whole, &EvidenceStore::new(&settings.data_dir));
        screen.tell(&rendered.after);
        screen.tell(&spending.lines(task_id, expected.as_ref().map(Estimate::beside)));
        screen.tell(&changed(settings, &outcome).iter().flat_map(result::undoable).collect::<Vec<_>>());
    }
    let spending = spending.json(task_id, expected.as_ref().map(Estimate::json));
    Ok(Performed { outcome, spending })
}

/// What the task changed, as the undo journal has it; a journal that can't be read is told by `artoo undo`.
fn changed(settings: &Settings, outcome: &TaskOutcome) -> Option<Entry> {
    undo::store(settings).find(outcome.result.task_id.as_str()).ok()
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
                Progress::Ended(outcome) => {
                    // What was said since the last look: a short task may end before the first.
                    watcher.waits();
                    return Ok((*outcome)?);
                }
            },
            () = signals.stop() => {
                if is_cancelled {
                    leave_at_once(watcher.screen);
                }
                is_cancelled = true;
                handle.cancel();
                watcher.screen.live(&[Line::warning("cancelling; once more ends artoo at once")]);
            }
            _ = look.tick() => watcher.waits(),
        }
    }
}

/// Shows what happens, in the form asked for.
struct Watcher<'a> {
    screen: &'a Screen,
    json: bool,
    live: live::Live,
    monitor: &'a CallMonitor,
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

    /// Money is worth a line before it is spent; tokens alone are told to whoever asks.
    fn expects(&self, expected: Option<&Estimate>) {
        let Some(expected) = expected else { return };
        if self.json {
            self.screen.json(&json::estimate(&expected.json()));
        } else if expected.has_price() {
            self.screen.live(&[Line::faint(expected.line())]);
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
        let (remarks, told) = (self.monitor.remarks(), self.monitor.waits(Instant::now()));
        self.screen.tell(&remarks.iter().map(|remark| Line::warning(remark.as_str())).collect::<Vec<_>>());
        if !self.json {
            self.screen.live(&told.iter().map(|line| Line::faint(format!("  {line}"))).collect::<Vec<_>>());
            self.screen.live(&self.live.waits(Instant::now()));
        }
    }
}

/// What could not be used as usual.
pub(crate) fn noted(notes: &[String]) -> Vec<Line> {
    notes.iter().map(|note| Line::plain(format!("note: {note}"))).collect()
}

/// What should be known about the run itself.
pub(crate) fn closing(close: &CloseReport) -> Vec<Line> {
    let mut lines: Vec<Line> =
        close.problems.iter().map(|problem| Line::warning(format!("problem: {problem}"))).collect();
    lines.extend(close.report.iter().flat_map(result::audit));
    lines
}
