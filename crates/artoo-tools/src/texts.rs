//! The texts of questions, refusals and undos that people see, together in one place so that they can be reviewed.
//!
//! A question shows "It " before an effect, "Asking because " before a reason, and "; it " before what undo can do.
//! Names are shown relative to the folder they share; the details of a question have each path whole.

use std::fmt::Display;
use std::path::Path;

use artoo_proto::units;

use crate::paths;

/// Defines for each text a function that fills its arguments into the text.
macro_rules! texts {
    ($($name:ident($($argument:ident),+) $text:literal;)+) => {
        $(pub(crate) fn $name($($argument: impl Display),+) -> String {
            format!($text)
        })+
    };
}

/// Maximum number of names in a sentence; the rest is counted.
pub(crate) const NAMED_MAX: usize = 3;

// Reasons of questions.

/// Text that says why a call that only creates files needs approval: memory advises caution
/// ([`artoo_proto::ToolOrder::confirm`]).
pub(crate) const CAUTION: &str = "care is advised for this step, and it changes something";
pub(crate) const CREATES_OUTSIDE: &str = "it creates files outside the workspace";
pub(crate) const CHANGES_FILES: &str = "it changes files that are there";
pub(crate) const MOVES_OR_DELETES: &str = "it moves or deletes files";
pub(crate) const ASKS_NETWORK: &str = "it asks for the network (any host)";
pub(crate) const SENDS_INPUT: &str = "what it is given may leave this machine";
pub(crate) const CLAIMS_READING: &str = "its description says that it changes nothing";
pub(crate) const NO_SANDBOX: &str = "no sandbox on this machine limits a running command";
pub(crate) const WRITES_MUCH: &str = "it writes very much";
pub(crate) const NOT_SEARCHED: &str = "not all files here could be looked through for secrets";
#[cfg(feature = "web")]
pub(crate) const UNKNOWN_PAGE: &str = "neither you nor a search named this page";

texts! {
    tried_to(what) "it tried to {what}";
    may_hold_secrets(path) "{path} may hold secrets, and its content would be sent to the model";
    no_view(why) "it would change files directly, since its changes can't be shown beforehand: {why}";
    would_also_change(place) "it would also change {place}, which was not approved; what it had changed is undone";
}

// Effects.

pub(crate) const FILLS_DISK: &str = "will write as much as it needs, up to the whole free space of the disk";
pub(crate) const UNNAMED_TIMES: &str = "changes dates of files";
/// Sentence in a question's details: files that the command reads without naming them may change before it runs.
pub(crate) const NOT_BOUND: &str =
    "files that it reads from other folders without naming them may change before it runs";

texts! {
    reads_secret(path) "will read {path}, which may hold secrets";
}

/// The sentence for a question about creating a file, with its size.
pub(crate) fn creates(path: &Path, home: &Path, bytes: usize) -> String {
    format!("makes the file {} ({})", path_from_home(path, home), units::bytes(bytes as u64))
}

/// Part of a question: where files are copied or moved to, for several the folder of the first target; for a renaming,
/// the first new names.
pub(crate) fn destination(targets: &[&Path], is_renaming: bool, home: &Path) -> String {
    match targets {
        [first, _, ..] if !is_renaming => path_from_home(first.parent().unwrap_or(first), home),
        _ => named(targets, home),
    }
}

/// The part of a question about unpacking: the target folder, with the number and size of the archive's files.
pub(crate) fn unpacked(into: &Path, home: &Path, files: u64, bytes: u64) -> String {
    format!(" into {} ({}, {})", path_from_home(into, home), units::count(files, "file", "files"), units::bytes(bytes))
}

/// The sentence for a question about a program that may change this file, or everything in this folder, outside a view.
pub(crate) fn may_change(place: &Path, home: &Path) -> String {
    let everything = if place.is_dir() { "everything in " } else { "" };
    format!("may change {everything}{}", path_from_home(place, home))
}

// Undo, with the subject "it".

pub(crate) const UNDOABLE: &str = "can be undone with artoo undo";
pub(crate) const NOTHING_KEPT: &str = "can't be undone: no copy of it is kept";
pub(crate) const WHOLE_DISK: &str = "it may change the whole disk";
pub(crate) const NO_TIME_TO_LOOK: &str = "there was no time to look through what it may change";

texts! {
    not_undoable(reason) "can't be undone: {reason}";
}

/// The sentence of a question about undo: how much is copied before the program runs, and what can't be undone.
pub(crate) fn copied_first(entries: u64, bytes: u64, left_out: &str) -> String {
    let are = if entries == 1 { "is" } else { "are" };
    let copied = format!("{}, {}, {are} copied first", units::count(entries, "entry", "entries"), units::bytes(bytes));
    let left_out = if left_out.is_empty() { String::new() } else { format!("; changes of {left_out} can't be undone") };
    format!("{UNDOABLE} where it changes the workspace or what it names ({copied}){left_out}")
}

/// The sentence that says why a program's files can't be copied before it runs, so that it can't be undone.
pub(crate) fn too_large_to_copy(entries: u64, bytes: u64, max_entries: u64, max_bytes: u64) -> String {
    let counted = |entries, bytes| format!("{} and {}", units::count(entries, "entry", "entries"), units::bytes(bytes));
    let (found, max) = (counted(entries, bytes), counted(max_entries, max_bytes));
    format!("what it may change is too large to copy first ({found} or more; the limit is {max})")
}

texts! {
    no_room(needed, free) "there is no room for a copy of {needed} ({free} are free)";
}

// Undo, about one path.

pub(crate) const STANDS_THERE: &str = "something else is there now";
pub(crate) const CHANGED_SINCE: &str = "changed since";
pub(crate) const NOT_READ: &str = "its content could not be read, so it was not kept";
pub(crate) const TOO_LARGE_TO_KEEP: &str = "it is too large to keep a copy of, so it is not removed";
pub(crate) const HOLDS_LATER: &str = "it has something in it that came later";
pub(crate) const FOLDER_GONE: &str = "the folder it was in is gone";
pub(crate) const FOLDER_IS_LINK: &str = "a folder on its path is a link now, or no folder";
pub(crate) const LEFT_BY_UNDO: &str = "an undo that was cut off left it; compare it and remove it yourself";

texts! {
    not_left_by_task(found) "changed since: there is {found} now that the task did not leave";
    cut_off_move(to) "it was being moved to {to}; what is at both places is left";
}

// Refusals.

pub(crate) const CHANGED_SINCE_APPROVED: &str =
    "the call or a file that it names has changed since it was approved, so the approval is not valid";
pub(crate) const OWN_DATA: &str = "it is artoo's own data, or holds it";

texts! {
    denied_before(what) "you said no to this before in this task: {what}";
    blocked_target(entry) "the target {entry} is blocked for this task";
    exists(path, kind) "{path} exists already ({kind}); nothing is overwritten";
    stays(path, content) "{path} holds {content}, so it stays where it is";
    holds_protected(path) "{path} holds places that are protected: keys or artoo's own data";
    never_run(program, does) "{program} {does}, which artoo never does; if you want it, run it yourself in a terminal";
}

// Parts of sentences.

/// The first `max` of these texts joined, and the number of the others.
pub(crate) fn first(texts: impl IntoIterator<Item = String>, max: usize) -> String {
    let mut texts = texts.into_iter();
    let named: Vec<String> = texts.by_ref().take(max).collect();
    named.join(", ") + &more(texts.count())
}

/// The end of a list in a sentence: how many items it leaves out; empty if none.
pub(crate) fn more(count: usize) -> String {
    if count == 0 { String::new() } else { format!(" and {count} more") }
}

/// The numbers that are not zero, each with its noun in singular or plural, joined by "and".
pub(crate) fn counted(counts: &[(u64, &str, &str)]) -> String {
    let present = counts.iter().filter(|(count, ..)| *count > 0);
    present.map(|(count, one, many)| units::count(*count, one, many)).collect::<Vec<_>>().join(" and ")
}

/// A number without thousands separators and its noun in singular or plural, as evidence shows it.
pub(crate) fn exactly(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// A path in which the home folder is written as `~`.
pub(crate) fn path_from_home(path: &Path, home: &Path) -> String {
    match path.strip_prefix(home) {
        Ok(below) if below.as_os_str().is_empty() => "~".to_owned(),
        Ok(below) => format!("~/{}", paths::line(below)),
        Err(_) => paths::line(path),
    }
}

/// Names of paths for a question, relative to the folder that they share; only the first are named.
pub(crate) fn named(all: &[&Path], home: &Path) -> String {
    let [first_path, others @ ..] = all else { return String::new() };
    let Some(mut shared) = first_path.parent().filter(|_| !others.is_empty()) else {
        return path_from_home(first_path, home);
    };
    for path in others {
        while !path.starts_with(shared) || *path == shared {
            let Some(above) = shared.parent() else { break };
            shared = above;
        }
    }
    let name = |path: &&Path| paths::line(path.strip_prefix(shared).unwrap_or(path));
    format!("{} in {}", first(all.iter().map(name), NAMED_MAX), path_from_home(shared, home))
}

/// Tests of the texts that people see.
#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{copied_first, counted, named};

    /// Names in a sentence are written relative to the folder that they share.
    #[test]
    fn names_are_relative_to_shared_folder() {
        for (paths, expected) in [
            (&["/h/Desktop/run me.sh"][..], "~/Desktop/run me.sh"),
            (&["/h/a", "/h/b"], "a, b in ~"),
            (&["/h/p/draft.tmp", "/h/p/letters/old.tmp"], "draft.tmp, letters/old.tmp in ~/p"),
            (&["/h/p/b/c", "/h/p"], "p/b/c, p in ~"),
            (&["/etc/a", "/h/b"], "etc/a, h/b in /"),
            (&["/h/1", "/h/2", "/h/3", "/h/4\n", "/h/5"], "1, 2, 3 and 2 more in ~"),
            (&["/h/\u{1b}[2J", "/h/\n"], "\\u{1b}[2J, \\n in ~"),
            (&[], ""),
        ] {
            let paths: Vec<&Path> = paths.iter().map(Path::new).collect();
            assert_eq!(named(&paths, Path::new("/h")), expected);
        }
    }

    /// Counts are written with singular or plural nouns as the number demands.
    #[test]
    fn counts_agree_with_their_nouns() {
        assert_eq!(
            counted(&[(1, "file", "files"), (0, "link", "links"), (2, "folder", "folders")]),
            "1 file and 2 folders"
        );
        let places = "where it changes the workspace or what it names";
        let expected = format!("can be undone with artoo undo {places} (1 entry, 18 bytes, is copied first)");
        assert_eq!(copied_first(1, 18, ""), expected);
        let expected = "(2 entries, 2.0 kB, are copied first); changes of /x can't be undone";
        assert!(copied_first(2, 2_000, "/x").ends_with(expected));
    }
}
