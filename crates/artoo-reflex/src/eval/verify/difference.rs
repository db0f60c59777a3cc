//! Checks the output of `diff` by applying it to the first file.

use super::{Checked, fail, shown};
use crate::algebra::Query;
use crate::eval::{FileSystem, lines};

/// Checks that the output of `diff`, applied to the lines of `of`, gives those of `with`.
pub(super) fn applied(of: &Query, with: &Query, output: &str, fs: &dyn FileSystem) -> Checked {
    let text = |query| -> Checked<Vec<String>> {
        Ok(lines(query, fs)?.iter().map(|line| String::from_utf8_lossy(&line.text).into_owned()).collect())
    };
    let (first, second) = (text(of)?, text(with)?);
    match patched(&first, output.lines().filter(|line| !line.starts_with('\\'))) {
        Some(made) if made == second => Ok("made in the first file, the difference gives the second".to_owned()),
        Some(_) => fail("made in the first file, the difference gives something else than the second"),
        None => fail(format!("{:?} is no difference of these files", shown(output))),
    }
}

/// The first text with the output of `diff` applied; `None` if it doesn't apply.
fn patched<'a>(first: &[String], changes: impl Iterator<Item = &'a str>) -> Option<Vec<String>> {
    let mut made = Vec::new();
    // The number of lines of the first file that were copied or skipped so far.
    let mut at = 0;
    for line in changes {
        if let Some(removed) = line.strip_prefix("< ") {
            first.get(at).filter(|next| *next == removed)?;
            at += 1;
        } else if let Some(added) = line.strip_prefix("> ") {
            made.push(added.to_owned());
        } else if line != "---" {
            let (before, adds) = head(line)?;
            // If lines are only added, copy up to and including the named line, else up to the line before it.
            let upto = if adds { before } else { before.checked_sub(1)? };
            made.extend_from_slice(first.get(at..upto)?);
            at = upto;
        }
    }
    made.extend_from_slice(first.get(at..)?);
    Some(made)
}

/// The first line number in a `diff` header such as `5,7c8`, and whether lines are only added there.
fn head(line: &str) -> Option<(usize, bool)> {
    let at = line.find(['a', 'c', 'd'])?;
    let before = line.get(..at)?.split(',').next()?.parse().ok()?;
    Some((before, line.get(at..=at)? == "a"))
}
