//! Stores the engine's states after evaluated prompt beginnings, so that a role's fixed instructions are evaluated only
//! once.
//!
//! The type of a state does not matter here. Only beginnings whose length is a multiple of the step are saved: the rest
//! of a prompt is then evaluated in the same pieces as without a saved state, and gives the same numbers to the last
//! bit.

/// Saved prompt beginnings with the engine's states after them; the least recently used is dropped first.
#[derive(Debug)]
pub(crate) struct Prefixes<S> {
    /// The saved beginnings, in no particular order.
    kept: Vec<Kept<S>>,
    /// Most bytes of all saved states together.
    bytes_max: usize,
    /// Number of uses so far, as a clock for the least recently used one.
    uses: u64,
}

/// One saved prompt beginning: its tokens and the engine's state after them.
#[derive(Debug)]
struct Kept<S> {
    /// The tokens of the beginning.
    tokens: Vec<i32>,
    /// The state after these tokens were evaluated.
    state: S,
    /// Size of the state in bytes.
    bytes: usize,
    /// Value of `Prefixes::uses` when this beginning was last used.
    used: u64,
}

impl<S> Prefixes<S> {
    /// Creates an empty store for at most `bytes_max` bytes of states.
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self { kept: Vec::new(), bytes_max, uses: 0 }
    }

    /// The longest saved beginning of this prompt: its length in tokens, and the state after it. It is always shorter
    /// than the prompt.
    pub(crate) fn longest(&mut self, prompt: &[i32]) -> Option<(usize, &S)> {
        self.uses += 1;
        let begins = |kept: &&mut Kept<S>| kept.tokens.len() < prompt.len() && prompt.starts_with(&kept.tokens);
        let kept = self.kept.iter_mut().filter(begins).max_by_key(|kept| kept.tokens.len())?;
        kept.used = self.uses;
        Some((kept.tokens.len(), &kept.state))
    }

    /// Whether a prompt beginning should be saved: it is not saved yet, and its state of `bytes` fits into the limit.
    pub(crate) fn wants(&self, tokens: &[i32], bytes: usize) -> bool {
        !tokens.is_empty() && bytes <= self.bytes_max && !self.kept.iter().any(|kept| kept.tokens == tokens)
    }

    /// Saves a prompt beginning with the state after it; drops the least recently used ones if there is no room.
    pub(crate) fn save_prefix(&mut self, tokens: &[i32], state: S, bytes: usize) {
        if !self.wants(tokens, bytes) {
            return;
        }
        self.uses += 1;
        while self.kept.iter().map(|kept| kept.bytes).sum::<usize>() > self.bytes_max - bytes {
            let Some(oldest) = (0..self.kept.len()).min_by_key(|at| self.kept.get(*at).map(|kept| kept.used)) else {
                break;
            };
            self.kept.swap_remove(oldest);
        }
        self.kept.push(Kept { tokens: tokens.to_owned(), state, bytes, used: self.uses });
    }
}

/// Number of tokens at the start that two prompts have in common.
pub(crate) fn common(one: &[i32], other: &[i32]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

/// Tests of the store of prompt beginnings.
#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Prefixes, common};

    /// The longest saved beginning of a prompt is found; the least recently used one is dropped first.
    #[test]
    fn longest_prefix_is_found_oldest_dropped() {
        let mut prefixes = Prefixes::new(10);
        prefixes.save_prefix(&[1, 2], "a", 4);
        prefixes.save_prefix(&[1, 2, 3, 4], "b", 4);
        prefixes.save_prefix(&[9], "too large", 11);
        assert_eq!(prefixes.longest(&[1, 2, 3, 4, 5]), Some((4, &"b")));
        assert_eq!(prefixes.longest(&[1, 2, 3, 4]), Some((2, &"a")), "something is left to be evaluated");
        assert_eq!(prefixes.longest(&[9, 9]), None);
        assert!(!prefixes.wants(&[1, 2], 1) && !prefixes.wants(&[], 1) && prefixes.wants(&[7], 10));
        prefixes.save_prefix(&[7, 7], "c", 4);
        assert_eq!(prefixes.longest(&[1, 2, 3, 4, 5]), Some((2, &"a")), "b was used before a");
        assert_eq!(prefixes.longest(&[7, 7, 7]), Some((2, &"c")));
        prefixes.save_prefix(&[8], "d", 10);
        assert_eq!(prefixes.longest(&[7, 7, 7]), None);
        let mut none = Prefixes::new(0);
        none.save_prefix(&[1], "a", 1);
        assert_eq!(none.longest(&[1, 1]), None);
    }

    #[test]
    fn common_prefix_length_is_counted() {
        assert_eq!(common(&[1, 2, 3], &[1, 2, 4]), 2);
        assert_eq!(common(&[1, 2], &[1, 2, 4]), 2);
        assert_eq!(common(&[], &[1]), 0);
    }

    proptest! {
        /// The saved states never take more bytes than allowed.
        #[test]
        fn saved_prefixes_stay_within_the_limit(
            steps in prop::collection::vec((prop::collection::vec(0..3, 1..5), 0_usize..6, any::<bool>()), 0..60),
        ) {
            let mut prefixes = Prefixes::new(12);
            for (tokens, bytes, keep) in steps {
                if keep {
                    prefixes.save_prefix(&tokens, tokens.clone(), bytes);
                } else if let Some((length, state)) = prefixes.longest(&tokens) {
                    prop_assert!(length < tokens.len());
                    prop_assert_eq!(&tokens[..length], &state[..]);
                }
                prop_assert!(prefixes.kept.iter().map(|kept| kept.bytes).sum::<usize>() <= 12);
            }
        }
    }
}
