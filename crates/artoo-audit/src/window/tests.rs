//! Drift alerts and bounded tallies.

use artoo_proto::ToolHealth;

use super::{Tally, Totals, drift};

fn totals(ended: u64, abandoned: u64, corrections: u64) -> Totals {
    Totals { tasks: ended, ended, abandoned, corrections, tool_health: ToolHealth::default() }
}

#[test]
fn drift_needs_enough_tasks() {
    let check = |window: Totals, history: Totals, expected: &[&str]| {
        assert_eq!(drift(&window, &history), expected, "{window:?} against {history:?}");
    };
    let steady = totals(20, 4, 10);
    check(totals(5, 1, 2), steady, &[]);
    check(totals(5, 3, 2), steady, &["abandoned tasks: 3 of 5 in this window, 4 of 20 before"]);
    // A little worse is no drift.
    check(totals(5, 2, 2), steady, &[]);
    check(totals(5, 1, 6), steady, &[]);
    check(totals(4, 4, 40), steady, &[]);
    check(totals(5, 5, 40), totals(19, 0, 0), &[]);
    check(
        totals(10, 2, 15),
        steady,
        &["corrections per ended task: 1.5 in this window (10 tasks), 0.5 before (20 tasks)"],
    );
    check(totals(10, 0, 0), steady, &[]);
    check(totals(0, 0, 0), totals(0, 0, 0), &[]);
}

#[test]
fn a_full_tally_counts_the_rest() {
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
