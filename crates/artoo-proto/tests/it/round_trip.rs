//! Any message of any kind is equal after a round trip through JSON, so that a task's record can be replayed.

use artoo_proto::{Envelope, Loss, Message, MessageKind};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::strategies::{address, id, message, message_id, moment, option, task_id};

/// Messages of each kind: enough to meet every variant of the enums inside, few enough for a second in all.
const CASES: u32 = 48;

#[test]
fn every_kind_round_trips() {
    for kind in MessageKind::ALL {
        let mut runner = TestRunner::new(Config { cases: CASES, failure_persistence: None, ..Config::default() });
        let result = runner.run(&message(*kind), |message| {
            prop_assert_eq!(message.kind(), *kind);
            let text = serde_json::to_string(&message).unwrap();
            let read: Message = serde_json::from_str(&text).map_err(|error| TestCaseError::fail(error.to_string()))?;
            prop_assert_eq!(&read, &message);
            // Through a JSON value, as a reader does that looks at the type first.
            let value: serde_json::Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(serde_json::from_value::<Message>(value).unwrap(), message);
            Ok(())
        });
        result.unwrap_or_else(|error| panic!("{kind}: {error}"));
    }
}

/// A loss that is NaN is written as `null`, which can't be read back.
#[test]
fn nan_does_not_round_trip_as_number() {
    // JSON has no such number, so no role may send one.
    let text = serde_json::to_string(&Loss { d: f64::NAN, ..Loss::default() }).unwrap();
    assert!(text.contains(r#""D":null"#) && serde_json::from_str::<Loss>(&text).is_err(), "{text}");
}

/// A random message of any kind.
fn any_message() -> impl Strategy<Value = Message> {
    prop::sample::select(MessageKind::ALL).prop_flat_map(message)
}

proptest! {
    #![proptest_config(Config { cases: 64, failure_persistence: None, ..Config::default() })]

    #[test]
    fn envelopes_round_trip(
        message in any_message(),
        seq in any::<u64>(),
        id in message_id(),
        sent_at in moment(),
        from in address(),
        correlation_id in option(task_id()),
        causation_id in option(message_id()),
    ) {
        let to = vec![from.role];
        let envelope = Envelope { seq, id, sent_at, from, to, correlation_id, causation_id, message };
        let text = serde_json::to_string(&envelope).unwrap();
        prop_assert!(!text.contains('\n'), "one line");
        prop_assert_eq!(serde_json::from_str::<Envelope>(&text).unwrap(), envelope);
    }

    #[test]
    fn finite_numbers_keep_every_bit(d in prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO) {
        let text = serde_json::to_string(&Loss { d, ..Loss::default() }).unwrap();
        let read: Loss = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(read.d.to_bits(), d.to_bits());
    }

    #[test]
    fn deserializing_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200), name in id()) {
        let _ = serde_json::from_slice::<Envelope>(&bytes);
        let _ = serde_json::from_str::<Message>(&format!(r#"{{"type":"plan","content":{{"task_id":"{name}"}}}}"#));
    }
}
