//! Runs a task and shows its progress and result.

use std::sync::Arc;
use std::time::{Duration, Instant};

use artoo_bus::TapEvent;
use artoo_proto::{
    AbandonReason, AuditReport, Basis, Ending, FinalResult, Offer, PerceptionFailure, SessionTurn, TaskId,
};
use artoo_roles::runtime::{CloseReport, Progress, System, TaskHandle, TaskOutcome, TaskRequest};
use artoo_tools::EvidenceStore;
use artoo_tools::undo::UndoError;
use tokio::time::{MissedTickBehavior, interval};

use crate::audit;
use crate::display::json::EndedTask;
use crate::display::people::People;
use crate::display::writer::Screen;
use crate::display::{Line, coverage, json, live, output};
use crate::estimate::Estimate;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::leftovers;
use crate::model::Models;
use crate::settings::Settings;
use crate::signals::{Signals, exit_now};
use crate::spending::Spending;
use crate::terminal::{self, Terminal};
use crate::{texts, undo};

/// Interval between two updates of the moving line, and between two looks at fallbacks and waits.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// A request from the user, with what it refers to.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    pub(crate) words: String,
    pub(crate) session: Vec<SessionTurn>,
    pub(crate) material: Option<String>,
}

/// Runs a request as a task, shows the result, and returns the exit code.
pub(crate) async fn run(settings: &Settings, models: Models, asked: Asked, screen: &Screen) -> Result<Exit, Failure> {
    let mut signals = Signals::listen()?;
    let spending = Arc::clone(&models.spending);
    let system = system(settings, models, screen)?;
    let mut performed = perform(&system, settings, asked, &mut signals, screen, &spending).await?;
    if let Some(words) = offered(&performed.outcome.result, settings, screen).await {
        let asked = Asked { words, ..Asked::default() };
        performed = perform(&system, settings, asked, &mut signals, screen, &spending).await?;
    }
    let notes = system.notes().to_vec();
    let close = tokio::select! {
        close = system.close() => close,
        () = signals.stop() => exit_now(screen),
    };
    let exit = Exit::of(&performed.outcome.result, settings.accept_judged).after(&close);
    if settings.json {
        if let Some(report) = &close.report {
            screen.json(&json::audit(report));
        }
        screen.json(&json::result(&performed, exit, &close));
    } else {
        screen.tell(&noted(&notes));
        let mut close = close;
        // What made a task fail is told already; only a broken rule of the message bus is told besides.
        if matches!(performed.outcome.result.ending, Ending::Abandon { .. }) && !settings.verbose {
            close.report = close.report.filter(|report| !report.boundary_violations.is_empty());
        }
        screen.tell(&closing(&close, settings.verbose));
    }
    Ok(exit)
}

/// The request that the embedded parser offers in place of a declined one, if the user at the terminal wants it.
pub(crate) async fn offered(result: &FinalResult, settings: &Settings, screen: &Screen) -> Option<String> {
    let offer = offer(result).filter(|_| !settings.json)?;
    let people = People::of(&settings.environment, settings.exact);
    let lines = [
        Line::plain(format!("  {}", texts::offer(&offer.request))),
        Line::faint(format!("  {}", texts::offer_reading(&people.sentence(&offer.reading), &offer.change))),
    ];
    let person = Terminal::detect(screen)?;
    person.wants(&lines).await.then(|| offer.request.clone())
}

/// The request that the embedded parser offers in place of a declined one.
fn offer(result: &FinalResult) -> Option<&Offer> {
    let Ending::Abandon { reason: AbandonReason::NotUnderstood { failure }, .. } = &result.ending else { return None };
    let PerceptionFailure::Abstained { abstention } = failure else { return None };
    abstention.offer.as_deref()
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
    asked: Asked,
    signals: &mut Signals,
    screen: &Screen,
    spending: &Spending,
) -> Result<EndedTask, Failure> {
    let Asked { words, session, material } = asked;
    let expected = Estimate::of(settings, spending, &system.tools(), &words, &session);
    expected.as_ref().map_or(Ok(()), |expected| expected.check(spending))?;
    screen.take_questions();
    let request = TaskRequest { words, session, material, limit_ms: settings.limit_ms };
    let mut watcher = Watcher {
        screen,
        json: settings.json,
        verbose: settings.verbose,
        live: live::Live::new(Instant::now()),
        spending,
        system,
    };
    let (words, with_material) = (request.words.clone(), request.material.is_some());
    let mut handle = system.run_with(request);
    watcher.started(settings, handle.task_id().as_str(), &words);
    watcher.expects(expected.as_ref());
    let mut outcome = watch(&mut handle, signals, &mut watcher).await?;
    screen.status("");
    // Facts show what code composed from them, and nothing of what a model says beside it.
    let result = &mut outcome.result;
    if matches!(&result.ending, Ending::Accept { basis: Basis::Checked }) && !outcome.usage.is_empty() {
        result.answers = result.coverage.iter().flat_map(|coverage| coverage.answers.clone()).collect();
    }
    // Wait until a question that was cancelled with its task has restored the terminal.
    drop(screen.turn().await);
    spending.learn(&outcome.result);
    let task_id = &outcome.result.task_id;
    let entry = undo::store(settings).find(task_id.as_str());
    let ended = EndedTask {
        spending: spending.json(task_id, expected.as_ref().map(Estimate::json)),
        cost: spending.cost(task_id, expected.as_ref().map(Estimate::beside)),
        costs: spending.lines(task_id),
        questions: screen.take_questions(),
        with_material,
        is_journal_read: matches!(&entry, Ok(_) | Err(UndoError::Unknown { .. })),
        undo: entry.ok(),
        outcome,
    };
    if !settings.json {
        show(&ended, settings, screen)?;
    }
    Ok(ended)
}

/// Shows the result of a task as text: the answer, then what supports it, then with `-v` everything else.
fn show(ended: &EndedTask, settings: &Settings, screen: &Screen) -> Result<(), Failure> {
    let people = People::of(&settings.environment, settings.exact);
    let mut shown = ended.shown(&people);
    let answers = shown.answers();
    let evidence = EvidenceStore::new(&settings.data_dir);
    match &settings.output {
        Some(path) if !answers.is_empty() => {
            let bytes = output::write(path, &answers, &evidence)?;
            shown.saved = Some(texts::saved(&people.path(&path.to_string_lossy()), bytes));
        }
        Some(_) => {}
        None => screen.deliver(&shown.answer_lines(), &answers, &evidence),
    }
    match ended.outcome.result.coverage.as_ref().and_then(coverage::first_gap) {
        // One line keeps it quiet, and still says what to look at.
        Some(gap) if screen.is_quiet() => screen.insist(&[Line::warning(gap)]),
        // The line that says how to ask instead is left out where artoo asks about it.
        _ if offer(&ended.outcome.result).is_some() && terminal::is_there() => {
            screen.tell(shown.support().get(..1).unwrap_or_default());
        }
        _ => screen.tell(&shown.support()),
    }
    if settings.verbose {
        screen.tell(&ended.details(&people));
    }
    Ok(())
}

/// Follows a task to its end; the first signal cancels the task, the second ends the process.
async fn watch(
    handle: &mut TaskHandle,
    signals: &mut Signals,
    watcher: &mut Watcher<'_>,
) -> Result<TaskOutcome, Failure> {
    let mut look = interval(LOOK_EVERY);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let task_id = handle.task_id().clone();
    let mut is_cancelled = false;
    loop {
        tokio::select! {
            progress = handle.next() => match progress {
                Progress::Event(event) if live::belongs_to_task(&event, &task_id) => watcher.event(&event),
                Progress::Event(_) => {}
                Progress::Ended(ended) => return Ok((*ended)?),
            },
            () = signals.stop() => {
                if is_cancelled {
                    exit_now(watcher.screen);
                }
                is_cancelled = true;
                handle.cancel();
                watcher.screen.live(&[Line::warning("cancelling; once more ends artoo at once")]);
            }
            _ = look.tick() => watcher.look(&task_id),
        }
    }
}

/// Shows the events of a task as text or JSON.
struct Watcher<'a> {
    screen: &'a Screen,
    json: bool,
    /// Whether each event is shown, and changes that were not kept are named.
    verbose: bool,
    live: live::Live,
    spending: &'a Spending,
    system: &'a System,
}

impl Watcher<'_> {
    fn started(&self, settings: &Settings, task_id: &str, words: &str) {
        if self.json {
            self.screen.json(&serde_json::json!({
                "event": "started", "task_id": task_id, "request": words, "model": self.system.model_name(),
                "workspace": settings.environment.workspace, "data_dir": settings.data_dir.to_string_lossy(),
                "limit_ms": settings.limit_ms, "notes": self.system.notes()
            }));
        }
    }

    /// Shows the estimate of a task: as JSON always, as text only with `-v` and if every model has a price.
    fn expects(&self, expected: Option<&Estimate>) {
        let Some(expected) = expected else { return };
        if self.json {
            self.screen.json(&json::estimate(&expected.json()));
        } else if expected.has_price() && self.verbose {
            self.screen.live(&[Line::faint(expected.line())]);
        }
    }

    fn event(&mut self, event: &TapEvent) {
        if self.json {
            return self.screen.json(&json::event(event));
        }
        let lines = self.live.event(event, Instant::now());
        if self.verbose {
            self.screen.live(&lines);
            self.screen.tell(&undo::capped(live::incidental(event)));
        }
    }

    /// Shows fallbacks and waits since the last look, and the stage of the task.
    fn look(&mut self, task_id: &TaskId) {
        let monitor = &self.spending.monitor;
        let (remarks, waits) = (monitor.remarks(), monitor.waits(Instant::now()));
        self.screen.tell(&remarks.iter().map(|remark| Line::warning(remark.as_str())).collect::<Vec<_>>());
        if self.json || !self.screen.is_live() {
            return;
        }
        self.screen.live(&waits.iter().map(|line| Line::faint(format!("  {line}"))).collect::<Vec<_>>());
        let tokens = self.spending.tokens(task_id).saturating_add(monitor.receiving());
        let now = Instant::now();
        let tool = live::tool_line(&self.system.activity(), now);
        if let Some(status) = self.live.status(now, tokens, tool, self.screen.is_redrawn()) {
            self.screen.status(&status);
        }
    }
}

/// Lines with the runtime's notes about parts that could not be used.
pub(crate) fn noted(notes: &[String]) -> Vec<Line> {
    notes.iter().map(|note| Line::plain(format!("note: {note}"))).collect()
}

/// Lines about problems while closing the runtime, and what the auditor found; with `verbose` also what it counted.
pub(crate) fn closing(close: &CloseReport, verbose: bool) -> Vec<Line> {
    let mut lines: Vec<Line> =
        close.problems.iter().map(|problem| Line::warning(format!("problem: {problem}"))).collect();
    lines.extend(close.audit.is_none().then(|| Line::warning(format!("  {}", audit::MAKE_ROOM))));
    lines.extend(close.report.iter().filter_map(audit::noted));
    let counts = |report: &AuditReport| texts::audit_counts(report.tasks_observed, report.total_corrections);
    lines.extend(close.report.iter().filter(|_| verbose).map(|report| Line::faint(counts(report))));
    lines
}
