//! S1: acknowledged records survive the death of the process, synced ones the loss of power.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use artoo_mkct::{Durability, Memory, Options, record::MegramId};

use crate::{
    kill,
    sim_disk::{Loss, SimDisk},
    support::{DAY, FOLDER, NOW, contents, event, open, quiet},
};

/// The records that a memory acknowledged, and those whose deletion it acknowledged.
#[derive(Debug, Default)]
struct Promised {
    /// Acknowledged: may not be lost with the process.
    acknowledged: BTreeMap<MegramId, String>,
    /// Synced: may not be lost at all.
    synced: BTreeMap<MegramId, String>,
    /// May or may not be there: written or forgotten when the power went.
    open: Vec<MegramId>,
    /// Must not be anywhere.
    forgotten: Vec<(MegramId, String)>,
}

/// Writes, deletes, compacts, opens a guest, and reopens the memory; `None` if the power failed.
fn live(disk: &SimDisk, options: &Options, promised: &mut Promised) -> Option<()> {
    let mut number = 0;
    for life in 0..3 {
        let (memory, _) = Memory::open(Path::new(FOLDER), options.clone()).ok()?;
        for batch in [1, 3, 2] {
            let drafts: Vec<_> = (number..number + batch).map(event).collect();
            let texts: Vec<String> = drafts.iter().map(|draft| draft.content.clone()).collect();
            number += batch;
            let accepted = memory.write_all(drafts, NOW).ok()?;
            promised.open.extend(&accepted.ids);
            let records: Vec<_> = accepted.ids.iter().copied().zip(texts).collect();
            accepted.receipt.wait(Durability::Acknowledged).ok()?;
            promised.acknowledged.extend(records.clone());
            accepted.receipt.wait(Durability::Synced).ok()?;
            promised.synced.extend(records);
        }
        if life == 1 {
            let (guest, summary) = Memory::open(Path::new(FOLDER), options.clone()).ok()?;
            assert!(summary.guest);
            let accepted = guest.write(event(50), NOW).ok()?;
            promised.open.extend(&accepted.ids);
            accepted.receipt.wait(Durability::Synced).ok()?;
            let record = (accepted.ids[0], event(50).content);
            promised.acknowledged.extend([record.clone()]);
            promised.synced.extend([record]);
            guest.close().ok()?;
        }
        if life > 0 {
            let (&id, text) = promised.synced.iter().nth(life).unwrap();
            let text = text.clone();
            promised.open.push(id);
            let done = memory.forget(id, NOW + DAY);
            promised.synced.remove(&id);
            promised.acknowledged.remove(&id);
            done.ok()?;
            promised.forgotten.push((id, text));
            memory.compact(NOW + 2 * DAY).ok()?;
        }
        let _ = memory.dream();
        memory.close().ok()?;
    }
    assert_eq!(number, 18, "{disk:?}");
    Some(())
}

/// Opens a copy of the disk after a loss; asserts that what was promised to survive the loss is there, and that nothing
/// deleted is.
fn check(disk: &SimDisk, loss: Loss, options: impl Fn(&SimDisk) -> Options, promised: &Promised, at: usize) {
    let left = disk.after(loss);
    let (memory, summary) = Memory::open(Path::new(FOLDER), options(&left))
        .unwrap_or_else(|error| panic!("step {at}, {loss:?}: not opened: {error:?}"));
    let found = contents(&memory);
    let kept = if loss == Loss::Nothing { &promised.acknowledged } else { &promised.synced };
    for (id, text) in kept {
        assert_eq!(found.get(id), Some(text), "step {at}, {loss:?}: {id} was promised; {summary:?}");
    }
    for id in found.keys() {
        assert!(kept.contains_key(id) || promised.open.contains(id), "step {at}, {loss:?}: {id} came from nowhere");
    }
    for (id, text) in &promised.forgotten {
        assert!(!found.contains_key(id), "step {at}, {loss:?}: {id} was forgotten");
        assert_eq!(left.holds(text.as_bytes()), Vec::<std::path::PathBuf>::new(), "step {at}, {loss:?}");
    }
    assert_eq!(summary.refused_frames, 0, "step {at}, {loss:?}");
    // The memory still accepts writes.
    let accepted = memory.write(event(99), NOW).unwrap();
    accepted.receipt.wait(Durability::Synced).unwrap();
    let verified = memory.verify().unwrap();
    assert!(verified.is_sound(), "step {at}, {loss:?}: {verified:?}");
    memory.close().unwrap();
}

/// Options that save a snapshot often, without a Dreamer.
fn small_snapshots(disk: &SimDisk) -> Options {
    quiet(disk).with(|options| {
        options.snapshot_tail_bytes = 1_000;
        options.dream = None;
    })
}

#[doc = "holds: design S1"]
#[test]
fn power_loss_at_any_write_keeps_promises() {
    let whole = SimDisk::default();
    let mut promised = Promised::default();
    live(&whole, &small_snapshots(&whole), &mut promised).unwrap();
    let steps = whole.steps();
    assert!(steps > 80, "{steps}");
    for at in 0..steps {
        let disk = SimDisk::default();
        disk.fail_at(at);
        let mut promised = Promised::default();
        let survived = live(&disk, &small_snapshots(&disk), &mut promised);
        assert!(survived.is_none() || disk.steps() <= at, "the power goes at step {at}");
        let partly = (1..=6).map(|seed| Loss::Some(at as u64 * 6 + seed));
        for loss in [Loss::Nothing, Loss::Everything].into_iter().chain(partly) {
            check(&disk, loss, small_snapshots, &promised, at);
        }
    }
}

/// On a full disk a receipt reports the failed write, which is retried and stored once there is space again.
#[doc = "holds: design S4"]
#[test]
fn full_disk_is_reported_and_survived() {
    let disk = SimDisk::default();
    let (memory, _) = open(&disk);
    memory.write(event(0), NOW).unwrap().receipt.wait(Durability::Synced).unwrap();
    disk.set_capacity(Some(disk.used() + 100));
    let accepted = memory.write(event(1), NOW).unwrap();
    let told = accepted.receipt.wait(Durability::Acknowledged).unwrap_err();
    assert!(matches!(&told, artoo_mkct::memory::DurabilityError::Journal { retried: true, .. }), "{told:?}");
    assert!(memory.stats().queue.failing);
    assert_eq!(contents(&memory).len(), 2, "it stays visible");
    // Space is available again.
    disk.set_capacity(None);
    let next = memory.write(event(2), NOW).unwrap();
    while next.receipt.wait(Durability::Synced).is_err() {
        std::thread::yield_now();
    }
    accepted.receipt.wait(Durability::Synced).unwrap();
    memory.close().unwrap();
    assert_eq!(contents(&open(&disk).0).len(), 3);
}

#[doc = "holds: design S4"]
#[test]
fn close_reports_a_full_disk() {
    let disk = SimDisk::default();
    let (memory, _) = open(&disk);
    disk.set_capacity(Some(disk.used()));
    memory.write(event(0), NOW).unwrap();
    memory.close().unwrap_err();
    assert_eq!(contents(&open(&disk).0).len(), 0);
}

#[doc = "holds: design S7"]
#[test]
fn failed_sync_stops_the_journal() {
    let disk = SimDisk::default();
    let (memory, _) = open(&disk);
    memory.write(event(0), NOW).unwrap().receipt.wait(Durability::Synced).unwrap();
    disk.set_sync_fails(true);
    let accepted = memory.write(event(1), NOW).unwrap();
    let told = accepted.receipt.wait(Durability::Synced).unwrap_err();
    assert!(matches!(told, artoo_mkct::memory::DurabilityError::Journal { retried: false, .. }), "{told:?}");
    disk.set_sync_fails(false);
    let refused = memory.write(event(2), NOW).unwrap_err();
    assert!(matches!(refused, artoo_mkct::memory::MemoryWriteError::Failed(_)), "{refused:?}");
    assert_eq!(contents(&memory).len(), 2, "what is known stays known");
    memory.close().unwrap_err();
    assert_eq!(contents(&open(&disk.after(Loss::Everything)).0).len(), 1);
}

#[doc = "holds: design S12, M14"]
#[test]
fn full_queue_refuses_and_counts_records() {
    let disk = SimDisk::default();
    let (memory, _) =
        Memory::open(Path::new(FOLDER), quiet(&disk).with(|options| options.max_queued_bytes = 20_000)).unwrap();
    // Nothing leaves the queue while the disk is full.
    disk.set_capacity(Some(disk.used()));
    let (mut accepted, mut refused) = (0, 0);
    for number in 0..100 {
        match memory.write(event(number), NOW) {
            Ok(_) => accepted += 1,
            Err(artoo_mkct::memory::MemoryWriteError::QueueFull { queued, max: 20_000 }) if queued <= 20_000 => {
                refused += 1
            }
            Err(error) => panic!("{error}"),
        }
    }
    assert!(accepted > 10 && refused > 10, "{accepted} {refused}");
    assert_eq!((memory.stats().queue.refused, contents(&memory).len()), (refused, accepted));
    disk.set_capacity(None);
    memory.close().unwrap();
    assert_eq!(contents(&open(&disk).0).len(), accepted);
}

#[doc = "holds: design S13, M14"]
#[test]
fn burst_of_writes_is_complete_after_close() {
    let disk = SimDisk::default();
    let (memory, _) = open(&disk);
    let memory = Arc::new(memory);
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let memory = &memory;
            scope.spawn(move || (0..2_500).for_each(|i| drop(memory.write(event(writer * 2_500 + i), NOW).unwrap())));
        }
    });
    let seen = contents(&memory);
    assert_eq!(seen.len(), 10_000, "visible on accept");
    Arc::into_inner(memory).unwrap().close().unwrap();
    assert_eq!(contents(&open(&disk.after(Loss::Everything)).0), seen);
}

/// Child process of `killed_writers_lose_no_acknowledged_record`: writes, deletes and compacts until it is killed.
#[test]
#[ignore = "a part of the next test"]
fn child_process_writes_until_killed() {
    let folder = std::env::var_os("MKCT_TEST_FOLDER").expect("started by the other test");
    let salt = std::env::var("MKCT_TEST_SALT").unwrap().parse().unwrap();
    kill::write_until_killed(Path::new(&folder), salt);
}

#[doc = "holds: design S1"]
#[test]
fn killed_writers_lose_no_acknowledged_record() {
    let folder = tempfile::tempdir().unwrap();
    let writer = |salt: u64| {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "crash::child_process_writes_until_killed", "--ignored", "--nocapture"])
            .env("MKCT_TEST_FOLDER", folder.path())
            .env("MKCT_TEST_SALT", salt.to_string());
        command
    };
    let tally = kill::rounds(folder.path(), 20, 7, &writer);
    assert!(tally.acknowledged > 0);
    let nothing = kill::Tally { rounds: 20, acknowledged: tally.acknowledged, ..kill::Tally::default() };
    assert_eq!(tally, nothing);
}
