//! Verifies each claim that artoo shows as checked, independently of artoo: with shell commands on the files.
//!
//! The test uses only the text that artoo shows, as a reader of the result would.

use std::path::Path;

use crate::world::{Snapshot, World};

/// What a task left: its output, and the files before and after it.
pub(crate) struct TaskEnd<'a> {
    pub(crate) world: &'a World,
    /// Everything in the home folder before the task.
    pub(crate) before: &'a Snapshot,
    /// The same after it.
    pub(crate) after: &'a Snapshot,
    /// The answer.
    pub(crate) output: &'a str,
}

impl TaskEnd<'_> {
    /// The content of a file that the task created or changed.
    pub(crate) fn written(&self, path: &str) -> Option<&[u8]> {
        let path = Path::new(path);
        let (_, content) = self.after.get(path)?;
        (self.before.get(path).map(|(_, before)| before) != Some(content)).then_some(content)
    }

    /// Whether the task's answer, or one of its lines, is this number.
    pub(crate) fn says(&self, number: &str) -> bool {
        self.output.lines().any(|line| line.trim() == number)
    }
}

/// Whether a claim that artoo showed is true on disk; `None` if this test can't decide such a claim.
pub(crate) fn is_true(claim: &str, left: &TaskEnd<'_>) -> Option<bool> {
    if claim == "the output is not empty" {
        return Some(!left.output.trim().is_empty());
    }
    if claim == "the output is a number" {
        return Some(left.output.lines().any(|line| line.trim().parse::<f64>().is_ok_and(f64::is_finite)));
    }
    if let Some(path) = claim.strip_prefix("there is a file at ") {
        return Some(Path::new(path).is_file());
    }
    if let Some((path, text)) = claim.split_once(", written by this task's own call, contains ") {
        let held = left.written(path).map(String::from_utf8_lossy);
        return Some(held.is_some_and(|held| held.contains(&unquoted(text))));
    }
    if let Some((path, text)) = claim.split_once(", written by this task's own call, is exactly ") {
        return Some(left.written(path) == Some(unquoted(text).as_bytes()));
    }
    if let Some(found) = of_reading(claim, left) {
        return Some(found);
    }
    let counted = claim.strip_suffix(", counted again")?.strip_prefix("the output equals the number of ")?;
    if let Some(path) = counted.strip_prefix("lines of ") {
        return Some(left.says(&left.world.shell(&format!("awk 'END {{ print NR }}' {}", quoted(path)))));
    }
    let counted = counted.strip_suffix(", hidden ones included")?;
    let (depth, place) = match counted.strip_prefix("files under ") {
        Some(place) => ("", place),
        None => ("-maxdepth 1", counted.strip_prefix("files directly in ")?),
    };
    let (folder, pattern) = place.rsplit_once(" named ").unwrap_or((place, "*"));
    let script = format!("cd {} && find . {depth} -type f -name {} | wc -l", quoted(folder), quoted(pattern));
    Some(left.says(&left.world.shell(&script)))
}

/// Whether a part of the request, given as artoo's reading of it, was really answered or done; `None` if this test
/// can't decide.
fn of_reading(reading: &str, left: &TaskEnd<'_>) -> Option<bool> {
    let unnamed = |path: &str| unquoted(path.strip_prefix("the file ").unwrap_or(path));
    if let Some(path) = reading.strip_prefix("count the lines of ") {
        return Some(left.says(&left.world.shell(&format!("wc -l < {}", quoted(&unnamed(path))))));
    }
    if let Some((path, text)) = reading.strip_prefix("create ").and_then(|made| made.split_once(" with the text ")) {
        let held = left.written(&unnamed(path)).map(String::from_utf8_lossy);
        return Some(held.is_some_and(|held| held.trim_end() == unquoted(text)));
    }
    let (verb, set) = reading.split_once(" the files in the folder ")?;
    let (folder, tests) = set.split_once(", subfolders included, hidden files included").unwrap_or((set, ", unknown"));
    let name = |ending: &str| format!("-name {}", quoted(&format!("*{ending}")));
    let names = match tests {
        "" => String::new(),
        _ => match tests.strip_prefix(", starting with ") {
            Some(start) => format!("-name {}", quoted(&format!("{}*", unquoted(start)))),
            None => tests.strip_prefix(", ending in ")?.split(" or ").map(name).collect::<Vec<_>>().join(" -o "),
        },
    };
    let names = if names.is_empty() { names } else { format!("'(' {names} ')'") };
    let find = format!("find {} -type f {names}", quoted(folder));
    match verb {
        "count" => Some(left.says(&left.world.shell(&format!("{find} | wc -l")))),
        "list" => Some(left.output.trim() == left.world.shell(&format!("{find} | LC_ALL=C sort"))),
        _ => None,
    }
}

/// A text in single quotes for a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The text that a claim quotes in Rust's syntax (with escapes), without the quotes.
fn unquoted(shown: &str) -> String {
    let inner = shown.strip_prefix('"').and_then(|shown| shown.strip_suffix('"')).unwrap_or(shown);
    let mut text = String::new();
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            text.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => text.push('\n'),
            Some('t') => text.push('\t'),
            Some('r') => text.push('\r'),
            Some('0') => text.push('\0'),
            Some('u') => {
                let digits: String = chars.by_ref().skip(1).take_while(|c| *c != '}').collect();
                text.extend(u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32));
            }
            Some(other) => text.push(other),
            None => {}
        }
    }
    text
}

/// A test of `is_true` itself: it finds true and false claims on sample files.
#[test]
fn claims_are_verified_on_disk() {
    let world = World::new().with_things();
    let things = world.home().join("things");
    let before = world.snapshot();
    let made = world.file("made.txt", "say \"hi\"\n");
    let after = world.snapshot();
    let left = TaskEnd { world: &world, before: &before, after: &after, output: "7" };
    let (made, things) = (made.display(), things.display());
    let text = "say \"hi\"\n";
    for (claim, expected) in [
        ("the output is not empty".to_owned(), Some(true)),
        ("the output is a number".to_owned(), Some(true)),
        (format!("there is a file at {made}"), Some(true)),
        (format!("there is a file at {things}/empty.md"), Some(true)),
        (format!("there is a file at {things}/none.md"), Some(false)),
        (format!("{made}, written by this task's own call, is exactly {text:?}"), Some(true)),
        (format!("{made}, written by this task's own call, is exactly {:?}", "say"), Some(false)),
        (format!("{made}, written by this task's own call, contains {:?}", "\"hi\""), Some(true)),
        (format!("{things}/note 5.txt, written by this task's own call, contains {:?}", "line"), Some(false)),
        (format!("the output equals the number of lines of {things}/note 7.txt, counted again"), Some(true)),
        (format!("the output equals the number of lines of {things}/note 5.txt, counted again"), Some(false)),
        (
            format!(
                "the output equals the number of files under {things} named *.txt, hidden ones included, counted again"
            ),
            Some(true),
        ),
        (
            format!("the output equals the number of files directly in {things}, hidden ones included, counted again"),
            Some(false),
        ),
        (format!("count the files in the folder {things}, subfolders included, hidden files included"), Some(false)),
        (
            format!(
                "count the files in the folder {things}, subfolders included, hidden files included, ending in .txt"
            ),
            Some(true),
        ),
        (
            format!(
                "count the files in the folder {things}, subfolders included, hidden files included, starting with \"note\""
            ),
            Some(true),
        ),
        (
            format!(
                "list the files in the folder {things}, subfolders included, hidden files included, ending in .md or .bin"
            ),
            Some(false),
        ),
        (format!("count the files in the folder {things}, larger than 5 bytes"), None),
        (format!("count the lines of the file \"{things}/note 7.txt\""), Some(true)),
        (format!("count the lines of {made}"), Some(false)),
        (format!("create the file {made} with the text {:?}", "say \"hi\""), Some(true)),
        (format!("create the file {made} with the text {:?}", "say"), Some(false)),
        ("the moon is full".to_owned(), None),
    ] {
        assert_eq!(is_true(&claim, &left), expected, "{claim}");
    }
}
