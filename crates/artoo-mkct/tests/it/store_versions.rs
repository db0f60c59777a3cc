//! S11: stores of earlier versions open with the same records, and journals of a newer version are refused unchanged.

use std::{collections::BTreeMap, fs, path::Path};

use artoo_mkct::{
    Durability, Memory, NewMegram, Options, RecallQuery, State, Tag,
    advice::Cap,
    journal::JournalError,
    memory::{DamagePolicy, OpenError},
    record::{Megram, MegramId, RuleKind},
};

use crate::support::{DAY, NOW, event};

/// A store of version 1 and the expected answers; never written again.
const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/store-v1");

/// Options without a Dreamer that save a snapshot often.
fn options() -> Options {
    Options::default().with(|options| {
        options.dream = None;
        options.snapshot_tail_bytes = 1;
    })
}

/// Every record of a memory with its text, by id.
fn everything(memory: &Memory) -> BTreeMap<MegramId, Megram> {
    let engine = memory.engine();
    engine.heads().map(|head| (head.id, engine.get(head.id).unwrap().unwrap())).collect()
}

/// A store of version 2, with the kinds of records that version 1 did not have; never written again.
const FIXTURE_2: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/store-v2");

/// Wrote the fixture `store-v2` (ignored): a lesson, a note, a correction, an adopted text, and intents with their
/// words.
#[test]
#[ignore = "wrote the fixture; a new version writes a fixture of its own"]
fn write_store_v2_fixture() {
    fs::create_dir_all(FIXTURE_2).unwrap();
    let (memory, _) = Memory::open(FIXTURE_2, options()).unwrap();
    let intents = ["Count the PDF files in Documents", "Find the photos of Ada", "Sort the letters by date"];
    for (number, intent) in intents.iter().enumerate() {
        for task in 0..7 {
            let draft = NewMegram::new(Tag::approach(intent, &["glob"]), State::Accept, "checked").intent(intent);
            memory.write(draft.task(format!("task-{number}-{task}")), NOW + task).unwrap();
        }
        for promotion in memory.engine().promotions(NOW + DAY) {
            memory.promote(&promotion.ticket, "Use glob.", NOW + DAY).unwrap();
        }
    }
    let proposal = &memory.engine().thinking_proposals()[0];
    memory.adopt_thinking(proposal, NOW + DAY).unwrap();
    let lesson = NewMegram::lesson(intents[1], "a number", "words", "glob", "*.pdf").task("task-9");
    memory.write(lesson, NOW + DAY).unwrap();
    memory.remember("Invoices are in Money", NOW + DAY).unwrap();
    memory.correct("task-0-0", "there were 13", NOW + DAY).unwrap();
    memory.flush(Durability::Synced).unwrap();
    let says: Vec<Megram> = everything(&memory).into_values().collect();
    fs::write(Path::new(FIXTURE_2).join("says.json"), serde_json::to_vec_pretty(&says).unwrap()).unwrap();
    memory.close().unwrap();
}

#[doc = "holds: design S11"]
#[test]
fn version_2_store_opens_from_snapshot() {
    let says: Vec<Megram> = serde_json::from_slice(&fs::read(Path::new(FIXTURE_2).join("says.json")).unwrap()).unwrap();
    let says: BTreeMap<MegramId, Megram> = says.into_iter().map(|megram| (megram.id, megram)).collect();
    for files in [&["memory.journal"][..], &["memory.journal", "memory.snapshot"]] {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            fs::copy(Path::new(FIXTURE_2).join(file), folder.path().join(file)).unwrap();
        }
        let (memory, summary) = Memory::open(folder.path(), options()).unwrap();
        assert_eq!((summary.refused_frames, summary.from_snapshot), (0, files.len() == 2));
        assert_eq!(everything(&memory), says);
        let recall = memory.recall(&RecallQuery::new("Count the PDF files in Documents"), NOW + DAY);
        assert_eq!((recall.advice[0].capped, recall.notes.len()), (Some(Cap::Corrected), 1));
        assert_eq!(memory.recall(&RecallQuery::new("Find the photos of Ada"), NOW + DAY).lessons.len(), 1);
        assert!(memory.verify().unwrap().is_sound());
    }
}

/// Wrote the fixture `store-v1` (ignored): events, a law, a rule, its recall, feedback, and a deletion.
#[test]
#[ignore = "wrote the fixture; a new version writes a fixture of its own"]
fn write_store_v1_fixture() {
    fs::create_dir_all(FIXTURE).unwrap();
    let (memory, _) = Memory::open(FIXTURE, options()).unwrap();
    for number in 0..14 {
        memory.write(event(number), NOW + number as i64).unwrap();
    }
    memory.write_thinking(&Tag::new("law", "first"), "never make things worse", NOW).unwrap();
    for task in 0..6 {
        let draft = NewMegram::new(Tag::new("intent:count_pdf_files", "via:glob"), State::Accept, "12 files, checked");
        memory.write(draft.task(format!("task-{task}")), NOW + task).unwrap();
    }
    let engine = memory.engine();
    let promotion =
        engine.promotions(NOW + DAY).into_iter().find(|found| found.ticket.kind() == RuleKind::BestPractice);
    let frame = (*engine).clone().promote(&promotion.unwrap().ticket, "Use glob.", NOW + DAY).unwrap();
    let rule = memory.adopt(vec![frame]).unwrap().ids[0];
    let _ = memory.query_c(&Tag::new("intent:count_pdf_files", "via:glob"), NOW + 2 * DAY);
    memory.record_negative_feedback(rule, "glob missed two", Some("task-9"), NOW + 3 * DAY).unwrap();
    let gone = memory.write(event(40), NOW).unwrap().ids[0];
    memory.forget(gone, NOW + 4 * DAY).unwrap();
    memory.flush(Durability::Synced).unwrap();
    let says: Vec<Megram> = everything(&memory).into_values().collect();
    fs::write(Path::new(FIXTURE).join("says.json"), serde_json::to_vec_pretty(&says).unwrap()).unwrap();
    memory.close().unwrap();
}

#[doc = "holds: design S11"]
#[test]
fn version_1_store_gives_the_same_answers() {
    let says: Vec<Megram> = serde_json::from_slice(&fs::read(Path::new(FIXTURE).join("says.json")).unwrap()).unwrap();
    let says: BTreeMap<MegramId, Megram> = says.into_iter().map(|megram| (megram.id, megram)).collect();
    for files in [&["memory.journal"][..], &["memory.journal", "memory.snapshot"]] {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            fs::copy(Path::new(FIXTURE).join(file), folder.path().join(file)).unwrap();
        }
        let (memory, summary) = Memory::open(folder.path(), options()).unwrap();
        assert_eq!(summary.refused_frames, 0);
        assert_eq!(everything(&memory), says);
        let potentials = memory.query_mk(&Tag::new("intent:count_pdf_files", "via:glob"), NOW + 3 * DAY);
        assert!((potentials.attention - (6.0 * 0.9 * (-0.15_f64).exp() + 0.95)).abs() < 1e-6, "{potentials:?}");
        assert_eq!(memory.stats().engine.forgotten, 1);
        assert!(memory.verify().unwrap().is_sound());
        memory.close().unwrap();
    }
}

/// A journal that artoo 0.1.0 wrote opens with all twelve records and can be written to.
#[test]
fn journal_of_first_release_opens() {
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("memory.journal");
    fs::write(&journal, include_bytes!("../fixtures/artoo-0.1.0/memory.journal")).unwrap();
    let (memory, summary) = Memory::open(folder.path(), options()).unwrap();
    assert_eq!((summary.refused_frames, everything(&memory).len()), (0, 12));
    let now = 1_795_371_498_000;
    for (intent, approach, tasks) in [
        ("intent:count_the_files", "via:glob", 1.0),
        ("intent:delete_the_files", "via:files,glob", 1.0),
        ("intent:add_a_line", "via:shell", 3.0),
        ("intent:list_the_largest", "via:glob", 1.0),
        ("intent:list_the_largest", "via:shell", 0.0),
    ] {
        let found = memory.query_mk(&Tag::new(intent, approach), now);
        let is_near = |value: f64| (value - 0.9 * tasks).abs() < 1e-3;
        assert!(is_near(found.attention) && is_near(found.decision), "{intent} {approach}: {found:?}");
    }
    assert!(memory.verify().unwrap().is_sound());
    memory.write(event(0), now).unwrap();
    memory.close().unwrap();
    let (memory, _) = Memory::open(folder.path(), options()).unwrap();
    assert_eq!(everything(&memory).len(), 13);
}

#[doc = "holds: design S11"]
#[test]
fn newer_store_is_refused_newer_snapshot_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("memory.journal");
    let (memory, _) = Memory::open(folder.path(), options()).unwrap();
    memory.write(event(0), NOW).unwrap();
    memory.close().unwrap();
    let sound = fs::read(&journal).unwrap();

    let mut newer = sound.clone();
    newer[8] = 2;
    let checksum = crc32fast::hash(&newer[..12]);
    newer[12..16].copy_from_slice(&checksum.to_le_bytes());
    fs::write(&journal, &newer).unwrap();
    for on_damage in [DamagePolicy::Refuse, DamagePolicy::Repair] {
        let refused = Memory::open(folder.path(), options().with(|options| options.on_damage = on_damage)).unwrap_err();
        let expected = matches!(refused, OpenError::Journal(JournalError::NewerVersion { found: 2, supported: 1, .. }));
        assert!(expected, "{refused:?}");
        assert_eq!(fs::read(&journal).unwrap(), newer);
    }

    fs::write(&journal, &sound).unwrap();
    let snapshot = folder.path().join("memory.snapshot");
    let mut bytes = fs::read(&snapshot).unwrap();
    bytes[8] = 2;
    fs::write(&snapshot, &bytes).unwrap();
    let (memory, summary) = Memory::open(folder.path(), options()).unwrap();
    assert_eq!((summary.from_snapshot, everything(&memory).len()), (false, 1));
}

#[cfg(unix)]
#[doc = "holds: design S5"]
#[test]
fn unusable_folder_is_named_in_the_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a file");
    fs::write(&file, "x").unwrap();
    for path in [file.clone(), file.join("below")] {
        let refused = Memory::open(&path, options()).unwrap_err();
        assert!(matches!(&refused, OpenError::Io { path: named, .. } if *named == path), "{refused:?}");
    }
}

/// A LevelDB folder that earlier versions left beside the journal is reported when opening, and never changed.
#[test]
fn old_index_folder_is_reported_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(Path::new(FIXTURE).join("memory.journal"), folder.path().join("memory.journal")).unwrap();
    let index = folder.path().join("memory.index");
    fs::create_dir(&index).unwrap();
    let (memory, summary) = Memory::open(folder.path(), options()).unwrap();
    assert_eq!(summary.old_index, None, "an empty folder holds nothing");
    memory.close().unwrap();
    fs::write(index.join("CURRENT"), "MANIFEST-000001\n").unwrap();
    let (memory, summary) = Memory::open(folder.path(), options()).unwrap();
    assert_eq!(summary.old_index.as_deref(), Some(index.as_path()));
    let id = memory.engine().query_recent(1)[0].id;
    memory.forget(id, NOW).unwrap();
    memory.close().unwrap();
    assert_eq!(fs::read_to_string(index.join("CURRENT")).unwrap(), "MANIFEST-000001\n");
}
