//! Everything a scheduler can do to a System, as data, so that a run can be done again.

use artoo_bus::Delivery;
use artoo_proto::{Now, Role};

use artoo_roles::memory::Memory;
use artoo_roles::system::{Effect, Input, System, SystemConfig};

/// One act of the scheduler.
#[derive(Debug, Clone)]
pub(super) enum Choice {
    /// Something comes in.
    Accept(Box<Input>),
    /// The delivery at this place in the queue arrives.
    Deliver(usize),
    /// It gets lost.
    Drop(usize),
    /// It arrives, and the same once more later.
    Repeat(usize),
    /// The next step of this role panics.
    Panic(Role),
}

impl Choice {
    /// Acts, and takes what the System wants done.
    pub(super) fn apply(self, system: &mut System, now: Now) -> Vec<Effect> {
        match self {
            Self::Accept(input) => system.accept(now, *input),
            Self::Deliver(index) => {
                let delivery = take(system, index);
                system.deliver(now, &delivery);
            }
            Self::Drop(index) => {
                let delivery = take(system, index);
                system.bus().drop_delivery(now.wall, &delivery, "lost by the scheduler");
            }
            Self::Repeat(index) => {
                let delivery = take(system, index);
                system.bus().queue(now.wall, delivery.clone());
                system.deliver(now, &delivery);
            }
            Self::Panic(role) => system.panic_next = Some(role),
        }
        system.take_effects()
    }
}

fn take(system: &mut System, index: usize) -> Delivery {
    system.take_delivery(index).expect("the scheduler chooses from what waits")
}

/// A choice with the time it was made at and what came of it.
#[derive(Debug)]
pub(super) struct Recorded {
    pub(super) now: Now,
    pub(super) choice: Choice,
    pub(super) effects: Vec<Effect>,
}

/// Does a recorded run again on a fresh System; every effect must come out the same to the byte.
pub(super) fn replay(seed: u64, config: SystemConfig, memory: Memory, record: &[Recorded]) {
    let mut system = System::new(config, memory);
    for (at, recorded) in record.iter().enumerate() {
        let choice = match &recorded.choice {
            Choice::Accept(input) => {
                // Inputs go through their wire form, as they would in a log.
                let line = serde_json::to_string(input).unwrap();
                Choice::Accept(serde_json::from_str(&line).unwrap())
            }
            other => other.clone(),
        };
        let again = choice.apply(&mut system, recorded.now);
        let wire = |effects: &[Effect]| serde_json::to_string(effects).unwrap();
        let (wanted, got) = (wire(&recorded.effects), wire(&again));
        assert!(wanted == got, "seed {seed}: (14) replay differs at choice {at}\nwanted {wanted}\ngot    {got}");
    }
}
