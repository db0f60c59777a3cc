//! Runs a task and shows its progress and result.

use std::sync::Arc;
use std::time::{Duration, Instant};

use artoo_bus::TapEvent;
use artoo_proto::SessionTurn;
use artoo_roles::runtime::{CloseReport, Progress, System, TaskHandle, TaskOutcome};
use artoo_tools::EvidenceStore;
use artoo_tools::undo::Entry;
use tokio::time::{MissedTickBehavior, interval};

use crate::audit;
use crate::call_monitor::CallMonitor;
use crate::display::json::EndedTask;
use crate::display::writer::Screen;
use crate::display::{Line, coverage, json, live, result};
use crate::estimate::Estimate;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::leftovers;
use crate::model::Models;
use crate::settings::Settings;
use crate::signals::{Signals, exit_now};
use crate::spending::Spending;
use crate::terminal::Terminal;
use crate::undo;

/// Interval at which fallbacks and long waits of a task are checked for display.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Runs a request as a task, shows the result, and returns the exit code.
pub(crate) async fn run(settings: &Settings, models: Models, words: &str, screen: &Screen) -> Result<Exit, Failure> {
    let mut signals = Signals::listen()?;
    let spending = Arc::clone(&models.spending);
    let system = system(settings, models, screen)?;
    let performed = perform(&system, settings, words, Vec::new(), &mut signals, screen, &spending).await?;
    let notes = system.notes().to_vec();
    let close = tokio::select! {
        close = system.close() => close,
        () = signals.stop() => exit_now(screen),
    };
    let exit = Exit::of(&performed.outcome.result).after(&close);
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

/// Starts the runtime that runs tasks; questions go to the terminal if there is one, otherwise they are denied.
pub(crate) fn system(settings: &Settings, models: Models, screen: &Screen) -> Result<System, Failure> {
    leftovers::remove(&settings.data_dir);
    let mut builder = System::builder()
        .model(models.model)
        .environment(settings.environment.clone())
        .tools(settings.tools.clone())
        .data_dir(settings.data_dir.clone())
        .require(settings.required.clone(), settings.by_required);
    if let Some(person) = Terminal::detect(screen) {
        builder = builder.operator(person);
    }
    Ok(builder.start()?)
}

/// Runs a task to its end, after checking that the limits suffice. Shows the result as text; the caller shows it as
/// JSON.
pub(crate) async fn perform(
    system: &System,
    settings: &Settings,
    words: &str,
    session: Vec<SessionTurn>,
    signals: &mut Signals,
    screen: &Screen,
    spending: &Spending,
) -> Result<EndedTask, Failure> {
    let expected = Estimate::of(settings, spending, &system.tools(), words, &session);
    expected.as_ref().map_or(Ok(()), |expected| expected.check(spending))?;
    let mut handle = system.run_with(words, session, settings.limit_ms);
    let mut watcher = Watcher {
        screen,
        json: settings.json,
        verbose: settings.verbose,
        live: live::Live::default(),
        monitor: &spending.monitor,
    };
    watcher.started(settings, system, handle.task_id().as_str(), words);
    watcher.expects(expected.as_ref());
    let outcome = watch(&mut handle, signals, &mut watcher).await?;
    // Wait until a question that was cancelled with its task has restored the terminal.
    drop(screen.turn().await);
    spending.learn(&outcome.result);
    let task_id = &outcome.result.task_id;
    if !settings.json {
        let rendered = result::render(&outcome.result, &outcome.usage);
        screen.tell(&rendered.before);
        screen.answer_with(&rendered.answer, &outcome.result.whole, &EvidenceStore::new(&settings.data_dir));
        match outcome.result.coverage.as_ref().and_then(coverage::first_gap) {
            // One line keeps it quiet, and still says what to look at.
            Some(gap) if screen.is_quiet() => screen.insist(&[Line::warning(gap)]),
            _ => screen.tell(&rendered.after),
        }
        screen.tell(&spending.lines(task_id, expected.as_ref().map(Estimate::beside)));
        screen.tell(&changed(settings, &outcome).iter().flat_map(result::undoable).collect::<Vec<_>>());
    }
    let spending = spending.json(task_id, expected.as_ref().map(Estimate::json));
    Ok(EndedTask { outcome, spending })
}

/// The task's entry in the undo journal; `None` if there is none or it can't be read.
fn changed(settings: &Settings, outcome: &TaskOutcome) -> Option<Entry> {
    undo::store(settings).find(outcome.result.task_id.as_str()).ok()
}

/// Follows a task to its end; the first signal cancels the task, the second ends the process.
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
                Progress::Event(event) if live::belongs_to_task(&event, &task_id) => watcher.event(&event),
                Progress::Event(_) => {}
                Progress::Ended(outcome) => {
                    // Show what happened since the last tick: a short task may end before the first one.
                    watcher.waits();
                    return Ok((*outcome)?);
                }
            },
            () = signals.stop() => {
                if is_cancelled {
                    exit_now(watcher.screen);
                }
                is_cancelled = true;
                handle.cancel();
                watcher.screen.live(&[Line::warning("cancelling; once more ends artoo at once")]);
            }
            _ = look.tick() => watcher.waits(),
        }
    }
}

/// Shows the events of a task as text or JSON.
struct Watcher<'a> {
    screen: &'a Screen,
    json: bool,
    /// Whether changes that were not kept are named.
    verbose: bool,
    live: live::Live,
    monitor: &'a CallMonitor,
}

impl Watcher<'_> {
    fn started(&self, settings: &Settings, system: &System, task_id: &str, words: &str) {
        if self.json {
            self.screen.json(&serde_json::json!({
                "event": "started", "task_id": task_id, "request": words, "model": system.model_name(),
                "workspace": settings.environment.workspace, "data_dir": settings.data_dir.to_string_lossy(),
                "limit_ms": settings.limit_ms, "notes": system.notes()
            }));
        }
    }

    /// Shows the estimate of a task: as JSON always, as text only if every model has a price.
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
            return self.screen.json(&json::event(event));
        }
        if self.screen.is_live() {
            self.screen.live(&self.live.lines(event, Instant::now()));
        }
        if self.verbose {
            self.screen.tell(&undo::capped(live::incidental(event)));
        }
    }

    /// Shows fallbacks and long waits since the last check.
    fn waits(&mut self) {
        let (remarks, told) = (self.monitor.remarks(), self.monitor.waits(Instant::now()));
        self.screen.tell(&remarks.iter().map(|remark| Line::warning(remark.as_str())).collect::<Vec<_>>());
        if !self.json {
            self.screen.live(&told.iter().map(|line| Line::faint(format!("  {line}"))).collect::<Vec<_>>());
            self.screen.live(&self.live.waits(Instant::now()));
        }
    }
}

/// Lines with the runtime's notes about parts that could not be used.
pub(crate) fn noted(notes: &[String]) -> Vec<Line> {
    notes.iter().map(|note| Line::plain(format!("note: {note}"))).collect()
}

/// Lines about problems while closing the runtime, and the audit report.
pub(crate) fn closing(close: &CloseReport) -> Vec<Line> {
    let mut lines: Vec<Line> =
        close.problems.iter().map(|problem| Line::warning(format!("problem: {problem}"))).collect();
    lines.extend(close.audit.is_none().then(|| Line::warning(format!("  {}", audit::MAKE_ROOM))));
    lines.extend(close.report.iter().flat_map(result::audit));
    lines
}
