//! Views into a System for tests.

use artoo_bus::Delivery;
use artoo_proto::{Address, EffectId, Role};

use super::System;
use crate::machine::EffectOrigin;

impl System {
    /// The addresses of all instances.
    pub fn instance_addresses(&self) -> impl Iterator<Item = &Address> {
        self.instances.keys()
    }

    /// How many messages the instances of a role were given.
    #[must_use]
    pub fn messages_seen(&self, role: Role) -> usize {
        let slots = self.instances.iter().filter(|(address, _)| address.role == role);
        slots.flat_map(|(_, slot)| slot.seen.values()).map(std::collections::HashSet::len).sum()
    }

    /// The effects whose completions are awaited.
    pub fn awaited(&self) -> impl Iterator<Item = (&EffectId, &EffectOrigin)> {
        self.awaited.iter()
    }

    /// The deliveries that were not made yet.
    pub fn waiting(&self) -> impl Iterator<Item = &Delivery> {
        self.bus.waiting()
    }
}
