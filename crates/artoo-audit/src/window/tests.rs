//! Tests of drift in the newest tasks, and of the limit on counted descriptions.

use artoo_proto::Trigger;

use super::{AuditStats, Tally, Totals};
use crate::testing::at;

/// Counts after earlier tasks `before` (ended, abandoned, corrections) and the newest ones, each (abandoned,
/// corrections).
fn stats(before: (u64, u64, u64), newest: &[(bool, u64)]) -> AuditStats {
    let (ended, abandoned, corrections) = before;
    let history = Totals { tasks: ended, ended, abandoned, corrections, ..Totals::default() };
    let mut stats = AuditStats { history, ..AuditStats::new(at(0)) };
    for (is_abandoned, corrections) in newest {
        stats.window.totals.corrections += corrections;
        stats.ended(*is_abandoned, *corrections);
    }
    stats
}

/// Asserts which drift alerts are reported for these counts.
fn check(before: (u64, u64, u64), newest: &[(bool, u64)], expected: &[&str]) {
    assert_eq!(stats(before, newest).report(Trigger::OnDemand).drift_alerts, expected, "{newest:?} after {before:?}");
}

/// Drift compares the last ten tasks with all earlier ones.
#[test]
fn drift_compares_the_last_ten_tasks() {
    let tasks = |abandoned: usize, corrections: u64| -> Vec<(bool, u64)> {
        (0..10).map(|n| (n < abandoned, corrections)).collect()
    };
    let steady = (20, 4, 10);
    check(steady, &tasks(2, 0), &[]);
    check(steady, &tasks(5, 0), &["more tasks without success: 5 in the last 10 tasks, 4 in the 20 before"]);
    // A little worse is no drift.
    check(steady, &tasks(4, 1), &[]);
    check(steady, &tasks(0, 2), &["more retries: 20 in the last 10 tasks, 10 in the 20 before"]);
    // Too few tasks, before or now.
    check((19, 0, 0), &tasks(10, 9), &[]);
    check(steady, &tasks(10, 9)[1..], &[]);
    check((0, 0, 0), &[], &[]);
    // Older tasks belong to those before.
    let many: Vec<_> = tasks(10, 0).into_iter().chain(tasks(0, 0)).collect();
    check(steady, &many, &[]);
    let many: Vec<_> = tasks(0, 0).into_iter().chain(tasks(7, 0)).collect();
    check(steady, &many, &["more tasks without success: 7 in the last 10 tasks, 4 in the 30 before"]);
}

/// Beyond the maximum number of descriptions, findings are only counted.
#[test]
fn full_tally_counts_the_rest() {
    let mut tally = Tally::default();
    for n in 0..100 {
        tally.add(format!("{n:03}"));
        tally.add("000".to_owned());
    }
    let lines = tally.lines();
    assert_eq!(lines.len(), super::TALLY_MAX + 1);
    assert_eq!(lines.first().map(String::as_str), Some("000 (×101)"));
    assert_eq!(lines.last().map(String::as_str), Some("36 more, in the audit log"));
}
