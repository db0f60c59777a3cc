//! Changes of an open memory by a person or another process, and their report to the observer.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use artoo_mkct::{
    Action, Durability, Engine, Memory, NewMegram, Options, RecallQuery, State, Tag,
    advice::Cap,
    memory::{Distiller, Observer},
    record::{Frame, Megram},
    rules::Promotion,
};

use crate::{
    sim_disk::SimDisk,
    support::{DAY, FOLDER, NOW, TestClock, contents, event, open, quiet},
};

const INTENT: &str = "Count the PDF files in Documents";

/// An observer that applies the reported changes to its own engine.
#[derive(Debug, Default)]
struct CopyingObserver(Mutex<(Engine, Vec<Frame>)>);

impl Observer for CopyingObserver {
    fn changed(&self, frames: &[Frame]) {
        let (engine, told) = &mut *self.0.lock().unwrap();
        for frame in frames {
            engine.apply(frame).unwrap();
            told.push(frame.clone());
        }
    }
}

/// A distiller that always returns the same text.
#[derive(Debug)]
struct FixedDistiller;

impl Distiller for FixedDistiller {
    fn distil(&self, _: &Promotion, _: &[Megram]) -> Result<String, String> {
        Ok("Use glob.".to_owned())
    }
}

/// An event of a task with an approach.
fn worked(task: &str, state: State) -> NewMegram {
    NewMegram::new(Tag::approach(INTENT, &["glob"]), state, format!("{state:?}")).intent(INTENT).task(task)
}

/// Options with a clock, a distiller and an observer.
fn dreaming(disk: &SimDisk, clock: &TestClock, observer: Option<&Arc<CopyingObserver>>) -> Options {
    quiet(disk).with(|options| {
        options.clock = Arc::new(clock.clone());
        options.distiller = Some(Arc::new(FixedDistiller));
        options.observer = observer.map(|observer| Arc::clone(observer) as Arc<dyn Observer>);
    })
}

/// Events written by two processes make a rule and later demote it, and the observer's copy of the engine stays equal.
#[test]
fn two_processes_make_and_unmake_a_rule() {
    let (disk, clock, observer) = (SimDisk::default(), TestClock::new(NOW), Arc::new(CopyingObserver::default()));
    let (first, _) = Memory::open(Path::new(FOLDER), dreaming(&disk, &clock, Some(&observer))).unwrap();
    let mirrored = |memory: &Memory| {
        let (engine, told) = &mut *observer.0.lock().unwrap();
        let same = engine.stats() == memory.engine().stats() && engine.sop_records() == memory.engine().sop_records();
        (same, std::mem::take(told).len())
    };
    let also = |draft: NewMegram, now_ms| {
        let frame = observer.0.lock().unwrap().0.write(draft.clone(), now_ms).unwrap();
        first.adopt(vec![frame]).unwrap();
    };
    let guest = |state, tasks: &[&str], now_ms| {
        let (second, summary) = open(&disk);
        assert!(summary.guest);
        second.write_all(tasks.iter().map(|task| worked(task, state)).collect(), now_ms).unwrap();
        second.close().unwrap();
    };
    ["a", "b", "c"].iter().for_each(|task| also(worked(task, State::Accept), NOW));
    assert_eq!((first.dream().unwrap().promoted.len(), mirrored(&first)), (0, (true, 0)), "three records are no rule");
    guest(State::Accept, &["d", "e", "f"], NOW);
    assert_eq!(first.dream().unwrap().promoted.len(), 1);
    assert_eq!(first.engine().sop_records()[0].tasks, 6, "of both processes");
    assert_eq!(mirrored(&first), (true, 4), "three records of the other process, and the rule");

    clock.set(NOW + 20 * DAY);
    also(worked("g", State::Abandon), NOW + 20 * DAY);
    guest(State::Abandon, &["h", "i"], NOW + 20 * DAY);
    let dream = first.dream().unwrap();
    assert_eq!((dream.demoted.len(), first.engine().sop_records().len()), (1, 0), "dissonance of both processes");
    assert!(
        first
            .engine()
            .find(&artoo_mkct::advice::Selector::Tag(Tag::approach(INTENT, &["glob"])), 99)
            .iter()
            .any(Megram::is_dissonance)
    );
    assert_eq!(mirrored(&first), (true, 4), "two records, a dissonance, a demotion");
}

#[test]
fn correction_is_stored_and_deletable() {
    let disk = SimDisk::default();
    let (memory, _) = open(&disk);
    memory.write(worked("a", State::Accept), NOW).unwrap();
    let lesson = NewMegram::lesson(INTENT, "a number", "words", "glob", "*.pdf").task("a");
    let lesson = memory.write(lesson, NOW).unwrap().ids[0];
    assert_eq!(memory.lesson_outcome(lesson, true, Some("b"), NOW).unwrap().ids.len(), 1);
    let corrected = memory.correct("a", "a secret complaint", NOW).unwrap();
    assert_eq!((corrected.ids.len(), memory.correct("a", "again", NOW).unwrap().ids.len()), (2, 0));
    let note = memory.remember("a secret note", NOW).unwrap();
    note.receipt.wait(Durability::Synced).unwrap();
    memory.close().unwrap();
    for again in 0..2 {
        // From the journal, then from a snapshot.
        let options = quiet(&disk).with(|options| options.snapshot_tail_bytes = 1);
        let (memory, summary) = Memory::open(Path::new(FOLDER), options).unwrap();
        assert_eq!(summary.from_snapshot, again == 1);
        let recall = memory.recall(&RecallQuery::new(INTENT), NOW);
        assert_eq!(recall.advice[0].capped, None, "accept and correction outweigh each other");
        assert_eq!((recall.advice[0].potentials.action, recall.lessons.len()), (Action::Caution, 1));
        assert_eq!(recall.notes[0].text, "a secret note");
        assert!(memory.engine().tasks(9).iter().any(|task| task.corrected));
        memory.close().unwrap();
    }
    let (memory, _) = open(&disk);
    memory.write_all(["c", "d"].map(|task| worked(task, State::Accept)).into(), NOW - DAY).unwrap();
    let ids: Vec<_> = [corrected.ids, note.ids].concat();
    memory.forget_all(&[&ids[..], &ids[..1]].concat(), NOW).unwrap();
    assert_eq!(disk.holds(b"a secret"), Vec::<PathBuf>::new());
    assert_eq!(contents(&memory).len(), 5);
    let recall = memory.recall(&RecallQuery::new(INTENT), NOW);
    assert_eq!((recall.advice[0].potentials.action, recall.notes.len()), (Action::Exploit, 0));
}

#[test]
fn guest_deletes_every_requested_record() {
    let disk = SimDisk::default();
    let (first, _) = open(&disk);
    let theirs = first.write_all(vec![event(0), event(1)], NOW).unwrap();
    theirs.receipt.wait(Durability::Synced).unwrap();
    let (second, _) = open(&disk);
    second.forget_all(&theirs.ids, NOW).unwrap_err();
    assert_eq!(contents(&second).len(), 0, "the error of the first stops nothing");
}

/// After opening from a snapshot, two intents with equal keys still get separate advice.
#[test]
fn a_snapshot_keeps_intents_apart() {
    let disk = SimDisk::default();
    let (memory, _) = open(&disk);
    let other = "Count the PDF files that Ada sent";
    memory.write(worked("a", State::Accept), NOW).unwrap();
    let draft = NewMegram::new(Tag::approach(other, &["glob"]), State::Abandon, "none").intent(other).task("b");
    let gone = memory.write(draft, NOW).unwrap().ids[0];
    memory.close().unwrap();
    let options = quiet(&disk).with(|options| options.snapshot_tail_bytes = 1);
    Memory::open(Path::new(FOLDER), options.clone()).unwrap().0.close().unwrap();
    let (memory, summary) = Memory::open(Path::new(FOLDER), options).unwrap();
    assert!(summary.from_snapshot);
    let told = |intent: &str| {
        memory
            .recall(&RecallQuery::new(intent), NOW)
            .advice
            .into_iter()
            .map(|a| (a.potentials.action, a.capped))
            .collect::<Vec<_>>()
    };
    assert_eq!(told(INTENT), [(Action::Exploit, None)]);
    assert_eq!(told(other), [(Action::Caution, Some(Cap::OneTask))]);
    memory.forget(gone, NOW).unwrap();
    assert_eq!(told(other), [(Action::Caution, Some(Cap::Similar))], "only the other intent is left");
    assert_eq!(memory.engine().intents().collect::<Vec<_>>(), [INTENT]);
}
