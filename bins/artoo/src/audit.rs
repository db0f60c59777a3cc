//! `artoo audit`: verifies the audit log and shows its statistics. Writes only to accept missing lines.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use artoo_audit::{
    AuditConfig, AuditError, AuditService, AuditStats, Gap, Note, REPORT_EVERY, Verified, VerifyError, load_stats,
    redact, report, verify,
};
use artoo_proto::{AuditReport, Trigger};
use artoo_tools::EvidenceStore;
use serde_json::json;

use crate::clock;
use crate::display::writer::Screen;
use crate::display::{Line, result};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::settings::Settings;

/// Name of the schema of `artoo audit`'s JSON output, which is not stable yet.
const SCHEMA: &str = "artoo.audit/0";

/// Maximum number of gaps listed as text.
const GAPS_SHOWN: usize = 10;

/// Maximum number of accepted gaps in one line of the log.
const GAPS_A_LINE: usize = 500;

/// What an incomplete last line means.
const TORN: &str = "  the last line is incomplete: artoo is writing it, was killed, or the disk was full; the next run removes it";

/// What missing lines mean, and how to stop the message about them.
const GAPS_MEAN: &str = "What the missing lines recorded can't be shown any more. artoo never removes lines: if you did not, \
    another program did, or the disk was full. artoo audit --accept-gap ends this message; the log records that.";

/// The audit logs of a data folder, with what their verification found.
pub(crate) struct Trail {
    /// Every log, and what is wrong with it.
    pub(crate) logs: Vec<(PathBuf, Result<Verified, VerifyError>)>,
    /// Missing parts that the user did not accept.
    pub(crate) gaps: Vec<Gap>,
}

/// Verifies every audit log of the data folder and shows the statistics stored beside each; first accepts the gaps, if
/// asked to.
pub(crate) fn run(settings: &Settings, accept_gaps: bool, screen: &Screen) -> Result<Exit, Failure> {
    if accept_gaps {
        accept(&settings.data_dir).map_err(|error| Failure::from_error(Exit::Internal, &error))?;
    }
    let Trail { logs, gaps } = Trail::of(&settings.data_dir);
    let is_sound = gaps.is_empty() && logs.iter().all(|(_, verified)| verified.is_ok());
    let mut lines = Vec::new();
    let mut values = Vec::new();
    for (log, verified) in &logs {
        let shown = log.display();
        let stats = stats(log);
        let report = stats.as_ref().map(|stats| report(&stats.window, &stats.history, Trigger::OnDemand));
        match verified {
            Ok(Verified { lines: count, is_torn, .. }) => {
                lines.push(Line::strong(format!("{shown}: {count} lines, the chain holds")));
                lines.extend(is_torn.then(|| Line::plain(TORN)));
                values.push(json!({"log": log, "verified": true, "lines": count, "torn": is_torn, "report": report}));
            }
            Err(error) => {
                lines.push(Line::warning(format!("{shown}: DAMAGED at {error}")));
                values.push(json!({"log": log, "verified": false, "problem": error.to_string(), "report": report}));
            }
        }
        lines.extend(stats.iter().map(counted));
        lines.extend(report.iter().flat_map(of_report));
    }
    if logs.is_empty() {
        lines.push(Line::plain(format!("no audit log yet in {}", settings.data_dir.display())));
    }
    lines.extend(gaps.iter().take(GAPS_SHOWN).map(|gap| Line::warning(format!("MISSING: {}", gap.problem))));
    let more = gaps.len().saturating_sub(GAPS_SHOWN);
    lines.extend((more > 0).then(|| Line::warning(format!("MISSING: {more} more parts"))));
    lines.extend((!is_sound).then(|| Line::plain(GAPS_MEAN)));
    let gaps: Vec<&String> = gaps.iter().map(|gap| &gap.problem).collect();
    screen.report(settings.json, SCHEMA, json!({"sound": is_sound, "logs": values, "gaps": gaps}), &lines);
    Ok(if is_sound { Exit::Accepted } else { Exit::Internal })
}

impl Trail {
    /// Verifies the logs of a data folder. Evidence of a task that no log mentions shows missing lines too.
    pub(crate) fn of(data_dir: &Path) -> Self {
        // Before the logs: a task that runs now is in the log before its evidence is stored.
        let calls = EvidenceStore::new(data_dir).calls().unwrap_or_default();
        let mut unlogged: BTreeMap<_, _> =
            calls.into_iter().map(|call| (redact(call.task_id.as_str()).into_owned(), call.at)).collect();
        let logs: Vec<_> = logs(data_dir).into_iter().map(|log| (log.clone(), verify(&log))).collect();
        let mut gaps = Vec::new();
        let mut accepted = BTreeSet::new();
        for (log, verified) in logs.iter().filter_map(|(log, verified)| Some((log, verified.as_ref().ok()?))) {
            let of_log = |gap: &Gap| Gap { problem: format!("{}: {}", log.display(), gap.problem), ..gap.clone() };
            gaps.extend(verified.gaps.iter().map(of_log));
            accepted.extend(&verified.accepted);
            unlogged.retain(|task, _| !verified.tasks.contains(task));
        }
        let of_task = |(id, at)| Gap { problem: format!("task {id}: its evidence of {at} is stored, but no line"), id };
        gaps.extend(unlogged.into_iter().map(of_task));
        gaps.retain(|gap| !accepted.contains(&gap.id));
        Self { logs, gaps }
    }
}

/// Opens an audit log of the data folder for a note; the first that no other process writes.
pub(crate) fn open(data_dir: &Path) -> Result<AuditService, AuditError> {
    let (_bus, tap) = artoo_bus::tap(1);
    let config = AuditConfig { dir: data_dir.to_owned(), clock: Box::new(clock::now), report_every: REPORT_EVERY };
    artoo_audit::spawn(tap, config)
}

/// Records in the log that the user accepts the gaps of all logs in the data folder.
fn accept(data_dir: &Path) -> Result<(), AuditError> {
    // A log notes its own damage when it is opened; together these open all that no other process writes.
    let opened: Vec<AuditService> = logs(data_dir).iter().map(|_| open(data_dir)).collect::<Result<_, _>>()?;
    drop(opened);
    let accepted: Vec<String> = Trail::of(data_dir).gaps.into_iter().map(|gap| gap.id).collect();
    let service = open(data_dir)?;
    for gaps in accepted.chunks(GAPS_A_LINE) {
        service.note(Note::GapAccepted { gaps: gaps.to_vec() })?;
    }
    service.close().map(drop)
}

/// Paths of the audit logs in a data folder, compressed ones included, and of those that only their statistics show;
/// sorted by name. Damaged logs that were renamed are named by the log that follows.
fn logs(data_dir: &Path) -> Vec<PathBuf> {
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

/// Reads the statistics stored beside an audit log: `audit_stats.json` for `audit.jsonl`, `audit_stats-2.json` for
/// `audit-2.jsonl`; `None` if they can't be read.
fn stats(log: &Path) -> Option<AuditStats> {
    let lane = log.file_stem()?.to_str()?.strip_prefix("audit")?;
    load_stats(&log.with_file_name(format!("audit_stats{lane}.json"))).ok()
}

/// A line with the counts of all tasks that an audit log covers.
fn counted(stats: &AuditStats) -> Line {
    let (before, now) = (&stats.history, &stats.window.totals);
    Line::plain(format!(
        "  in all: {} task(s), {} ended, {} abandoned, {} correction(s), {} failed execution(s)",
        before.tasks + now.tasks,
        before.ended + now.ended,
        before.abandoned + now.abandoned,
        before.corrections + now.corrections,
        before.tool_health.execution_failures + now.tool_health.execution_failures,
    ))
}

fn of_report(report: &AuditReport) -> Vec<Line> {
    let mut lines = vec![Line::plain(format!("  since the last report ({}):", report.window_start))];
    lines.extend(result::audit(report).into_iter().map(|line| Line { text: format!("  {}", line.text), ..line }));
    lines
}
