//! Random messages with right and wrong senders: every delivery obeys the route table and the publish order.

use std::collections::BTreeMap;

use artoo_proto::{Abort, Address, CancelRequest, Message, Role, route};
use proptest::prelude::*;

use artoo_bus::{Bus, Delivery};

use crate::publish::{at, consent, drain, id, memory_query, missing, request, sender, spec, task};

/// A random step: sender, message, cause among earlier messages, and whether a delivery is taken afterwards.
fn steps() -> impl Strategy<Value = (Role, Message, prop::sample::Index, bool)> {
    let message = (0_u8..2, 0_u8..3, 0_usize..7).prop_map(|(n, s, kind)| match kind {
        0 => request(n),
        1 => spec(n),
        2 => missing(n, s),
        3 => consent(n, s),
        4 => memory_query(n),
        5 => Abort { task_id: task(n) }.into(),
        _ => CancelRequest { task_id: task(n) }.into(),
    });
    let forger = prop::option::weighted(0.1, prop::sample::select(Role::ALL.to_vec()));
    (message, forger, any::<prop::sample::Index>(), any::<bool>()).prop_map(|(message, forger, cause, take)| {
        (forger.unwrap_or_else(|| sender(&message).role), message, cause, take)
    })
}

proptest! {
    #[test]
    fn random_messages_obey_routes_and_order(
        steps in prop::collection::vec(steps(), 0..200)
    ) {
        let mut bus = Bus::new();
        let mut deliveries = vec![];
        let mut let_on = 0_u64;
        for (n, (from, message, cause, take)) in (0_u64..).zip(steps) {
            let from = Address::of(from, message.task_id(), message.subtask_id());
            let outside = matches!(from.role, Role::Operator | Role::Runtime);
            let cause = if outside || n == 0 { None } else { Some(id(cause.index(n as usize) as u64)) };
            let_on += u64::from(bus.publish(at(0), id(n), &from, cause, message).is_ok());
            if take {
                deliveries.extend(bus.take(0));
            }
        }
        deliveries.extend(drain(&mut bus));
        let mut last = BTreeMap::new();
        for Delivery { to, envelope } in &deliveries {
            let row = route::route(envelope.message.kind()).unwrap();
            prop_assert!(row.from == envelope.from.role && row.to.contains(&to.role));
            prop_assert_eq!(to, &Address::of(to.role, envelope.message.task_id(), envelope.message.subtask_id()));
            prop_assert!(last.insert(to.clone(), envelope.seq) < Some(envelope.seq), "out of order at {}", to);
        }
        let mut seqs: Vec<u64> = deliveries.iter().map(|delivery| delivery.envelope.seq).collect();
        seqs.dedup();
        prop_assert_eq!(seqs, (0..let_on).collect::<Vec<_>>());
    }
}
