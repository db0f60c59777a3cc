//! Reads exported databases with rusty-leveldb.

use std::{collections::BTreeMap, fs, path::Path};

use rusty_leveldb::{DB, LdbIterator as _};

use super::{IN_RAM, IndexError, export};
use crate::{
    disk::SystemDisk,
    engine::Engine,
    record::{Frame, Level, Megram, NewMegram, State, Tag},
};

const NOW: i64 = 1_772_000_000_000;

/// An engine with records of levels M, C and T, a recalled rule, and a tag with characters that must be escaped.
fn engine() -> Engine {
    let mut engine = Engine::new();
    let tag = Tag::approach("count files", &["glob", "shell"]);
    for task in 0..6 {
        let draft = NewMegram::new(tag.clone(), State::Accept, "12 files");
        engine.write(draft.task(format!("task-{task}")), NOW + task).unwrap();
    }
    engine.write(NewMegram::new(Tag::target("shell", "/a|b"), State::Abandon, "no such file"), NOW).unwrap();
    engine.write_thinking(&Tag::new("law:0", "env:local"), "never deceive", NOW).unwrap();
    let ticket = engine.promotions(NOW + 9).remove(0).ticket;
    engine.promote(&ticket, "count with glob", NOW + 9).unwrap();
    let (_, frames) = engine.query_c(&tag, NOW + 123);
    frames.iter().for_each(|frame| engine.apply(frame).unwrap());
    engine
}

/// Every key and value of the exported database in a folder.
fn read(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let options = rusty_leveldb::in_memory();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let file = Path::new(IN_RAM).join(path.file_name().unwrap());
        options.env.open_writable_file(&file).unwrap().write_all(&fs::read(path).unwrap()).unwrap();
    }
    let mut db = DB::open(IN_RAM, rusty_leveldb::Options { create_if_missing: false, ..options }).unwrap();
    let mut entries = BTreeMap::new();
    let mut cursor = db.new_iter().unwrap();
    while let Some((key, value)) = cursor.next() {
        entries.insert(String::from_utf8(key.to_vec()).unwrap(), value.to_vec());
    }
    entries
}

#[test]
fn exported_database_holds_what_the_engine_knows() {
    let (engine, folder) = (engine(), tempfile::tempdir().unwrap());
    let target = folder.path().join("new");
    assert_eq!(export(&engine, &SystemDisk, &target).unwrap(), 9);
    let mut expected = BTreeMap::new();
    for head in engine.heads() {
        let megram = engine.get(head.id).unwrap().unwrap();
        expected.insert(format!("m|{}", head.id), serde_json::to_vec(&megram).unwrap());
        expected.insert(format!("x|{}|{}|{}", megram.space, megram.entity, head.id), Vec::new());
        expected.insert(format!("l|{:?}|{}", megram.level, head.id), Vec::new());
        if megram.level == Level::C {
            expected.insert(format!("r|{}", head.id), b"2026-02-25T06:13:20.123Z".to_vec());
        }
    }
    let found = read(&target);
    assert_eq!((found.len(), &found), (9 * 3 + 1, &expected));
    // The records alone make the same memory again.
    let mut again = Engine::new();
    for (_, json) in found.iter().filter(|(key, _)| key.starts_with("m|")) {
        let megram: Megram = serde_json::from_slice(json).unwrap();
        if megram.level != Level::C {
            again.apply(&Frame::Written { megram }).unwrap();
        }
    }
    let tag = Tag::target("shell", "/a|b");
    assert_eq!(again.query_mk(&tag, NOW), engine.query_mk(&tag, NOW));
}

#[test]
fn many_records_fill_several_tables() {
    let (mut engine, folder) = (Engine::new(), tempfile::tempdir().unwrap());
    for number in 0..5_000 {
        let text = format!("{number} {}", "x".repeat(2_000 + number % 7));
        engine.write(NewMegram::new(Tag::new("s", format!("e{}", number % 50)), State::Refine, text), NOW).unwrap();
    }
    assert_eq!(export(&engine, &SystemDisk, folder.path()).unwrap(), 5_000);
    let found = read(folder.path());
    assert_eq!(found.len(), 15_000);
    let tables = fs::read_dir(folder.path()).unwrap().filter(|entry| {
        let name = entry.as_ref().unwrap().file_name().into_string().unwrap();
        name.ends_with(".ldb") || name.ends_with(".sst")
    });
    assert!(tables.count() > 1, "one table only");
    for head in engine.heads() {
        let megram = engine.get(head.id).unwrap().unwrap();
        let kept: Megram = serde_json::from_slice(&found[&format!("m|{}", head.id)]).unwrap();
        assert_eq!(kept, megram);
    }
}

#[test]
fn nonempty_export_folder_is_refused_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("mine"), "x").unwrap();
    let refused = export(&engine(), &SystemDisk, folder.path()).unwrap_err();
    assert!(matches!(&refused, IndexError::NotEmpty { path } if path == folder.path()), "{refused:?}");
    assert!(refused.to_string().contains("name a new or an empty folder"), "{refused}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}
