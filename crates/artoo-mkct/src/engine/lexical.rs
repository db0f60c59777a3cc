//! Remembered intents that share words with a new one.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    engine::{pages::Pages, shards::Shards},
    record::slug,
};

/// Factor on the similarity of two intents whose slugs differ.
const DISCOUNT: f64 = 0.9;

/// Lowest similarity of intents that are returned; below it, shared words are coincidence.
const MIN_SIMILARITY: f64 = 0.5;

/// Most intents that may contain a word before the word is ignored: such a word distinguishes few intents, and scanning
/// them takes time.
const MAX_INTENTS_PER_WORD: usize = 1_000;

/// The slugs of remembered intents, found by their words.
#[derive(Debug, Clone, Default)]
pub(crate) struct IntentIndex {
    /// The slugs that contain each word.
    pub(super) by_word: Shards<Arc<str>, Pages<Arc<str>, 64>>,
    /// Number of slugs of remembered intents.
    pub(super) intents: usize,
}

impl IntentIndex {
    /// Adds the slug of an intent.
    pub(crate) fn insert(&mut self, slug: &str) {
        self.intents += 1;
        let name: Arc<str> = slug.into();
        for word in slug::words(slug) {
            match self.by_word.get_mut(word.as_str()) {
                Some(slugs) => slugs.push(Arc::clone(&name)),
                None => self.by_word.insert(word.into(), std::iter::once(Arc::clone(&name)).collect()),
            }
        }
    }

    /// Removes the slug of an intent.
    pub(crate) fn remove(&mut self, slug: &str) {
        self.intents = self.intents.saturating_sub(1);
        for word in slug::words(slug) {
            let Some(slugs) = self.by_word.get(word.as_str()) else { continue };
            let rest: Pages<Arc<str>, 64> = slugs.iter().filter(|other| ***other != *slug).cloned().collect();
            if rest.len() == 0 {
                self.by_word.remove(word.as_str());
            } else {
                self.by_word.insert(word.into(), rest);
            }
        }
    }

    /// The slugs of remembered intents most similar to `intent`, except `exact`, best first, with their similarity.
    ///
    /// Similarity is the share of the words of the slug that the intent contains, times 0.9; rare words weigh more:
    /// ln(1 + intents / intents with the word).
    pub(crate) fn similar(&self, intent: &str, exact: &str, limit: usize) -> Vec<(String, f64)> {
        let mut shared: BTreeMap<&str, f64> = BTreeMap::new();
        for word in slug::words(intent) {
            let Some(slugs) = self.by_word.get(word.as_str()).filter(|slugs| slugs.len() <= MAX_INTENTS_PER_WORD)
            else {
                continue;
            };
            for slug in slugs.iter().filter(|slug| ***slug != *exact) {
                *shared.entry(slug).or_default() += self.weight(slugs.len());
            }
        }
        let mut found: Vec<(String, f64)> = shared
            .into_iter()
            .map(|(slug, weight)| (slug.to_owned(), DISCOUNT * (weight / self.total_weight(slug)).min(1.0)))
            .filter(|(_, similarity)| *similarity >= MIN_SIMILARITY)
            .collect();
        found.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        found.truncate(limit);
        found
    }

    /// Weight of a word that `intents_with_word` slugs contain; rare words weigh more.
    fn weight(&self, intents_with_word: usize) -> f64 {
        (self.intents as f64 / intents_with_word.max(1) as f64).ln_1p()
    }

    /// Sum of the weights of the words of a slug.
    fn total_weight(&self, slug: &str) -> f64 {
        let intents_with = |word: &String| self.by_word.get(word.as_str()).map_or(1, Pages::len);
        slug::words(slug).iter().map(|word| self.weight(intents_with(word))).sum()
    }
}
