//! S3, S8, S9: a corrupted store is refused or repaired with a report; it never panics and never loses records
//! silently.

use std::{collections::BTreeMap, path::Path};

use artoo_mkct::{Durability, Memory, Options, disk::Disk as _, memory::OpenError, record::MegramId};

use crate::{
    sim_disk::{Loss, Random, SimDisk},
    support::{FOLDER, NOW, contents, event, quiet, repairing},
};

const STORES: u64 = 1_000;

/// Options that save a snapshot often.
fn options(disk: &SimDisk) -> Options {
    quiet(disk).with(|options| options.snapshot_tail_bytes = 1)
}

/// The disk of a closed store with a journal, a snapshot and the journal of a guest.
fn built() -> (SimDisk, BTreeMap<MegramId, String>) {
    let disk = SimDisk::default();
    for life in 0..2 {
        let (memory, _) = Memory::open(Path::new(FOLDER), options(&disk)).unwrap();
        for number in 0..12 {
            memory.write(event(life * 12 + number), NOW).unwrap().receipt.wait(Durability::Synced).unwrap();
        }
        memory.verify().unwrap();
        memory.close().unwrap();
    }
    let (holder, _) = Memory::open(Path::new(FOLDER), options(&disk)).unwrap();
    let (guest, _) = Memory::open(Path::new(FOLDER), options(&disk)).unwrap();
    guest.write(event(30), NOW).unwrap().receipt.wait(Durability::Synced).unwrap();
    let known = contents(&guest);
    let left = disk.after(Loss::Everything);
    drop((holder, guest));
    assert_eq!(known.len(), 25);
    (left, known)
}

/// Corrupts one file: flips a bit, truncates it, overwrites or swaps ranges, or removes it.
fn scribble(disk: &SimDisk, random: &mut Random) -> String {
    let paths: Vec<_> =
        disk.paths().into_iter().filter(|path| disk.read(path).is_some_and(|c| !c.is_empty())).collect();
    let path = &paths[random.below(paths.len())];
    let mut content = disk.read(path).unwrap();
    let at = random.below(content.len());
    let length = (1 + random.below(64)).min(content.len() - at);
    let kind = random.below(6);
    match kind {
        0 => content[at] ^= 1 << random.below(8),
        1 => content.truncate(at),
        2 => content[at..at + length].fill(0),
        3 => content[at..at + length].iter_mut().for_each(|byte| *byte = random.next() as u8),
        4 => {
            let from = random.below(content.len() - length + 1);
            content.copy_within(from..from + length, at);
        }
        _ => {
            disk.remove(path).unwrap();
            return format!("removed {path:?}");
        }
    }
    disk.write(path, &content);
    format!("kind {kind} at {at}+{length} in {path:?}")
}

/// Corrupts a copy of a store and opens it: it must be refused, be valid, or report what it lost. Returns which.
fn check(seed: u64, built: &SimDisk, known: &BTreeMap<MegramId, String>) -> &'static str {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let disk = built.after(Loss::Nothing);
    if seed.is_multiple_of(2) {
        // Without it the whole journal is read.
        disk.remove(Path::new("/memory/memory.snapshot")).unwrap();
    }
    let done = scribble(&disk, &mut random);
    let before: Vec<_> = disk.paths().into_iter().map(|path| (disk.read(&path), path)).collect();
    let refused = match Memory::open(Path::new(FOLDER), options(&disk)) {
        Ok((memory, summary)) => return compare(&memory, &summary, known, &format!("{seed}: {done}")),
        Err(OpenError::Journal(_)) => "refused",
        Err(error) => panic!("{seed}: {done}: {error:?}"),
    };
    for (content, path) in before.iter().filter(|(_, path)| path.ends_with("memory.journal")) {
        assert_eq!(&disk.read(path), content, "{seed}: {done}: a refused journal is left alone");
    }
    match Memory::open(Path::new(FOLDER), repairing(options(&disk))) {
        Ok((memory, summary)) => {
            assert!(summary.damage.as_ref().is_some_and(|damage| damage.set_aside.is_some()), "{seed}: {done}");
            compare(&memory, &summary, known, &format!("{seed}: {done}, repaired"));
        }
        // A file of which nothing is a journal any more.
        Err(OpenError::Journal(_)) => {}
        Err(error) => panic!("{seed}: {done}: {error:?}"),
    }
    refused
}

/// Compares a store with its records before the corruption; returns the kind of outcome.
fn compare(
    memory: &Memory,
    summary: &artoo_mkct::memory::OpenSummary,
    known: &BTreeMap<MegramId, String>,
    done: &str,
) -> &'static str {
    let engine = memory.engine();
    let mut unread = 0;
    let mut found = BTreeMap::new();
    for head in engine.heads() {
        match engine.get(head.id) {
            Ok(Some(megram)) => drop(found.insert(head.id, megram.content)),
            Ok(None) => panic!("{done}: {} is nowhere", head.id),
            // Known from the snapshot, damaged in the journal: said when it is read.
            Err(_) => unread += 1,
        }
    }
    for (id, text) in &found {
        assert_eq!(known.get(id), Some(text), "{done}: nothing is made up");
    }
    let lost = known.len() - found.len();
    let verified = memory.verify().unwrap();
    let said = summary.damage.is_some()
        || summary.truncated_tail_bytes > 0
        || summary.missing_bytes > 0
        || summary.adopted.damaged > 0
        || summary.created
        || unread > 0;
    // A journal of a guest that is removed, or cut to less than one entry, leaves nothing to tell it by.
    // So does a journal cut between two entries, where no snapshot remembers how long it was.
    let cut = done.contains("kind 1") && !summary.from_snapshot;
    let untold = cut || done.contains("inbox") && lost == 1;
    assert!(lost == 0 || said || untold, "{done}: {lost} lost in silence: {summary:?}");
    assert_eq!(verified.is_sound(), verified.journal.ranges.is_empty(), "{done}: {verified:?}");
    assert!(unread == 0 || !verified.is_sound(), "{done}: {unread} unread: {verified:?}");
    if lost == 0 { "whole" } else { "said" }
}

#[doc = "holds: design S3, S8, S9"]
#[test]
fn corrupted_stores_are_refused_or_report_losses() {
    let (disk, known) = built();
    let mut outcomes = BTreeMap::new();
    for seed in 1..=STORES {
        *outcomes.entry(check(seed, &disk, &known)).or_insert(0) += 1;
    }
    assert!(outcomes.len() == 3, "each outcome occurs: {outcomes:?}");
}
