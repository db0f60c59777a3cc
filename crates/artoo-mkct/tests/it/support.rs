//! What the tests share: events, options, and a look at everything a memory knows.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use artoo_mkct::{Clock, Clocks, IndexChoice, MegramId, Memory, NewMegram, OnDamage, Options, State, disk::Disk};

pub(crate) const NOW: i64 = 1_772_000_000_000;
pub(crate) const DAY: i64 = 86_400_000;
pub(crate) const FOLDER: &str = "/memory";

/// An event of its own task under one of a few tags.
pub(crate) fn event(number: usize) -> NewMegram {
    let draft = NewMegram::new(
        format!("intent:{}", number % 7),
        "via:glob",
        State::ALL[number % State::ALL.len()],
        format!("event {number}: {}", "it went as it went ".repeat(number % 5)),
    );
    NewMegram { task: Some(format!("task-{number}")), ..draft }
}

/// A clock that stands still.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Still(pub(crate) i64);

impl Clock for Still {
    fn now(&self) -> Clocks {
        Clocks { wall_ms: self.0, uptime_ms: self.0 - NOW }
    }
}

/// Options without an index and without a Dreamer of its own accord.
pub(crate) fn quiet(disk: &(impl Disk + Clone + 'static)) -> Options {
    Options {
        disk: Arc::new(disk.clone()),
        index: IndexChoice::None,
        clock: Arc::new(Still(NOW)),
        dream: None,
        ..Options::default()
    }
}

pub(crate) fn open(disk: &(impl Disk + Clone + 'static)) -> (Memory, artoo_mkct::OpenSummary) {
    Memory::open(Path::new(FOLDER), quiet(disk)).unwrap()
}

pub(crate) fn repairing(options: Options) -> Options {
    Options { on_damage: OnDamage::Repair, ..options }
}

/// Everything a memory knows, by id, read back from where it stands.
pub(crate) fn contents(memory: &Memory) -> BTreeMap<MegramId, String> {
    let engine = memory.engine();
    let read = |id| engine.get(id).unwrap_or_else(|error| panic!("{error}")).unwrap_or_else(|| panic!("{id} is gone"));
    engine.heads().map(|head| (head.id, read(head.id).content)).collect()
}
