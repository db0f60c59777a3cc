//! Singular and plural, zero figures, and the one line about a report.

use artoo_proto::{AuditReport, GapTrend, TaskTrend, ToolHealth, Trigger};

use super::{count, figures, finding, minute, summary};
use crate::finding::Rule;
use crate::testing::{at, task};
use crate::window::AuditStats;

fn empty() -> AuditReport {
    AuditStats::new(at(0)).report(Trigger::Periodic)
}

fn lines(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn numbers_have_their_nouns() {
    let counted = [(0, "task"), (1, "task"), (2, "task"), (1, "oddity"), (3, "oddity")].map(|(n, noun)| count(n, noun));
    assert_eq!(counted, ["0 tasks", "1 task", "2 tasks", "1 oddity", "3 oddities"]);
    assert_eq!(minute(at(61_000)), "2026-01-01 00:01 UTC");
}

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
fn a_report_is_told_in_one_line() {
    let check = |violations: &[&str], drift: &[&str], anomalies: &[&str], expected: Option<&str>| {
        let (boundary_violations, drift_alerts, anomalies) = (lines(violations), lines(drift), lines(anomalies));
        let report = AuditReport { boundary_violations, drift_alerts, anomalies, tasks_observed: 4, ..empty() };
        assert_eq!(summary(&report).as_deref(), expected);
    };
    check(&[], &[], &[], None);
    check(&[], &[], &["tool_failed: glob failed"], Some("The log notes 1 oddity: glob failed (artoo audit)"));
    // The user denied it, and the result says so.
    check(&[], &[], &["call_denied: shell was not allowed"], None);
    check(
        &["refused: Plan from R3"],
        &["more retries: 9"],
        &["tool_failed: glob failed (×2)"],
        Some(
            "The log notes 1 broken rule and 2 oddities: the message bus refused a message: Plan from R3, \
             more retries: 9, glob failed (×2); artoo audit tells more.",
        ),
    );
    let long = "x".repeat(10_000);
    let report = AuditReport { anomalies: vec![long, "\n✓ done\u{1b}[2J".to_owned()], ..empty() };
    let line = summary(&report).unwrap();
    assert!(line.chars().count() < 400 && !line.contains(['\n', '\u{1b}']), "{line}");
}

#[test]
fn every_rule_has_words() {
    for rule in Rule::ALL {
        let told = finding(&format!("{}: the detail", rule.name()));
        assert!(told.ends_with("the detail") && !told.contains('_'), "{told}");
        assert_eq!(Rule::named(rule.name()), Some(*rule));
    }
    assert_eq!(finding("a_rule_of_another_version: the detail"), "a_rule_of_another_version: the detail");
}
