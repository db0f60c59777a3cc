//! The Dreamer and its distiller: rules made, promises kept, and nothing changed by one who fails.

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
    Distiller, DreamTimes, Frame, Journal, Megram, Memory, NewMegram, Offset, Options, Promise, Promotion, RuleKind,
    State,
};

use crate::{
    sim_disk::SimDisk,
    support::{DAY, FOLDER, NOW, Still, contents, event, quiet},
};

/// Longer than any step takes on a loaded machine.
const LONG: Duration = Duration::from_secs(120);

/// Answers with a fixed behaviour, and counts.
#[derive(Debug)]
struct Scripted {
    how: How,
    asked: AtomicUsize,
    /// Called with each question.
    tell: Mutex<Option<Sender<()>>>,
}

#[derive(Debug, Clone, Copy)]
enum How {
    Says(&'static str),
    Fails,
    Panics,
    /// For longer than the test lasts.
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
            How::Says(text) => Ok(text.to_owned()),
            How::Fails => Err("the model is away".to_owned()),
            How::Panics => panic!("as planned"),
            How::Hangs => loop {
                std::thread::park();
            },
        }
    }
}

fn scripted(how: How) -> Arc<Scripted> {
    Arc::new(Scripted { how, asked: AtomicUsize::new(0), tell: Mutex::new(None) })
}

fn options(disk: &SimDisk, distiller: &Arc<Scripted>) -> Options {
    let distiller = Arc::clone(distiller) as Arc<dyn Distiller>;
    Options { distiller: Some(distiller), distil_timeout: LONG, ..quiet(disk) }
}

/// Six successes of as many tasks: enough for a rule.
fn promising(memory: &Memory) {
    for task in 0..6 {
        let draft = NewMegram::new("intent:count", "via:glob", State::Accept, format!("it worked {task}"));
        memory.write(NOW, NewMegram { task: Some(format!("task-{task}")), ..draft }).unwrap();
    }
}

#[test]
fn a_rule_is_made_once_with_its_evidence_and_survives() {
    let (disk, distiller) = (SimDisk::default(), scripted(How::Says("  Use glob. \n")));
    let (memory, _) = Memory::open(Path::new(FOLDER), options(&disk, &distiller)).unwrap();
    promising(&memory);
    let dream = memory.dream().unwrap();
    assert_eq!((dream.promoted.len(), dream.attempts.len()), (1, 0));
    let sops = memory.query_c("intent:count", "via:glob", NOW + 5);
    assert_eq!(
        (sops[0].content.as_str(), sops[0].kind, sops[0].evidence.len()),
        ("Use glob.", RuleKind::BestPractice, 6)
    );
    assert_eq!(memory.dream().unwrap().promoted, [], "no new evidence, no new rule");
    assert_eq!(distiller.asked.load(Ordering::SeqCst), 1);
    memory.close().unwrap();
    let (memory, _) = Memory::open(Path::new(FOLDER), options(&disk, &distiller)).unwrap();
    let again = memory.query_c("intent:count", "via:glob", NOW + 9);
    assert_eq!((again[0].id, again[0].last_recalled_at_ms), (sops[0].id, Some(NOW + 5)), "a recall is kept too");
}

#[test]
fn a_distiller_that_fails_hangs_panics_or_talks_nonsense_costs_one_logged_attempt() {
    let long: &'static str = "x".repeat(artoo_mkct::MAX_CONTENT_BYTES + 1).leak();
    let nonsense = [How::Says(""), How::Says(" \n"), How::Says("\u{1b}[2J!"), How::Says("..."), How::Says(long)];
    for how in nonsense.into_iter().chain([How::Fails, How::Panics, How::Hangs]) {
        let folder = tempfile::tempdir().unwrap();
        let distiller = scripted(how);
        let options =
            Options { disk: Arc::new(artoo_mkct::disk::SystemDisk), ..options(&SimDisk::default(), &distiller) };
        // A short time only where no answer will come; elsewhere it would race with the answer.
        let distil_timeout = if matches!(how, How::Hangs) { Duration::from_millis(100) } else { LONG };
        let (memory, _) = Memory::open(folder.path(), Options { distil_timeout, ..options.clone() }).unwrap();
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
        let better = scripted(How::Says("Use glob."));
        let options = Options { distiller: Some(better as Arc<dyn Distiller>), ..options };
        let (memory, _) = Memory::open(folder.path(), options).unwrap();
        assert_eq!(memory.dream().unwrap().promoted.len(), 1);
    }
}

#[test]
fn closing_does_not_wait_for_a_distiller() {
    let (disk, distiller) = (SimDisk::default(), scripted(How::Hangs));
    let (tell, asked): (_, Receiver<()>) = channel();
    *distiller.tell.lock().unwrap() = Some(tell);
    let options = options(&disk, &distiller);
    let dream = Some(DreamTimes { every: Duration::from_millis(1), settle: Duration::from_millis(1) });
    let clock = Arc::new(artoo_mkct::SystemClock::default());
    let (memory, _) = Memory::open(Path::new(FOLDER), Options { dream, clock, ..options }).unwrap();
    let now = artoo_mkct::Clock::now(&artoo_mkct::SystemClock::default()).wall_ms;
    for task in 0..6 {
        let draft = NewMegram::new("intent:count", "via:glob", State::Accept, format!("it worked {task}"));
        memory.write(now, NewMegram { task: Some(format!("task-{task}")), ..draft }).unwrap();
    }
    memory.task_ended();
    asked.recv_timeout(LONG).unwrap();
    // While it hangs, writes and queries go on.
    memory.write(now, event(1)).unwrap().receipt.wait(Promise::Synced).unwrap();
    assert!(memory.query_mk("intent:count", "via:glob", now).attention > 5.0);
    let (closed, is_closed) = channel();
    std::thread::spawn(move || closed.send(memory.close()).unwrap());
    is_closed.recv_timeout(LONG / 2).expect("closing waits for an answer").unwrap();
}

#[doc = "holds: design K2"]
#[test]
fn a_clock_that_jumped_deletes_nothing_in_any_process() {
    let (disk, distiller) = (SimDisk::default(), scripted(How::Fails));
    let (memory, _) = Memory::open(Path::new(FOLDER), options(&disk, &distiller)).unwrap();
    for number in 0..50 {
        memory.write(NOW, NewMegram { task: None, ..event(number) }).unwrap();
    }
    assert_eq!(memory.dream().unwrap().skipped, None);
    memory.close().unwrap();
    let years = Arc::new(Still(NOW + 3_650 * DAY));
    let (memory, _) = Memory::open(Path::new(FOLDER), Options { clock: years, ..options(&disk, &distiller) }).unwrap();
    let dream = memory.dream().unwrap();
    // A tenth of the tags at most, whatever the clocks say: seven tags, one goes.
    assert!(dream.skipped.is_some() || dream.faded_tags <= 1, "{dream:?}");
}

#[test]
fn a_sweep_and_a_write_keep_their_order_through_a_crash() {
    let (disk, distiller) = (SimDisk::default(), scripted(How::Fails));
    let clock = Arc::new(Still(NOW + 90 * DAY));
    let options = Options { clock, ..options(&disk, &distiller) };
    let (memory, _) = Memory::open(Path::new(FOLDER), options.clone()).unwrap();
    for number in 0..70 {
        memory.write(NOW, event(number)).unwrap();
    }
    std::thread::scope(|scope| {
        scope.spawn(|| (0..10).for_each(|_| drop(memory.dream())));
        scope.spawn(|| (70..300).for_each(|n| drop(memory.write(NOW + 90 * DAY, event(n)).unwrap())));
    });
    memory.flush(Promise::Synced).unwrap();
    let (seen, stats) = (contents(&memory), memory.stats().engine);
    let left = disk.after(crate::sim_disk::Loss::Everything);
    let (memory, summary) = Memory::open(Path::new(FOLDER), Options { disk: Arc::new(left), ..options }).unwrap();
    assert_eq!((contents(&memory), memory.stats().engine, summary.refused_frames), (seen, stats, 0));
}
