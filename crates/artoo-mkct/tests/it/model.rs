//! Compares a memory on a real disk with a plain list, over closing and reopening.

use std::sync::{Arc, Mutex};

use artoo_mkct::{
    Durability, Memory, NewMegram, Options, RecallQuery, State, Tag,
    clock::{Clock, Clocks},
    record::{MegramId, quantize},
    rules::FADED_ATTENTION,
};
use proptest::prelude::*;

use crate::support::{DAY, NOW};

const TAGS: [(&str, &str); 4] =
    [("intent:a", "env:local"), ("intent:a", "via:glob"), ("tool:glob", "path:/x"), ("tool:shell", "path:/x")];

/// A write, a deletion, a wait, a run of the Dreamer, a compaction, or reopening the memory.
#[derive(Debug, Clone)]
enum Operation {
    Write { tag: usize, state: usize, times: usize },
    Forget { nth: usize },
    Wait { days: i64 },
    Dream,
    Compact,
    Reopen,
}

/// A random operation.
fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        6 => (0..TAGS.len(), 0..State::ALL.len(), 1..5_usize)
            .prop_map(|(tag, state, times)| Operation::Write { tag, state, times }),
        1 => (0..30_usize).prop_map(|nth| Operation::Forget { nth }),
        2 => (0..60_i64).prop_map(|days| Operation::Wait { days }),
        1 => Just(Operation::Dream),
        1 => Just(Operation::Compact),
        1 => Just(Operation::Reopen),
    ]
}

/// A clock that a test moves.
#[derive(Debug, Clone)]
struct TestClock(Arc<Mutex<i64>>);

impl TestClock {
    /// The time of the clock.
    fn now_ms(&self) -> i64 {
        *self.0.lock().unwrap()
    }
}

impl Clock for TestClock {
    fn now(&self) -> Clocks {
        Clocks { wall_ms: self.now_ms(), uptime_ms: self.now_ms() - NOW }
    }
}

/// One record of the plain list that the memory is compared with.
struct Plain {
    id: MegramId,
    tag: usize,
    at_ms: i64,
    state: State,
    content: String,
}

/// The plain list of records that the memory is compared with.
#[derive(Default)]
struct List(Vec<Plain>);

impl List {
    /// Attention and decision of a tag.
    fn sums(&self, tag: usize, now_ms: i64) -> (f64, f64) {
        self.0.iter().filter(|record| record.tag == tag).fold((0.0, 0.0), |(attention, decision), record| {
            let quantum = quantize(record.state);
            let left = quantum.f * (-quantum.k * (now_ms - record.at_ms) as f64 / DAY as f64).exp();
            (attention + left, decision + quantum.sigma * left)
        })
    }

    /// Deletes the weakest faded tag: a tenth of at most four tags, rounded up. Rounding decides between equally weak
    /// tags, so the memory's choice is used.
    fn dream(&mut self, memory: &Memory, now_ms: i64) {
        let engine = memory.engine();
        let has = |tag: usize| self.0.iter().any(|record| record.tag == tag);
        let faded = (0..TAGS.len()).filter(|tag| has(*tag) && self.sums(*tag, now_ms).0 < FADED_ATTENTION);
        let weakest = faded.map(|tag| self.sums(tag, now_ms).0).reduce(f64::min);
        let gone = self.0.iter().find(|record| engine.head(record.id).is_none()).map(|record| record.tag);
        assert_eq!(gone.is_some(), weakest.is_some());
        let (Some(gone), Some(weakest)) = (gone, weakest) else { return };
        assert!(self.sums(gone, now_ms).0 <= weakest * (1.0 + 1e-12));
        self.0.retain(|record| record.tag != gone);
    }

    /// Asserts that a memory has the records and potentials of the list.
    fn check(&self, memory: &Memory, now_ms: i64) {
        let engine = memory.engine();
        assert_eq!(engine.len(), self.0.len());
        for record in &self.0 {
            let found = engine.get(record.id).unwrap().unwrap();
            assert_eq!((found.content.as_str(), found.created_at_ms), (record.content.as_str(), record.at_ms));
        }
        for (tag, (space, entity)) in TAGS.iter().enumerate() {
            let (attention, decision) = self.sums(tag, now_ms);
            let found = memory.query_mk(&Tag::new(*space, *entity), now_ms);
            assert!((found.attention - attention).abs() <= 1e-12 * attention + 1e-300);
            assert!((found.decision - decision).abs() <= 1e-12 * attention + 1e-300);
        }
    }
}

/// Performs operations on a memory and a list, compares them after each, and returns the advice at the end as text.
fn run(operations: &[Operation]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let clock = TestClock(Arc::new(Mutex::new(NOW)));
    let options = Options::default().with(|options| {
        options.clock = Arc::new(clock.clone());
        options.dream = None;
    });
    let mut memory = Memory::open(folder.path(), options.clone()).unwrap().0;
    let mut list = List::default();
    for (number, operation) in operations.iter().enumerate() {
        let now_ms = clock.now_ms();
        match *operation {
            Operation::Write { tag, state, times } => {
                for i in 0..times {
                    let content = format!("event {number}.{i}");
                    let draft = NewMegram::new(Tag::new(TAGS[tag].0, TAGS[tag].1), State::ALL[state], content.as_str());
                    let id = memory.write(draft, now_ms).unwrap().ids[0];
                    list.0.push(Plain { id, tag, at_ms: now_ms, state: State::ALL[state], content });
                }
            }
            Operation::Forget { nth } if nth < list.0.len() => {
                memory.forget(list.0.remove(nth).id, now_ms).unwrap();
            }
            Operation::Forget { .. } => {}
            Operation::Wait { days } => *clock.0.lock().unwrap() += days * DAY,
            Operation::Dream => {
                if memory.dream().is_some() {
                    list.dream(&memory, now_ms);
                }
            }
            Operation::Compact => drop(memory.compact(now_ms).unwrap()),
            Operation::Reopen => {
                memory.close().unwrap();
                memory = Memory::open(folder.path(), options.clone()).unwrap().0;
            }
        }
        list.check(&memory, clock.now_ms());
    }
    memory.flush(Durability::Synced).unwrap();
    assert!(memory.verify().unwrap().is_sound());
    let (tools, targets) = (["glob".to_owned()], ["/x".to_owned()]);
    let query = RecallQuery::new("a").tools(&tools).targets(&targets);
    let advice = memory.recall(&query, clock.now_ms()).advice;
    // Ids differ from process to process.
    format!("{:?}", advice.iter().map(|a| (&a.tag, a.potentials, a.megrams_total)).collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn memory_agrees_with_a_plain_list(operations in prop::collection::vec(operation(), 1..30)) {
        // Twice: nothing hangs on ids, folders or threads.
        prop_assert_eq!(run(&operations), run(&operations));
    }
}
