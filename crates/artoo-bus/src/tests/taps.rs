//! Taps: nothing is lost without a word, and an observer can't hold the bus up.

use std::time::{Duration, Instant};

use artoo_proto::Timestamp;

use super::{Bus, TapEvent, opened, publish, request, spec};
use crate::{Observed, Tap, TapClosed, TapSender, tap};

fn offer(sender: &mut TapSender, n: u64) {
    sender.offer(Timestamp::from_millis(n.cast_signed()), TapEvent::Gap { missing: 1_000 + n });
}

/// What stands on the tap: position and, where events are missing, how many.
fn read(tap: &Tap) -> Vec<(u64, u64)> {
    std::iter::from_fn(|| tap.recv_timeout(Duration::ZERO).ok().flatten())
        .map(|Observed { n, event, .. }| {
            let TapEvent::Gap { missing } = event else { panic!("only gaps were offered, and here is {event:?}") };
            (n, missing)
        })
        .collect()
}

#[doc = "holds: design B2"]
#[test]
fn a_full_tap_tells_how_much_it_lost_where_it_was_lost() {
    let (mut sender, tap) = tap(3);
    for n in 0..8 {
        offer(&mut sender, n);
    }
    assert_eq!(sender.missing(), 5);
    assert_eq!(read(&tap), [(0, 1_000), (1, 1_001), (2, 1_002)]);
    offer(&mut sender, 8);
    assert_eq!(sender.missing(), 0);
    assert_eq!(read(&tap), [(3, 5), (4, 1_008)]);
}

#[doc = "holds: design B2"]
#[test]
fn a_tap_with_room_for_the_word_alone_starts_to_count_anew() {
    let (mut sender, tap) = tap(1);
    offer(&mut sender, 0);
    offer(&mut sender, 1);
    assert_eq!(read(&tap), [(0, 1_000)]);
    // The gap takes the only place, so this event is lost in turn.
    offer(&mut sender, 2);
    assert_eq!(read(&tap), [(1, 1)]);
    assert_eq!(sender.missing(), 1);
}

#[doc = "holds: design B2"]
#[test]
fn what_is_lost_last_is_told_when_the_bus_goes_away() {
    let (mut sender, tap) = tap(2);
    for n in 0..6 {
        offer(&mut sender, n);
    }
    drop(sender);
    assert_eq!(tap.recv().map(|observed| observed.n), Some(0));
    assert_eq!(tap.recv().map(|observed| observed.n), Some(1));
    let at = Timestamp::from_millis(5);
    assert_eq!(tap.recv(), Some(Observed { n: 2, at, event: TapEvent::Gap { missing: 4 } }));
    assert_eq!(tap.recv(), None);
    assert_eq!(tap.recv_timeout(Duration::ZERO), Err(TapClosed));
}

#[doc = "holds: design B9"]
#[test]
fn without_an_observer_the_bus_goes_on() {
    let (mut sender, tap) = tap(8);
    drop(tap);
    let mut bus = opened();
    publish(&mut bus, 1, Some(0), spec(1)).unwrap();
    for (at, event) in bus.take_events() {
        sender.offer(at, event);
    }
    assert_eq!((sender.missing(), bus.pending()), (1, 5));
}

#[test]
fn an_open_tap_with_nothing_on_it_waits_no_longer_than_told() {
    let (_sender, tap) = tap(1);
    let started = Instant::now();
    assert_eq!(tap.recv_timeout(Duration::from_millis(5)), Ok(None));
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[test]
fn an_event_survives_its_json() {
    let mut bus = Bus::new();
    publish(&mut bus, 0, None, request(1)).unwrap();
    publish(&mut bus, 1, None, spec(1)).unwrap_err();
    for (n, (at, event)) in (0..).zip(bus.take_events()) {
        let observed = Observed { n, at, event };
        let text = serde_json::to_string(&observed).unwrap();
        assert_eq!(serde_json::from_str::<Observed>(&text).unwrap(), observed, "{text}");
    }
}
