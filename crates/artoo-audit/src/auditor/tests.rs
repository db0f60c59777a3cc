//! Tests of the counts in reports, across windows and restarts.

use artoo_proto::{
    AuditReport, ExecutionStatus, FailureClass, GapTrend, MemoryFeedback, MemoryFeedbackKind, ReplanDirective,
    ToolHealth, Trigger,
};

use super::Auditor;
use crate::event::{AuditEvent, Record};
use crate::finding::Rule;
use crate::testing::{Bench, abandon, accept, at, correction, directive, execution, request, result, spec, task};

/// Feeds the auditor the events of task `n`: a replan, two corrections, a failed execution, and its abandonment.
fn observe_troubled_task(auditor: &mut Auditor, bench: &mut Bench, n: u128) {
    for observed in [
        bench.publish(request(n)),
        bench.publish(spec(n)),
        bench.publish(correction(n, FailureClass::Environmental)),
        bench.publish(correction(n, FailureClass::Logical)),
        bench.publish(execution(n, ExecutionStatus::Failed, vec![])),
        bench.publish(directive(n, 1, 0.8, ReplanDirective::ChangePath)),
        bench.publish(correction(n, FailureClass::Logical)),
        bench.publish(result(n, 1, 0.5, abandon())),
    ] {
        assert_eq!(auditor.observe(&observed).findings, []);
    }
}

#[doc = "holds: design R6"]
#[test]
fn reports_count_tasks_and_tool_health() {
    let (mut auditor, mut bench) = (Auditor::new(at(0)), Bench::default());
    observe_troubled_task(&mut auditor, &mut bench, 1);
    observe_troubled_task(&mut auditor, &mut bench, 2);
    let report = auditor.report(at(50), Trigger::OnDemand);
    assert_eq!(report.tasks_observed, 2);
    assert_eq!(report.total_corrections, 6);
    assert_eq!(report.tool_health, ToolHealth { execution_failures: 2, environmental_retries: 2, logical_retries: 4 });
    let trends: Vec<_> = report.gap_trends.iter().map(|trend| (trend.task_id.clone(), trend.trend)).collect();
    assert_eq!(trends, [(task(1), GapTrend::Improving), (task(2), GapTrend::Improving)]);
    assert_eq!((report.boundary_violations, report.anomalies), (vec![], vec![]));
}

/// Counts start from zero after each report.
#[test]
fn report_starts_a_new_window() {
    let (mut auditor, mut bench) = (Auditor::new(at(0)), Bench::default());
    observe_troubled_task(&mut auditor, &mut bench, 1);
    let first = auditor.report(at(50), Trigger::Periodic);
    assert_eq!((first.window_start, first.trigger, first.tasks_observed), (at(0), Trigger::Periodic, 1));
    let second = auditor.report(at(60), Trigger::OnDemand);
    let empty = AuditReport {
        trigger: Trigger::OnDemand,
        window_start: at(50),
        tasks_observed: 0,
        total_corrections: 0,
        gap_trends: vec![],
        boundary_violations: vec![],
        drift_alerts: vec![],
        anomalies: vec![],
        tool_health: ToolHealth::default(),
    };
    assert_eq!(second, empty);
    assert_eq!(auditor.stats().history.tasks, 1);
}

/// After a restart the auditor continues its counts.
#[doc = "holds: design R6.22"]
#[test]
fn restart_keeps_window_and_history() {
    let (mut auditor, mut bench) = (Auditor::new(at(0)), Bench::default());
    observe_troubled_task(&mut auditor, &mut bench, 1);
    auditor.report(at(50), Trigger::Periodic);
    observe_troubled_task(&mut auditor, &mut bench, 2);
    let kept = serde_json::to_string(auditor.stats()).unwrap();

    let mut auditor = Auditor::from_stats(serde_json::from_str(&kept).unwrap());
    observe_troubled_task(&mut auditor, &mut Bench::default(), 3);
    let report = auditor.report(at(99), Trigger::OnDemand);
    assert_eq!((report.window_start, report.tasks_observed, report.total_corrections), (at(50), 2, 6));
    assert_eq!((auditor.stats().history.tasks, auditor.stats().history.abandoned), (3, 3));
}

/// Findings are counted as violations of the bus's rules or as anomalies.
#[test]
fn findings_are_counted_by_class() {
    let (mut auditor, mut bench) = (Auditor::new(at(0)), Bench::default());
    auditor.observe(&bench.publish(request(1)));
    let forged = bench.says_with(spec(1), |envelope| envelope.from.role = artoo_proto::Role::Planner);
    let AuditEvent { record, findings, .. } = auditor.observe(&forged);
    assert!(matches!(record, Record::Seen { tap: 1, .. }));
    assert_eq!(findings.iter().map(|finding| finding.rule).collect::<Vec<_>>(), [Rule::RouteNotInTable]);
    for _ in 0..2 {
        let observed = bench.sees(artoo_bus::TapEvent::Gap { missing: 4 });
        auditor.observe(&observed);
    }
    let report = auditor.report(at(9), Trigger::OnDemand);
    assert_eq!(report.boundary_violations.len(), 1);
    assert!(report.boundary_violations[0].starts_with("route_not_in_table: TaskSpec from R2/"), "{report:?}");
    assert_eq!(report.anomalies, ["events_missing: 4 events: the auditor was too slow for the bus (×2)"]);
}

#[test]
fn closing_finds_tasks_without_a_result() {
    let (mut auditor, mut bench) = (Auditor::new(at(0)), Bench::default());
    auditor.observe(&bench.publish(request(1)));
    auditor.observe(&bench.publish(request(2)));
    auditor.observe(&bench.publish(result(2, 0, 0.0, accept())));
    let found = auditor.end();
    assert_eq!(found.iter().map(|finding| finding.rule).collect::<Vec<_>>(), [Rule::NoFinalResult]);
    assert_eq!(auditor.report(at(9), Trigger::OnDemand).anomalies, [found[0].to_string()]);
}

/// Drift (tasks that get worse over many runs) is reported once for the same ten tasks; the next alert is about later
/// ones.
#[test]
fn drift_across_runs_is_reported_once() {
    let mut stats = serde_json::to_string(Auditor::new(at(0)).stats()).unwrap();
    let mut alerts = Vec::new();
    for run in 0..40 {
        let mut auditor = Auditor::from_stats(serde_json::from_str(&stats).unwrap());
        let mut bench = Bench::default();
        let ending = if run < 25 { accept() } else { abandon() };
        for observed in [bench.publish(request(run)), bench.publish(result(run, 0, 0.0, ending))] {
            auditor.observe(&observed);
        }
        alerts.extend(auditor.report(at(50), Trigger::OnDemand).drift_alerts.into_iter().map(|alert| (run, alert)));
        stats = serde_json::to_string(auditor.stats()).unwrap();
    }
    // 20 tasks before, and 3 of the last 10 abandoned: the first time that both hold.
    let first = (29, "more tasks without success: 5 in the last 10 tasks, 0 in the 20 before".to_owned());
    assert_eq!(alerts.first(), Some(&first));
    let runs: Vec<u128> = alerts.iter().map(|(run, _)| *run).collect();
    assert_eq!(runs, [29, 39], "the next alert is about ten other tasks");
}

/// A task is counted once, however often its messages occur.
#[test]
fn task_is_counted_once() {
    let (mut auditor, mut bench) = (Auditor::new(at(0)), Bench::default());
    let feedback = MemoryFeedbackKind::Wrong { content: "there are 42".to_owned() };
    for observed in [
        bench.publish(request(1)),
        bench.publish(result(1, 0, 0.0, abandon())),
        bench.publish(result(1, 0, 0.0, abandon())),
        bench.publish(request(1)),
        bench.publish(MemoryFeedback { task_id: task(9), feedback }),
    ] {
        auditor.observe(&observed);
    }
    let totals = auditor.stats().window.totals;
    assert_eq!((totals.tasks, totals.ended, totals.abandoned), (1, 1, 1));
}
