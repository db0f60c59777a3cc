//! Evaluates predicates on files, lines and processes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::{Entry, EvalError, FileSystem, Process, glob, process, regex, text};
use crate::algebra::{NameTest, Pred, Query};

/// Tests files against a predicate, with the user and group names that it needs.
pub(super) struct FileTest<'a> {
    fs: &'a dyn FileSystem,
    /// The search roots of the query, for conditions on the folders below them.
    roots: Vec<PathBuf>,
    /// User names by id; empty if no condition is on the owner.
    owners: HashMap<u32, String>,
    /// Group names by id; empty if no condition is on the group.
    groups: HashMap<u32, String>,
}

impl<'a> FileTest<'a> {
    /// Reads the user and group names that the predicate needs.
    pub(super) fn new(pred: &Pred, of: &Query, fs: &'a dyn FileSystem) -> Result<Self, EvalError> {
        let roots = match of.source() {
            Query::Tree { roots, .. } => roots.iter().map(PathBuf::from).collect(),
            _ => Vec::new(),
        };
        let names = |file, is_asked: fn(&Pred) -> bool| match pred.has(&is_asked) {
            true => process::by_number(file, fs),
            false => Ok(HashMap::new()),
        };
        let owners = names("/etc/passwd", |leaf| matches!(leaf, Pred::Owner(_)))?;
        let groups = names("/etc/group", |leaf| matches!(leaf, Pred::Group(_)))?;
        Ok(Self { fs, roots, owners, groups })
    }

    /// Whether a predicate holds for a file. A file that can't be read contains no text.
    pub(super) fn holds(&self, pred: &Pred, entry: &Entry) -> bool {
        pred.holds(&|property| match property {
            Pred::Extension(extension) => {
                passes_ignoring_case(entry.name_bytes(), &NameTest::Ends(format!(".{extension}")))
            }
            Pred::Name(test) => passes(entry.name_bytes(), test),
            Pred::NameIgnoringCase(test) => passes_ignoring_case(entry.name_bytes(), test),
            Pred::Inside(folder) => entry.path != Path::new(folder) && entry.path.starts_with(folder),
            Pred::NewerThan(path) => {
                self.fs.metadata(Path::new(path)).is_ok_and(|other| entry.modified > other.modified)
            }
            Pred::AccessedFrom(bound) => entry.accessed >= *bound,
            Pred::AccessedBefore(bound) => entry.accessed < *bound,
            Pred::ModeAll(bits) => entry.mode & bits == *bits,
            Pred::Group(name) => self.groups.get(&entry.group) == Some(name),
            Pred::Word { text, ignore_case } => {
                let lines = text::content(&entry.path, self.fs).map(text::split).unwrap_or_default();
                lines.iter().any(|line| !text::occurrences(line, text.as_bytes(), *ignore_case, true).is_empty())
            }
            Pred::Below(test) => self.lies_below(entry, test),
            Pred::MinBytes(bound) => entry.bytes >= *bound,
            Pred::MaxBytes(bound) => entry.bytes <= *bound,
            Pred::ModifiedFrom(bound) => entry.modified >= *bound,
            Pred::ModifiedBefore(bound) => entry.modified < *bound,
            Pred::EmptyFolder => self.fs.list(&entry.path).is_ok_and(|inside| inside.is_empty()),
            Pred::Executable => entry.mode & 0o111 != 0,
            Pred::Mode(mode) => entry.mode == *mode,
            Pred::Owner(name) => self.owners.get(&entry.owner) == Some(name),
            Pred::Contains { text, ignore_case } => {
                text::file_holds(&entry.path, text.as_bytes(), *ignore_case, self.fs).unwrap_or(false)
            }
            _ => false,
        })
    }

    /// Whether the name of a folder between a search root and the file passes a test.
    fn lies_below(&self, entry: &Entry, test: &NameTest) -> bool {
        let folders = self.roots.iter().filter_map(|root| entry.path.strip_prefix(root).ok()?.parent());
        folders.flat_map(Path::components).any(|part| passes(part.as_os_str().as_encoded_bytes(), test))
    }
}

/// Whether a predicate holds for a line.
pub(super) fn holds_of_line(pred: &Pred, line: &[u8]) -> bool {
    let length = || String::from_utf8_lossy(line).chars().count() as u64;
    pred.holds(&|property| match property {
        Pred::Contains { text, ignore_case } => text::holds(line, text.as_bytes(), *ignore_case),
        Pred::Word { text, ignore_case } => !text::occurrences(line, text.as_bytes(), *ignore_case, true).is_empty(),
        Pred::Line(test) => passes(line, test),
        Pred::Blank => line.iter().all(text::is_blank),
        Pred::MinLength(bound) => length() >= *bound,
        Pred::MaxLength(bound) => length() <= *bound,
        _ => false,
    })
}

/// Whether a predicate holds for a process.
pub(super) fn holds_of_process(pred: &Pred, process: &Process) -> bool {
    pred.holds(&|property| match property {
        Pred::Name(test) => passes(&process.name, test),
        Pred::Owner(name) => process.user == *name,
        _ => false,
    })
}

/// Whether a name passes a test, ignoring ASCII case.
fn passes_ignoring_case(name: &[u8], test: &NameTest) -> bool {
    passes(&name.to_ascii_lowercase(), &test.clone().map(|text| text.to_ascii_lowercase()))
}

/// Whether a name or line passes a test.
pub(super) fn passes(name: &[u8], test: &NameTest) -> bool {
    match test {
        NameTest::Is(text) => name == text.as_bytes(),
        NameTest::Starts(text) => name.starts_with(text.as_bytes()),
        NameTest::Ends(text) => name.ends_with(text.as_bytes()),
        NameTest::Has(text) => text::holds(name, text.as_bytes(), false),
        NameTest::Glob(pattern) => glob::matches(pattern, &String::from_utf8_lossy(name)),
        NameTest::Pattern(pattern) => regex::is_match(pattern, name),
    }
}
