//! Shared by the tests: events, options, clocks, and the content of a memory.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

use artoo_mkct::{
    Memory, NewMegram, Options, State, Tag,
    clock::{Clock, Clocks},
    disk::Disk,
    memory::DamagePolicy,
    record::MegramId,
};

pub(crate) const NOW: i64 = 1_772_000_000_000;
pub(crate) const DAY: i64 = 86_400_000;
pub(crate) const FOLDER: &str = "/memory";

/// An event of a task with this number, under one of a few tags.
pub(crate) fn event(number: usize) -> NewMegram {
    let draft = NewMegram::new(
        Tag::new(format!("intent:{}", number % 7), "via:glob"),
        State::ALL[number % State::ALL.len()],
        format!("event {number}: {}", "it went as it went ".repeat(number % 5)),
    );
    draft.task(format!("task-{number}"))
}

/// A clock that only a test moves; clones share the time.
#[derive(Debug, Clone)]
pub(crate) struct TestClock(Arc<AtomicI64>);

impl TestClock {
    /// A clock stopped at this time, in Unix milliseconds.
    pub(crate) fn new(wall_ms: i64) -> Self {
        Self(Arc::new(AtomicI64::new(wall_ms)))
    }

    /// Sets the time of the clock.
    pub(crate) fn set(&self, wall_ms: i64) {
        self.0.store(wall_ms, Ordering::SeqCst);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Clocks {
        let wall_ms = self.0.load(Ordering::SeqCst);
        Clocks { wall_ms, uptime_ms: wall_ms - NOW }
    }
}

/// Options with a stopped clock and a Dreamer that runs only on request.
pub(crate) fn quiet(disk: &(impl Disk + Clone + 'static)) -> Options {
    Options::default().with(|options| {
        options.disk = Arc::new(disk.clone());
        options.clock = Arc::new(TestClock::new(NOW));
        options.dream = None;
    })
}

/// Opens a memory with [`quiet`] options.
pub(crate) fn open(disk: &(impl Disk + Clone + 'static)) -> (Memory, artoo_mkct::memory::OpenSummary) {
    Memory::open(Path::new(FOLDER), quiet(disk)).unwrap()
}

/// The options with the policy that opening repairs a damaged journal.
pub(crate) fn repairing(options: Options) -> Options {
    options.with(|options| options.on_damage = DamagePolicy::Repair)
}

/// The text of every record of a memory, by id; panics if one cannot be read.
pub(crate) fn contents(memory: &Memory) -> BTreeMap<MegramId, String> {
    let engine = memory.engine();
    let read = |id| engine.get(id).unwrap_or_else(|error| panic!("{error}")).unwrap_or_else(|| panic!("{id} is gone"));
    engine.heads().map(|head| (head.id, read(head.id).content)).collect()
}
