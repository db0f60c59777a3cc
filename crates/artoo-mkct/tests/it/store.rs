//! The files of a memory: erasure, compaction, snapshots, and the memory as it was.

use std::{path::Path, sync::Arc};

use artoo_mkct::{
    Durability, Memory, NewMegram, State, Tag,
    export::ImportError,
    memory::MemoryWriteError,
    record::{Frame, MegramId, PromoteError},
};

use crate::{
    sim_disk::{Random, SimDisk},
    support::{DAY, FOLDER, NOW, TestClock, event, open, quiet},
};

/// An event without a task.
fn without_task(number: usize) -> NewMegram {
    let mut draft = event(number);
    draft.task = None;
    draft
}

/// Performs random operations under a few tags: writes, recalls, deletions, dreams, compactions, laws.
fn live(memory: &Memory, clock: &TestClock, random: &mut Random, operations: usize) {
    let mut ids: Vec<MegramId> = Vec::new();
    for number in 0..operations {
        let now = NOW + number as i64 * DAY / 4;
        clock.set(now);
        match random.below(12) {
            0 if !ids.is_empty() => {
                let id = ids.swap_remove(random.below(ids.len()));
                memory.forget(id, now).unwrap_or_default();
            }
            1 => drop(memory.dream()),
            2 => drop(memory.query_c(&Tag::new("intent:1", "via:glob"), now)),
            3 => {
                drop(memory.write_thinking(&Tag::new("law", format!("no-{}", random.below(3))), "do no harm", now).ok())
            }
            4 if number % 5 == 0 => drop(memory.compact(now - 5 * DAY).unwrap()),
            _ => ids.extend(memory.write(event(random.below(1_000)), now).unwrap().ids),
        }
    }
    memory.flush(Durability::Synced).unwrap();
}

#[doc = "holds: design M11"]
#[test]
fn deleted_text_is_erased_from_disk() {
    let disk = SimDisk::default();
    let options = quiet(&disk).with(|options| options.snapshot_tail_bytes = 1);
    let secret = "q7Zk2Vx9WmB4tLsRdYc8";
    let (memory, _) = Memory::open(Path::new(FOLDER), options.clone()).unwrap();
    let id = memory.write(NewMegram::new(Tag::new("s", "e"), State::Accept, secret), NOW).unwrap().ids[0];
    memory.write(event(1), NOW).unwrap();
    memory.verify().unwrap();
    memory.close().unwrap();
    let (memory, _) = Memory::open(Path::new(FOLDER), options.clone()).unwrap();
    memory.verify().unwrap();
    let held: Vec<String> = disk.holds(secret.as_bytes()).iter().map(|path| path.display().to_string()).collect();
    assert_eq!(held, ["/memory/memory.journal"], "else this test is none");
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
fn compaction_drops_old_deletions_and_keeps_order() {
    let disk = SimDisk::default();
    let clock = TestClock::new(NOW);
    let options = quiet(&disk).with(|options| options.clock = Arc::new(clock.clone()));
    let (memory, _) = Memory::open(Path::new(FOLDER), options.clone()).unwrap();
    for number in 0..200 {
        memory.write(without_task(number), NOW).unwrap();
    }
    clock.set(NOW + 200 * DAY);
    let fresh = memory.write(event(500), NOW + 200 * DAY).unwrap().ids[0];
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
    let potentials = memory.query_mk(&Tag::new("intent:3", "via:glob"), NOW + 200 * DAY);
    memory.close().unwrap();
    let (memory, _) = Memory::open(Path::new(FOLDER), options).unwrap();
    assert_eq!(crate::support::contents(&memory), before);
    assert_eq!(memory.query_mk(&Tag::new("intent:3", "via:glob"), NOW + 200 * DAY), potentials);
}

/// A memory opened from a snapshot equals one replayed from the journal; a damaged snapshot is ignored.
#[test]
fn snapshot_equals_full_replay_or_is_ignored() {
    let disk = SimDisk::default();
    let clock = TestClock::new(NOW);
    let options = quiet(&disk).with(|options| {
        options.snapshot_tail_bytes = 1;
        options.clock = Arc::new(clock.clone());
    });
    let (memory, _) = Memory::open(Path::new(FOLDER), options.clone()).unwrap();
    live(&memory, &clock, &mut Random(3), 120);
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
            Memory::open(Path::new(FOLDER), options.clone().with(|options| options.disk = Arc::new(disk))).unwrap();
        assert_eq!((crate::support::contents(&memory), memory.stats().engine), expected);
        assert_eq!(summary.from_snapshot, used);
    }
}

#[test]
fn snapshot_of_another_journal_is_ignored() {
    let life = |events: std::ops::Range<usize>| {
        let disk = SimDisk::default();
        let options = quiet(&disk).with(|options| options.snapshot_tail_bytes = 1);
        let (memory, _) = Memory::open(Path::new(FOLDER), options).unwrap();
        for number in events {
            memory.write(event(number), NOW).unwrap().receipt.wait(Durability::Synced).unwrap();
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
    let (disk, clock) = (SimDisk::default(), TestClock::new(NOW));
    let options = quiet(&disk).with(|options| options.clock = Arc::new(clock.clone()));
    let (memory, _) = Memory::open(Path::new(FOLDER), options).unwrap();
    live(&memory, &clock, &mut Random(9), 150);
    let before = (crate::support::contents(&memory), memory.stats().engine);
    assert_eq!(memory.rebuild().unwrap(), 0);
    assert_eq!((crate::support::contents(&memory), memory.stats().engine), before);
}

/// The memory as of an earlier time contains faded records until a compaction drops them, and then reports the gap.
#[doc = "holds: design M11"]
#[test]
fn history_finds_deleted_records_since_known_time() {
    let disk = SimDisk::default();
    let clock = TestClock::new(NOW);
    let options = quiet(&disk).with(|options| options.clock = Arc::new(clock.clone()));
    let (memory, _) = Memory::open(Path::new(FOLDER), options).unwrap();
    for number in 0..14 {
        memory.write(event(number), NOW + number as i64).unwrap();
    }
    clock.set(NOW + 200 * DAY);
    let then = memory.query_mk(&Tag::new("intent:1", "via:glob"), NOW + DAY);
    for _ in 0..20 {
        let _ = memory.dream();
    }
    assert_eq!(memory.stats().engine.megrams, 0, "everything faded");
    let hindsight = memory.as_of(NOW + DAY).unwrap();
    assert_eq!(hindsight.engine.query_mk(&Tag::new("intent:1", "via:glob"), NOW + DAY), then);
    assert_eq!((hindsight.engine.len(), hindsight.complete_from_ms), (14, None));
    memory.compact(NOW + 201 * DAY).unwrap();
    let hindsight = memory.as_of(NOW + DAY).unwrap();
    assert_eq!((hindsight.engine.len(), hindsight.complete_from_ms), (0, Some(NOW + 200 * DAY + 1)));
    memory.close().unwrap();
    assert_eq!(open(&disk).0.as_of(NOW).unwrap().complete_from_ms, Some(NOW + 200 * DAY + 1), "kept with the journal");
}

#[test]
fn import_is_complete_or_refused() {
    let (disk, other) = (SimDisk::default(), SimDisk::default());
    let (memory, _) = open(&disk);
    let ids: Vec<MegramId> = (0..20).map(|number| memory.write(event(number), NOW).unwrap().ids[0]).collect();
    let mut text = Vec::new();
    memory.export(&mut text).unwrap();
    let (taker, _) = open(&other);
    // A line that is not valid, behind ones that are.
    let mut broken = text.clone();
    broken.extend(b"{}\n");
    let refused = taker.import(&mut broken.as_slice()).unwrap_err();
    assert!(matches!(refused, MemoryWriteError::Import(ImportError::Malformed { line: 22, .. })), "{refused:?}");
    assert!(refused.to_string().starts_with("line 22 is not a record: "), "{refused}");
    assert_eq!(taker.stats().engine.megrams, 0);
    let (report, accepted) = taker.import(&mut text.as_slice()).unwrap();
    assert_eq!((report.applied, report.skipped, accepted.ids), (20, 0, ids));
    accepted.receipt.wait(Durability::Synced).unwrap();
    assert_eq!(taker.import(&mut text.as_slice()).unwrap().0.skipped, 20);
    let left = other.after(crate::sim_disk::Loss::Everything);
    assert_eq!(crate::support::contents(&open(&left).0), crate::support::contents(&memory));
}

#[test]
fn adopt_skips_invalid_frames() {
    let (disk, other) = (SimDisk::default(), SimDisk::default());
    let (memory, _) = open(&disk);
    let ids: Vec<MegramId> = (0..3).map(|number| memory.write(event(number), NOW).unwrap().ids[0]).collect();
    let frames: Vec<Frame> = memory.engine().state_frames().collect::<Result<_, _>>().unwrap();
    let (taker, _) = open(&other);
    let adopted = taker.adopt([&frames[..], &frames[..1]].concat()).unwrap();
    assert_eq!(adopted.ids, ids, "all of them, the repeated one once");
    adopted.receipt.wait(Durability::Synced).unwrap();
    let left = other.after(crate::sim_disk::Loss::Everything);
    assert_eq!(crate::support::contents(&open(&left).0), crate::support::contents(&memory));
}

/// A rule survives a loss of power, and its ticket can't be used a second time.
#[test]
fn promoted_rule_persists_stale_ticket_refused() {
    let disk = SimDisk::default();
    let (memory, _) = open(&disk);
    let tag = Tag::approach("count files", &["glob"]);
    for task in 0..6 {
        let draft = NewMegram::new(tag.clone(), State::Accept, "12 files");
        memory.write(draft.task(format!("task-{task}")), NOW).unwrap();
    }
    let ticket = memory.engine().promotions(NOW).remove(0).ticket;
    let refused = memory.promote(&ticket, " ", NOW).unwrap_err();
    assert_eq!(refused.to_string(), "the rule is not valid: Content is empty");
    let rule = memory.promote(&ticket, "count with glob", NOW).unwrap();
    rule.receipt.wait(Durability::Synced).unwrap();
    let stale = memory.promote(&ticket, "again", NOW).unwrap_err();
    assert!(matches!(stale, MemoryWriteError::Promote(PromoteError::AlreadyPromoted)), "{stale:?}");
    let (memory, _) = open(&disk.after(crate::sim_disk::Loss::Everything));
    let rules = memory.query_c(&tag, NOW);
    assert_eq!((rules[0].id, rules[0].content.as_str()), (rule.ids[0], "count with glob"));
}

#[test]
fn invalid_write_names_its_fault() {
    let (memory, _) = open(&SimDisk::default());
    let refused = memory.write(NewMegram::new(Tag::new("a|b", "c"), State::Accept, "x"), NOW).unwrap_err();
    assert_eq!(refused.to_string(), "the record is not valid: Space holds '|', which must be escaped");
}
