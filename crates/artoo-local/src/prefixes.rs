//! States of evaluated beginnings, kept so that a role's standing instructions are evaluated once.
//!
//! What a state is does not matter here. Only beginnings that end at a multiple of the step are kept: from there on a
//! prompt is then evaluated in the same pieces as without them, and gives the same numbers to the last bit.

/// Beginnings with their states, the longest unused one given up first.
#[derive(Debug)]
pub(crate) struct Prefixes<S> {
    kept: Vec<Kept<S>>,
    bytes_max: usize,
    uses: u64,
}

#[derive(Debug)]
struct Kept<S> {
    tokens: Vec<i32>,
    state: S,
    bytes: usize,
    used: u64,
}

impl<S> Prefixes<S> {
    /// None yet; never more than so many bytes of states.
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self { kept: Vec::new(), bytes_max, uses: 0 }
    }

    /// The longest kept beginning of a prompt, and its length; a prompt's end is not its beginning.
    pub(crate) fn longest(&mut self, prompt: &[i32]) -> Option<(usize, &S)> {
        self.uses += 1;
        let begins = |kept: &&mut Kept<S>| kept.tokens.len() < prompt.len() && prompt.starts_with(&kept.tokens);
        let kept = self.kept.iter_mut().filter(begins).max_by_key(|kept| kept.tokens.len())?;
        kept.used = self.uses;
        Some((kept.tokens.len(), &kept.state))
    }

    /// Whether this beginning is worth its state: it is not kept already, and it fits at all.
    pub(crate) fn wants(&self, tokens: &[i32], bytes: usize) -> bool {
        !tokens.is_empty() && bytes <= self.bytes_max && !self.kept.iter().any(|kept| kept.tokens == tokens)
    }

    /// Keeps a beginning; others go where there is no room.
    pub(crate) fn keep(&mut self, tokens: &[i32], state: S, bytes: usize) {
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

/// How many tokens two texts begin with in common.
pub(crate) fn common(one: &[i32], other: &[i32]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Prefixes, common};

    #[test]
    fn the_longest_beginning_is_found_and_the_one_longest_unused_goes() {
        let mut prefixes = Prefixes::new(10);
        prefixes.keep(&[1, 2], "a", 4);
        prefixes.keep(&[1, 2, 3, 4], "b", 4);
        prefixes.keep(&[9], "too large", 11);
        assert_eq!(prefixes.longest(&[1, 2, 3, 4, 5]), Some((4, &"b")));
        assert_eq!(prefixes.longest(&[1, 2, 3, 4]), Some((2, &"a")), "something is left to be evaluated");
        assert_eq!(prefixes.longest(&[9, 9]), None);
        assert!(!prefixes.wants(&[1, 2], 1) && !prefixes.wants(&[], 1) && prefixes.wants(&[7], 10));
        prefixes.keep(&[7, 7], "c", 4);
        assert_eq!(prefixes.longest(&[1, 2, 3, 4, 5]), Some((2, &"a")), "b was used before a");
        assert_eq!(prefixes.longest(&[7, 7, 7]), Some((2, &"c")));
        prefixes.keep(&[8], "d", 10);
        assert_eq!(prefixes.longest(&[7, 7, 7]), None);
        let mut none = Prefixes::new(0);
        none.keep(&[1], "a", 1);
        assert_eq!(none.longest(&[1, 1]), None);
    }

    #[test]
    fn common_beginnings_are_counted() {
        assert_eq!(common(&[1, 2, 3], &[1, 2, 4]), 2);
        assert_eq!(common(&[1, 2], &[1, 2, 4]), 2);
        assert_eq!(common(&[], &[1]), 0);
    }

    proptest! {
        #[test]
        fn the_bound_holds_and_what_is_found_is_a_beginning(
            steps in prop::collection::vec((prop::collection::vec(0..3, 1..5), 0_usize..6, any::<bool>()), 0..60),
        ) {
            let mut prefixes = Prefixes::new(12);
            for (tokens, bytes, keep) in steps {
                if keep {
                    prefixes.keep(&tokens, tokens.clone(), bytes);
                } else if let Some((length, state)) = prefixes.longest(&tokens) {
                    prop_assert!(length < tokens.len());
                    prop_assert_eq!(&tokens[..length], &state[..]);
                }
                prop_assert!(prefixes.kept.iter().map(|kept| kept.bytes).sum::<usize>() <= 12);
            }
        }
    }
}
