//! The index: the same in memory and in LevelDB, the same as the engine, and made anew when it is not.

use std::{
    collections::BTreeMap,
    ops::ControlFlow,
    path::Path,
    sync::{Arc, Mutex},
};

use artoo_mkct::{
    Change, IndexChoice, MegramId, Memory, MemoryStore, Options, Promise, Store, StoreError, Visit, recall_key,
    record_key,
};

use crate::{
    sim_disk::{Random, SimDisk},
    support::{DAY, FOLDER, NOW, event, open, quiet},
};

/// A store whose content the test can see.
#[derive(Debug, Clone, Default)]
struct Shown(Arc<Mutex<MemoryStore>>);

impl Store for Shown {
    fn get(&mut self, keys: &[Vec<u8>]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        self.0.lock().unwrap().get(keys)
    }

    fn scan(&mut self, prefix: &[u8], visit: &mut Visit<'_>) -> Result<(), StoreError> {
        self.0.lock().unwrap().scan(prefix, visit)
    }

    fn write(&mut self, changes: Vec<Change>) -> Result<(), StoreError> {
        self.0.lock().unwrap().write(changes)
    }

    fn close(self: Box<Self>) -> Result<(), StoreError> {
        Ok(())
    }
}

impl Shown {
    fn choice(&self) -> IndexChoice {
        let shown = self.clone();
        IndexChoice::Custom(Arc::new(move |_, _| Ok(Box::new(shown.clone()))))
    }

    fn entries(&self) -> BTreeMap<String, Vec<u8>> {
        entries(&mut *self.0.lock().unwrap())
    }
}

fn entries(store: &mut dyn Store) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut keep = |key: &[u8], value: &[u8]| {
        found.insert(String::from_utf8(key.to_vec()).unwrap(), value.to_vec());
        ControlFlow::Continue(())
    };
    for prefix in [b"l|", b"m|", b"r|", b"x|"] {
        store.scan(prefix, &mut keep).unwrap();
    }
    found
}

/// Random life under one tag or another: writes, recalls, forgetting, dreams, compaction, laws.
fn live(memory: &Memory, random: &mut Random, operations: usize) {
    let mut ids: Vec<MegramId> = Vec::new();
    for number in 0..operations {
        let now = NOW + number as i64 * DAY / 4;
        match random.below(12) {
            0 if !ids.is_empty() => {
                let id = ids.swap_remove(random.below(ids.len()));
                memory.forget(id, now).unwrap_or_default();
            }
            1 => drop(memory.dream()),
            2 => drop(memory.query_c("intent:1", "via:glob", now)),
            3 => drop(memory.write_thinking(now, "law", &format!("no-{}", random.below(3)), "do no harm").ok()),
            4 if number % 5 == 0 => drop(memory.compact(now - 5 * DAY).unwrap()),
            _ => ids.extend(memory.write(now, event(random.below(1_000))).unwrap().ids),
        }
    }
    memory.flush(Promise::Synced).unwrap();
}

#[test]
fn the_index_says_what_the_engine_knows_under_the_keys_of_the_schema() {
    let (disk, shown) = (SimDisk::default(), Shown::default());
    let (memory, _) = Memory::open(Path::new(FOLDER), Options { index: shown.choice(), ..quiet(&disk) }).unwrap();
    live(&memory, &mut Random(5), 300);
    assert!(memory.verify().unwrap().is_sound());
    let engine = memory.engine();
    let entries = shown.entries();
    let mut keys = 0;
    for head in engine.heads() {
        let megram = engine.get(head.id).unwrap().unwrap();
        let tag = artoo_mkct::tag_key(&megram.space, &megram.entity, head.id);
        assert!(entries.contains_key(&tag) && entries.contains_key(&artoo_mkct::level_key(megram.level, head.id)));
        let kept: artoo_mkct::Megram = serde_json::from_slice(&entries[&record_key(head.id)]).unwrap();
        assert_eq!((kept.content, kept.level), (megram.content, megram.level));
        keys += 3 + usize::from(entries.contains_key(&recall_key(head.id)));
    }
    assert_eq!((keys, engine.heads().count()), (entries.len(), engine.stats().megrams + engine.stats().thinking));
}

#[cfg(feature = "leveldb")]
#[doc = "holds: design M17"]
#[test]
fn leveldb_and_memory_give_the_same_answers() {
    use artoo_mkct::{LevelDbStore, disk::Disk};
    let disk: Arc<dyn Disk> = Arc::new(SimDisk::default());
    let (mut naive, mut random) = (MemoryStore::default(), Random(11));
    let folder = Path::new("/index");
    let mut leveldb: Box<dyn Store> = Box::new(LevelDbStore::open(&disk, folder).unwrap());
    let key = |random: &mut Random| format!("m|{:03}", random.below(400)).into_bytes();
    for round in 0..400 {
        let changes: Vec<Change> = (0..random.below(40))
            .map(|_| {
                let key = key(&mut random);
                let value = vec![b'v'; random.below(3_000)];
                if random.below(3) == 0 { Change::Delete { key } } else { Change::Put { key, value } }
            })
            .collect();
        naive.write(changes.clone()).unwrap();
        leveldb.write(changes).unwrap();
        let keys: Vec<Vec<u8>> = (0..10).map(|_| key(&mut random)).collect();
        assert_eq!(leveldb.get(&keys).unwrap(), naive.get(&keys).unwrap(), "round {round}");
        if round % 50 == 49 {
            assert_eq!(entries(leveldb.as_mut()), entries(&mut naive), "round {round}");
            leveldb.close().unwrap();
            leveldb = Box::new(LevelDbStore::open(&disk, folder).unwrap());
        }
    }
    assert_eq!(entries(leveldb.as_mut()), entries(&mut naive));
}

#[cfg(feature = "leveldb")]
#[doc = "holds: design S9"]
#[test]
fn an_index_without_its_journal_or_behind_it_or_ahead_of_it_is_made_anew() {
    let disk = SimDisk::default();
    let with_index = |disk: &SimDisk| Options { index: IndexChoice::LevelDb, ..quiet(disk) };
    let life = |disk: &SimDisk, from: usize| {
        let (memory, _) = Memory::open(Path::new(FOLDER), with_index(disk)).unwrap();
        for number in from..from + 20 {
            memory.write(NOW, event(number)).unwrap().receipt.wait(Promise::Synced).unwrap();
        }
        let verified = memory.verify().unwrap();
        assert!(verified.is_sound(), "{verified:?}");
        let index = memory.stats().index.unwrap();
        memory.close().unwrap();
        (index.records, index.rebuilds)
    };
    assert_eq!(life(&disk, 0), (20, 0));
    assert_eq!(life(&disk, 20), (40, 0), "it goes on where it was");
    // The journal of an older backup under the index of today.
    let journal = Path::new("/memory/memory.journal");
    let today = disk.read(journal).unwrap();
    disk.write(journal, &today[..today.len() / 2]);
    let (records, rebuilds) = life(&disk, 40);
    assert!(records < 60 && rebuilds == 1, "{records} {rebuilds}");
    // The index without its journal.
    artoo_mkct::disk::Disk::remove(&disk, journal).unwrap();
    assert_eq!(life(&disk, 60), (20, 1));
    // The journal without its index.
    artoo_mkct::disk::Disk::remove_folder(&disk, Path::new("/memory/memory.index")).unwrap();
    assert_eq!(life(&disk, 80), (40, 0));
}

#[test]
fn a_store_that_fails_is_given_up_and_memory_goes_on() {
    let disk = SimDisk::default();
    let broken = IndexChoice::Custom(Arc::new(|_, _| Err(StoreError::Poisoned)));
    let (memory, _) = Memory::open(Path::new(FOLDER), Options { index: broken, ..quiet(&disk) }).unwrap();
    memory.write(NOW, event(0)).unwrap().receipt.wait(Promise::Synced).unwrap();
    let verified = memory.verify().unwrap();
    assert!(verified.index_problem.is_some() && verified.memory_matches);
    assert!(memory.stats().index.unwrap().given_up);
    memory.close().unwrap();
}

#[cfg(feature = "leveldb")]
#[doc = "holds: design M11"]
#[test]
fn what_is_forgotten_is_nowhere_on_the_disk_any_more() {
    let disk = SimDisk::default();
    let options = Options { index: IndexChoice::LevelDb, snapshot_tail_bytes: 1, ..quiet(&disk) };
    let secret = "q7Zk2Vx9WmB4tLsRdYc8";
    let (memory, _) = Memory::open(Path::new(FOLDER), options.clone()).unwrap();
    let id = memory.write(NOW, artoo_mkct::NewMegram::new("s", "e", artoo_mkct::State::Accept, secret)).unwrap().ids[0];
    memory.write(NOW, event(1)).unwrap();
    memory.verify().unwrap();
    memory.close().unwrap();
    let (memory, _) = Memory::open(Path::new(FOLDER), options.clone()).unwrap();
    memory.verify().unwrap();
    let held: Vec<String> = disk.holds(secret.as_bytes()).iter().map(|path| path.display().to_string()).collect();
    assert!(held.iter().any(|path| path.contains("memory.index")), "else this test is none: {held:?}");
    memory.forget(id, NOW).unwrap();
    assert_eq!(disk.holds(secret.as_bytes()), Vec::<std::path::PathBuf>::new());
    assert!(memory.engine().head(id).is_none());
    assert!(memory.verify().unwrap().is_sound());
    memory.close().unwrap();
    let (memory, summary) = Memory::open(Path::new(FOLDER), options).unwrap();
    assert_eq!((memory.stats().engine.megrams, memory.stats().engine.forgotten), (1, 1), "{summary:?}");
    assert!(memory.verify().unwrap().is_sound());
}

#[doc = "holds: design M11"]
#[test]
fn compaction_drops_what_is_long_gone_and_keeps_the_rest_and_its_order() {
    let disk = SimDisk::default();
    let options = Options { clock: Arc::new(crate::support::Still(NOW + 200 * DAY)), ..quiet(&disk) };
    let (memory, _) = Memory::open(Path::new(FOLDER), options.clone()).unwrap();
    for number in 0..200 {
        memory.write(NOW, artoo_mkct::NewMegram { task: None, ..event(number) }).unwrap();
    }
    let fresh = memory.write(NOW + 200 * DAY, event(500)).unwrap().ids[0];
    let mut faded = 0;
    for _ in 0..20 {
        faded += memory.dream().unwrap().faded_megrams;
    }
    assert!(faded > 100, "{faded}");
    let before = crate::support::contents(&memory);
    // Nothing was deleted that long ago.
    let (bytes, same) = memory.compact(NOW + 200 * DAY).unwrap();
    assert!(same > bytes / 2, "{bytes} {same}");
    let (bytes, fewer) = memory.compact(NOW + 201 * DAY).unwrap();
    assert!(fewer * 3 < bytes, "{bytes} {fewer}");
    assert_eq!(crate::support::contents(&memory), before);
    assert!(before.contains_key(&fresh) && memory.verify().unwrap().is_sound());
    let potentials = memory.query_mk("intent:3", "via:glob", NOW + 200 * DAY);
    memory.close().unwrap();
    let (memory, _) = Memory::open(Path::new(FOLDER), options).unwrap();
    assert_eq!(crate::support::contents(&memory), before);
    assert_eq!(memory.query_mk("intent:3", "via:glob", NOW + 200 * DAY), potentials);
}

#[test]
fn a_snapshot_gives_what_reading_everything_gives_and_is_left_aside_when_it_is_not_of_this_journal() {
    let disk = SimDisk::default();
    let options = Options { snapshot_tail_bytes: 1, ..quiet(&disk) };
    let (memory, _) = Memory::open(Path::new(FOLDER), options.clone()).unwrap();
    live(&memory, &mut Random(3), 120);
    let expected = (crate::support::contents(&memory), memory.stats().engine);
    memory.close().unwrap();
    let snapshot = Path::new("/memory/memory.snapshot");
    let sound = disk.read(snapshot).unwrap();
    let damaged = |at: usize| {
        let mut bytes = sound.clone();
        bytes[at] ^= 0x40;
        bytes
    };
    let cases = [(sound.clone(), true), (sound[..sound.len() / 2].to_vec(), false), (Vec::new(), false)];
    let flips = (0..sound.len()).step_by(97).map(|at| (damaged(at), false));
    for (bytes, used) in cases.into_iter().chain(flips) {
        disk.write(snapshot, &bytes);
        let disk = disk.after(crate::sim_disk::Loss::Nothing);
        let (memory, summary) =
            Memory::open(Path::new(FOLDER), Options { disk: Arc::new(disk), ..options.clone() }).unwrap();
        assert_eq!((crate::support::contents(&memory), memory.stats().engine), expected);
        assert_eq!(summary.from_snapshot, used);
    }
}

#[test]
fn a_snapshot_of_another_journal_is_left_aside() {
    let life = |events: std::ops::Range<usize>| {
        let disk = SimDisk::default();
        let options = Options { snapshot_tail_bytes: 1, ..quiet(&disk) };
        let (memory, _) = Memory::open(Path::new(FOLDER), options).unwrap();
        for number in events {
            memory.write(NOW, event(number)).unwrap().receipt.wait(Promise::Synced).unwrap();
        }
        memory.close().unwrap();
        disk
    };
    let (journal, snapshot) = (Path::new("/memory/memory.journal"), Path::new("/memory/memory.snapshot"));
    let (ours, theirs) = (life(0..20), life(5..25));
    // A backup of the journal from before, and a journal of the same length with another history.
    let shorter = ours.read(journal).unwrap();
    for other in [shorter[..shorter.len() / 2].to_vec(), theirs.read(journal).unwrap()] {
        let disk = ours.after(crate::sim_disk::Loss::Nothing);
        disk.write(journal, &other);
        let (memory, summary) = open(&disk);
        assert!(!summary.from_snapshot);
        assert_eq!(summary.missing_bytes, (shorter.len() - other.len()) as u64, "a cut is said");
        let with = crate::support::contents(&memory);
        artoo_mkct::disk::Disk::remove(&disk, snapshot).unwrap();
        drop(memory);
        assert_eq!(crate::support::contents(&open(&disk).0), with);
    }
}

#[test]
fn rebuild_reads_everything_anew_and_changes_nothing() {
    let disk = SimDisk::default();
    let (memory, _) = open(&disk);
    live(&memory, &mut Random(9), 150);
    let before = (crate::support::contents(&memory), memory.stats().engine);
    assert_eq!(memory.rebuild().unwrap(), 0);
    assert_eq!((crate::support::contents(&memory), memory.stats().engine), before);
}

#[doc = "holds: design M11"]
#[test]
fn a_look_back_finds_what_was_deleted_since_and_says_from_when_it_is_complete() {
    let disk = SimDisk::default();
    let options = Options { clock: Arc::new(crate::support::Still(NOW + 200 * DAY)), ..quiet(&disk) };
    let (memory, _) = Memory::open(Path::new(FOLDER), options).unwrap();
    for number in 0..14 {
        memory.write(NOW + number as i64, event(number)).unwrap();
    }
    let then = memory.query_mk("intent:1", "via:glob", NOW + DAY);
    for _ in 0..20 {
        let _ = memory.dream();
    }
    assert_eq!(memory.stats().engine.megrams, 0, "everything faded");
    let hindsight = memory.as_of(NOW + DAY).unwrap();
    assert_eq!(hindsight.engine.query_mk("intent:1", "via:glob", NOW + DAY), then);
    assert_eq!((hindsight.engine.len(), hindsight.complete_from_ms), (14, None));
    memory.compact(NOW + 201 * DAY).unwrap();
    let hindsight = memory.as_of(NOW + DAY).unwrap();
    assert_eq!((hindsight.engine.len(), hindsight.complete_from_ms), (0, Some(NOW + 200 * DAY + 1)));
    memory.close().unwrap();
    assert_eq!(open(&disk).0.as_of(NOW).unwrap().complete_from_ms, Some(NOW + 200 * DAY + 1), "kept with the journal");
}
