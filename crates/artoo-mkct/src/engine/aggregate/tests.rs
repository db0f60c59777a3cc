//! Compares the accumulators with direct summation.

use proptest::prelude::*;

use super::{Aggregate, Term};
use crate::engine::potential::{days_between, decay};

const FIVE_YEARS_MS: i64 = 5 * 365 * 86_400_000;

/// The expected sums, calculated record by record; `now` is never earlier than the newest record.
fn direct(terms: &[Term], now_ms: i64) -> (f64, f64, f64) {
    let now_ms = terms.iter().map(|term| term.at_ms).fold(now_ms, i64::max);
    let shares: Vec<(f64, &Term)> =
        terms.iter().map(|term| (term.f * decay(term.k, days_between(term.at_ms, now_ms)), term)).collect();
    let blamed_on_nobody = |term: &Term| term.environmental && term.sigma < 0.0;
    (
        pairwise(&shares.iter().map(|(left, _)| *left).collect::<Vec<_>>()),
        pairwise(&shares.iter().map(|(left, term)| term.sigma * left).collect::<Vec<_>>()),
        pairwise(
            &shares
                .iter()
                .map(|(left, term)| if blamed_on_nobody(term) { term.sigma * left } else { 0.0 })
                .collect::<Vec<_>>(),
        ),
    )
}

/// A pairwise sum, whose rounding error grows with the logarithm of the length; a method other than the tested one.
fn pairwise(terms: &[f64]) -> f64 {
    if terms.len() <= 4 {
        return terms.iter().sum();
    }
    let (left, right) = terms.split_at(terms.len() / 2);
    pairwise(left) + pairwise(right)
}

/// Asserts that the sums of an aggregate equal those of a direct summation.
#[track_caller]
fn check(aggregate: &Aggregate, terms: &[Term], now_ms: i64) {
    let sums = aggregate.at(now_ms);
    let (attention, decision, excused) = direct(terms, now_ms);
    // Near the smallest numbers f64 has, a relative error means nothing.
    let tolerance = 1e-12 * attention + 1e-300;
    assert!((sums.attention - attention).abs() <= tolerance, "attention {} against {attention}", sums.attention);
    assert!((sums.decision - decision).abs() <= tolerance, "decision {} against {decision}", sums.decision);
    assert!((sums.excused - excused).abs() <= tolerance, "excused {} against {excused}", sums.excused);
}

/// Generates the values of a random record: magnitude, valence, decay rate and time.
fn term() -> impl Strategy<Value = Term> {
    let k = prop_oneof![Just(0.05), Just(0.2), Just(0.5), Just(3.0)];
    (0..FIVE_YEARS_MS, 0.0..=1.0_f64, -1.0..=1.0_f64, k, any::<bool>())
        .prop_map(|(at_ms, f, sigma, k, environmental)| Term { at_ms, f, sigma, k, environmental })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn aggregates_equal_direct_sums_in_any_order(
        terms in prop::collection::vec(term(), 0..60),
        later in 0..FIVE_YEARS_MS,
        split in 0..60_usize,
    ) {
        let aggregate = Aggregate::of(terms.iter().copied());
        for now_ms in [0, later, FIVE_YEARS_MS, FIVE_YEARS_MS + later] {
            check(&aggregate, &terms, now_ms);
        }
        let (left, right) = terms.split_at(split.min(terms.len()));
        let mut merged = Aggregate::of(left.iter().copied());
        merged.merge(&Aggregate::of(right.iter().copied()));
        check(&merged, &terms, FIVE_YEARS_MS + later);
    }
}

#[test]
fn long_burst_sums_without_drift() {
    let term = |i: i64| Term { at_ms: i, f: 0.9, sigma: 1.0, k: 0.05, environmental: false };
    let terms: Vec<Term> = (0..300_000).map(term).collect();
    let aggregate = Aggregate::of(terms.iter().copied());
    check(&aggregate, &terms, 300_000);
    check(&aggregate, &terms, 40 * 86_400_000);
}

#[test]
fn million_equal_records_sum_exactly() {
    // Added one by one without care, a million tenths are 100000.00000133288.
    let tenth = Term { at_ms: 7, f: 0.1, sigma: -1.0, k: 0.05, environmental: false };
    let sums = Aggregate::of(std::iter::repeat_n(tenth, 1_000_000)).at(7);
    assert!((sums.attention - 100_000.0).abs() < 1e-7 && (sums.decision + 100_000.0).abs() < 1e-7, "{sums:?}");
}

#[doc = "holds: design K1, K5"]
#[test]
fn extreme_times_do_not_overflow() {
    let term = |at_ms| Term { at_ms, f: 1.0, sigma: -1.0, k: 1_000.0, environmental: true };
    let terms = [term(i64::MIN), term(-1), term(0), term(i64::MAX)];
    let aggregate = Aggregate::of(terms);
    for now_ms in [i64::MIN, 0, i64::MAX] {
        let sums = aggregate.at(now_ms);
        assert_eq!((sums.attention, sums.decision, sums.excused), (1.0, -1.0, -1.0));
    }
}
