//! Decay, demotion of rules, disagreeing clocks, deletion, and records that are never deleted.

use super::{DAY, NOW, all, burst, environmental, event, get, replayed, tag, why, write};
use artoo_mkct::{
    Action, Engine, State, Tag,
    clock::Clocks,
    record::{ApplyError, DeletionReason, ForgetError, Frame, Level, Megram, MegramId, WriteError},
    rules::SweepSkipped,
};

const TAG: (&str, &str) = ("intent:x", "via:x");

/// Both clocks at a time, in agreement.
fn clocks(wall_ms: i64) -> Clocks {
    Clocks { wall_ms, uptime_ms: wall_ms - NOW + 5_000_000 }
}

/// An engine with one rule made from six events, and that rule.
fn with_rule(state: State) -> (Engine, Megram) {
    let mut engine = Engine::new();
    burst(&mut engine, NOW, TAG.1, state, 6);
    let ticket = engine.promotions(NOW).remove(0).ticket;
    match engine.promote(&ticket, "the rule", NOW) {
        Ok(Frame::Promoted { rule, .. }) => (engine, rule),
        other => panic!("{other:?}"),
    }
}

#[doc = "holds: design M6"]
#[test]
fn sweep_deletes_whole_tags() {
    let mut engine = Engine::new();
    let lone = write(&mut engine, NOW, event("tool:a", "path:a", State::Refine, "t"));
    let report = engine.sweep(clocks(NOW + 1));
    let expected = Frame::Deleted { ids: vec![lone.id], at_ms: NOW + 1, reason: DeletionReason::Faded };
    assert_eq!((report.frames, report.faded_tags, report.faded_megrams), (vec![expected], 1, 1));
    assert_eq!(engine.stats(), artoo_mkct::engine::Stats::default());

    // Each of these alone would go; together their tag has attention left, so all stay.
    for i in 0..3 {
        write(&mut engine, NOW, event("tool:a", "path:b", State::Refine, &format!("t{i}")));
    }
    assert_eq!(engine.sweep(clocks(NOW + DAY)).frames, []);
    let report = engine.sweep(clocks(NOW + 3 * DAY));
    assert_eq!((report.faded_tags, report.faded_megrams), (1, 3));
}

#[doc = "holds: design K2"]
#[test]
fn sweep_deletes_weakest_tenth_of_tags() {
    let mut engine = Engine::new();
    for i in 0..100 {
        write(&mut engine, NOW + i * DAY, event("tool:a", &format!("path:{i:02}"), State::Accept, "t"));
    }
    let report = engine.sweep(clocks(NOW + 4_000 * DAY));
    assert_eq!((report.faded_tags, report.deferred_tags), (10, 90));
    let left = all(&engine);
    assert_eq!((left.len(), left[0].entity.as_str()), (90, "path:10"));
    assert_eq!(engine.sweep(clocks(NOW + 4_000 * DAY)).faded_tags, 9);
}

#[doc = "holds: design K2"]
#[test]
fn clock_difference_over_a_day_stops_sweeps() {
    let mut engine = Engine::new();
    burst(&mut engine, NOW, TAG.1, State::Accept, 3);
    let mut frames = engine.sweep(clocks(NOW)).frames;
    let ten_years = 3_650 * DAY;
    for minutes in [5, 10, 600] {
        let now = Clocks { wall_ms: NOW + ten_years, uptime_ms: clocks(NOW).uptime_ms + minutes * 60_000 };
        let report = engine.sweep(now);
        assert_eq!(report.skipped, Some(SweepSkipped::ClocksDisagree { by_ms: ten_years - minutes * 60_000 }));
        frames.extend(report.frames);
    }
    // The clock is put right again, and is trusted again.
    assert_eq!(engine.sweep(clocks(NOW + DAY)).skipped, None);
    assert_eq!(frames, []);
    // Backwards by more than a day counts too; a day exactly does not.
    let back = Clocks { wall_ms: NOW - DAY, ..clocks(NOW + DAY) };
    assert!(engine.sweep(back).skipped.is_some());
    assert_eq!(engine.sweep(Clocks { wall_ms: NOW, ..clocks(NOW + DAY) }).skipped, None);
}

/// A constraint is not demoted for its own negative decision.
#[doc = "holds: design M3"]
#[test]
fn negative_constraint_is_not_swept() {
    let (mut engine, rule) = with_rule(State::Abandon);
    assert!(engine.query_mk(&tag(), NOW).decision < 0.0);
    assert_eq!(engine.sweep(clocks(NOW)).demoted, []);
    assert_eq!(get(&engine, rule.id).unwrap().level, Level::C);
}

/// A rule is demoted once events of two tasks contradict it; one task, however often, or an outage is not enough.
#[doc = "holds: law 3.1; design M3"]
#[test]
fn trust_ends_after_two_failing_tasks() {
    for (state, contrary) in [(State::Accept, State::Abandon), (State::Abandon, State::Accept)] {
        let (mut engine, rule) = with_rule(state);
        for _ in 0..20 {
            write(&mut engine, NOW, event(TAG.0, TAG.1, contrary, "one"));
        }
        if contrary == State::Abandon {
            write(&mut engine, NOW, environmental(TAG.0, TAG.1, contrary, "outage"));
        }
        assert_eq!(engine.sweep(clocks(NOW)).demoted, [], "one task is one witness");
        write(&mut engine, NOW, event(TAG.0, TAG.1, contrary, "two"));
        let report = engine.sweep(clocks(NOW));
        assert_eq!(report.demoted, [rule.id]);
        let demoted = get(&engine, rule.id).unwrap();
        assert_eq!((demoted.level, demoted.k, demoted.demoted_at_ms), (Level::K, 0.05, Some(NOW)));
        assert_eq!(engine.query_c(&tag(), NOW).0, []);
        assert!(why(&engine, TAG.0, TAG.1, NOW).iter().any(|share| share.id == rule.id), "K counts again");
    }
}

#[doc = "holds: invariant 19; design M5"]
#[test]
fn demoted_rule_decays_by_its_half_life() {
    let (mut engine, rule) = with_rule(State::Accept);
    let later = NOW + 100 * DAY;
    engine.sweep(clocks(later)); // The six accepts have faded.
    assert_eq!(engine.query_mk(&tag(), later).attention, 0.0);
    for task in ["a", "b"] {
        engine.record_negative_feedback(rule.id, "it did not hold", Some(task), later).unwrap();
    }
    let report = engine.sweep(clocks(later));
    assert_eq!((report.demoted.len(), report.faded_tags), (1, 0));
    let gone_after = (1..200).find(|days| {
        engine.sweep(clocks(later + days * DAY));
        get(&engine, rule.id).is_none()
    });
    // 3.75·exp(−.05·days) < .1: .90 for the rule, twice .95 for the feedback, .95 for the dissonance.
    assert_eq!(gone_after, Some(73));
}

/// A demoted rule does not count towards the evidence of a new rule.
#[test]
fn demoted_rule_is_no_evidence() {
    let (mut engine, _) = with_rule(State::Accept);
    burst(&mut engine, NOW, TAG.1, State::Abandon, 7);
    assert_eq!(engine.sweep(clocks(NOW)).demoted.len(), 1);
    burst(&mut engine, NOW + 1, TAG.1, State::Accept, 10);
    let before = engine.query_mk(&tag(), NOW + 1);
    assert!(before.attention > 5.0 && before.decision > 3.0, "{before:?}");
    // Fresh are ten accepts and seven abandons, 2.35; the demoted rule would lift that to 3.25.
    assert_eq!(engine.promotions(NOW + 1), []);
    write(&mut engine, NOW + 1, event(TAG.0, TAG.1, State::Accept, "eleventh"));
    assert_eq!(engine.promotions(NOW + 1).len(), 1);
}

/// A law (level T) can't be changed, deleted, demoted, contradicted or swept.
#[test]
fn t_level_survives_every_operation() {
    let mut engine = Engine::new();
    let frame = engine.write_thinking(&Tag::new("law:0", "env:local"), "never deceive", NOW).unwrap().unwrap();
    let Frame::Written { megram: law } = &frame else { panic!("{frame:?}") };
    let id = law.id;
    assert_eq!(engine.write_thinking(&Tag::new("law:0", "env:local"), "never deceive", NOW), Ok(None));
    let changed = engine.write_thinking(&Tag::new("law:0", "env:local"), "deceive", NOW);
    assert_eq!(changed, Err(WriteError::Immutable { id }));
    assert_eq!(engine.forget(id, NOW), Err(ForgetError::Immutable { id }));
    let feedback = engine.record_negative_feedback(id, "no", None, NOW);
    assert_eq!(feedback, Err(WriteError::NotARule { id }));
    for frame in [
        Frame::Deleted { ids: vec![id], at_ms: NOW, reason: DeletionReason::Forgotten },
        Frame::Deleted { ids: vec![id], at_ms: NOW, reason: DeletionReason::Faded },
        Frame::Demoted { id, at_ms: NOW },
        Frame::Recalled { ids: vec![id], at_ms: NOW },
    ] {
        assert_eq!(engine.apply(&frame), Err(ApplyError::Immutable { id }), "{frame:?}");
    }
    for years in 0..50 {
        assert_eq!(engine.sweep(clocks(NOW + years * 365 * DAY)).frames, []);
    }
    assert_eq!(engine.query_mk(&Tag::new("law:0", "env:local"), NOW).action, Action::Ignore, "laws are no experience");
    assert_eq!(replayed(&[frame]).thinking().map(|law| law.id).collect::<Vec<_>>(), [id]);
    assert_eq!(engine.thinking().count(), 1);
}

/// After a deletion on request, potentials, contributions, recent records and counts leave the record out.
#[test]
fn deleted_record_is_in_no_answer() {
    let mut engine = Engine::new();
    let ids = burst(&mut engine, NOW, "via:shell", State::Abandon, 2);
    engine.forget(ids[0], NOW).unwrap();
    assert!((engine.query_mk(&Tag::new("intent:x", "via:shell"), NOW).attention - 0.95).abs() < 1e-15);
    assert_eq!(why(&engine, "intent:x", "via:shell", NOW).len(), 1);
    assert_eq!(engine.query_recent(9).len(), 1);
    engine.forget(ids[1], NOW).unwrap();
    assert_eq!(engine.forget(ids[1], NOW), Err(ForgetError::Unknown { id: ids[1] }));
    let stats = engine.stats();
    assert_eq!((stats.megrams, stats.live_tags, stats.tools, stats.forgotten), (0, 0, 0, 2));
    assert_eq!(engine.forget(MegramId::from_u128(1), NOW), Err(ForgetError::Unknown { id: MegramId::from_u128(1) }));
}
