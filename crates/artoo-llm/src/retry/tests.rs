//! Tests of the retry decision: a table of cases, and whole sequences of tries in simulated time.

use std::time::Duration;

use proptest::prelude::*;

use super::{Outcome, RetryPolicy, Why, next, random_share};

/// A duration in seconds.
fn secs(s: f64) -> Duration {
    Duration::from_secs_f64(s)
}

/// Asserts the retry decision of the default policy after this many tries, this outcome and these elapsed seconds.
#[track_caller]
fn check(tries: u32, outcome: Outcome, elapsed: f64, share: f64, expected: Result<Duration, Why>) {
    let decision = next(&RetryPolicy::default(), tries, outcome, secs(elapsed), share);
    assert_eq!(decision, expected, "{tries} {outcome:?} {elapsed} {share}");
}

/// The expected decision to try again after this many seconds.
fn retry(after: f64) -> Result<Duration, Why> {
    Ok(secs(after))
}

/// The expected decision to make no further try, for this reason.
fn give_up(why: Why) -> Result<Duration, Why> {
    Err(why)
}

const BUSY: Outcome = Outcome::Busy { retry_after: None };

/// The outcome of a busy endpoint that asks for a wait of this many seconds.
fn asks(wait: f64) -> Outcome {
    Outcome::Busy { retry_after: Some(secs(wait)) }
}

/// For each outcome of a try the retry decision is the right wait or end.
#[doc = "holds: principle 4; fault L2; client C16; design D18"]
#[test]
fn each_outcome_has_its_wait_or_end() {
    // L1: the requested wait is respected, never shortened, up to a limit.
    check(1, asks(7.0), 0.0, 0.0, retry(7.0));
    check(1, asks(7.0), 0.0, 0.5, retry(7.25));
    check(1, asks(60.0), 0.0, 0.0, retry(60.0));
    check(1, asks(61.0), 0.0, 0.0, give_up(Why::WaitTooLong { asked: secs(61.0) }));
    check(2, asks(31.0), 60.0, 0.0, give_up(Why::TimeSpent));
    check(4, asks(1.0), 5.0, 0.0, give_up(Why::TriesSpent));
    // L2, L3: full jitter on a doubling scale, four tries.
    check(1, BUSY, 0.0, 0.0, retry(0.0));
    check(1, BUSY, 0.0, 0.5, retry(0.25));
    check(2, BUSY, 1.0, 0.5, retry(0.5));
    check(3, BUSY, 1.0, 0.5, retry(1.0));
    check(4, BUSY, 1.0, 0.5, give_up(Why::TriesSpent));
    check(3, BUSY, 89.5, 0.5, give_up(Why::TimeSpent));
    // L4 and every other final error.
    check(1, Outcome::Final, 0.0, 0.5, give_up(Why::Pointless));
    // L5: one more try.
    check(1, Outcome::NoConnection, 0.0, 0.5, retry(0.25));
    check(2, Outcome::NoConnection, 0.3, 0.5, give_up(Why::TriesSpent));
}

/// The wait after a huge number of tries does not overflow.
#[test]
fn huge_number_of_tries_does_not_overflow() {
    let policy = RetryPolicy { busy_tries: u32::MAX, total: Duration::MAX, ..RetryPolicy::default() };
    let decision = next(&policy, u32::MAX - 1, BUSY, secs(1.0), 0.5);
    assert_eq!(decision, retry(10.0));
}

/// Random shares, which vary the wait, lie in [0, 1) and are spread over it.
#[test]
fn random_shares_cover_the_unit_interval() {
    let shares: Vec<f64> = (0..200).map(|_| random_share()).collect();
    assert!(shares.iter().all(|share| (0.0..1.0).contains(share)));
    assert!(shares.iter().any(|share| *share < 0.3) && shares.iter().any(|share| *share > 0.7));
}

/// A strategy for random outcomes of a failed try.
fn any_outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![Just(Outcome::NoConnection), Just(BUSY), Just(Outcome::Final), (0.0..200.0_f64).prop_map(asks),]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// At most four tries are made and none begins later than 90 s after the first, whatever the outcomes and
    /// durations.
    #[doc = "holds: fault L3; client C16"]
    #[test]
    fn at_most_four_tries_within_ninety_seconds(
        steps in prop::collection::vec((any_outcome(), 0.0..40.0_f64, 0.0..1.0_f64), 1..12)
    ) {
        let policy = RetryPolicy::default();
        let (mut elapsed, mut tries) = (Duration::ZERO, 0);
        for (outcome, took, share) in steps {
            prop_assert!(elapsed <= policy.total);
            tries += 1;
            elapsed += secs(took);
            match next(&policy, tries, outcome, elapsed, share) {
                Ok(after) => {
                    if let Outcome::Busy { retry_after: Some(asked) } = outcome {
                        prop_assert!(after >= asked);
                    }
                    elapsed += after;
                }
                Err(_) => break,
            }
        }
        prop_assert!(tries <= 4);
    }
}
