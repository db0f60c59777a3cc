//! Suggestions for mistyped words.

/// Maximum edit distance between a mistyped word and a suggestion.
const SLIPS_MAX: usize = 2;

/// The candidate that begins with the word, or else the one with the smallest edit distance; `None` if none is close.
pub(crate) fn nearest<'a>(word: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let word = word.to_lowercase();
    let begun = candidates.iter().find(|candidate| word.chars().count() > 1 && candidate.starts_with(&word));
    begun.copied().or_else(|| {
        let slips = candidates.iter().map(|candidate| (slips(&word, candidate), *candidate));
        slips
            .filter(|(slips, candidate)| *slips <= SLIPS_MAX && slips * 2 < candidate.chars().count())
            .min_by_key(|(slips, _)| *slips)
            .map(|(_, candidate)| candidate)
    })
}

/// Edit distance of two words, in which swapping neighbours counts once (optimal string alignment distance).
fn slips(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut above_last: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=right.len()).collect();
    let mut before = None;
    for (row, letter) in left.chars().enumerate() {
        let mut here = vec![row + 1];
        for (column, other) in right.iter().enumerate() {
            let at = |row: &[usize], column: usize| row.get(column).copied().unwrap_or(usize::MAX / 2);
            let replaced = at(&above, column) + usize::from(letter != *other);
            let mut least = replaced.min(at(&above, column + 1) + 1).min(at(&here, column) + 1);
            let last = column.checked_sub(1).and_then(|last| right.get(last));
            if before == Some(*other) && last == Some(&letter) {
                least = least.min(at(&above_last, column - 1) + 1);
            }
            here.push(least);
        }
        before = Some(letter);
        above_last = std::mem::replace(&mut above, here);
    }
    above.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{nearest, slips};

    #[test]
    fn slips_are_counted_as_a_typist_makes_them() {
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
            assert_eq!(slips(left, right), expected, "{left} {right}");
            assert_eq!(slips(right, left), expected, "{right} {left}");
        }
    }

    #[test]
    fn the_nearest_is_near() {
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
