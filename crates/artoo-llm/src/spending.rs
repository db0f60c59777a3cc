//! The file with the calls and tokens that past tasks took, from which the next task is estimated.

use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::whole_file::Book;

/// Maximum number of tasks stored for one model: enough that one unusual task doesn't change the median.
const TASKS_MAX: usize = 32;

/// Minimum number of past tasks with a model from which a median is computed.
const TASKS_MIN: usize = 3;

/// Maximum number of models stored; the least recently used is removed first.
const ENTRIES_MAX: usize = 64;

/// Numbers of calls and tokens that one task took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    pub calls: u64,
    /// Prompt tokens, those from a cache included.
    pub prompt_tokens: u64,
    /// Prompt tokens read from the endpoint's cache.
    pub cached_tokens: u64,
    pub completion_tokens: u64,
}

/// What the file stores for one model in one tier: its last tasks, and when it was last used.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Entry {
    /// Calls and tokens of the stored tasks, newest last.
    tasks: Vec<Taken>,
    /// Time of the last task, in seconds since 1970.
    at_s: i64,
}

/// Calls and tokens of past tasks by model, stored in a JSON file.
#[derive(Debug)]
pub struct SpendingBook(Book<Entry>);

impl SpendingBook {
    /// Reads the file of past tasks; a missing or unreadable file counts as empty.
    #[must_use]
    pub fn open(path: impl Into<PathBuf>) -> Self {
        Self(Book::open(path.into()))
    }

    /// Number of tasks stored under a name (of a model and its use), and the median of each count; `None` for fewer
    /// than three tasks.
    #[must_use]
    pub fn median(&self, name: &str) -> Option<(usize, Taken)> {
        let tasks = &self.0.entries.get(name)?.tasks;
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

    /// Adds a task's calls and tokens to the file, which is replaced atomically; `name` is that of the model and its
    /// use.
    ///
    /// # Errors
    /// If the file can't be written.
    pub fn remember(&mut self, name: &str, taken: Taken, now_s: i64) -> io::Result<()> {
        let entry = self.0.entries.entry(name.to_owned()).or_default();
        entry.tasks.push(taken);
        let older = entry.tasks.len().saturating_sub(TASKS_MAX);
        entry.tasks.drain(..older);
        entry.at_s = now_s;
        self.0.save(ENTRIES_MAX, |entry| entry.at_s)
    }
}

/// The median of the numbers; of an even number of them, the lower one in the middle.
fn median(mut numbers: Vec<u64>) -> u64 {
    numbers.sort_unstable();
    let middle = numbers.len().saturating_sub(1) / 2;
    numbers.get(middle).copied().unwrap_or_default()
}

/// Tests of storing tasks and computing medians.
#[cfg(test)]
mod tests {
    use super::{ENTRIES_MAX, SpendingBook, TASKS_MAX, TASKS_MIN, Taken};

    /// Sample calls and tokens of a task with this number of calls.
    fn taken(calls: u64) -> Taken {
        Taken { calls, prompt_tokens: 100 * calls, cached_tokens: 0, completion_tokens: 10 * calls }
    }

    /// A median of earlier costs needs three tasks with the same model.
    #[doc = "holds: law 3"]
    #[test]
    fn median_needs_enough_tasks_of_one_model() {
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

    /// A damaged file of earlier costs counts as empty, and the numbers of tasks and models stay limited.
    #[test]
    fn damaged_spending_book_counts_as_empty() {
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
        assert_eq!((book.median("a"), book.0.entries.len()), (None, ENTRIES_MAX));
    }
}
