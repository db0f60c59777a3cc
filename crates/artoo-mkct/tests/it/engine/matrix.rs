//! The documented numbers: quantization matrix, thresholds, actions, and potentials in closed form.

use super::{DAY, NOW, event, write};
use artoo_mkct::{
    Action, Engine, State, Tag,
    engine::Potentials,
    record::{Level, Quantum, quantize},
};

#[doc = "holds: invariant 19, 23"]
#[test]
fn action_matrix_has_documented_values() {
    let rows = [
        (State::Abandon, 0.95, -1.0, 0.05),
        (State::Accept, 0.90, 1.0, 0.05),
        (State::ChangeApproach, 0.85, -1.0, 0.05),
        (State::Success, 0.80, 1.0, 0.05),
        (State::BreakSymmetry, 0.75, 1.0, 0.05),
        (State::ChangePath, 0.30, 0.0, 0.2),
        (State::Refine, 0.10, 0.5, 0.5),
    ];
    assert_eq!(rows.map(|row| row.0), State::ALL);
    for (state, f, sigma, k) in rows {
        assert_eq!(quantize(state), Quantum { f, sigma, k }, "{state:?}");
    }
}

#[doc = "holds: invariant 23"]
#[test]
fn constants_have_documented_values() {
    assert_eq!((artoo_mkct::engine::ATTENTION_THRESHOLD, artoo_mkct::engine::DECISION_THRESHOLD), (0.5, 0.2));
    assert_eq!((artoo_mkct::rules::PROMOTE_ATTENTION, artoo_mkct::rules::PROMOTE_DECISION), (5.0, 3.0));
    assert_eq!((artoo_mkct::rules::FADED_ATTENTION, artoo_mkct::rules::MAX_SWEEP_SHARE), (0.1, 0.1));
    assert_eq!(
        (artoo_mkct::record::RULE_MAGNITUDE, artoo_mkct::record::FEEDBACK_MAGNITUDE, artoo_mkct::record::DEMOTED_DECAY),
        (0.90, 0.95, 0.05)
    );
    assert_eq!((artoo_mkct::rules::MIN_DISTINCT_TASKS, artoo_mkct::rules::MAX_EVIDENCE_PER_TASK), (2, 3));
    assert_eq!(artoo_mkct::advice::MAX_RECALL_ENTRIES, 10);
    assert_eq!([Level::M, Level::K, Level::C, Level::T].map(Level::is_live), [true, true, false, false]);
}

#[doc = "holds: principle 8"]
#[test]
fn action_thresholds_are_exact() {
    let below = |x: f64| f64::from_bits(x.to_bits() - 1);
    let above = |x: f64| f64::from_bits(x.to_bits() + 1);
    let table = [
        (below(0.5), 1.0, Action::Ignore),
        (below(0.5), -1.0, Action::Ignore),
        (0.0, 0.0, Action::Ignore),
        (0.5, 0.2, Action::Caution),
        (0.5, -0.2, Action::Caution),
        (0.5, 0.0, Action::Caution),
        (0.5, above(0.2), Action::Exploit),
        (0.5, -above(0.2), Action::Avoid),
        (50.0, 0.1, Action::Caution),
    ];
    for (attention, decision, expected) in table {
        assert_eq!(Action::of(attention, decision), expected, "{attention} {decision}");
    }
}

#[test]
fn potentials_halve_at_half_lives() {
    for state in State::ALL {
        let Quantum { f, sigma, k } = quantize(state);
        let mut engine = Engine::new();
        write(&mut engine, NOW, event("intent:x", "env:local", state, "t"));
        for halvings in 0..5 {
            let days = f64::from(halvings) * std::f64::consts::LN_2 / k;
            let now_ms = NOW + (days * DAY as f64).round() as i64;
            let left = f * 0.5_f64.powi(halvings);
            let found = engine.query_mk(&Tag::new("intent:x", "env:local"), now_ms);
            // A millisecond of rounding in `now_ms` is about 1e-9 of a day.
            assert!((found.attention - left).abs() < 1e-8, "{state:?} {halvings}: {found:?}");
            assert!((found.decision - sigma * left).abs() < 1e-8, "{state:?} {halvings}: {found:?}");
        }
    }
}

/// The potentials of one abandoned task imply "avoid" after 12.8 days, and nothing after 12.9.
#[doc = "holds: design M8"]
#[test]
fn one_abandon_discourages_for_twelve_days() {
    let mut engine = Engine::new();
    write(&mut engine, NOW, event("intent:x", "via:shell", State::Abandon, "t"));
    let action =
        |days: f64| engine.query_mk(&Tag::new("intent:x", "via:shell"), NOW + (days * DAY as f64) as i64).action;
    assert_eq!([action(0.0), action(12.8), action(12.9)], [Action::Avoid, Action::Avoid, Action::Ignore]);
}

#[test]
fn unknown_tag_has_zero_potential() {
    let nothing = Potentials::new(0.0, 0.0);
    assert_eq!(nothing.action, Action::Ignore);
    assert_eq!(Engine::new().query_mk(&Tag::new("intent:x", "env:local"), NOW), nothing);
}

#[doc = "holds: design M12, K1"]
#[test]
fn clock_set_back_changes_no_potential() {
    let mut engine = Engine::new();
    write(&mut engine, NOW, event("intent:x", "env:local", State::Accept, "a"));
    let at_write = engine.query_mk(&Tag::new("intent:x", "env:local"), NOW);
    for now_ms in [NOW - DAY / 24, NOW - 400 * DAY, 0, i64::MIN] {
        assert_eq!(engine.query_mk(&Tag::new("intent:x", "env:local"), now_ms), at_write);
    }
    let second = write(&mut engine, NOW - 400 * DAY, event("intent:x", "env:local", State::Accept, "b"));
    assert_eq!(second.created_at_ms, NOW, "a record written after another is not older than it");
    assert!((engine.query_mk(&Tag::new("intent:x", "env:local"), NOW).attention - 1.8).abs() < 1e-12);
}
