//! Whether a predicate holds, of a file or of a line.

use super::{Entry, FileSystem, glob, name_bytes, text};
use crate::algebra::{NameTest, Pred};

/// Whether a predicate holds of a file. Content that can't be read holds nothing.
pub(super) fn holds_of_file(pred: &Pred, entry: &Entry, fs: &dyn FileSystem) -> bool {
    match pred {
        Pred::All(parts) => parts.iter().all(|part| holds_of_file(part, entry, fs)),
        Pred::Any(parts) => parts.iter().any(|part| holds_of_file(part, entry, fs)),
        Pred::Not(inner) => !holds_of_file(inner, entry, fs),
        Pred::Extension(extension) => has_extension(name_bytes(entry), extension),
        Pred::Name(test) => name_passes(name_bytes(entry), test),
        Pred::MinBytes(bound) => entry.bytes >= *bound,
        Pred::MaxBytes(bound) => entry.bytes <= *bound,
        Pred::ModifiedFrom(bound) => entry.modified >= *bound,
        Pred::ModifiedBefore(bound) => entry.modified < *bound,
        Pred::Contains { text, ignore_case } => {
            text::file_holds(&entry.path, text.as_bytes(), *ignore_case, fs).unwrap_or(false)
        }
    }
}

/// Whether a predicate holds of a line; one about files never does.
pub(super) fn holds_of_line(pred: &Pred, line: &[u8]) -> bool {
    match pred {
        Pred::All(parts) => parts.iter().all(|part| holds_of_line(part, line)),
        Pred::Any(parts) => parts.iter().any(|part| holds_of_line(part, line)),
        Pred::Not(inner) => !holds_of_line(inner, line),
        Pred::Contains { text, ignore_case } => text::holds(line, text.as_bytes(), *ignore_case),
        Pred::Extension(_)
        | Pred::Name(_)
        | Pred::MinBytes(_)
        | Pred::MaxBytes(_)
        | Pred::ModifiedFrom(_)
        | Pred::ModifiedBefore(_) => false,
    }
}

fn has_extension(name: &[u8], extension: &str) -> bool {
    let extension = extension.as_bytes();
    let Some(dot) = name.len().checked_sub(extension.len() + 1) else { return false };
    name.get(dot) == Some(&b'.') && name.get(dot + 1..).is_some_and(|end| end.eq_ignore_ascii_case(extension))
}

fn name_passes(name: &[u8], test: &NameTest) -> bool {
    match test {
        NameTest::Is(text) => name == text.as_bytes(),
        NameTest::Starts(text) => name.starts_with(text.as_bytes()),
        NameTest::Ends(text) => name.ends_with(text.as_bytes()),
        NameTest::Has(text) => text::holds(name, text.as_bytes(), false),
        NameTest::Glob(pattern) => glob::matches(pattern, &String::from_utf8_lossy(name)),
    }
}
