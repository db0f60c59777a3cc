//! When a sum of decaying exponentials crosses a level.
//!
//! g(t) = Σ wᵢ·exp(−kᵢ·t) − level has at most as many zeros as terms. Between two zeros of the derivative of
//! g·exp(k·t), where k is the rate of one term, g has at most one zero. That derivative has one term less, so the zeros
//! are found recursively, each by bisection.

/// Number of bisection steps: a century is narrowed to far below a millisecond.
const HALVINGS: u32 = 80;

/// How many days ahead are searched: a century.
pub(crate) const HORIZON_DAYS: f64 = 36_525.0;

/// A decaying term of a sum: weight, and decay rate per day.
pub(crate) type Exponential = (f64, f64);

/// Days from now at which the sum crosses the level, in order, within [`HORIZON_DAYS`].
pub(crate) fn crossings(sum: &[Exponential], level: f64) -> Vec<f64> {
    let mut terms: Vec<Exponential> = Vec::with_capacity(sum.len() + 1);
    for &(weight, k) in sum.iter().chain(std::iter::once(&(-level, 0.0))) {
        match terms.iter_mut().find(|(_, known)| *known == k) {
            Some((total, _)) => *total += weight,
            None => terms.push((weight, k)),
        }
    }
    terms.retain(|(weight, _)| *weight != 0.0);
    zeros(&terms)
}

/// The value of a sum of decaying terms after `days`.
pub(crate) fn value(sum: &[Exponential], days: f64) -> f64 {
    sum.iter().map(|(weight, k)| weight * (-k * days).exp()).sum()
}

/// The days at which a sum of terms with distinct decay rates is zero, in order, within [`HORIZON_DAYS`].
fn zeros(terms: &[Exponential]) -> Vec<f64> {
    let Some(((_, slowest), rest)) = terms.split_last().filter(|(_, rest)| !rest.is_empty()) else {
        return Vec::new();
    };
    // Dividing by the last term's exponential leaves its derivative zero.
    let derivative: Vec<Exponential> = rest.iter().map(|(weight, k)| (-(k - slowest) * weight, *k)).collect();
    let turns = zeros(&derivative);
    let mut found = Vec::new();
    let mut from = 0.0;
    for to in turns.into_iter().chain(std::iter::once(HORIZON_DAYS)) {
        if is_positive(terms, from) != is_positive(terms, to) {
            found.push(bisect(terms, from, to));
        }
        from = to;
    }
    found
}

/// The day between `from` and `to` at which the sum is zero; its signs at the two differ.
fn bisect(terms: &[Exponential], mut from: f64, mut to: f64) -> f64 {
    let rising = is_positive(terms, to);
    for _ in 0..HALVINGS {
        let middle = from.midpoint(to);
        if is_positive(terms, middle) == rising { to = middle } else { from = middle }
    }
    to
}

/// Whether the sum is positive after `days`; scaled so that small terms do not underflow.
fn is_positive(terms: &[Exponential], days: f64) -> bool {
    let slowest = terms.iter().map(|(_, k)| *k).fold(f64::INFINITY, f64::min);
    terms.iter().map(|(weight, k)| weight * ((slowest - k) * days).exp()).sum::<f64>() > 0.0
}
