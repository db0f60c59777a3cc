//! Runs a task and shows its progress and result.

use std::sync::Arc;
use std::time::{Duration, Instant};

use artoo_bus::TapEvent;
use artoo_proto::{AbandonReason, AuditReport, Ending, FinalResult, Offer, PerceptionFailure, SessionTurn, TaskId};
use artoo_roles::record::Record;
use artoo_roles::runtime::{CloseReport, Progress, System, TaskHandle, TaskOutcome, TaskRequest};
use artoo_tools::EvidenceStore;
use artoo_tools::undo::UndoError;
use tokio::time::{MissedTickBehavior, interval};

use crate::display::json::EndedTask;
use crate::display::user_format::UserFormat;
use crate::display::{Line, coverage, json, live, output};
use crate::estimate::{Estimate, RequestContext};
use crate::model::Models;
use crate::signals::{Signals, exit_now};
use crate::spending::Spending;
use crate::terminal::{self, Terminal};
use crate::{Exit, Failure, Screen, Settings, audit, leftovers, skill_use, texts, undo};

/// Interval at which the status line is redrawn and new fallbacks and waits of model calls are shown.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// A request from the user with its context: earlier turns, piped input, or the record of the task to resume.
#[derive(Debug, Default)]
pub(crate) struct RequestedTask {
    pub(crate) words: String,
    pub(crate) session: Vec<SessionTurn>,
    pub(crate) material: Option<String>,
    /// The record of the interrupted task that is resumed.
    pub(crate) resume: Option<Box<Record>>,
}

/// Runs a request as a task, shows the result, and returns the exit code.
pub(crate) async fn run(
    settings: &Settings,
    models: Models,
    mut asked: RequestedTask,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let mut signals = Signals::listen()?;
    let spending = Arc::clone(&models.spending);
    let system = system(settings, models, asked.resume.take(), screen)?;
    let mut performed = perform(&system, settings, asked, &mut signals, screen, &spending).await?;
    if let Some(words) = offered(&performed.outcome.result, settings, screen).await {
        let asked = RequestedTask { words, ..RequestedTask::default() };
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
        // The cause of a failed task was shown already; only a broken rule of the message bus is shown in addition.
        if matches!(performed.outcome.result.ending, Ending::Abandon { .. }) && !settings.verbose {
            close.report = close.report.filter(|report| !report.boundary_violations.is_empty());
        }
        screen.tell(&closing(&close, settings.verbose));
    }
    Ok(exit)
}

/// Asks the user whether to run the request that the embedded parser offers in place of a declined one; returns it if
/// so. `None` without an offer or a terminal, or with `--json`.
pub(crate) async fn offered(result: &FinalResult, settings: &Settings, screen: &Screen) -> Option<String> {
    let offer = offer(result).filter(|_| !settings.json)?;
    let user_format = UserFormat::of(&settings.environment, settings.exact);
    let lines = [
        Line::plain(format!("  {}", texts::offer(&offer.request))),
        Line::faint(format!("  {}", texts::offer_reading(&user_format.sentence(&offer.reading), &offer.change))),
    ];
    let person = Terminal::detect(screen)?;
    person.wants(&lines).await.then(|| offer.request.clone())
}

/// The request that the embedded parser offers in place of the one it declined; `None` if there is none.
fn offer(result: &FinalResult) -> Option<&Offer> {
    let Ending::Abandon { reason: AbandonReason::NotUnderstood { failure }, .. } = &result.ending else { return None };
    let PerceptionFailure::Abstained { abstention } = failure else { return None };
    abstention.offer.as_deref()
}

/// Starts the runtime that runs tasks; questions go to the terminal if there is one, otherwise they are denied.
pub(crate) fn system(
    settings: &Settings,
    models: Models,
    resume: Option<Box<Record>>,
    screen: &Screen,
) -> Result<System, Failure> {
    leftovers::remove(&settings.data_dir);
    let mut builder = System::builder()
        .model(models.model)
        .reflex_first(settings.asks_reflex_first())
        .environment(settings.environment.clone())
        .tools(settings.tools.clone())
        .data_dir(settings.data_dir.clone())
        .without_memory(!settings.memory)
        .profile(settings.profile.clone())
        .require(settings.required.clone(), settings.by_required);
    if let Some(person) = Terminal::detect(screen) {
        builder = builder.operator(person);
    }
    if let Some(record) = resume {
        builder = builder.resume(*record);
    }
    Ok(builder.start()?)
}

/// Runs a task to its end, after checking that the limits suffice. Shows the result as text; the caller shows it as
/// JSON.
pub(crate) async fn perform(
    system: &System,
    settings: &Settings,
    asked: RequestedTask,
    signals: &mut Signals,
    screen: &Screen,
    spending: &Spending,
) -> Result<EndedTask, Failure> {
    let RequestedTask { words, session, material, .. } = asked;
    let resumed = system.resumed();
    // What a task needs that has begun is not known.
    let expected = match resumed {
        Some(_) => None,
        None => {
            // Without a model there is nothing that a skill spares.
            let memory = system.stored_memory().filter(|_| !spending.models.is_empty());
            let by_skill =
                memory.is_some_and(|memory| skill_use::is_used(&memory.engine(), &words, &settings.environment.cwd));
            let beside = RequestContext { session: &session, with_material: material.is_some(), by_skill };
            Estimate::of(settings, spending, &system.tools(), &words, beside)
        }
    };
    expected.as_ref().map_or(Ok(()), |expected| expected.check(spending))?;
    screen.take_questions();
    let request = TaskRequest { words, session, material, limit_ms: settings.limit_ms };
    let mut watcher = Watcher {
        screen,
        json: settings.json,
        verbose: settings.verbose,
        live: live::TaskProgress::new(Instant::now()),
        spending,
        system,
    };
    let (words, with_material) = (request.words.clone(), request.material.is_some());
    let mut handle = resumed.unwrap_or_else(|| system.run_with(request));
    watcher.started(settings, handle.task_id().as_str(), &words);
    watcher.expects(expected.as_ref());
    let outcome = watch(&mut handle, signals, &mut watcher).await?;
    screen.status("");
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
        let by_model = !ended.outcome.usage.is_empty() && terminal::is_there();
        if let Some(memory) = system.stored_memory().filter(|_| by_model) {
            screen.tell(skill_use::offer(&memory.engine(), &words, &settings.environment.cwd).as_slice());
        }
    }
    Ok(ended)
}

/// Shows the result of a task as text: the answer, then what supports it, then with `-v` everything else.
fn show(ended: &EndedTask, settings: &Settings, screen: &Screen) -> Result<(), Failure> {
    let user_format = UserFormat::of(&settings.environment, settings.exact);
    let mut shown = ended.shown(&user_format);
    let answers = shown.answers();
    let evidence = EvidenceStore::new(&settings.data_dir);
    match &settings.output {
        Some(path) if !answers.is_empty() => {
            let bytes = output::write(path, &answers, &evidence)?;
            shown.saved = Some(texts::saved(&user_format.path(&path.to_string_lossy()), bytes));
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
        screen.tell(&ended.details(&user_format));
        screen.tell(&[Line::faint(format!("  profile: {}", settings.profile_in_words()))]);
    }
    Ok(())
}

/// Shows a task's progress until it ends; the first signal (such as Ctrl-C) cancels the task, the second ends the
/// process.
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
                Progress::Ended(ended) => {
                    // The task may have ended before the next look.
                    watcher.show_fallbacks();
                    return Ok((*ended)?);
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
            _ = look.tick() => watcher.look(&task_id),
        }
    }
}

/// Shows the events of a running task, as text or JSON.
struct Watcher<'a> {
    screen: &'a Screen,
    json: bool,
    /// Whether each event is shown, and changes that were not kept are named.
    verbose: bool,
    live: live::TaskProgress,
    spending: &'a Spending,
    system: &'a System,
}

impl Watcher<'_> {
    /// With `--json`, writes the line that says that the task began.
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

    /// Shows an event of the message bus: as JSON, or with `-v` as a line; updates the state of the status line.
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

    /// Shows a warning for each model fallback that was not shown yet.
    fn show_fallbacks(&self) {
        let remarks = self.spending.monitor.remarks();
        self.screen.tell(&remarks.iter().map(|remark| Line::warning(remark.as_str())).collect::<Vec<_>>());
    }

    /// Shows new model fallbacks and waits, and updates the status line with the stage of the task.
    fn look(&mut self, task_id: &TaskId) {
        self.show_fallbacks();
        let monitor = &self.spending.monitor;
        let waits = monitor.waits(Instant::now());
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

/// Turns the runtime's notes about parts that could not be used, such as a locked memory, into lines.
pub(crate) fn noted(notes: &[String]) -> Vec<Line> {
    notes.iter().map(|note| Line::plain(format!("note: {note}"))).collect()
}

/// Lines shown when the runtime has closed: problems, and what the auditor found; with `verbose` also its counts.
pub(crate) fn closing(close: &CloseReport, verbose: bool) -> Vec<Line> {
    let mut lines: Vec<Line> =
        close.problems.iter().map(|problem| Line::warning(format!("problem: {problem}"))).collect();
    lines.extend(close.audit.is_none().then(|| Line::warning(format!("  {}", audit::MAKE_ROOM))));
    lines.extend(close.report.iter().filter_map(audit::noted));
    let counts = |report: &AuditReport| texts::audit_counts(report.tasks_observed, report.total_corrections);
    lines.extend(close.report.iter().filter(|_| verbose).map(|report| Line::faint(counts(report))));
    lines
}
