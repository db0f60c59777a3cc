//! A small seeded generator of random numbers (SplitMix64), the same on every machine.

/// A generator whose numbers depend on the seed alone.
#[derive(Debug, Clone)]
pub(super) struct Rng(u64);

impl Rng {
    /// A generator for this seed.
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 random bits.
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A random number from 0 to `n − 1`; 0 for `n = 0`.
    pub(super) fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(n.max(1)).unwrap()).unwrap()
    }

    /// A random number from `low` to `high`, both included.
    pub(super) fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// True in `per_mille` of 1,000 cases.
    pub(super) fn chance(&mut self, per_mille: u32) -> bool {
        self.next() % 1_000 < u64::from(per_mille)
    }

    /// A random element of a slice.
    pub(super) fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}
