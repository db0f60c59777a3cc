//! M15, S6: a second process can use a memory, and its writes are not lost.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use artoo_mkct::{
    Durability, Memory, NewMegram, Options, State, Tag,
    disk::{Disk as _, OpenMode},
    memory::{MaintenanceError, MemoryForgetError},
};

use crate::{
    sim_disk::{Loss, SimDisk},
    support::{NOW, contents, event, open},
};

/// Number of processes that use one folder at the same time.
const RUNS: usize = 50;

/// Number of writes of each process; all write the same texts.
const WRITES: usize = 5;

const FOLDER_VARIABLE: &str = "MKCT_TEST_FOLDER";

/// Child process of `fifty_processes_at_once_lose_nothing`: opens the memory, writes five records, and closes it.
#[test]
#[ignore = "a part of the next test"]
fn child_process_opens_writes_and_closes() {
    let folder = std::env::var_os(FOLDER_VARIABLE).expect("started by the other test");
    let (memory, _) = Memory::open(PathBuf::from(folder), Options::default()).unwrap();
    for number in 0..WRITES {
        memory.write(event(number), NOW).unwrap().receipt.wait(Durability::Synced).unwrap();
    }
    memory.close().unwrap();
}

/// Starts a process that opens the memory, writes and closes it.
fn start_child(folder: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "two_processes::child_process_opens_writes_and_closes", "--ignored", "--nocapture"])
        .env(FOLDER_VARIABLE, folder)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

#[doc = "holds: design M15, S6"]
#[test]
fn fifty_processes_at_once_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let children: Vec<Child> = (0..RUNS).map(|_| start_child(folder.path())).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let (memory, summary) = Memory::open(folder.path(), Options::default()).unwrap();
    assert!(!summary.guest);
    let found = contents(&memory);
    assert_eq!(found.len(), RUNS * WRITES, "the same texts at the same moment are different records: {summary:?}");
    assert_eq!(found.values().collect::<BTreeSet<_>>().len(), WRITES);
    assert!(memory.verify().unwrap().is_sound());
    memory.close().unwrap();
    assert_eq!(std::fs::read_dir(folder.path().join("memory.inbox")).map_or(0, Iterator::count), 0, "all taken in");
}

#[doc = "holds: law 3.4; design M15"]
#[test]
fn guest_reads_memory_and_holder_merges_journal() {
    let disk = SimDisk::default();
    let (first, _) = open(&disk);
    first.write(event(0), NOW).unwrap().receipt.wait(Durability::Synced).unwrap();
    let (second, summary) = open(&disk);
    assert!(summary.guest && second.stats().guest);
    assert_eq!(contents(&second).len(), 1);
    second.write(event(1), NOW).unwrap();
    assert_eq!(contents(&second).len(), 2, "its own writes are visible to it, and readable");
    assert_eq!(first.dream().unwrap().adopted.journals, 0, "its journal is in use");
    second.close().unwrap();
    let taken = first.dream().unwrap().adopted;
    assert_eq!((taken.journals, taken.frames, taken.damaged), (1, 1, 0));
    assert_eq!(contents(&first).len(), 2);
    first.close().unwrap();
    assert_eq!(contents(&open(&disk.after(Loss::Everything)).0).len(), 2);
}

/// A second process can write while the lock's holder has not created the journal yet, and its writes are merged later.
#[doc = "holds: design M15"]
#[test]
fn guest_works_before_holders_journal_exists() {
    let disk = SimDisk::default();
    let lock = disk.open(std::path::Path::new("/memory/memory.lock"), OpenMode::Write).unwrap();
    assert!(lock.try_lock().unwrap());
    let (guest, summary) = open(&disk);
    assert!(summary.guest);
    guest.write(event(0), NOW).unwrap();
    guest.close().unwrap();
    lock.unlock();
    let (memory, summary) = open(&disk);
    assert_eq!((summary.adopted.journals, contents(&memory).len()), (1, 1));
}

#[doc = "holds: design M15"]
#[test]
fn guest_merges_journal_after_holder_exits() {
    let disk = SimDisk::default();
    let (first, _) = open(&disk);
    let (second, _) = open(&disk);
    first.close().unwrap();
    second.write(event(1), NOW).unwrap();
    second.close().unwrap();
    assert!(disk.paths().iter().all(|path| !path.to_string_lossy().contains("inbox")), "{:?}", disk.paths());
    assert_eq!(contents(&open(&disk).0).len(), 1);
}

#[doc = "holds: law 3.4; design M15"]
#[test]
fn next_opener_merges_killed_guests_journal_once() {
    let disk = SimDisk::default();
    let (first, _) = open(&disk);
    let (second, _) = open(&disk);
    second.write(event(1), NOW).unwrap().receipt.wait(Durability::Synced).unwrap();
    let killed = disk.after(Loss::Everything);
    let inbox: Vec<PathBuf> =
        killed.paths().into_iter().filter(|path| path.to_string_lossy().contains("inbox")).collect();
    let journal = killed.read(&inbox[0]).unwrap();
    let (memory, summary) = open(&killed);
    assert_eq!((summary.adopted.journals, contents(&memory).len()), (1, 1));
    memory.close().unwrap();
    // The file's name came back after a crash: the same records once more.
    killed.open(&inbox[0], OpenMode::Write).unwrap().write_at(&journal, 0).unwrap();
    let (memory, summary) = open(&killed);
    assert_eq!((summary.adopted.frames, contents(&memory).len()), (0, 1));
    drop((first, second, memory));
}

#[doc = "holds: design M15"]
#[test]
fn damaged_guest_journal_merges_valid_frames() {
    let disk = SimDisk::default();
    let (first, _) = open(&disk);
    let (second, _) = open(&disk);
    for number in 0..3 {
        second.write(event(number), NOW).unwrap().receipt.wait(Durability::Synced).unwrap();
    }
    let left = disk.after(Loss::Everything);
    drop((first, second));
    let inbox = left.paths().into_iter().find(|path| path.to_string_lossy().contains("inbox")).unwrap();
    let mut bytes = left.read(&inbox).unwrap();
    let second_event = bytes.windows(7).position(|window| window == b"event 1").unwrap();
    bytes[second_event] ^= 1;
    left.write(&inbox, &bytes);
    let (memory, summary) = open(&left);
    assert_eq!((summary.adopted.damaged, summary.adopted.frames), (1, 2));
    assert_eq!(contents(&memory).len(), 2);
}

#[doc = "holds: design M15"]
#[test]
fn guest_deletes_holder_records_after_merge() {
    let disk = SimDisk::default();
    let (first, _) = open(&disk);
    let theirs = first.write(event(0), NOW).unwrap();
    theirs.receipt.wait(Durability::Synced).unwrap();
    let (second, _) = open(&disk);
    let own = second.write(NewMegram::new(Tag::new("s", "e"), State::Accept, "a secret of mine"), NOW).unwrap();
    second.forget(own.ids[0], NOW).unwrap();
    assert_eq!(disk.holds(b"a secret of mine"), Vec::<PathBuf>::new());
    let told = second.forget(theirs.ids[0], NOW).unwrap_err();
    assert!(matches!(told, MemoryForgetError::HeldElsewhere), "{told:?}");
    assert_eq!(contents(&second).len(), 0);
    for refused in [second.compact(NOW).map(drop), second.verify().map(drop), second.rebuild().map(drop)] {
        assert!(matches!(refused, Err(MaintenanceError::HeldElsewhere)));
    }
    second.close().unwrap();
    let _ = first.dream();
    assert_eq!(contents(&first).len(), 0);
    assert_eq!(disk.holds(b"event 0"), Vec::<PathBuf>::new(), "taking the wish in erased the body");
}
