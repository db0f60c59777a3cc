//! What whole tasks have taken of a model, remembered so that the next one can be estimated.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::whole_file;

/// Tasks kept of one model: enough for a median that one odd task does not move.
const TASKS_MAX: usize = 32;

/// Fewer tasks than this say nothing about the next one.
const TASKS_MIN: usize = 3;

/// Models remembered; the one that was asked longest ago goes first.
const ENTRIES_MAX: usize = 64;

/// What one task took of one model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    /// Calls.
    pub calls: u64,
    /// Tokens sent, those from a cache among them.
    pub prompt_tokens: u64,
    /// Tokens sent that were found in the endpoint's cache.
    pub cached_tokens: u64,
    /// Tokens received.
    pub completion_tokens: u64,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Entry {
    /// Newest last.
    tasks: Vec<Taken>,
    /// Seconds since 1970.
    at_s: i64,
}

/// What tasks took, by model and by what the model is used for.
#[derive(Debug)]
pub struct SpendingBook {
    path: PathBuf,
    entries: BTreeMap<String, Entry>,
}

impl SpendingBook {
    /// Reads the file. One that is not there, or can't be read, is an empty book.
    #[must_use]
    pub fn open(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        let entries = whole_file::read(&path);
        Self { path, entries }
    }

    /// How many tasks are known of a model in one use (a name for both together), and the median of what they took,
    /// number by number; `None` where too few are.
    #[must_use]
    pub fn median(&self, name: &str) -> Option<(usize, Taken)> {
        let tasks = &self.entries.get(name)?.tasks;
        let of = |number: fn(&Taken) -> u64| median(tasks.iter().map(number).collect());
        (tasks.len() >= TASKS_MIN).then(|| {
            let taken = Taken {
                calls: of(|taken| taken.calls),
                prompt_tokens: of(|taken| taken.prompt_tokens),
                cached_tokens: of(|taken| taken.cached_tokens),
                completion_tokens: of(|taken| taken.completion_tokens),
            };
            (tasks.len(), taken)
        })
    }

    /// Remembers what a task took; the file is replaced in one step.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn remember(&mut self, name: &str, taken: Taken, now_s: i64) -> io::Result<()> {
        let entry = self.entries.entry(name.to_owned()).or_default();
        entry.tasks.push(taken);
        let older = entry.tasks.len().saturating_sub(TASKS_MAX);
        entry.tasks.drain(..older);
        entry.at_s = now_s;
        whole_file::keep_newest(&mut self.entries, ENTRIES_MAX, |entry| entry.at_s);
        whole_file::write(&self.path, &self.entries)
    }
}

/// The lower of the two in the middle, where their number is even.
fn median(mut numbers: Vec<u64>) -> u64 {
    numbers.sort_unstable();
    let middle = numbers.len().saturating_sub(1) / 2;
    numbers.get(middle).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{ENTRIES_MAX, SpendingBook, TASKS_MAX, TASKS_MIN, Taken};

    fn taken(calls: u64) -> Taken {
        Taken { calls, prompt_tokens: 100 * calls, cached_tokens: 0, completion_tokens: 10 * calls }
    }

    #[doc = "holds: law 3"]
    #[test]
    fn the_median_of_enough_tasks_is_known_by_model_and_use() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("spending.json");
        let mut book = SpendingBook::open(&path);
        for (learnt, calls) in [9, 5, 7, 400].into_iter().enumerate() {
            let known = book.median("all a").map(|(tasks, _)| tasks);
            assert_eq!(known, (learnt >= TASKS_MIN).then_some(learnt));
            book.remember("all a", taken(calls), 1).unwrap();
        }
        let again = SpendingBook::open(&path);
        assert_eq!(again.median("all a"), Some((4, taken(7))));
        assert_eq!((again.median("all b"), again.median("hands a")), (None, None));
    }

    #[test]
    fn a_damaged_book_is_empty_and_a_long_one_loses_its_oldest() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("spending.json");
        std::fs::write(&path, "{\"a\": 7").unwrap();
        let mut book = SpendingBook::open(&path);
        for calls in 0..100 {
            book.remember("a", taken(calls), 100).unwrap();
        }
        let (tasks, median) = book.median("a").unwrap();
        assert_eq!((tasks, median.calls), (TASKS_MAX, 83));
        for n in 0..ENTRIES_MAX {
            book.remember(&format!("h{n}"), taken(1), 101 + i64::try_from(n).unwrap()).unwrap();
        }
        assert_eq!((book.median("a"), book.entries.len()), (None, ENTRIES_MAX));
    }
}
