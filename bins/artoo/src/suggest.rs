//! Suggestions for mistyped words, by edit distance.

use strsim::osa_distance;

/// Maximum edit distance between a mistyped word and a suggestion.
const SLIPS_MAX: usize = 2;

/// The candidate that begins with the word, or else the one with the smallest edit distance; `None` if none is close.
pub(crate) fn nearest<'a>(word: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let word = word.to_lowercase();
    let begun = candidates.iter().find(|candidate| word.chars().count() > 1 && candidate.starts_with(&word));
    begun.copied().or_else(|| {
        let slips = candidates.iter().map(|candidate| (osa_distance(&word, candidate), *candidate));
        slips
            .filter(|(slips, candidate)| *slips <= SLIPS_MAX && slips * 2 < candidate.chars().count())
            .min_by_key(|(slips, _)| *slips)
            .map(|(_, candidate)| candidate)
    })
}

/// Tests of suggestions and of the edit distance.
#[cfg(test)]
mod tests {
    use super::{nearest, osa_distance};

    #[test]
    fn edit_distance_counts_typing_errors() {
        for (left, right, expected) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "", 3),
            ("abc", "abc", 0),
            ("abc", "acb", 1),
            ("cost", "csot", 1),
            ("audit", "adit", 1),
            ("audit", "audiit", 1),
            ("audit", "audjt", 1),
            ("kitten", "sitting", 3),
            ("ca", "abc", 3),
            ("日本", "日", 1),
        ] {
            assert_eq!(osa_distance(left, right), expected, "{left} {right}");
            assert_eq!(osa_distance(right, left), expected, "{right} {left}");
        }
    }

    #[test]
    fn suggestion_is_within_edit_distance() {
        let known = ["/help", "/audit", "/memory", "/cost", "/exit"];
        for (word, expected) in [
            ("/hlep", Some("/help")),
            ("/mem", Some("/memory")),
            ("/MEMORY", Some("/memory")),
            ("/exot", Some("/exit")),
            ("/costs", Some("/cost")),
            ("/", None),
            ("/deploy", None),
            ("/x", None),
        ] {
            assert_eq!(nearest(word, &known), expected, "{word}");
        }
    }
}
