//! A million messages through one bus in bounded memory.

use std::fs;

use artoo_bus::{Bus, tap};

use crate::publish::{drain, publish, request, spec, task};

/// Total number of messages that the test publishes.
const MESSAGES: u64 = 1_000_000;

/// Number of messages of one task.
const PER_TASK: u64 = 1_000;

/// Allowed growth of the process: allocator slack, and memory of tests running at the same time.
const SLACK_BYTES: u64 = 24 * 1024 * 1024;

#[doc = "holds: law 3.13; design B10"]
#[test]
fn memory_stays_flat_over_a_million_messages() {
    let (mut sender, observer) = tap(64);
    let mut bus = Bus::new();
    let mut before = 0;
    for n in 0..MESSAGES {
        let which = (n / PER_TASK % 100) as u8;
        if n % PER_TASK == 0 {
            publish(&mut bus, n, None, request(which)).unwrap();
        } else {
            publish(&mut bus, n, Some(n - 1), spec(which)).unwrap();
        }
        drain(&mut bus);
        for (at, event) in bus.take_events() {
            sender.offer(at, event);
        }
        if n % PER_TASK == PER_TASK - 1 {
            assert!(format!("{bus:?}").contains("waiting: {}"), "an empty mailbox takes no memory: {bus:?}");
            bus.forget(&task(which));
            assert!(format!("{bus:?}").contains("published: {}"), "the ids of an ended task take no memory: {bus:?}");
        }
        if n == MESSAGES / 4 {
            before = resident_bytes();
        }
    }
    assert_eq!((bus.pending(), bus.dropped()), (0, 0));
    assert!(sender.missing() > 0, "an unread tap loses events instead of growing");
    let grown = resident_bytes().saturating_sub(before);
    assert!(grown < SLACK_BYTES, "{grown} bytes more than after a quarter of the messages");
    drop(observer);
}

/// Resident memory of this process in bytes; 0 on systems without `/proc`.
fn resident_bytes() -> u64 {
    let statm = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0) * 4_096
}
