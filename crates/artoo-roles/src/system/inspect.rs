//! Views into a System for tests.

use artoo_bus::Delivery;
use artoo_proto::{Address, EffectId, Role};

use super::System;
use crate::machine::EffectOrigin;

impl System {
    /// The addresses of all role instances.
    pub fn instance_addresses(&self) -> impl Iterator<Item = &Address> {
        self.instances.keys()
    }

    /// Number of messages that the instances of a role received.
    #[must_use]
    pub fn messages_seen(&self, role: Role) -> usize {
        let slots = self.instances.iter().filter(|(address, _)| address.role == role);
        slots.flat_map(|(_, slot)| slot.seen.values()).map(std::collections::HashSet::len).sum()
    }

    /// The effects that were started and have not completed, with their origins.
    pub fn awaited(&self) -> impl Iterator<Item = (&EffectId, &EffectOrigin)> {
        self.awaited.iter()
    }

    /// The queued deliveries, in publish order.
    pub fn waiting(&self) -> impl Iterator<Item = &Delivery> {
        self.bus.waiting()
    }
}
