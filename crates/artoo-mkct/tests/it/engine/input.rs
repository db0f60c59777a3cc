//! Invalid input is refused with a typed error and changes nothing.

use super::{NOW, write};
use artoo_mkct::{
    Engine, NewMegram, State, Tag,
    engine::MAX_DISTINCT_DECAYS,
    record::{
        ApplyError, Frame, InvalidMegram, Level, MAX_CONTENT_BYTES, MAX_TAG_BYTES, Megram, MegramId, Quantum,
        TextField, WriteError,
    },
};

/// A valid draft.
fn draft() -> NewMegram {
    NewMegram::new(Tag::new("tool:a", "path:b"), State::Accept, "content")
}

/// A valid draft with a change.
fn with(change: impl FnOnce(&mut NewMegram)) -> NewMegram {
    let mut draft = draft();
    change(&mut draft);
    draft
}

/// Asserts that a draft is refused with this error.
#[track_caller]
fn check(draft: NewMegram, expected: &str) {
    let mut engine = Engine::new();
    let Err(WriteError::Invalid(error)) = engine.write(draft, NOW) else { panic!("accepted, not: {expected}") };
    assert_eq!(error.to_string(), expected);
    assert_eq!(engine.stats(), artoo_mkct::engine::Stats::default());
}

#[test]
fn bad_drafts_are_refused_with_the_reason() {
    check(with(|d| d.quantum.f = 1.1), "magnitude 1.1 is not in 0..=1");
    check(with(|d| d.quantum.f = -0.1), "magnitude -0.1 is not in 0..=1");
    check(with(|d| d.quantum.f = f64::NAN), "magnitude NaN is not in 0..=1");
    check(with(|d| d.quantum.sigma = f64::NAN), "valence NaN is not in -1..=1");
    check(with(|d| d.quantum.sigma = -1.5), "valence -1.5 is not in -1..=1");
    check(with(|d| d.quantum.k = f64::INFINITY), "decay inf does not fit level M");
    check(with(|d| d.quantum.k = f64::NAN), "decay NaN does not fit level M");
    check(with(|d| d.quantum.k = 0.0), "decay 0 does not fit level M");
    check(with(|d| d.quantum.k = -0.05), "decay -0.05 does not fit level M");
    check(with(|d| d.tag.space = String::new()), "Space is empty");
    check(with(|d| d.tag.entity = " ".to_owned()), "Entity is empty");
    check(with(|d| d.tag.space = "tool:a|b".to_owned()), "Space holds '|', which must be escaped");
    check(with(|d| d.tag.entity = "path:\n".to_owned()), "Entity holds '\\n', which must be escaped");
    check(with(|d| d.tag.entity = "x".repeat(MAX_TAG_BYTES + 1)), "Entity has 8193 bytes, more than 8192");
    check(with(|d| d.task = Some("x".repeat(MAX_TAG_BYTES + 1))), "Task has 8193 bytes, more than 8192");
    check(with(|d| d.content = "x".repeat(10 * 1024 * 1024)), "Content has 10485760 bytes, more than 65536");
}

#[test]
fn the_largest_record_fits_into_a_frame() {
    let mut engine = Engine::new();
    let draft = with(|d| {
        d.tag.space = "\"".repeat(MAX_TAG_BYTES);
        d.tag.entity = "\"".repeat(MAX_TAG_BYTES);
        d.content = "\0".repeat(MAX_CONTENT_BYTES);
        d.task = Some("\0".repeat(MAX_TAG_BYTES));
        d.source = Some("\0".repeat(MAX_TAG_BYTES));
    });
    let frame = engine.write(draft, NOW).unwrap();
    assert!(serde_json::to_vec(&frame).unwrap().len() < artoo_mkct::journal::MAX_FRAME_BYTES);
    let ids = vec![MegramId::from_u128(u128::MAX); artoo_mkct::record::MAX_IDS_PER_FRAME];
    let deleted = Frame::Deleted { ids, at_ms: i64::MIN, reason: artoo_mkct::record::DeletionReason::Forgotten };
    assert!(serde_json::to_vec(&deleted).unwrap().len() < artoo_mkct::journal::MAX_FRAME_BYTES);
}

#[test]
fn decay_rates_are_bounded_in_number() {
    let mut engine = Engine::new();
    let with_k = |k: f64| draft().quantum(Quantum { f: 0.5, sigma: 0.0, k });
    for i in 1..=MAX_DISTINCT_DECAYS {
        write(&mut engine, NOW, with_k(i as f64));
        write(&mut engine, NOW, with_k(i as f64));
    }
    let one_more = engine.write(with_k(0.7), NOW);
    let max = MAX_DISTINCT_DECAYS;
    assert_eq!(one_more, Err(WriteError::Invalid(InvalidMegram::TooManyDecays { k: 0.7, max })));
    write(&mut engine, NOW, with_k(0.05));
}

#[test]
fn frames_that_do_not_fit_are_refused() {
    let mut engine = Engine::new();
    let megram = write(&mut engine, NOW, draft());
    let (id, unknown) = (megram.id, MegramId::from_u128(9));
    let written = |change: fn(&mut Megram)| {
        let mut megram = megram.clone();
        megram.id = unknown;
        change(&mut megram);
        Frame::Written { megram }
    };
    let empty = InvalidMegram::Empty { field: TextField::Space };
    let table = [
        (Frame::Written { megram: megram.clone() }, ApplyError::Duplicate { id }),
        (written(|m| m.space.clear()), ApplyError::Invalid { id: unknown, source: empty }),
        (written(|m| m.level = Level::C), ApplyError::WrongLevel { id: unknown, level: Level::C }),
    ];
    let before = engine.stats();
    for (frame, expected) in table {
        assert_eq!(engine.apply(&frame), Err(expected), "{frame:?}");
        assert_eq!(engine.stats(), before);
    }
}

#[test]
fn frames_about_missing_records_change_nothing() {
    let mut engine = Engine::new();
    let id = write(&mut engine, NOW, draft()).id;
    let (unknown, before) = (MegramId::from_u128(9), engine.stats());
    for frame in [
        Frame::Demoted { id, at_ms: NOW },
        Frame::Demoted { id: unknown, at_ms: NOW },
        Frame::Recalled { ids: vec![id, unknown], at_ms: NOW },
        Frame::Deleted { ids: vec![unknown], at_ms: NOW, reason: artoo_mkct::record::DeletionReason::Faded },
    ] {
        assert_eq!(engine.apply(&frame), Ok(()), "{frame:?}");
        assert_eq!(engine.stats(), before, "{frame:?}");
    }
    let reason = artoo_mkct::record::DeletionReason::Forgotten;
    assert_eq!(engine.apply(&Frame::Deleted { ids: vec![id, unknown], at_ms: NOW, reason }), Ok(()));
    assert_eq!((engine.stats().megrams, engine.stats().forgotten), (0, 2));
    let mut megram = write(&mut Engine::new(), NOW, draft());
    megram.id = unknown;
    let back = engine.apply(&Frame::Written { megram });
    assert_eq!(back, Err(ApplyError::Forgotten { id: unknown }), "what was forgotten does not come back");
}

#[doc = "holds: design K5"]
#[test]
fn extreme_times_are_accepted() {
    let mut engine = Engine::new();
    for now_ms in [i64::MIN, -1, 0, 1 << 31, i64::MAX, i64::MIN] {
        write(&mut engine, now_ms, draft());
        let potentials = engine.query_mk(&Tag::new("tool:a", "path:b"), now_ms);
        assert!(potentials.attention.is_finite() && potentials.attention >= 0.9, "{potentials:?}");
    }
    let clocks = |wall_ms| artoo_mkct::clock::Clocks { wall_ms, uptime_ms: i64::MIN };
    engine.sweep(clocks(i64::MAX));
    assert!(engine.sweep(clocks(i64::MIN)).skipped.is_some());
}

#[test]
fn a_frame_has_the_documented_text() {
    let mut engine = Engine::new();
    let frame = engine.write(draft().task("t-1"), NOW).unwrap();
    insta::assert_json_snapshot!(frame, @r#"
    {
      "kind": "written",
      "megram": {
        "id": "019c936e-3800-8000-8001-a66c40c27954",
        "level": "M",
        "created_at_ms": 1772000000000,
        "last_recalled_at_ms": null,
        "space": "tool:a",
        "entity": "path:b",
        "content": "content",
        "state": "accept",
        "f": 0.9,
        "sigma": 1.0,
        "k": 0.05,
        "failure_class": null,
        "task": "t-1"
      }
    }
    "#);
}
