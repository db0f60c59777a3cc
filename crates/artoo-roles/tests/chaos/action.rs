//! The actions of the scheduler as data, so that a run can be recorded and replayed.

use artoo_bus::Delivery;
use artoo_proto::{Now, Role};

use artoo_roles::memory::Memory;
use artoo_roles::system::{Effect, Input, System, SystemConfig};

/// One action of the scheduler, such as the delivery of a message.
#[derive(Debug, Clone)]
pub(super) enum Action {
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

impl Action {
    /// Performs the action and returns the effects that the System asks for.
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

/// Removes the queued delivery with this index.
fn take(system: &mut System, index: usize) -> Delivery {
    system.take_delivery(index).expect("the scheduler chooses from what waits")
}

/// An action of the scheduler with its time and the effects that it had.
#[derive(Debug)]
pub(super) struct Recorded {
    pub(super) now: Now,
    pub(super) action: Action,
    pub(super) effects: Vec<Effect>,
}

/// Rebuilds a System whose process was killed, from the record of its inputs.
pub(super) fn rebuilt(config: SystemConfig, memory: Memory, record: &[Recorded]) -> System {
    let mut system = System::new(config, memory);
    for recorded in record {
        drop(recorded.action.clone().apply(&mut system, recorded.now));
    }
    system
}

/// Repeats a recorded run on a new System; panics if any effect differs from the recorded one.
pub(super) fn replay(seed: u64, config: SystemConfig, memory: Memory, record: &[Recorded]) {
    let mut system = System::new(config, memory);
    for (at, recorded) in record.iter().enumerate() {
        let action = match &recorded.action {
            Action::Accept(input) => {
                // Inputs go through their wire form, as they would in a log.
                let line = serde_json::to_string(input).unwrap();
                Action::Accept(serde_json::from_str(&line).unwrap())
            }
            other => other.clone(),
        };
        let again = action.apply(&mut system, recorded.now);
        let wire = |effects: &[Effect]| serde_json::to_string(effects).unwrap();
        let (wanted, got) = (wire(&recorded.effects), wire(&again));
        assert!(wanted == got, "seed {seed}: (14) replay differs at action {at}\nwanted {wanted}\ngot    {got}");
    }
}
