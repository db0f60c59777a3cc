//! Forecasts of a tag, and the memory as it was at an earlier time.

use proptest::prelude::*;

use super::{DAY, NOW, burst, environmental, event, get, tag, write};
use artoo_mkct::{
    Action, Engine, RecallQuery, State, Tag,
    advice::Forecast,
    clock::Clocks,
    record::{DeletionReason, Frame, Quantum, RuleKind},
    rules::FADED_ATTENTION,
};

const TAG: (&str, &str) = ("intent:x", "via:x");

/// Number of days from `NOW` to a time in Unix milliseconds.
fn days(at_ms: Option<i64>) -> Option<f64> {
    at_ms.map(|at_ms| (at_ms - NOW) as f64 / DAY as f64)
}

/// Asserts that a forecast date is this number of days ahead.
#[track_caller]
fn check_days(found: Option<i64>, expected: f64) {
    let found = days(found).unwrap();
    assert!((found - expected).abs() < 1e-6, "{found} against {expected}");
}

/// For one failed event, the forecast dates of the end of advice and of fading equal the formula ln(f/limit)/k.
#[test]
fn single_event_has_closed_form_dates() {
    let mut engine = Engine::new();
    write(&mut engine, NOW, event(TAG.0, TAG.1, State::Abandon, "t"));
    let forecast = engine.forecast(&tag(), NOW);
    // ln(.95/.5)/.05 and ln(.95/.1)/.05 days.
    check_days(forecast.silent_at_ms, (0.95_f64 / 0.5).ln() / 0.05);
    check_days(forecast.faded_at_ms, (0.95_f64 / 0.1).ln() / 0.05);
    assert_eq!((forecast.promotions, forecast.bankruptcies), (Vec::new(), Vec::new()));
    assert_eq!(engine.forecast(&Tag::new("intent:unknown", TAG.1), NOW), Forecast::default());
}

/// A tag that qualifies for a rule, or has faded, at the time of the query is forecast for that very time.
#[test]
fn forecast_of_current_state_is_now() {
    let mut engine = Engine::new();
    burst(&mut engine, NOW, TAG.1, State::Accept, 6);
    assert_eq!(engine.forecast(&tag(), NOW).promotions, [(RuleKind::BestPractice, NOW)]);
    let faded = engine.forecast(&tag(), NOW + 400 * DAY);
    assert_eq!((faded.promotions, faded.faded_at_ms), (Vec::new(), Some(NOW + 400 * DAY)));
}

/// A tag first qualifies for a rule on the forecast day, when its faster-decaying failures have faded enough.
#[test]
fn rule_forms_when_failures_decay_first() {
    let mut engine = Engine::new();
    for i in 0..8 {
        let slow = Quantum { f: 1.0, sigma: 1.0, k: 0.01 };
        let fast = Quantum { f: 1.0, sigma: -1.0, k: 1.0 };
        let draft = |task: String, quantum| event(TAG.0, TAG.1, State::Accept, &task).quantum(quantum);
        write(&mut engine, NOW, draft(format!("good-{i}"), slow));
        write(&mut engine, NOW, draft(format!("bad-{i}"), fast));
    }
    assert_eq!(engine.promotions(NOW), []);
    let forecast = engine.forecast(&tag(), NOW);
    let [(RuleKind::BestPractice, at_ms)] = forecast.promotions[..] else { panic!("{forecast:?}") };
    assert_eq!(engine.promotions(at_ms - 1).len(), 0);
    assert_eq!(engine.promotions(at_ms).len(), 1);
}

/// A rule is demoted on the forecast day, when its successes have decayed below the later failures.
#[test]
fn rule_falls_when_support_decays_first() {
    let mut engine = Engine::new();
    for i in 0..9 {
        let fast = Quantum { f: 1.0, sigma: 1.0, k: 0.2 };
        let draft = event(TAG.0, TAG.1, State::Accept, &format!("t{i}"));
        write(&mut engine, NOW, draft.quantum(fast));
    }
    let ticket = engine.promotions(NOW).remove(0).ticket;
    let Ok(Frame::Promoted { rule, .. }) = engine.promote(&ticket, "do it", NOW) else { panic!("no rule") };
    burst(&mut engine, NOW, TAG.1, State::Abandon, 3);
    engine.sweep(Clocks { wall_ms: NOW, uptime_ms: 0 });
    let forecast = engine.forecast(&tag(), NOW);
    let [(id, at_ms)] = forecast.bankruptcies[..] else { panic!("{forecast:?}") };
    // 9·exp(−.2t) = 3·.95·exp(−.05t), and the dissonance's .95.
    assert_eq!(id, rule.id);
    check_days(Some(at_ms), (9.0_f64 / 3.8).ln() / 0.15);
    let clocks = |wall_ms: i64| Clocks { wall_ms, uptime_ms: wall_ms - NOW };
    assert_eq!(engine.sweep(clocks(at_ms - 1)).demoted, []);
    assert_eq!(engine.sweep(clocks(at_ms)).demoted, [rule.id]);
    // What the fallen rule weighs was foreseen too.
    let after = engine.forecast(&tag(), at_ms).faded_at_ms.unwrap();
    assert!((forecast.faded_at_ms.unwrap() - after).abs() <= 1, "{forecast:?} {after}");
}

/// Random magnitude, valence and decay.
fn quantum() -> impl Strategy<Value = Quantum> {
    let k = prop_oneof![Just(0.01), Just(0.05), Just(0.2), Just(0.5)];
    (0.5..=1.0_f64, -1.0..=1.0_f64, k).prop_map(|(f, sigma, k)| Quantum { f, sigma, k })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// For random events, no rule qualifies and no tag fades before its forecast date.
    #[test]
    fn nothing_changes_before_its_forecast_date(events in prop::collection::vec((quantum(), 0..30_i64), 1..40)) {
        let mut engine = Engine::new();
        for (i, (quantum, day)) in events.iter().enumerate() {
            let draft = event(TAG.0, TAG.1, State::Accept, &format!("t{i}"));
            write(&mut engine, NOW - (30 - day) * DAY, draft.quantum(*quantum));
        }
        let forecast = engine.forecast(&tag(), NOW);
        let dated = |kind| forecast.promotions.iter().find(|(dated, _)| *dated == kind).map(|(_, at_ms)| *at_ms);
        let faded = forecast.faded_at_ms.unwrap();
        for step in 0..4_000_i64 {
            let at_ms = NOW + step * DAY / 12;
            let promoted = engine.promotions(at_ms);
            for kind in [RuleKind::BestPractice, RuleKind::Constraint] {
                if promoted.iter().any(|promotion| promotion.ticket.kind() == kind) {
                    prop_assert!(dated(kind).is_some_and(|date| date <= at_ms), "{:?} at {}", kind, at_ms);
                }
            }
            let potentials = engine.query_mk(&tag(), at_ms);
            prop_assert_eq!(potentials.attention < FADED_ATTENTION, at_ms >= faded);
            prop_assert_eq!(potentials.action == Action::Ignore, at_ms >= forecast.silent_at_ms.unwrap());
        }
        for (kind, at_ms) in &forecast.promotions {
            prop_assert!(engine.promotions(*at_ms).iter().any(|promotion| promotion.ticket.kind() == *kind));
            let before = engine.promotions(at_ms - 1);
            prop_assert!(*at_ms == NOW || before.iter().all(|promotion| promotion.ticket.kind() != *kind));
        }
    }
}

/// The memory as of an earlier time contains the records that were deleted later, and rules from their promotion on.
#[doc = "holds: design M11"]
#[test]
fn as_of_includes_records_deleted_since() {
    let mut engine = Engine::new();
    let mut frames = Vec::new();
    let mut ids = Vec::new();
    for day in 0..8 {
        let frame = engine.write(event(TAG.0, TAG.1, State::Accept, &format!("t{day}")), NOW + day * DAY).unwrap();
        let Frame::Written { megram } = &frame else { panic!("{frame:?}") };
        ids.push(megram.id);
        frames.push(frame);
    }
    let promoted = NOW + 7 * DAY + 1;
    let ticket = engine.promotions(promoted).remove(0).ticket;
    frames.push(engine.promote(&ticket, "use glob", promoted).unwrap());
    let forgotten = NOW + 9 * DAY;
    frames.push(engine.forget(ids[0], forgotten).unwrap());
    let faded = NOW + 400 * DAY;
    let report = engine.sweep(Clocks { wall_ms: faded, uptime_ms: 0 });
    assert_eq!(report.faded_megrams, 7);
    frames.extend(report.frames);

    let at = |at_ms: i64| Engine::as_of(frames.iter().cloned(), at_ms);
    let attention = |at_ms: i64| at(at_ms).query_mk(&tag(), at_ms).attention;
    let expected = |days: std::ops::RangeInclusive<i64>, at_ms: i64| -> f64 {
        days.map(|day| 0.9 * (-0.05 * (at_ms - NOW - day * DAY) as f64 / DAY as f64).exp()).sum()
    };
    assert_eq!(attention(NOW - 1), 0.0);
    for (days, at_ms) in [(0..=3, NOW + 3 * DAY + 5), (0..=7, forgotten - 1), (1..=7, forgotten), (1..=7, faded - 1)] {
        assert!((attention(at_ms) - expected(days.clone(), at_ms)).abs() < 1e-12, "{days:?}");
    }
    assert_eq!(attention(faded), 0.0);
    let rules = |at_ms: i64| at(at_ms).query_c(&tag(), at_ms).0.len();
    assert_eq!([rules(promoted - 1), rules(promoted), rules(faded)], [0, 1, 1]);
    let query = RecallQuery::new("x");
    assert_eq!(at(promoted).recall(&query, promoted).sops[0].content, "use glob");
    assert_eq!(get(&at(forgotten - 1), ids[0]).unwrap().task.as_deref(), Some("t0"));
    assert_eq!(get(&at(forgotten), ids[0]), None);
}

/// A journal with a record dated in the future and an earlier deletion of it rebuilds without an error.
#[doc = "holds: design K2"]
#[test]
fn as_of_accepts_a_wrong_journal_clock() {
    let mut engine = Engine::new();
    let future = engine.write(environmental(TAG.0, TAG.1, State::Abandon, "t"), NOW + 3_650 * DAY).unwrap();
    let Frame::Written { megram } = &future else { panic!("{future:?}") };
    let deleted = Frame::Deleted { ids: vec![megram.id], at_ms: NOW, reason: DeletionReason::Faded };
    let then = Engine::as_of([future, deleted], NOW + DAY);
    assert!(then.is_empty());
}
