//! Matches names against patterns of `*`, `?` and `[…]`.

/// Whether a pattern matches the whole name.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let (mut p, mut n) = (0, 0);
    // The positions in pattern and name at which to retry if what follows the last star fails to match.
    let mut retry: Option<(usize, usize)> = None;
    loop {
        let step = match (pattern.get(p), name.get(n)) {
            (None, None) => return true,
            (Some('*'), _) => {
                retry = Some((p + 1, n));
                Some((p + 1, n))
            }
            (Some('['), Some(c)) => class(&pattern, p, *c).and_then(|(end, inside)| inside.then_some((end, n + 1))),
            (Some('\\'), Some(c)) => (pattern.get(p + 1) == Some(c)).then_some((p + 2, n + 1)),
            (Some('?'), Some(_)) => Some((p + 1, n + 1)),
            (Some(wanted), Some(c)) => (wanted == c).then_some((p + 1, n + 1)),
            _ => None,
        };
        (p, n) = match (step, retry) {
            (Some(next), _) => next,
            (None, Some((after_star, from))) if from < name.len() => {
                retry = Some((after_star, from + 1));
                (after_star, from + 1)
            }
            (None, _) => return false,
        };
    }
}

/// Parses the character class that starts at `at`: its end, and whether it contains `c`; `None` if it is not closed.
fn class(pattern: &[char], at: usize, c: char) -> Option<(usize, bool)> {
    let mut i = at + 1;
    let negated = matches!(pattern.get(i), Some('!' | '^'));
    if negated {
        i += 1;
    }
    let first = i;
    let mut inside = false;
    loop {
        let low = *pattern.get(i)?;
        if low == ']' && i > first {
            return Some((i + 1, inside != negated));
        }
        let is_range = pattern.get(i + 1) == Some(&'-') && pattern.get(i + 2).is_some_and(|high| *high != ']');
        if is_range {
            inside |= (low..=*pattern.get(i + 2)?).contains(&c);
            i += 3;
        } else {
            inside |= low == c;
            i += 1;
        }
    }
}
