//! `artoo audit`: verifies the audit log and shows its statistics. Reads only.

use std::fs;
use std::path::{Path, PathBuf};

use artoo_audit::{AuditStats, load_stats, report, verify};
use artoo_proto::{AuditReport, Trigger};
use serde_json::json;

use crate::display::writer::Screen;
use crate::display::{Line, result};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::settings::Settings;

/// Name of the schema of `artoo audit`'s JSON output, which is not stable yet.
const SCHEMA: &str = "artoo.audit/0";

/// Verifies every audit log of the data folder and shows the statistics stored beside each.
pub(crate) fn run(settings: &Settings, screen: &Screen) -> Result<Exit, Failure> {
    let logs = logs(&settings.data_dir);
    let mut is_sound = true;
    let mut lines = Vec::new();
    let mut values = Vec::new();
    for log in &logs {
        let shown = log.display();
        let stats = stats(log);
        let report = stats.as_ref().map(|stats| report(&stats.window, &stats.history, Trigger::OnDemand));
        match verify(log) {
            Ok(verified) => {
                lines.push(Line::strong(format!("{shown}: {} lines, the chain holds", verified.lines)));
                values.push(json!({"log": log, "verified": true, "lines": verified.lines, "report": report}));
            }
            Err(error) => {
                is_sound = false;
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
    screen.report(settings.json, SCHEMA, json!({"sound": is_sound, "logs": values}), &lines);
    Ok(if is_sound { Exit::Accepted } else { Exit::Internal })
}

/// Paths of the audit logs in a data folder, compressed ones included, sorted by name.
pub(crate) fn logs(data_dir: &Path) -> Vec<PathBuf> {
    let is_log = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("audit") && (name.ends_with(".jsonl") || name.ends_with(".jsonl.gz"))
    };
    let entries = fs::read_dir(data_dir).into_iter().flatten().flatten();
    let mut logs: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_log).collect();
    logs.sort();
    logs
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
