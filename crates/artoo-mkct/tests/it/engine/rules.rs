//! Promotion: which events become a rule, when, and what contradicts a rule.

use super::{DAY, NOW, burst, environmental, event, get, replayed, tag, write};
use artoo_mkct::{
    Action, Engine, NewMegram, State, Tag,
    record::{Frame, Level, Megram, MegramId, PromoteError, Quantum, RuleKind, WriteError},
    rules::Promotion,
};

const TAG: (&str, &str) = ("intent:x", "via:x");

/// Makes the rule of the only tag that qualifies.
#[track_caller]
fn promote(engine: &mut Engine, now_ms: i64, rule: &str) -> Megram {
    let promotions = engine.promotions(now_ms);
    let [Promotion { ticket, .. }] = promotions.as_slice() else { panic!("{promotions:?}") };
    match engine.promote(ticket, rule, now_ms) {
        Ok(Frame::Promoted { rule, .. }) => rule,
        other => panic!("{other:?}"),
    }
}

#[test]
fn promotion_needs_six_accepts_at_once() {
    let mut engine = Engine::new();
    burst(&mut engine, NOW, TAG.1, State::Accept, 5);
    assert_eq!(engine.promotions(NOW), []);
    write(&mut engine, NOW, event(TAG.0, TAG.1, State::Accept, "sixth"));
    let [promotion] = engine.promotions(NOW).try_into().unwrap();
    assert_eq!(promotion.ticket.kind(), RuleKind::BestPractice);
    assert_eq!((promotion.ticket.tag(), promotion.evidence.len()), (&tag(), 6));
    assert!((promotion.evidence.iter().map(|e| e.attention).sum::<f64>() - 5.4).abs() < 1e-12);
}

/// Whether events of different tasks with these magnitudes and valences qualify for a rule.
fn qualifies(events: &[(f64, f64)]) -> bool {
    let mut engine = Engine::new();
    for (task, (f, sigma)) in events.iter().enumerate() {
        let quantum = Quantum { f: *f, sigma: *sigma, k: 0.05 };
        write(&mut engine, NOW, event(TAG.0, TAG.1, State::Accept, &format!("t{task}")).quantum(quantum));
    }
    !engine.promotions(NOW).is_empty()
}

#[test]
fn promotion_thresholds_include_their_values() {
    let (one, half) = ((1.0, 1.0), (0.5, 1.0));
    assert!(qualifies(&[one; 5]), "attention is 5");
    assert!(!qualifies(&[one, one, one, one, (0.999, 1.0)]));
    assert!(qualifies(&[one, one, half, half, (1.0, 0.0), (1.0, 0.0)]), "decision is 3");
    assert!(!qualifies(&[one, one, half, (0.499, 1.0), (1.0, 0.0), (1.0, 0.0)]));
}

/// Number of the accept after which a tag qualifies, if one comes every `days`; `None` if none of the first `tries`
/// suffices.
fn promoted_on(days: f64, tries: usize) -> Option<usize> {
    let mut engine = Engine::new();
    (0..tries).map(|i| (i, NOW + (i as f64 * days * DAY as f64) as i64)).find_map(|(i, now_ms)| {
        write(&mut engine, now_ms, event(TAG.0, TAG.1, State::Accept, &format!("task-{i}")));
        (!engine.promotions(now_ms).is_empty()).then_some(i + 1)
    })
}

#[test]
fn daily_accepts_promote_on_day_seven() {
    assert_eq!(promoted_on(1.0, 100), Some(7));
}

#[test]
fn accepts_over_four_days_apart_never_promote() {
    // The limit of the geometric series is 5 at −ln(1 − .9/5)/.05 = 3.969 days.
    assert_eq!(promoted_on(3.97, 400), None);
    assert!(promoted_on(3.96, 400).is_some());
}

/// After a rule was made, its tag qualifies again only with enough newer events, and the old ticket is refused.
#[doc = "holds: design M4"]
#[test]
fn promotion_repeats_only_on_new_evidence() {
    let mut engine = Engine::new();
    burst(&mut engine, NOW, TAG.1, State::Accept, 6);
    let stale = engine.promotions(NOW).remove(0).ticket;
    let first = promote(&mut engine, NOW, "count with glob");
    assert_eq!((first.level, first.f, first.sigma, first.k), (Level::C, 0.9, 1.0, 0.0));
    assert_eq!(first.provenance.evidence.len(), 6);
    assert_eq!(engine.promotions(NOW), []);
    assert_eq!(engine.promote(&stale, "again", NOW), Err(PromoteError::AlreadyPromoted));
    // Rules do not count in potentials, their sources do until they fade.
    assert!((engine.query_mk(&tag(), NOW).attention - 5.4).abs() < 1e-12);

    for i in 0..5 {
        write(&mut engine, NOW + 1, event(TAG.0, TAG.1, State::Accept, &format!("later-{i}")));
    }
    assert_eq!(engine.promotions(NOW + 1), [], "five new accepts alone do not qualify");
    write(&mut engine, NOW + 1, event(TAG.0, TAG.1, State::Accept, "later-5"));
    let second = promote(&mut engine, NOW + 1, "count with glob, hidden files too");
    let (sops, _) = engine.query_c(&tag(), NOW + 1);
    assert_eq!(sops.iter().map(|sop| sop.id).collect::<Vec<_>>(), [second.id], "one rule a tag and kind");
    assert_eq!(get(&engine, first.id), None);
}

#[test]
fn only_logical_failures_become_a_constraint() {
    let mut engine = Engine::new();
    for i in 0..20 {
        write(&mut engine, NOW, environmental(TAG.0, TAG.1, State::Abandon, &format!("outage-{i}")));
    }
    assert_eq!(engine.promotions(NOW), [], "m13: an outage makes no rule");
    burst(&mut engine, NOW, TAG.1, State::Abandon, 6);
    let rule = promote(&mut engine, NOW, "do not delete by pattern");
    assert_eq!((rule.sigma, rule.provenance.evidence.len()), (-1.0, 6));
    assert_eq!(engine.query_c(&tag(), NOW).0[0].kind, RuleKind::Constraint);
}

/// A thousand successes of one task, or of no task, make no rule; two successes of a second task do.
#[test]
fn a_looping_task_promotes_nothing() {
    let mut engine = Engine::new();
    for _ in 0..1_000 {
        write(&mut engine, NOW, event(TAG.0, TAG.1, State::Accept, "loop"));
        write(&mut engine, NOW, NewMegram::new(tag(), State::Accept, "from nowhere"));
    }
    assert_eq!(engine.promotions(NOW), [], "one task and the nameless are no two witnesses");
    for _ in 0..2 {
        write(&mut engine, NOW, event(TAG.0, TAG.1, State::Accept, "second"));
    }
    let [promotion] = engine.promotions(NOW).try_into().unwrap();
    assert_eq!(promotion.evidence.len(), 3 + 3 + 2, "at most three of each source");
}

/// A rule can't be made from a ticket once a record of its evidence is deleted or new events contradict it.
#[test]
fn a_ticket_goes_stale_with_its_evidence() {
    let mut engine = Engine::new();
    let ids = burst(&mut engine, NOW, TAG.1, State::Accept, 6);
    let ticket = engine.promotions(NOW).remove(0).ticket;
    let mut contradicted = engine.clone();
    engine.forget(ids[2], NOW).unwrap();
    assert_eq!(engine.promote(&ticket, "rule", NOW), Err(PromoteError::EvidenceGone { id: ids[2] }));
    burst(&mut contradicted, NOW, TAG.1, State::Abandon, 6);
    assert!(matches!(contradicted.promote(&ticket, "rule", NOW), Err(PromoteError::Contradicted { .. })));
    let before = contradicted.stats();
    assert!(matches!(contradicted.promote(&ticket, " ", NOW), Err(PromoteError::Contradicted { .. })));
    assert_eq!(contradicted.stats(), before);
}

/// An empty or too long rule text is refused, and the ticket can be used again.
#[test]
fn a_rule_needs_words() {
    let mut engine = Engine::new();
    burst(&mut engine, NOW, TAG.1, State::Accept, 6);
    let ticket = engine.promotions(NOW).remove(0).ticket;
    for rule in ["", " \n", &"x".repeat(artoo_mkct::record::MAX_CONTENT_BYTES + 1)] {
        assert!(matches!(engine.promote(&ticket, rule, NOW), Err(PromoteError::Invalid(_))));
    }
    assert_eq!(engine.stats().common_sense, 0);
    assert!(engine.promote(&ticket, "use glob", NOW).is_ok(), "a bad answer costs nothing");
}

#[doc = "holds: invariant 20"]
#[test]
fn rule_recalls_persist_across_a_rebuild() {
    let mut engine = Engine::new();
    let mut frames: Vec<Frame> =
        (0..6).map(|i| engine.write(event(TAG.0, TAG.1, State::Accept, &format!("t{i}")), NOW).unwrap()).collect();
    let ticket = engine.promotions(NOW).remove(0).ticket;
    frames.push(engine.promote(&ticket, "use glob", NOW).unwrap());
    let (sops, touched) = engine.query_c(&tag(), NOW + DAY);
    assert_eq!((sops.len(), sops[0].last_recalled_at_ms, touched.len()), (1, None, 1));
    frames.extend(touched);
    let rebuilt = replayed(&frames);
    assert_eq!(rebuilt.query_c(&tag(), NOW + 2 * DAY).0[0].last_recalled_at_ms, Some(NOW + DAY));
    assert_eq!(engine.query_c(&Tag::new("intent:unknown", TAG.1), NOW), (Vec::new(), Vec::new()));
}

/// Feedback against a rule is a record with the magnitude and decay of an abandoned task and the opposite sign of the
/// rule.
#[doc = "holds: design M10"]
#[test]
fn feedback_weighs_as_much_as_abandon() {
    for (state, sigma) in [(State::Accept, -1.0), (State::Abandon, 1.0)] {
        let mut engine = Engine::new();
        burst(&mut engine, NOW, TAG.1, state, 6);
        let rule = promote(&mut engine, NOW, "the rule");
        let frame = engine.record_negative_feedback(rule.id, "it did not hold", Some("t"), NOW).unwrap();
        let Frame::Written { megram } = frame else { panic!("{frame:?}") };
        assert_eq!((megram.f, megram.k, megram.sigma, megram.level), (0.95, 0.05, sigma, Level::M));
        assert_eq!((megram.space.as_str(), megram.entity.as_str()), TAG);
        assert_eq!(megram.provenance.contradicts, Some(rule.id));
        let not_a_rule = engine.record_negative_feedback(megram.id, "no", None, NOW);
        assert_eq!(not_a_rule, Err(WriteError::NotARule { id: megram.id }));
    }
    let missing = MegramId::from_u128(7);
    let error = Engine::new().record_negative_feedback(missing, "no", None, NOW);
    assert_eq!(error, Err(WriteError::NotARule { id: missing }));
}

/// A rule states how many records of its evidence still exist and how many were deleted on request.
#[test]
fn rule_reports_retracted_evidence() {
    let mut engine = Engine::new();
    let ids = burst(&mut engine, NOW, TAG.1, State::Accept, 6);
    promote(&mut engine, NOW, "use glob");
    engine.forget(ids[0], NOW).unwrap();
    let sop = engine.query_c(&tag(), NOW).0.remove(0);
    assert_eq!((sop.evidence.len(), sop.evidence_live, sop.evidence_forgotten), (6, 5, 1));
}

#[test]
fn deleted_rule_needs_new_evidence() {
    let mut engine = Engine::new();
    burst(&mut engine, NOW, TAG.1, State::Accept, 6);
    let rule = promote(&mut engine, NOW, "use glob");
    engine.forget(rule.id, NOW).unwrap();
    assert_eq!(engine.promotions(NOW), []);
    assert_eq!(engine.query_c(&tag(), NOW).0, []);
    assert_eq!(engine.query_mk(&tag(), NOW).action, Action::Exploit, "the events still stand");
}
