//! Export and import of a memory, encoding and decoding of its state, and the refusal of invalid data.

use std::sync::Arc;

use proptest::prelude::*;

use super::{DAY, NOW, all, burst, event, get, replayed, tag, tickets, why, write};
use artoo_mkct::{
    Engine, RecallQuery, State, Tag,
    clock::Clocks,
    export::ImportError,
    record::{DeletionReason, Frame, Megram, MegramId, Offset, ReadError, RecordSource},
};

const TAG: (&str, &str) = ("intent:x", "via:x");

/// An engine with records of every level, used evidence without a rule, deleted records, and unordered ids.
fn rich() -> Engine {
    let mut engine = Engine::new();
    engine.write_thinking(&Tag::new("law:0", "env:local"), "never deceive", NOW).unwrap();
    let clocks = |wall_ms| Clocks { wall_ms, uptime_ms: wall_ms - NOW };
    for (entity, state) in [("via:shell", State::Abandon), ("via:glob", State::Accept), ("via:x", State::Accept)] {
        burst(&mut engine, NOW, entity, state, 7);
    }
    for promotion in engine.promotions(NOW) {
        engine.promote(&promotion.ticket, "rule, \"quoted\"\n🙂", NOW).unwrap();
    }
    let (sops, frames) = engine.query_c(&Tag::new("intent:x", "via:glob"), NOW + 5);
    frames.iter().for_each(|frame| engine.apply(frame).unwrap());
    engine.forget(sops[0].evidence[0], NOW + 6).unwrap();
    let rule = engine.query_c(&Tag::new("intent:x", "via:x"), NOW).0[0].id;
    engine.forget(rule, NOW + 7).unwrap();
    burst(&mut engine, NOW + DAY, "via:shell", State::Success, 9);
    assert_eq!(engine.sweep(clocks(NOW + DAY)).demoted.len(), 1);
    write(&mut engine, NOW + 2 * DAY, event("tool:shell", "path:/a%7Cb", State::ChangePath, "t"));
    let mut foreign = write(&mut Engine::new(), NOW, event("tool:a", "path:b", State::Refine, "f"));
    foreign.id = MegramId::from_u128(77);
    engine.apply(&Frame::Written { megram: foreign }).unwrap();
    engine
}

/// The JSON lines that exporting an engine writes.
fn exported(engine: &Engine) -> String {
    let mut out = Vec::new();
    engine.export(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Asserts that two engines have the same records, counts and potentials.
#[track_caller]
fn check_same(found: &Engine, expected: &Engine) {
    assert_eq!(all(found), all(expected));
    assert_eq!(found.stats(), expected.stats());
    for now_ms in [NOW, NOW + 3 * DAY, NOW + 900 * DAY] {
        assert_eq!(tickets(found, now_ms), tickets(expected, now_ms));
        for (space, entity) in [("intent:x", "via:shell"), ("intent:x", "via:glob"), TAG, ("tool:shell", "path:/a%7Cb")]
        {
            let (found, expected) =
                (found.query_mk(&Tag::new(space, entity), now_ms), expected.query_mk(&Tag::new(space, entity), now_ms));
            assert!((found.attention - expected.attention).abs() <= 1e-12 * expected.attention + 1e-300);
            assert!((found.decision - expected.decision).abs() <= 1e-12 * expected.attention + 1e-300);
        }
    }
    let (tools, targets) = (["shell".to_owned()], ["/a|b".to_owned()]);
    let query = RecallQuery::new("x please").tools(&tools).targets(&targets);
    assert_eq!(found.recall(&query, NOW).sops, expected.recall(&query, NOW).sops);
    assert_eq!(exported(found), exported(expected));
}

#[test]
fn imported_export_exports_the_same() {
    let engine = rich();
    let text = exported(&engine);
    let mut taken = Engine::new();
    let mut kept = Vec::new();
    let report = taken.import(&mut text.as_bytes(), &mut |frame| kept.push(frame)).unwrap();
    assert_eq!((report.applied, report.skipped), (text.lines().count() as u64 - 1, 0));
    check_same(&taken, &engine);
    check_same(&replayed(&kept), &engine);
    // Taking in twice changes nothing; what was forgotten here stays forgotten.
    let before = exported(&taken);
    let again = taken.import(&mut text.as_bytes(), &mut |_| {}).unwrap();
    assert!(again.skipped > 20, "{again:?}");
    assert_eq!(exported(&taken), before);
    let newest = taken.query_recent(1)[0].id;
    taken.forget(newest, NOW).unwrap();
    taken.import(&mut text.as_bytes(), &mut |_| {}).unwrap();
    assert_eq!(get(&taken, newest), None);
}

#[test]
fn decoded_state_equals_the_encoded_memory() {
    let engine = rich();
    let mut bytes = Vec::new();
    engine.encode_state(&mut bytes).unwrap();
    let mut back = Engine::decode_state(&mut bytes.as_slice(), None).unwrap();
    check_same(&back, &engine);
    for (space, entity) in [("intent:x", "via:shell"), TAG] {
        assert_eq!(
            back.query_mk(&Tag::new(space, entity), NOW + DAY),
            engine.query_mk(&Tag::new(space, entity), NOW + DAY),
            "bit for bit"
        );
    }
    // Later operations give the same results as on the original.
    let mut engine = engine;
    for memory in [&mut back, &mut engine] {
        burst(memory, NOW + 3 * DAY, "via:glob", State::Accept, 3);
        memory.sweep(Clocks { wall_ms: NOW + 40 * DAY, uptime_ms: 40 * DAY });
    }
    check_same(&back, &engine);
}

/// The texts of an engine's records, as a journal would return them.
#[derive(Debug)]
struct Texts(Vec<Megram>);

impl RecordSource for Texts {
    fn record(&self, id: MegramId, at: Offset) -> Result<Megram, ReadError> {
        self.0.get(at.0 as usize).filter(|megram| megram.id == id).cloned().ok_or(ReadError::Gone { id })
    }
}

/// Once records have journal offsets, their texts are read through the attached source and not from RAM.
#[test]
fn texts_are_read_from_the_journal() {
    let mut engine = rich();
    let texts = Texts(all(&engine));
    for (at, megram) in texts.0.iter().enumerate() {
        assert_eq!(engine.offset_of(megram.id), None);
        engine.set_offset(megram.id, Offset(at as u64));
        assert_eq!(engine.offset_of(megram.id), Some(Offset(at as u64)));
    }
    let event = texts.0.iter().find(|megram| megram.level == artoo_mkct::record::Level::M).unwrap().id;
    assert!(matches!(engine.get(event), Err(ReadError::Gone { .. })), "no source yet");
    let expected = texts.0.clone();
    let source = Arc::new(texts);
    engine.attach(Arc::clone(&source) as Arc<dyn RecordSource>);
    assert_eq!(all(&engine), expected);
    let mut bytes = Vec::new();
    engine.encode_state(&mut bytes).unwrap();
    assert!(!bytes.windows(8).any(|window| window == b"Accept i"), "the texts of events stay where they are");
    assert_eq!(all(&Engine::decode_state(&mut bytes.as_slice(), Some(source)).unwrap()), expected);
}

/// Asserts that an import is refused with this error.
#[track_caller]
fn check_refused(text: &str, expected: &str) {
    let mut engine = Engine::new();
    let error = engine.import(&mut text.as_bytes(), &mut |_| {}).unwrap_err();
    assert_eq!(error.to_string(), expected);
}

#[test]
fn invalid_export_is_refused_with_line_number() {
    let no_export = "the first line does not say that this is an export of artoo-mkct";
    for text in
        ["", "\n", "{}", "[1]\n", "{\"format\":\"other\",\"version\":1}", "{\"format\":\"artoo-mkct\",\"version\":0}"]
    {
        check_refused(text, no_export);
    }
    let newer = "{\"format\":\"artoo-mkct\",\"version\":2}\n";
    check_refused(newer, "the export has version 2, this library knows 1");
    let header = "{\"format\":\"artoo-mkct\",\"version\":1}\n";
    let unknown = "line 2 is not a record: unknown variant `nonsense`, expected one of `written`, `promoted`, \
                   `recalled`, `demoted`, `deleted`, `marked`, `attempted` at line 1 column 18";
    check_refused(&format!("{header}{{\"kind\":\"nonsense\"}}\n"), unknown);
    check_refused(&format!("{header}{}", "x".repeat(2 << 20)), "line 2 has more than 1048576 bytes");
    let bad = exported(&rich()).replacen("\"f\":0.95", "\"f\":9.5", 1);
    let error = Engine::new().import(&mut bad.as_bytes(), &mut |_| {}).unwrap_err();
    assert!(error.to_string().ends_with("is not valid: magnitude 9.5 is not in 0..=1"), "{error}");
    assert!(matches!(error, ImportError::Refused { .. }), "{error}");
}

#[test]
fn imported_deletions_do_not_delete_laws() {
    let mut engine = rich();
    let law = engine.thinking().next().unwrap().id;
    let frame = Frame::Deleted { ids: vec![law], at_ms: NOW, reason: DeletionReason::Faded };
    let text = format!("{{\"format\":\"artoo-mkct\",\"version\":1}}\n{}", serde_json::to_string(&frame).unwrap());
    assert!(matches!(engine.import(&mut text.as_bytes(), &mut |_| {}), Err(ImportError::Refused { line: 2, .. })));
    assert_eq!(engine.thinking().count(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn record_order_does_not_change_the_memory(order in Just((0..40).collect::<Vec<usize>>()).prop_shuffle()) {
        let mut source = Engine::new();
        let tags = [("intent:x", "via:shell"), ("intent:x", "via:glob"), ("tool:shell", "path:/a%7Cb")];
        let frames: Vec<Frame> = (0..40)
            .map(|i| {
                let (space, entity) = tags[i % 3];
                let draft = event(space, entity, State::ALL[i % 7], &format!("t{i}"));
                source.write(draft, NOW + i as i64 * DAY / 7).unwrap()
            })
            .collect();
        let shuffled: Vec<Frame> = order.iter().map(|i| frames[*i].clone()).collect();
        let (found, expected) = (replayed(&shuffled), replayed(&frames));
        check_same(&found, &expected);
        for (space, entity) in tags {
            prop_assert_eq!(why(&found, space, entity, NOW), why(&expected, space, entity, NOW), "newest first");
        }
        let tools = ["shell".to_owned()];
        let query = RecallQuery::new("x").tools(&tools);
        let named = |engine: &Engine| engine.recall(&query, NOW).advice.into_iter().map(|a| a.megrams).collect::<Vec<_>>();
        prop_assert_eq!(named(&found), named(&expected));
        for megram in all(&expected) {
            prop_assert_eq!(get(&found, megram.id), Some(megram));
        }
    }

    /// Decoding a changed or cut engine state gives an error or an engine that can be queried, never a panic.
    #[test]
    fn garbage_in_engine_state_never_panics(
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        cut in any::<prop::sample::Index>(),
        cuts in any::<bool>(),
    ) {
        let mut bytes = Vec::new();
        rich().encode_state(&mut bytes).unwrap();
        for (at, value) in &flips {
            let at = at.index(bytes.len());
            bytes[at] = *value;
        }
        if cuts {
            bytes.truncate(cut.index(bytes.len()));
        }
        if let Ok(mut engine) = Engine::decode_state(&mut bytes.as_slice(), None) {
            drop(engine.heads().take(100).collect::<Vec<_>>());
            drop(engine.why(&tag(), NOW).take(100).collect::<Vec<_>>());
            drop(engine.promotions(NOW));
            drop(engine.forecast(&tag(), NOW));
            drop(engine.sweep(Clocks { wall_ms: NOW + 100 * DAY, uptime_ms: NOW }));
            drop(engine.write(event(TAG.0, TAG.1, State::Accept, "t"), NOW));
        }
    }
}

#[test]
fn unordered_ids_are_all_found() {
    let mut source = Engine::new();
    let frames: Vec<Frame> = (0..6_000)
        .map(|i| source.write(event("tool:a", &format!("path:{}", i % 50), State::Accept, "t"), NOW + i).unwrap())
        .collect();
    let mut engine = Engine::new();
    frames.iter().rev().for_each(|frame| engine.apply(frame).unwrap());
    assert_eq!(all(&engine), all(&source));
    // Deleting most of them gives their slots back, and the rest is still found.
    let gone: Vec<MegramId> = all(&engine).iter().skip(500).map(|megram| megram.id).collect();
    for ids in gone.chunks(700) {
        engine.apply(&Frame::Deleted { ids: ids.to_vec(), at_ms: NOW, reason: DeletionReason::Faded }).unwrap();
    }
    assert_eq!(engine.len(), 500);
    frames.iter().skip(500).for_each(|frame| engine.apply(frame).unwrap());
    assert_eq!(all(&engine), all(&source));
}
