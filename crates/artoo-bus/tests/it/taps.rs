//! Taps report every lost event, and a slow observer can't block the bus.

use std::time::{Duration, Instant};

use artoo_proto::Timestamp;

use artoo_bus::{Bus, Observed, Tap, TapClosed, TapEvent, TapSender, tap};

use crate::publish::{opened, publish, request, spec};

/// Offers event number `n` to a tap.
fn offer(sender: &mut TapSender, n: u64) {
    sender.offer(Timestamp::from_millis(n.cast_signed()), TapEvent::Gap { missing: 1_000 + n });
}

/// The unread events: position, and number of missing events.
fn read(tap: &Tap) -> Vec<(u64, u64)> {
    std::iter::from_fn(|| tap.recv_timeout(Duration::ZERO).ok().flatten())
        .map(|Observed { n, event, .. }| {
            let TapEvent::Gap { missing } = event else { panic!("expected a gap, got {event:?}") };
            (n, missing)
        })
        .collect()
}

/// Events sent to a full tap are lost, and the next event is preceded by a gap event with their number.
#[doc = "holds: design B2"]
#[test]
fn full_tap_reports_its_gap() {
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

/// If the gap event takes the only free position, the next event is lost too and starts a new gap.
#[doc = "holds: design B2"]
#[test]
fn gap_that_fills_the_tap_restarts_counting() {
    let (mut sender, tap) = tap(1);
    offer(&mut sender, 0);
    offer(&mut sender, 1);
    assert_eq!(read(&tap), [(0, 1_000)]);
    // The gap takes the only free position, so this event is lost too.
    offer(&mut sender, 2);
    assert_eq!(read(&tap), [(1, 1)]);
    assert_eq!(sender.missing(), 1);
}

/// Events lost before the sender is dropped are reported as a gap event, although the tap is full.
#[doc = "holds: design B2"]
#[test]
fn last_gap_is_reported_on_drop() {
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
fn bus_works_without_an_observer() {
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
fn recv_timeout_returns_after_its_timeout() {
    let (_sender, tap) = tap(1);
    let started = Instant::now();
    assert_eq!(tap.recv_timeout(Duration::from_millis(5)), Ok(None));
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[test]
fn events_round_trip_through_json() {
    let mut bus = Bus::new();
    publish(&mut bus, 0, None, request(1)).unwrap();
    publish(&mut bus, 1, None, spec(1)).unwrap_err();
    for (n, (at, event)) in (0..).zip(bus.take_events()) {
        let observed = Observed { n, at, event };
        let text = serde_json::to_string(&observed).unwrap();
        assert_eq!(serde_json::from_str::<Observed>(&text).unwrap(), observed, "{text}");
    }
}
