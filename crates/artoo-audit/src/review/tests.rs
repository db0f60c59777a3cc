//! Tests of the report since the last look, on undamaged logs, several logs, and damaged ones.

use std::fs;
use std::path::{Path, PathBuf};

use artoo_proto::{AuditReport, CallStatus, ExecutionStatus, FailureClass, GapTrend, ReplanDirective, Trigger};

use super::{Look, review};
use crate::auditor::Auditor;
use crate::event::{AuditEvent, Note};
use crate::log::AuditLog;
use crate::testing::{Bench, abandon, at, call, correction, directive, execution, request, result, spec, task};

/// Appends to a log what one run writes: a task with a failed tool and two replans, and the run's report.
fn run(log: &Path, n: u128, ms: i64) {
    let (mut log, _) = AuditLog::open(log, at(ms), None).unwrap();
    let (mut auditor, mut bench) = (Auditor::new(at(ms)), Bench::default());
    let calls = vec![call("glob", CallStatus::Failed, "")];
    for mut observed in [
        bench.publish(request(n)),
        bench.publish(spec(n)),
        bench.publish(correction(n, FailureClass::Logical)),
        bench.publish(execution(n, ExecutionStatus::Failed, calls)),
        bench.publish(directive(n, 1, 0.8, ReplanDirective::ChangePath)),
        bench.publish(directive(n, 2, 0.5, ReplanDirective::ChangePath)),
        bench.publish(result(n, 2, 0.5, abandon())),
    ] {
        observed.at = at(ms);
        log.append(&auditor.observe(&observed)).unwrap();
    }
    let report = auditor.report(at(ms), Trigger::OnDemand);
    log.append(&AuditEvent::note(at(ms), Note::Report { report })).unwrap();
}

/// Creates a temporary folder; returns it with the paths of its two logs.
fn folder() -> (tempfile::TempDir, [PathBuf; 2]) {
    let dir = tempfile::tempdir().unwrap();
    let logs = ["audit-2.jsonl", "audit.jsonl"].map(|name| dir.path().join(name));
    (dir, logs)
}

/// Makes the report on what is new since the last look, as `artoo audit` does, and stores the new look.
fn look(dir: &Path, logs: &[PathBuf], ms: i64) -> AuditReport {
    let (report, look) = review(logs, Look::load(dir).as_ref(), at(ms));
    look.save(dir).unwrap();
    assert_eq!(Look::load(dir), Some(look));
    report
}

/// A second report without new lines in between is empty.
#[test]
fn second_review_is_empty() {
    let (dir, logs) = folder();
    let minute = |n: i64| n * 60_000;
    run(&logs[1], 1, minute(1));
    run(&logs[1], 2, minute(3));
    run(&logs[0], 3, minute(2));
    let report = look(dir.path(), &logs, minute(5));
    assert_eq!((report.window_start, report.tasks_observed, report.total_corrections), (at(minute(1)), 3, 3));
    assert_eq!((report.tool_health.execution_failures, report.tool_health.logical_retries), (3, 3));
    // Findings of both logs, in the order of time.
    let failed = |n: u64| format!("tool_failed: glob failed (2026-01-01 00:0{n} UTC)");
    assert_eq!(report.anomalies, [failed(1), failed(2), failed(3)]);
    let trends: Vec<_> = report.gap_trends.iter().map(|task| (task.task_id.clone(), task.trend)).collect();
    assert_eq!(trends, [1, 2, 3].map(|n| (task(n), GapTrend::Stable)));

    let report = look(dir.path(), &logs, minute(6));
    assert_eq!((report.window_start, report.tasks_observed, report.anomalies.len()), (at(minute(5)), 0, 0));
    run(&logs[0], 4, minute(7));
    let report = look(dir.path(), &logs, minute(8));
    assert_eq!((report.tasks_observed, report.anomalies.len()), (1, 1));
}

/// If a log no longer contains the line that the user saw last, all of its lines are reported again.
#[test]
fn log_missing_the_seen_line_is_reread() {
    let (dir, logs) = folder();
    run(&logs[1], 1, 0);
    look(dir.path(), &logs, 1);
    fs::remove_file(&logs[1]).unwrap();
    run(&logs[1], 2, 2);
    assert_eq!(look(dir.path(), &logs, 3).tasks_observed, 1);
    // An unreadable look counts as none.
    fs::write(dir.path().join("audit_look.json"), "{").unwrap();
    assert_eq!(look(dir.path(), &logs, 4).tasks_observed, 1);
}

/// The first damaged line of a log and the lines after it are not read for the report.
#[test]
fn damaged_lines_are_not_reported() {
    let (dir, logs) = folder();
    run(&logs[1], 1, 0);
    let text = fs::read_to_string(&logs[1]).unwrap();
    fs::write(&logs[1], text.replacen("glob failed", "glob fooled", 1)).unwrap();
    let report = look(dir.path(), &logs, 1);
    assert_eq!((report.anomalies.len(), report.tasks_observed), (0, 0), "the lines before the edited one say nothing");
}

/// A problem of the log itself, here an incomplete last line, is in the report.
#[test]
fn problems_of_the_log_are_reported() {
    let (dir, logs) = folder();
    run(&logs[1], 1, 0);
    let torn = fs::read_to_string(&logs[1]).unwrap() + "{\"n\":9,";
    fs::write(&logs[1], torn).unwrap();
    look(dir.path(), &logs, 1);
    drop(AuditLog::open(&logs[1], at(2), None).unwrap());
    let report = look(dir.path(), &logs, 3);
    let expected = "audit_trail: the log's last line was incomplete; 7 bytes were removed (2026-01-01 00:00 UTC)";
    assert_eq!(report.anomalies, [expected]);
}

/// A log that artoo 0.1.0 wrote can be read for the report.
#[test]
fn old_version_log_is_reviewed() {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/audit-0.1.0.jsonl");
    let (report, _) = review(&[fixture], None, at(0));
    assert_eq!((report.tasks_observed, report.anomalies), (2, Vec::<String>::new()));
}
