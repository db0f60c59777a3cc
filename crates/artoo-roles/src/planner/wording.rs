//! Finds criteria without content: empty words, restatements of the goal, and checks that can't fail.

use std::collections::BTreeSet;

use artoo_proto::{Check, Criterion};

use crate::grounding::words::{Words, words};

/// Minimum share of common words for two sentences to count as the same assertion.
const RESTATEMENT: f64 = 0.9;

/// Minimum length, in characters, of the text in a `file_contains` check: almost every file contains any single letter.
const CONTAINED_MIN_CHARS: usize = 2;

words! {
    /// Words that assert nothing. A criterion with no other words is empty.
    EMPTY_WORDS = "the a an is are was were be been has have had done do did task subtask step work works working
        successfully successful success succeeded completed complete finished correctly correct properly
        it this that all everything ok okay fine good well expected as requested request user s goal met
        satisfied fulfilled verified true yes no without any errors error problem problems issue issues
        of for to and with result results output outcome in on by should must will";
    /// Words that may be added to or left out of a sentence without changing what it asserts.
    PADDING = "the a an is are was were has have been done task successfully completed correctly it please";
}

/// Whether a criterion is empty: prose of empty words only, or a check with an empty path or too short a text.
pub(super) fn is_vacuous(criterion: &Criterion) -> bool {
    match criterion {
        Criterion::Prose { text, .. } => words_but(&EMPTY_WORDS, text).is_empty(),
        Criterion::Checked { check, .. } => is_vacuous_check(check),
    }
}

/// Whether a criterion in prose only repeats the goal: apart from padding, at least 90 % of their words are common.
pub(super) fn restates(criterion: &Criterion, goal: &str) -> bool {
    let Criterion::Prose { text, .. } = criterion else { return false };
    let (criterion, goal) = (words_but(&PADDING, text), words_but(&PADDING, goal));
    let common = criterion.intersection(&goal).count();
    let all = criterion.union(&goal).count();
    #[expect(clippy::cast_precision_loss, reason = "word counts of one sentence")]
    let share = common as f64 / all.max(1) as f64;
    share >= RESTATEMENT
}

/// The distinct words of a text in lowercase, sorted and without padding: equal for intents that differ only in order
/// and padding.
pub(super) fn gist(text: &str) -> String {
    words_but(&PADDING, text).into_iter().collect::<Vec<_>>().join(" ")
}

/// Whether a check has an empty path, or looks for too short a text.
fn is_vacuous_check(check: &Check) -> bool {
    let is_short = |text: &str| text.trim().chars().count() < CONTAINED_MIN_CHARS;
    matches!(check, Check::FileContains { text, .. } if is_short(text))
        || check.path().is_some_and(|path| path.trim().is_empty())
}

/// The words of a text in lowercase, without those in `left_out`.
fn words_but(left_out: &Words, text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    words.filter(|word| !word.is_empty() && !left_out.has(word)).collect()
}
