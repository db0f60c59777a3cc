//! Tests of the texts for the user: times, zero figures, and the summary of a report.

use artoo_proto::{AuditReport, GapTrend, TaskTrend, ToolHealth, Trigger};

use super::{figures, finding, minute, summary};
use crate::finding::Rule;
use crate::testing::{at, task};
use crate::window::AuditStats;

/// A report in which all counts are zero.
fn empty() -> AuditReport {
    AuditStats::new(at(0)).report(Trigger::Periodic)
}

/// The texts as strings.
fn lines(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn times_are_shown_to_the_minute() {
    assert_eq!(minute(at(61_000)), "2026-01-01 00:01 UTC");
}

/// Figures that are zero are not shown.
#[test]
fn figures_leave_out_zeros() {
    assert_eq!(figures(&empty()), Vec::<String>::new());
    let trends = [GapTrend::Improving, GapTrend::Worsening, GapTrend::Improving];
    let report = AuditReport {
        gap_trends: (1..).zip(trends).map(|(n, trend)| TaskTrend { task_id: task(n), trend }).collect(),
        tool_health: ToolHealth { execution_failures: 1, environmental_retries: 0, logical_retries: 2 },
        ..empty()
    };
    let expected = [
        "failed: 1 attempt",
        "repeated because the result was wrong: 2 attempts",
        "closer to the goal after another plan: 2 tasks",
        "farther from the goal after another plan: 1 task",
    ];
    assert_eq!(figures(&report), expected);
}

#[test]
fn report_has_a_summary() {
    let check = |violations: &[&str], drift: &[&str], anomalies: &[&str], expected: Option<&str>| {
        let (boundary_violations, drift_alerts, anomalies) = (lines(violations), lines(drift), lines(anomalies));
        let report = AuditReport { boundary_violations, drift_alerts, anomalies, tasks_observed: 4, ..empty() };
        assert_eq!(summary(&report).as_deref(), expected);
    };
    check(&[], &[], &[], None);
    check(&[], &[], &["tool_failed: glob failed"], Some("The log notes 1 anomaly: glob failed (artoo audit)"));
    // The result of the task names denied calls.
    check(&[], &[], &["call_denied: shell was not allowed"], None);
    check(
        &["refused: Plan from R3"],
        &["more retries: 9"],
        &["tool_failed: glob failed (×2)"],
        Some(
            "The log notes 1 broken rule and 2 anomalies: the message bus refused a message: Plan from R3, \
             more retries: 9, glob failed (×2); artoo audit shows all.",
        ),
    );
    let long = "x".repeat(10_000);
    let report = AuditReport { anomalies: vec![long, "\n✓ done\u{1b}[2J".to_owned()], ..empty() };
    let line = summary(&report).unwrap();
    assert!(line.chars().count() < 400 && !line.contains(['\n', '\u{1b}']), "{line}");
}

#[test]
fn every_rule_has_a_description() {
    for rule in Rule::ALL {
        let told = finding(&format!("{}: the detail", rule.name()));
        assert!(told.ends_with("the detail") && !told.contains('_'), "{told}");
        assert_eq!(Rule::named(rule.name()), Some(*rule));
    }
    assert_eq!(finding("a_rule_of_another_version: the detail"), "a_rule_of_another_version: the detail");
}
