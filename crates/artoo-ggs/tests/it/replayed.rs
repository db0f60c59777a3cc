//! A log of calls and the configuration reproduce every decision, byte for byte.

use artoo_ggs::*;
use proptest::prelude::*;

use crate::build::shares;
use crate::properties::{profile, round};
use crate::replay_example::{ReplayError, line_of, replay_log};

/// The checked-in log, as the example reads it.
const LOG: &str = include_str!("../../examples/replay.jsonl");

/// Generates a random call of a controller (begin, observe, pause and the like).
fn call() -> impl Strategy<Value = ControllerCall<String>> {
    let task = || prop::sample::select(vec!["a".to_owned(), "b".to_owned()]);
    prop_oneof![
        2 => task().prop_map(ControllerCall::Begin),
        1 => task().prop_map(ControllerCall::Pause),
        1 => task().prop_map(ControllerCall::Resume),
        8 => (task(), round()).prop_map(|(task, round)| ControllerCall::Observe { task, round }),
        1 => task().prop_map(|task| ControllerCall::Observe { task, round: shares(0, 0, 2) }),
        1 => (task(), prop::option::of(round())).prop_map(|(task, round)| ControllerCall::Stop { task, round }),
        2 => task().prop_map(ControllerCall::Release),
        1 => task().prop_map(ControllerCall::End),
        1 => (0_u64..100_000).prop_map(|keep_ms| ControllerCall::EvictEnded { keep_ms }),
        1 => Just(ControllerCall::Rebase),
    ]
}

/// Random calls with their times.
fn events() -> impl Strategy<Value = Vec<ControllerEvent<String>>> {
    prop::collection::vec((0_u64..400_000, call()).prop_map(|(at_ms, call)| ControllerEvent::new(at_ms, call)), 1..24)
}

/// The log, as text, of making these calls.
fn log_of(profile: Profile, events: Vec<ControllerEvent<String>>) -> String {
    let heading = serde_json::to_string(&LogHeader::new(profile.clone())).unwrap();
    let lines = replay(profile, events).map(|record| line_of(&record).unwrap());
    std::iter::once(heading).chain(lines).map(|line| line + "\n").collect()
}

/// Replays a log: the number of replies that agreed, and the log with all replies.
fn replayed(log: &str) -> Result<(usize, String), ReplayError> {
    let mut out = Vec::new();
    let agreed = replay_log(log.as_bytes(), &mut out)?;
    Ok((agreed, String::from_utf8(out).unwrap()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn saved_log_reproduces_every_decision((profile, events) in (profile(), events())) {
        let lines = events.len();
        let log = log_of(profile, events);
        prop_assert_eq!(replayed(&log).unwrap(), (lines, log));
    }

    #[test]
    fn restored_controller_continues_after_a_crash((profile, events) in (profile(), events())) {
        let whole: Vec<_> = replay(profile.clone(), events.clone()).collect();
        let mut controller = Controller::new(profile);
        for (event, expected) in events.into_iter().zip(whole) {
            let saved = serde_json::to_string(&controller).unwrap();
            controller = serde_json::from_str(&saved).unwrap();
            prop_assert_eq!(serde_json::to_string(&controller).unwrap(), saved);
            prop_assert_eq!(controller.record(event), expected);
        }
    }
}

/// Replaying the checked-in log, or its calls without replies, gives the same log byte for byte.
#[test]
fn checked_in_log_matches_its_inputs() {
    let (agreed, text) = replayed(LOG).unwrap();
    assert_eq!((agreed, text.as_str()), (18, LOG));
    // The inputs alone bring the answers back.
    let bare = |line: &str| {
        let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
        line.as_object_mut().unwrap().remove("answer");
        line.to_string() + "\n"
    };
    let (heading, rest) = LOG.split_once('\n').unwrap();
    let inputs: String = [heading.to_owned() + "\n"].into_iter().chain(rest.lines().map(bare)).collect();
    assert_eq!(replayed(&inputs).unwrap(), (0, LOG.to_owned()));
}

/// A log in which a number, a reply or the profile was changed is rejected when replayed.
#[test]
fn changed_byte_is_found() {
    for (from, to) in [
        ("\"at_ms\":45000", "\"at_ms\":45001"),
        ("\"failed_attempts\":1,\"attempts\":2", "\"failed_attempts\":2,\"attempts\":2"),
        ("\"d\":0.625", "\"d\":0.6250000000000001"),
        ("\"refused\":\"already_ended\"", "\"refused\":\"unknown_task\""),
        ("\"answer\":\"done\"", "\"answer\": \"done\""),
    ] {
        assert!(LOG.contains(from), "{from}");
        let error = replayed(&LOG.replacen(from, to, 1)).unwrap_err();
        assert!(matches!(error, ReplayError::Differs { .. }), "{from}: {error}");
    }
    let other_numbers = LOG.replacen("\"delta\":0.3", "\"delta\":0.2", 1);
    let ReplayError::Line { number: 1, source } = replayed(&other_numbers).unwrap_err() else { panic!() };
    let expected = "config is 301a640b25cbf2d3, but the profile hashes to ";
    assert!(source.to_string().starts_with(expected), "{source}");
    assert!(matches!(replayed("").unwrap_err(), ReplayError::Empty));
}

/// An older log's `accept` call is read as an observed round.
#[test]
fn saved_accept_is_read_as_observed_round() {
    let event = ControllerEvent::new(7, ControllerCall::Observe { task: "a".to_owned(), round: shares(0, 0, 1) });
    let saved = serde_json::to_string(&event).unwrap();
    assert!(saved.contains("{\"round\":{\"task\":\"a\",\"round\":"), "{saved}");
    let older = saved.replacen("{\"round\":{\"task\"", "{\"accept\":{\"task\"", 1);
    assert_eq!(serde_json::from_str::<ControllerEvent<String>>(&older).unwrap(), event);
}
