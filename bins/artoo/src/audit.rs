//! `artoo audit`: verifies the audit log and reports its entries since the last report. It writes to the log only to
//! accept missing lines, and stores the time of the report in a file beside it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use artoo_audit::words::{figures, finding, minute, summary};
use artoo_audit::{
    AuditConfig, AuditError, AuditService, AuditStats, Gap, Look, Note, REPORT_EVERY, Verified, VerifyError,
    deleted_log, load_stats, redact, review, stats_path, verify,
};
use artoo_proto::units::count;
use artoo_proto::{AuditReport, Trigger};
use artoo_roles::runtime::run_traces;
use artoo_tools::EvidenceStore;
use serde_json::json;

use crate::{Exit, Failure, Line, Screen, Settings, clock};

/// Name of the schema of `artoo audit`'s JSON output, which is not stable yet.
const SCHEMA: &str = "artoo.audit/0";

/// Remedy shown if the audit log can't be written: free disk space or choose another data folder.
pub(crate) const MAKE_ROOM: &str = "make room in that folder, or choose one on another disk with --data-dir";

/// Maximum number of gaps (runs of missing log lines) that `artoo audit` lists as text.
const GAPS_SHOWN: usize = 10;

/// Maximum number of findings of a kind that `artoo audit` lists as text; the newest are listed.
const FINDINGS_SHOWN: usize = 20;

/// Maximum number of accepted gaps that one line of the audit log records; more are split over several lines.
const GAPS_A_LINE: usize = 500;

/// Id of a deleted log in the list of gaps, until the next run notes it in a new log.
const DELETED: &str = "deleted";

/// Text that explains to the user what an incomplete line at the end of an audit log means.
const TORN: &str = "; behind them is the beginning of a line that artoo is writing, or could not write because it was killed \
    or the disk was full; the next run removes it and records that";

/// Text that explains to the user what missing lines of an audit log mean, and how to accept them.
const GAPS_MEAN: &str = "What missing lines recorded can't be shown any more. artoo never removes a line: the disk was full, or you or \
    another program removed it. artoo audit --accept-gap ends this message, and the log records that.";

/// The audit logs of a data folder, with what their verification found.
pub(crate) struct AuditLogs {
    /// Every log, and what is wrong with it.
    pub(crate) logs: Vec<(PathBuf, Result<Verified, VerifyError>)>,
    /// Missing parts that the user did not accept.
    pub(crate) gaps: Vec<Gap>,
}

/// Verifies every audit log of the data folder and reports its entries since the last report; first accepts the gaps,
/// if requested. `Exit::Internal` if a log is damaged or lines are missing.
pub(crate) fn run(settings: &Settings, accept_gaps: bool, screen: &Screen) -> Result<Exit, Failure> {
    if accept_gaps {
        accept(&settings.data_dir).map_err(|source| Failure::AuditGap { source })?;
    }
    let AuditLogs { logs, gaps } = AuditLogs::of(&settings.data_dir);
    let is_sound = gaps.is_empty() && logs.iter().all(|(_, verified)| verified.is_ok());
    let mut lines = Vec::new();
    let mut values = Vec::new();
    for (log, verified) in &logs {
        let shown = log.display();
        let stats = stats_path(log).and_then(|path| load_stats(&path).ok());
        let report = stats.as_ref().map(|stats| stats.report(Trigger::OnDemand));
        lines.push(match verified {
            Ok(Verified { lines, is_torn: false, .. }) => {
                Line::strong(format!("{shown}: {lines} lines, the chain holds"))
            }
            Ok(Verified { lines, .. }) => Line::strong(format!("{shown}: {lines} lines, the chain holds{TORN}")),
            Err(error) => Line::warning(format!("{shown}: DAMAGED at {error}")),
        });
        values.push(json!({
            "log": log, "verified": verified.is_ok(), "lines": verified.as_ref().ok().map(|log| log.lines),
            "problem": verified.as_ref().err().map(VerifyError::to_string), "report": report
        }));
        lines.extend(stats.iter().map(counted));
    }
    if logs.is_empty() {
        lines.push(Line::plain(format!("no audit log yet in {}", settings.data_dir.display())));
    }
    let gaps: Vec<String> = gaps.into_iter().map(|gap| gap.problem).collect();
    lines.extend(gaps.iter().take(GAPS_SHOWN).map(|gap| Line::warning(format!("MISSING: {gap}"))));
    lines.extend((gaps.len() > GAPS_SHOWN).then(|| Line::warning(format!("MISSING: {} parts in all", gaps.len()))));
    lines.extend((!is_sound).then(|| Line::plain(GAPS_MEAN)));
    let (last, paths) = (Look::load(&settings.data_dir), logs.into_iter().map(|(log, _)| log).collect::<Vec<_>>());
    let (news, look) = review(&paths, last.as_ref(), clock::now());
    if !paths.is_empty() {
        lines.extend(told(&news, last.is_some()));
    }
    let value = json!({"sound": is_sound, "logs": values, "gaps": gaps, "since_last_look": news});
    screen.report(settings.json, SCHEMA, value, &lines);
    // A program that reads JSON is no person who looked.
    if !settings.json
        && !paths.is_empty()
        && let Err(error) = look.save(&settings.data_dir)
    {
        screen.insist(&[Line::warning(format!("the next artoo audit tells this again: {error}"))]);
    }
    Ok(if is_sound { Exit::Accepted } else { Exit::Internal })
}

impl AuditLogs {
    /// Verifies the logs of a data folder. Stored tool output of a task that no log mentions is reported as missing
    /// lines.
    pub(crate) fn of(data_dir: &Path) -> Self {
        // Before the logs: a task that runs now is in the log before its evidence is stored.
        let calls = EvidenceStore::new(data_dir).calls().unwrap_or_default();
        let mut unlogged: BTreeMap<_, _> =
            calls.into_iter().map(|call| (redact(call.task_id.as_str()).into_owned(), call.at)).collect();
        let logs: Vec<_> = logs(data_dir).into_iter().map(|log| (log.clone(), verify(&log))).collect();
        let deleted = deleted_log(data_dir, &run_traces(data_dir));
        let mut gaps: Vec<Gap> = deleted.into_iter().map(|problem| Gap { id: DELETED.to_owned(), problem }).collect();
        let mut accepted = BTreeSet::new();
        for (log, verified) in &logs {
            // A damaged log may mention any task.
            unlogged.retain(|task, at| verified.as_ref().is_ok_and(|verified| !verified.mentions(task, *at)));
            let Ok(verified) = verified else { continue };
            let of_log = |gap: &Gap| Gap { problem: format!("{}: {}", log.display(), gap.problem), ..gap.clone() };
            gaps.extend(verified.gaps.iter().map(of_log));
            accepted.extend(&verified.accepted);
        }
        let of_task =
            |(id, at)| Gap { problem: format!("evidence of {at} is stored of task {id}, but no log mentions it"), id };
        gaps.extend(unlogged.into_iter().map(of_task));
        gaps.retain(|gap| !accepted.contains(&gap.id));
        Self { logs, gaps }
    }
}

/// Writes notes to an audit log of the data folder.
pub(crate) fn record(data_dir: &Path, notes: impl IntoIterator<Item = Note>) -> Result<(), AuditError> {
    let service = open(data_dir)?;
    notes.into_iter().try_for_each(|note| service.note(note))?;
    service.close().map(drop)
}

/// Opens the first audit log of the data folder that no other process writes.
fn open(data_dir: &Path) -> Result<AuditService, AuditError> {
    let (_bus, tap) = artoo_bus::tap(1);
    artoo_audit::spawn(
        tap,
        AuditConfig {
            dir: data_dir.to_owned(),
            traces: run_traces(data_dir),
            clock: Box::new(clock::now),
            report_every: REPORT_EVERY,
        },
    )
}

/// Records in the audit log that the user accepts the gaps (missing lines) of all logs in the data folder.
fn accept(data_dir: &Path) -> Result<(), AuditError> {
    // A log notes its own damage when it is opened; together these open all that no other process writes.
    let is_full = |log: &PathBuf| log.file_stem().is_some_and(|stem| stem.to_string_lossy().contains('.'));
    let current = logs(data_dir).into_iter().filter(|log| !is_full(log)).count();
    let opened: Vec<AuditService> = (0..current.max(1)).map(|_| open(data_dir)).collect::<Result<_, _>>()?;
    drop(opened);
    let accepted: Vec<String> = AuditLogs::of(data_dir).gaps.into_iter().map(|gap| gap.id).collect();
    record(data_dir, accepted.chunks(GAPS_A_LINE).map(|gaps| Note::GapAccepted { gaps: gaps.to_vec() }))
}

/// Paths of the audit logs in a data folder, compressed ones included, and of those that only their statistics show;
/// sorted by name. Damaged logs that were renamed are named by the log that follows.
pub(crate) fn logs(data_dir: &Path) -> Vec<PathBuf> {
    let log_of = |name: &str| {
        let lane = name.strip_prefix("audit_stats").and_then(|rest| rest.strip_suffix(".json"));
        let is_log = name.starts_with("audit") && (name.ends_with(".jsonl") || name.ends_with(".jsonl.gz"));
        let log = lane.map(|lane| format!("audit{lane}.jsonl")).or(is_log.then(|| name.to_owned()))?;
        (!log.contains(".broken-")).then(|| data_dir.join(log))
    };
    let entries = fs::read_dir(data_dir).into_iter().flatten().flatten();
    let logs: BTreeSet<PathBuf> = entries.filter_map(|entry| log_of(entry.file_name().to_str()?)).collect();
    logs.into_iter().collect()
}

/// A line for the user with the counts (tasks, failures, corrections) over all tasks that an audit log covers.
fn counted(stats: &AuditStats) -> Line {
    let (before, now) = (&stats.history, &stats.window.totals);
    let rest = [
        (before.abandoned + now.abandoned, "without success", "task", "tasks"),
        (before.corrections + now.corrections, "repeated", "attempt", "attempts"),
        (before.tool_health.execution_failures + now.tool_health.execution_failures, "failed", "attempt", "attempts"),
    ];
    let rest = rest.into_iter().filter(|(number, ..)| *number > 0);
    let rest: String =
        rest.map(|(number, what, one, many)| format!("; {what}: {}", count(number, one, many))).collect();
    Line::plain(format!("  in all: {}{rest}", count(before.tasks + now.tasks, "task", "tasks")))
}

/// The report on the audit logs as lines: figures, then findings, the newest last. `has_looked`: an earlier report
/// exists, and this one begins there.
fn told(news: &AuditReport, has_looked: bool) -> Vec<Line> {
    let since = minute(news.window_start);
    let since = if has_looked { format!("Since your last look, {since}") } else { format!("Since {since}") };
    let mut lines: Vec<Line> = figures(news).into_iter().map(|figure| Line::plain(format!("  {figure}"))).collect();
    for (found, is_broken) in [(&news.anomalies, false), (&news.drift_alerts, false), (&news.boundary_violations, true)]
    {
        let line = |text: String| match is_broken {
            true => Line::warning(format!("{text} (a rule of the message bus is broken)")),
            false => Line::plain(text),
        };
        let earlier = found.len().saturating_sub(FINDINGS_SHOWN);
        lines.extend((earlier > 0).then(|| Line::plain(format!("  {}", earlier_findings(earlier)))));
        lines.extend(found.iter().skip(earlier).map(|found| line(format!("  {}", finding(found)))));
    }
    let nothing = if lines.is_empty() { "; no anomalies" } else { ":" };
    lines.insert(0, Line::plain(format!("{since}: {}{nothing}", count(news.tasks_observed, "task", "tasks"))));
    lines
}

/// The line that says how many older findings are in the log but not listed.
fn earlier_findings(number: usize) -> String {
    format!("{} before these, in the log", count(number as u64, "anomaly", "anomalies"))
}

/// The findings of a session's audit report in one line; `None` without any. A broken rule of the message bus makes it
/// a warning.
pub(crate) fn noted(report: &AuditReport) -> Option<Line> {
    let line = if report.boundary_violations.is_empty() { Line::faint } else { Line::warning };
    summary(report).map(line)
}
