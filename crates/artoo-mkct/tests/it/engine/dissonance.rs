//! Cognitive dissonance, and the limited effect of poisoned evidence.

use super::{DAY, NOW, burst, environmental, event, get, replayed, tag, why, write};
use artoo_mkct::{
    Engine, NewMegram, State,
    clock::Clocks,
    record::{Frame, Level, Megram, MegramId, RuleKind, intent_tag, tool_tag, via_tag},
    rules::{MAX_EVIDENCE_PER_SOURCE, SweepReport},
};

const TAG: (&str, &str) = ("intent:x", "via:x");

/// Sweeps at a time, with both clocks in agreement.
fn sweep(engine: &mut Engine, now_ms: i64) -> SweepReport {
    engine.sweep(Clocks { wall_ms: now_ms, uptime_ms: now_ms - NOW })
}

/// An engine with a rule made from `count` events.
fn with_rule(state: State, count: usize) -> (Engine, MegramId) {
    let mut engine = Engine::new();
    burst(&mut engine, NOW, TAG.1, state, count);
    let ticket = engine.promotions(NOW).remove(0).ticket;
    let Ok(Frame::Promoted { rule, .. }) = engine.promote(&ticket, "the rule", NOW) else { panic!("no rule") };
    (engine, rule.id)
}

/// A sweep adds one record against a rule that two new tasks contradict, and none again without new contradicting
/// tasks.
#[test]
fn new_contrary_experience_appends_one_dissonance() {
    for (state, contrary, sigma) in [(State::Accept, State::Abandon, -1.0), (State::Abandon, State::Accept, 1.0)] {
        let (mut engine, rule) = with_rule(state, 20);
        assert_eq!(sweep(&mut engine, NOW + 1).contradicted, []);
        let ids: Vec<MegramId> =
            ["a", "b"].map(|task| write(&mut engine, NOW + 2, event(TAG.0, TAG.1, contrary, task)).id).to_vec();
        let before = engine.query_mk(&tag(), NOW + 2);
        let report = sweep(&mut engine, NOW + 2);
        assert_eq!((report.contradicted.as_slice(), report.demoted.as_slice()), ([rule].as_slice(), [].as_slice()));
        let [Frame::Written { megram }] = report.frames.as_slice() else { panic!("{:?}", report.frames) };
        assert_eq!((megram.level, megram.f, megram.sigma, megram.k), (Level::M, 0.95, sigma, 0.05));
        assert_eq!((megram.provenance.contradicts, &megram.provenance.evidence), (Some(rule), &ids));
        assert!(megram.is_dissonance());
        let after = engine.query_mk(&tag(), NOW + 2);
        assert!((after.attention - before.attention - 0.95).abs() < 1e-9, "it counts");
        assert_eq!(why(&engine, TAG.0, TAG.1, NOW + 2)[0].id, megram.id, "and is named");

        assert_eq!(sweep(&mut engine, NOW + 3).contradicted, [], "said once");
        write(&mut engine, NOW + 4, event(TAG.0, TAG.1, contrary, "c"));
        assert_eq!(sweep(&mut engine, NOW + 4).contradicted, [], "one task is one witness");
        write(&mut engine, NOW + 5, event(TAG.0, TAG.1, contrary, "d"));
        assert_eq!(sweep(&mut engine, NOW + 5).contradicted, [rule]);
    }
}

#[test]
fn dissonance_makes_a_rule_fall_sooner() {
    let contrary = |engine: &mut Engine, day: i64| {
        write(engine, NOW + day * DAY, event(TAG.0, TAG.1, State::Abandon, &format!("day-{day}")));
    };
    let falls = |sweeps: bool| {
        let (mut engine, rule) = with_rule(State::Accept, 20);
        (1..60).find(|day| {
            contrary(&mut engine, *day);
            if sweeps {
                sweep(&mut engine, NOW + day * DAY);
            }
            let fallen = engine.query_mk(&tag(), NOW + day * DAY).decision < 0.0;
            fallen || get(&engine, rule).unwrap().level == Level::K
        })
    };
    let (with, without) = (falls(true).unwrap(), falls(false).unwrap());
    assert!(with < without, "{with} against {without}");
}

/// Failures from outages, and newer events that mostly agree with a rule, add no record against it.
#[test]
fn outages_and_agreement_are_no_dissonance() {
    let (mut engine, _) = with_rule(State::Accept, 20);
    for task in ["a", "b", "c"] {
        write(&mut engine, NOW + 1, environmental(TAG.0, TAG.1, State::Abandon, task));
        write(&mut engine, NOW + 1, event(TAG.0, TAG.1, State::Accept, task));
    }
    assert_eq!(sweep(&mut engine, NOW + 1).contradicted, []);
    // Two tasks against it, three for it: the fresh experience does not point the other way.
    for task in ["d", "e"] {
        write(&mut engine, NOW + 2, event(TAG.0, TAG.1, State::Abandon, task));
    }
    assert_eq!(sweep(&mut engine, NOW + 2).contradicted, []);
}

/// A dissonance record does not count as evidence for a rule, and after a rebuild the sweep doesn't add it again.
#[test]
fn dissonance_is_no_evidence_and_persists() {
    let (mut engine, _) = with_rule(State::Accept, 20);
    for i in 0..4 {
        write(&mut engine, NOW + 1, event(TAG.0, TAG.1, State::Abandon, &format!("t{i}")));
    }
    let report = sweep(&mut engine, NOW + 1);
    assert_eq!(report.contradicted.len(), 1);
    let frames: Vec<Frame> = engine.state_frames().collect::<Result<_, _>>().unwrap();
    assert_eq!(sweep(&mut replayed(&frames), NOW + 2).contradicted, []);
    // Five abandons weigh 4.75; were the dissonance evidence, six would.
    let old: Vec<MegramId> =
        why(&engine, TAG.0, TAG.1, NOW).iter().filter(|share| share.decision > 0.0).map(|share| share.id).collect();
    old.iter().for_each(|id| drop(engine.forget(*id, NOW + 2)));
    write(&mut engine, NOW + 3, event(TAG.0, TAG.1, State::Abandon, "t4"));
    assert!(engine.query_mk(&tag(), NOW + 3).attention > 5.0);
    assert_eq!(engine.promotions(NOW + 3), []);
}

/// An event of a task that quotes a source.
fn quoting(space: &str, entity: &str, state: State, task: usize, source: Option<&str>) -> NewMegram {
    let mut draft = event(space, entity, state, &format!("task-{task}"));
    draft.source = source.map(str::to_owned);
    draft
}

#[test]
fn one_source_quoted_often_makes_no_rule() {
    let mut engine = Engine::new();
    for task in 0..1_000 {
        for _ in 0..3 {
            let draft = quoting(TAG.0, TAG.1, State::Accept, task, Some("https://evil.example"));
            write(&mut engine, NOW, draft);
        }
    }
    assert_eq!(engine.promotions(NOW), []);
    // Two own observations more are not enough either; three are.
    for (more, rules) in [(1, 0), (2, 1)] {
        write(&mut engine, NOW + 1, quoting(TAG.0, TAG.1, State::Accept, 5_000 + more, None));
        let evidence: Vec<usize> =
            engine.promotions(NOW + 1).iter().map(|promotion| promotion.evidence.len()).collect();
        assert_eq!(evidence.len(), rules, "{more}");
        assert!(evidence.iter().all(|count| *count == MAX_EVIDENCE_PER_SOURCE + more));
    }
}

/// Records whose source is a tool named by their tag are not limited per source and can make a rule.
#[test]
fn source_named_by_tag_is_first_hand() {
    let mut engine = Engine::new();
    let tags = [(tool_tag("shell"), "path:/x".to_owned()), (intent_tag("count"), via_tag(&["glob", "shell"]))];
    for (space, entity) in &tags {
        for task in 0..6 {
            write(&mut engine, NOW, quoting(space, entity, State::Abandon, task, Some("shell")));
        }
    }
    let kinds: Vec<RuleKind> = engine.promotions(NOW).iter().map(|promotion| promotion.ticket.kind()).collect();
    assert_eq!(kinds, [RuleKind::Constraint; 2]);
}

#[test]
fn injected_records_change_no_rule() {
    let (mut engine, rule) = with_rule(State::Accept, 10);
    for i in 0..500 {
        // One task that loops on whatever it was told, with sources of its own choosing.
        let draft = quoting(TAG.0, TAG.1, State::Abandon, 7_777, Some(&format!("source-{i}")));
        write(&mut engine, NOW + i, draft);
        let report = sweep(&mut engine, NOW + i);
        assert_eq!((report.contradicted.as_slice(), report.demoted.as_slice()), ([].as_slice(), [].as_slice()));
        assert!(engine.promotions(NOW + i).is_empty());
    }
    let stands: Megram = get(&engine, rule).unwrap();
    assert_eq!(stands.level, Level::C);
    assert!(engine.query_mk(&tag(), NOW + 500).decision < -400.0, "the potentials do see it");
}

/// Among 20,000 records of two tasks, only six (three of each task) are counted as evidence.
#[test]
fn dissonance_check_cost_is_bounded() {
    let mut engine = Engine::new();
    burst(&mut engine, NOW, TAG.1, State::Accept, 6);
    for i in 0..20_000 {
        write(&mut engine, NOW + 1, event(TAG.0, TAG.1, State::Accept, if i % 2 == 0 { "loop" } else { "pool" }));
    }
    // Two tasks of three records each are enough, whatever lies behind.
    let [promotion] = engine.promotions(NOW + 1).try_into().unwrap();
    assert_eq!(promotion.evidence.len(), 6);
}
