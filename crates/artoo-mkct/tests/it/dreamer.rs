//! The Dreamer and its distiller: rules are made once, and a distiller that fails changes nothing.

use std::{
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
        mpsc::{Receiver, Sender, channel},
    },
    time::Duration,
};

use artoo_mkct::{
    Durability, Memory, NewMegram, Options, State, Tag,
    journal::Journal,
    memory::{Distiller, DreamTimes},
    record::{Frame, Megram, Offset, RuleKind},
    rules::{Promotion, SweepSkipped},
};

use crate::{
    sim_disk::SimDisk,
    support::{DAY, FOLDER, NOW, TestClock, contents, event, quiet},
};

/// A time limit that no step reaches, even on a busy machine.
const LONG: Duration = Duration::from_secs(120);

/// A distiller with a fixed behaviour that counts its calls.
#[derive(Debug)]
struct Scripted {
    how: Behaviour,
    asked: AtomicUsize,
    /// Called with each question.
    tell: Mutex<Option<Sender<()>>>,
}

/// How the scripted distiller behaves: returns a text, fails, hangs or panics.
#[derive(Debug, Clone, Copy)]
enum Behaviour {
    Says(&'static str),
    Fails,
    Panics,
    /// Does not return before the test ends.
    Hangs,
}

impl Distiller for Scripted {
    fn distil(&self, promotion: &Promotion, evidence: &[Megram]) -> Result<String, String> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        if let Some(tell) = &*self.tell.lock().unwrap() {
            tell.send(()).unwrap();
        }
        assert_eq!(evidence.len(), promotion.evidence.len());
        assert!(evidence.iter().all(|megram| megram.content.starts_with("it worked")));
        match self.how {
            Behaviour::Says(text) => Ok(text.to_owned()),
            Behaviour::Fails => Err("the model is away".to_owned()),
            Behaviour::Panics => panic!("as planned"),
            Behaviour::Hangs => loop {
                std::thread::park();
            },
        }
    }
}

/// A distiller with this behaviour.
fn scripted(how: Behaviour) -> Arc<Scripted> {
    Arc::new(Scripted { how, asked: AtomicUsize::new(0), tell: Mutex::new(None) })
}

/// Options with a simulated disk, this distiller, a long time limit, and a Dreamer that runs only on request.
fn options(disk: &SimDisk, distiller: &Arc<Scripted>) -> Options {
    let distiller = Arc::clone(distiller) as Arc<dyn Distiller>;
    quiet(disk).with(|options| {
        options.distiller = Some(distiller);
        options.distil_timeout = LONG;
    })
}

/// An event without a task.
fn without_task(number: usize) -> NewMegram {
    let mut draft = event(number);
    draft.task = None;
    draft
}

/// Writes six successes of as many tasks, which are enough for a rule.
fn promising(memory: &Memory) {
    for task in 0..6 {
        let draft = NewMegram::new(Tag::new("intent:count", "via:glob"), State::Accept, format!("it worked {task}"));
        memory.write(draft.task(format!("task-{task}")), NOW).unwrap();
    }
}

#[test]
fn rule_is_made_once_and_persists() {
    let (disk, distiller) = (SimDisk::default(), scripted(Behaviour::Says("  Use glob. \n")));
    let (memory, _) = Memory::open(Path::new(FOLDER), options(&disk, &distiller)).unwrap();
    promising(&memory);
    let dream = memory.dream().unwrap();
    assert_eq!((dream.promoted.len(), dream.attempts.len()), (1, 0));
    let sops = memory.query_c(&Tag::new("intent:count", "via:glob"), NOW + 5);
    assert_eq!(
        (sops[0].content.as_str(), sops[0].kind, sops[0].evidence.len()),
        ("Use glob.", RuleKind::BestPractice, 6)
    );
    assert_eq!(memory.dream().unwrap().promoted, [], "no new evidence, no new rule");
    assert_eq!(distiller.asked.load(Ordering::SeqCst), 1);
    memory.close().unwrap();
    let (memory, _) = Memory::open(Path::new(FOLDER), options(&disk, &distiller)).unwrap();
    let again = memory.query_c(&Tag::new("intent:count", "via:glob"), NOW + 9);
    assert_eq!((again[0].id, again[0].last_recalled_at_ms), (sops[0].id, Some(NOW + 5)), "a recall is kept too");
}

/// A distiller that fails, hangs, panics or returns invalid text makes no rule; the attempt is recorded and not
/// repeated at once.
#[test]
fn distiller_faults_cost_one_logged_attempt() {
    let long: &'static str = "x".repeat(artoo_mkct::record::MAX_CONTENT_BYTES + 1).leak();
    let nonsense = [
        Behaviour::Says(""),
        Behaviour::Says(" \n"),
        Behaviour::Says("\u{1b}[2J!"),
        Behaviour::Says("..."),
        Behaviour::Says(long),
    ];
    for how in nonsense.into_iter().chain([Behaviour::Fails, Behaviour::Panics, Behaviour::Hangs]) {
        let folder = tempfile::tempdir().unwrap();
        let distiller = scripted(how);
        let options = options(&SimDisk::default(), &distiller)
            .with(|options| options.disk = Arc::new(artoo_mkct::disk::SystemDisk));
        // A short time only where no answer will come; elsewhere it would race with the answer.
        let distil_timeout = if matches!(how, Behaviour::Hangs) { Duration::from_millis(100) } else { LONG };
        let (memory, _) =
            Memory::open(folder.path(), options.clone().with(|options| options.distil_timeout = distil_timeout))
                .unwrap();
        promising(&memory);
        let before = contents(&memory);
        let dream = memory.dream().unwrap();
        assert_eq!((dream.promoted.len(), dream.attempts.len()), (0, 1), "{how:?}");
        assert_eq!(memory.dream().unwrap().attempts.len(), 0, "not again within the hour");
        assert_eq!((contents(&memory), distiller.asked.load(Ordering::SeqCst)), (before, 1));
        assert_eq!(memory.engine().promotions(NOW).len(), 1, "the promotion stays open");
        memory.close().unwrap();
        let mut logged = Vec::new();
        let keep = &mut |_, frame| logged.extend(matches!(&frame, Frame::Attempted { .. }).then_some(frame));
        Journal::replay(&folder.path().join("memory.journal"), Offset(0), keep).unwrap();
        assert_eq!(logged.len(), 1, "{how:?}: {logged:?}");
        // The next process finds it.
        let better = scripted(Behaviour::Says("Use glob."));
        let options = options.with(|options| options.distiller = Some(better as Arc<dyn Distiller>));
        let (memory, _) = Memory::open(folder.path(), options).unwrap();
        assert_eq!(memory.dream().unwrap().promoted.len(), 1);
    }
}

/// A memory closes although its distiller hangs.
#[test]
fn closing_does_not_wait_for_a_distiller() {
    let (disk, distiller) = (SimDisk::default(), scripted(Behaviour::Hangs));
    let (tell, asked): (_, Receiver<()>) = channel();
    *distiller.tell.lock().unwrap() = Some(tell);
    let options = options(&disk, &distiller);
    let dream = Some(DreamTimes::new(Duration::from_millis(1), Duration::from_millis(1)));
    let clock = Arc::new(artoo_mkct::clock::SystemClock::default());
    let (memory, _) = Memory::open(
        Path::new(FOLDER),
        options.with(|options| {
            options.dream = dream;
            options.clock = clock;
        }),
    )
    .unwrap();
    let now = artoo_mkct::clock::Clock::now(&artoo_mkct::clock::SystemClock::default()).wall_ms;
    for task in 0..6 {
        let draft = NewMegram::new(Tag::new("intent:count", "via:glob"), State::Accept, format!("it worked {task}"));
        memory.write(draft.task(format!("task-{task}")), now).unwrap();
    }
    memory.task_ended();
    asked.recv_timeout(LONG).unwrap();
    // While it hangs, writes and queries go on.
    memory.write(event(1), now).unwrap().receipt.wait(Durability::Synced).unwrap();
    assert!(memory.query_mk(&Tag::new("intent:count", "via:glob"), now).attention > 5.0);
    let (closed, is_closed) = channel();
    std::thread::spawn(move || closed.send(memory.close()).unwrap());
    is_closed.recv_timeout(LONG / 2).expect("closing waits for an answer").unwrap();
}

/// A clock that jumps ten years ahead between two runs makes the sweep skip, or delete at most a tenth of the tags.
#[doc = "holds: design K2"]
#[test]
fn clock_jumps_delete_nothing() {
    let (disk, distiller) = (SimDisk::default(), scripted(Behaviour::Fails));
    let (memory, _) = Memory::open(Path::new(FOLDER), options(&disk, &distiller)).unwrap();
    for number in 0..50 {
        memory.write(without_task(number), NOW).unwrap();
    }
    assert_eq!(memory.dream().unwrap().skipped, None);
    memory.close().unwrap();
    let years = Arc::new(TestClock::new(NOW + 3_650 * DAY));
    let (memory, _) =
        Memory::open(Path::new(FOLDER), options(&disk, &distiller).with(|options| options.clock = years)).unwrap();
    let dream = memory.dream().unwrap();
    // A tenth of the tags at most, whatever the clocks say: seven tags, one goes.
    assert!(dream.skipped.is_some() || dream.faded_tags <= 1, "{dream:?}");
}

/// After sweeps and writes at the same time, the memory reopened after a power loss equals the one in RAM.
#[test]
fn sweep_and_write_order_survives_crash() {
    let (disk, distiller) = (SimDisk::default(), scripted(Behaviour::Fails));
    let clock = TestClock::new(NOW);
    let options = options(&disk, &distiller).with(|options| options.clock = Arc::new(clock.clone()));
    let (memory, _) = Memory::open(Path::new(FOLDER), options.clone()).unwrap();
    for number in 0..70 {
        memory.write(event(number), NOW).unwrap();
    }
    clock.set(NOW + 90 * DAY);
    memory.write(event(70), NOW + 90 * DAY).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| (0..10).for_each(|_| drop(memory.dream())));
        scope.spawn(|| (71..300).for_each(|n| drop(memory.write(event(n), NOW + 90 * DAY).unwrap())));
    });
    memory.flush(Durability::Synced).unwrap();
    let (seen, stats) = (contents(&memory), memory.stats().engine);
    let left = disk.after(crate::sim_disk::Loss::Everything);
    let (memory, summary) =
        Memory::open(Path::new(FOLDER), options.with(|options| options.disk = Arc::new(left))).unwrap();
    assert_eq!((contents(&memory), memory.stats().engine, summary.refused_frames), (seen, stats, 0));
}

/// After a write whose time is more than a day off the clock, sweeps change nothing until a write with a right time.
#[test]
fn wrong_clock_writes_stop_the_sweep() {
    let (disk, distiller) = (SimDisk::default(), scripted(Behaviour::Fails));
    let clock = TestClock::new(NOW);
    let options = options(&disk, &distiller).with(|options| options.clock = Arc::new(clock.clone()));
    let (memory, _) = Memory::open(Path::new(FOLDER), options).unwrap();
    // Made-up times, and seconds instead of milliseconds.
    for (at, by_ms) in [(NOW - 300 * DAY, -300 * DAY), (NOW / 1_000, NOW / 1_000 - NOW), (NOW + DAY + 1, DAY + 1)] {
        memory.write(event(0), at).unwrap();
        let dream = memory.dream().unwrap();
        let skipped = Some(SweepSkipped::WritesOffClock { by_ms });
        assert_eq!((dream.skipped, dream.faded_megrams, dream.demoted.len()), (skipped, 0, 0));
    }
    assert_eq!(contents(&memory).len(), 3);
    // A day of difference is no made-up time, and a write of now is trusted again.
    memory.write(event(1), NOW - DAY).unwrap();
    assert_eq!(memory.dream().unwrap().skipped, None);
    // Time that passes after a write is no clock error.
    clock.set(NOW + 200 * DAY);
    let dream = memory.dream().unwrap();
    assert_eq!((dream.skipped, dream.faded_megrams > 0), (None, true), "{dream:?}");
}
