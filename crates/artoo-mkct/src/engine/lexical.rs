//! Remembered intents, with all their words, and those that share words with a new one.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::{
    engine::{pages::Pages, shards::Shards},
    record::{slug, words},
};

/// Greatest similarity of two intents that are not the same.
pub(crate) const MAX_SIMILARITY: f64 = 0.9;

/// Lowest similarity of intents that are returned; below it, shared words are coincidence.
const MIN_SIMILARITY: f64 = 0.2;

/// Most intents that may contain a word before the word is ignored: such a word distinguishes few intents, and scanning
/// them takes time.
const MAX_INTENTS_PER_WORD: usize = 1_000;

/// Most intents whose similarity is calculated: those that share most with a new one.
const MAX_SCORED: usize = 64;

/// The number of what concerns all intents of a tag, such as feedback against its rule.
pub(crate) const EVERY_INTENT: u32 = 0;

/// An intent that at least one record is about: its slug, and all its words if they are known.
#[derive(Debug, Clone)]
pub(crate) struct Intent {
    /// The slug, the separator, and the intent's words in order.
    pub(super) key: Arc<str>,
    /// The words as they were given first; the slug for records without words.
    pub(super) text: Arc<str>,
    /// Number of records about the intent.
    pub(super) live: u32,
}

impl Intent {
    /// The intent's slug: the short key of its first words, as in the tags of its records.
    pub(crate) fn slug(&self) -> &str {
        self.key.split(SEPARATOR).next().unwrap_or_default()
    }

    /// All words of the intent, or those of its slug if no more is known.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}

/// What separates the slug of an intent from its words; a control character, which neither has.
const SEPARATOR: char = '\u{1f}';

/// A remembered intent by number, and its similarity to the one asked about: 1 for the same intent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Near {
    pub(crate) intent: u32,
    pub(crate) similarity: f64,
}

/// Remembered intents, found by their words.
#[derive(Debug, Clone, Default)]
pub(crate) struct IntentIndex {
    /// The intents by number; the first has number 1.
    pub(super) intents: Pages<Intent, 64>,
    /// Numbers of intents without records.
    pub(super) free: Arc<Vec<u32>>,
    /// The number of each intent, by slug and words.
    pub(super) by_key: Shards<Arc<str>, u32>,
    /// The intents that contain each term.
    pub(super) by_word: Shards<Arc<str>, Pages<u32, 64>>,
}

impl IntentIndex {
    /// The intent with this number; `None` if it has no records any more.
    pub(crate) fn get(&self, number: u32) -> Option<&Intent> {
        self.intents.get((number as usize).checked_sub(1)?).filter(|intent| intent.live > 0)
    }

    /// All remembered intents.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Intent> {
        self.intents.iter().filter(|intent| intent.live > 0)
    }

    /// Counts one record more about an intent; returns the intent's number.
    pub(crate) fn hold(&mut self, slug: &str, text: Option<&str>) -> u32 {
        let key: Arc<str> = key_of(slug, text).into();
        if let Some(number) = self.by_key.get(&key).copied() {
            if let Some(intent) = self.intents.get_mut(number as usize - 1) {
                intent.live += 1;
            }
            return number;
        }
        let intent = Intent { key: Arc::clone(&key), text: text.unwrap_or(slug).into(), live: 1 };
        let terms = words::terms(&intent.text);
        let free = Arc::make_mut(&mut self.free).pop();
        let number = free.unwrap_or(self.intents.len() as u32 + 1);
        match self.intents.get_mut(number as usize - 1) {
            Some(place) => *place = intent,
            None => self.intents.push(intent),
        }
        self.by_key.insert(key, number);
        for term in terms {
            match self.by_word.get_mut(term.as_str()) {
                Some(numbers) => numbers.push(number),
                None => self.by_word.insert(term.into(), std::iter::once(number).collect()),
            }
        }
        number
    }

    /// Counts one record less about an intent; without records the intent is removed.
    pub(crate) fn release(&mut self, number: u32) {
        let Some(intent) = (number as usize).checked_sub(1).and_then(|place| self.intents.get_mut(place)) else {
            return;
        };
        intent.live = intent.live.saturating_sub(1);
        if intent.live > 0 {
            return;
        }
        let intent = intent.clone();
        self.by_key.remove(&intent.key);
        Arc::make_mut(&mut self.free).push(number);
        for term in words::terms(&intent.text) {
            let Some(numbers) = self.by_word.get(term.as_str()) else { continue };
            let rest: Pages<u32, 64> = numbers.iter().filter(|other| **other != number).copied().collect();
            if rest.len() == 0 {
                self.by_word.remove(term.as_str());
            } else {
                self.by_word.insert(term.into(), rest);
            }
        }
    }

    /// The remembered intent that is the same as `intent`: an equal slug, and equal words.
    pub(crate) fn same(&self, intent: &str) -> Option<Near> {
        let intent = *self.by_key.get(key_of(&slug::slug(intent), Some(intent)).as_str())?;
        Some(Near { intent, similarity: 1.0 })
    }

    /// The remembered intent of which no more than the slug is known, and that has the slug of `intent`.
    pub(crate) fn same_slug(&self, intent: &str) -> Option<Near> {
        let intent = *self.by_key.get(key_of(&slug::slug(intent), None).as_str())?;
        Some(Near { intent, similarity: MAX_SIMILARITY })
    }

    /// The remembered intents most similar to `intent`, except the same one, best first.
    ///
    /// Similarity is the weight of the shared terms over the geometric mean of the weights of both intents, times 0.9;
    /// rare terms weigh more: ln(1 + intents / intents with the term). `more` adds other candidates.
    pub(crate) fn similar(&self, intent: &str, more: Vec<(String, f64)>, limit: usize) -> Vec<Near> {
        let mine: BTreeSet<String> = words::terms(intent).into_iter().collect();
        let mut shared: BTreeMap<u32, f64> = BTreeMap::new();
        for term in &mine {
            let numbers = self.by_word.get(term.as_str()).filter(|numbers| numbers.len() <= MAX_INTENTS_PER_WORD);
            for number in numbers.into_iter().flat_map(Pages::iter) {
                *shared.entry(*number).or_default() += self.weight(term);
            }
        }
        let total = self.total_weight(&mine);
        let score = |(number, weight): (u32, f64)| {
            let theirs: BTreeSet<String> = words::terms(self.get(number)?.text()).into_iter().collect();
            let similarity = weight / (total * self.total_weight(&theirs)).sqrt();
            let alike = similarity >= MIN_SIMILARITY && !words::are_opposite(&mine, &theirs);
            alike.then_some((number, similarity))
        };
        let mut shared: Vec<(u32, f64)> = shared.into_iter().collect();
        shared.sort_by(|a, b| b.1.total_cmp(&a.1));
        let mut found: BTreeMap<u32, f64> = shared.into_iter().take(MAX_SCORED).filter_map(score).collect();
        for (text, similarity) in more {
            if let Some(near) = self.same(&text) {
                let best = found.entry(near.intent).or_default();
                *best = best.max(similarity);
            }
        }
        let same = self.same(intent).map(|near| near.intent);
        found.retain(|number, _| Some(*number) != same);
        let near =
            |(intent, similarity): (u32, f64)| Near { intent, similarity: MAX_SIMILARITY * similarity.clamp(0.0, 1.0) };
        let mut found: Vec<Near> = found.into_iter().map(near).collect();
        found.sort_by(|a, b| b.similarity.total_cmp(&a.similarity).then(a.intent.cmp(&b.intent)));
        found.truncate(limit);
        found
    }

    /// Intents whose first term (the act, such as "compress") is `act`, newest first, at most `limit`.
    pub(crate) fn of_act(&self, act: &str, limit: usize) -> Vec<(u32, &Intent)> {
        let with =
            self.by_word.get(act).into_iter().flat_map(|numbers| numbers.iter().rev()).take(MAX_INTENTS_PER_WORD);
        let intents = with.filter_map(|number| Some((*number, self.get(*number)?)));
        intents
            .filter(|(_, intent)| words::terms(intent.text()).first().is_some_and(|first| first == act))
            .take(limit)
            .collect()
    }

    /// Weight of a term; terms that few intents contain weigh more.
    fn weight(&self, term: &str) -> f64 {
        let with = self.by_word.get(term).map_or(1, Pages::len);
        (self.by_key.len() as f64 / with as f64).ln_1p()
    }

    /// Sum of the weights of these terms.
    fn total_weight(&self, terms: &BTreeSet<String>) -> f64 {
        terms.iter().map(|term| self.weight(term)).sum()
    }
}

/// The key of an intent: its slug, the separator, and its words; without `text`, the words of a whole slug, or none.
fn key_of(slug: &str, text: Option<&str>) -> String {
    let rest = match text {
        Some(text) => {
            words::sequence(text.get(..text.floor_char_boundary(crate::record::MAX_INTENT_BYTES)).unwrap_or(text))
        }
        None if slug::is_whole(slug) => words::sequence(&slug.replace('_', " ")),
        None => String::new(),
    };
    format!("{slug}{SEPARATOR}{rest}")
}
