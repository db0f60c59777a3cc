//! Items of the chart: what a span of words can mean, as keywords, values or drafts (parsed phrases).

use std::path::Path;

use artoo_proto::{Environment, Now, Timestamp};

use super::draft::Draft;
use crate::algebra::Pred;
use crate::calendar::{Clock, Stretch};
use crate::concept::{Bound, Concept, Edge, TimeUnit};
use crate::eval::{Entry, EntryKind, FileSystem};
use crate::lex::Decimal;
use crate::place::{PathKind, Place, resolve};

/// One meaning of a span of words in the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Item {
    /// A word without meaning, such as "the".
    Skip,
    /// A keyword that waits for an argument.
    Mark(Concept),
    /// A comma that joins two items of a list.
    Comma,
    /// An opening bracket.
    Open,
    /// A closing bracket.
    Close,
    /// An adjective for kinds of file that needs a noun after it: the kinds as predicates, and notes for the user.
    TypeWord(Vec<Pred>, Vec<String>),
    /// Text that can be a name, a path or content.
    Text(Text),
    /// A number, and whether it was written in words ("three").
    Number(Decimal, bool),
    /// An ordinal such as "3rd", as its number.
    Ordinal(u64),
    /// A size, and the unit it was written in, both in bytes.
    Bytes { value: u64, unit: u64 },
    /// A length of time such as "3 days": the amount and its unit.
    Age { amount: u64, unit: TimeUnit },
    /// A number of characters.
    Characters(u64),
    /// A time range, such as that of "last week".
    Stretch(Stretch),
    /// A month, perhaps with a day, without a year.
    MonthDay { month: i8, day: Option<i8> },
    /// A point in time, such as "2024-05-15T14:00Z".
    Moment(Timestamp),
    /// A file or folder that the request names.
    Path(Place),
    /// Several files or folders that the request names: "a.txt and b.txt".
    Paths(Vec<Place>),
    /// A time range that needs a word such as "modified": "in 2023".
    When(Stretch),
    /// The first part of a construction that needs more words after it, such as "between X and".
    Partial(Partial),
    /// The features that the words express, such as a condition or a sort key.
    Draft(Box<Draft>),
}

/// A rule of the grammar: the item that two neighbouring items mean together; `None` if the rule doesn't apply.
pub(crate) type Rule = fn(&Context<'_>, &Item, &Item) -> Option<Item>;

/// The first part of a construction that needs more words after it; each variant shows the words read so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Partial {
    /// Read so far: "more than 3 days", before "old".
    AgeBound { bound: Bound, amount: u64, unit: TimeUnit },
    /// Read so far: "between X", X being a number, size or date.
    Between(Box<Item>),
    /// Read so far: "between X and", X being the lower end of the range.
    BetweenAnd(Box<Item>),
    /// Read so far: "X and", where X is a kind of file or a noun.
    Joining(Box<Item>),
    /// Read so far: "X or", where X is a condition.
    EitherOf(Box<Draft>),
    /// Read so far: "named a and"; another name follows.
    AlsoNamed(Box<Draft>),
    /// Read so far: "containing 'x' and"; another text follows.
    BothOf(Box<Draft>),
    /// Read so far: "containing 'x' but not"; the text to exclude follows.
    ButNot(Box<Draft>),
    /// Read so far: "( X"; the closing bracket follows.
    Opened(Box<Item>),
    /// Read so far: "in python files": the files whose lines are meant.
    InFiles(Box<Draft>),
    /// Read so far: "replace x" or "replacing x", before "with y": x, and whether the verb begins a clause.
    Replacing(String, bool),
    /// Read so far: "replace x with": x, and whether the verb begins a clause.
    ReplacingWith(String, bool),
    /// Read so far: "in x and" or "in x,": the folders so far; another folder follows.
    JoiningScope(Box<Draft>),
    /// Read so far: "by size and then"; another sort key follows.
    JoiningKeys(Box<Draft>),
    /// Read so far: "a.txt and": the paths before "and"; another path follows.
    JoiningPaths(Vec<Place>),
    /// Read so far: "with x or" or "with x and", said of lines; `true` for "or".
    Needles(Pred, bool),
    /// Read so far: "more than 30", before "lines": the smallest number that is enough.
    MoreThan(u64),
    /// Read so far: "search all files for"; the text to look for follows.
    SearchAll(Box<Draft>),
    /// Read so far: "without x", said of lines or, if x is content for certain, of files.
    WithoutText(String, bool),
    /// Read so far: "a.txt or", or "a.txt or b.txt", after "which is bigger".
    OneOf(Vec<Place>),
    /// Read so far: "lines 5": the first line number of a range.
    LinesFrom { from: u64, plural: bool },
    /// Read so far: "between line 5": the first line number of a range.
    LinesBetween(u64),
    /// Read so far: "lines 5 to": the first line number; the last one follows.
    LinesFromTo(u64),
    /// Read so far: "first 5" or "last 5": the end of the list and the number of elements.
    Numbered(Edge, u64),
    /// Read so far: "with 'x'", before "in the name" or, if the text can be content, "in it".
    WithText { text: String, is_content: bool },
    /// Read so far: "a text file nor"; the second kind of file follows.
    Nor(Box<Item>),
    /// Read so far: "a text file nor a pdf"; waits for a "neither" before it.
    NeitherNor(Box<Item>),
    /// Read so far: "the last 3 non-empty"; a noun for lines follows.
    NumberedOf { edge: Edge, count: u64, exact: bool, draft: Box<Draft> },
    /// Read so far: ".rs extension", after "with": the condition on the extension.
    ExtensionPhrase(Pred),
    /// Read so far: "folder named" or "file named"; the name of a path follows.
    Named(PathKind),
    /// Read so far: "search x", x being a file or folder.
    SearchIn(Place),
    /// Read so far: "search x for", x being a file.
    SearchFor(Place),
    /// Read so far: "3 days after today": the number of days, negative for "before today".
    Days(i32),
    /// Read so far: "when was x", x being the file or folder; "modified" follows.
    WhenWas(Box<Draft>),
}

/// Text that can be a name, a path or content, depending on the words around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Text {
    /// The text itself, without quotation marks.
    pub(crate) text: String,
    /// The form of the text.
    pub(crate) kind: TextKind,
}

/// The form of a text, which decides whether it can be a name, a path or content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextKind {
    /// A text in quotation marks.
    Quoted,
    /// A text after "the word": content, never a path.
    Phrase,
    /// A file name with an extension, such as `notes.txt`.
    FileName,
    /// A file extension with its dot, such as `.pdf`.
    Extension,
    /// A pattern with wildcards, such as `*.log`.
    Glob,
    /// A word that the lexicon doesn't know.
    Bare,
    /// A plural word that the lexicon doesn't know: it can name a folder, but isn't content.
    BarePlural,
    /// A word for a kind of file, which can also name a folder ("the logs folder").
    KindWord,
    /// A number in digits.
    Digits,
    /// A word that the lexicon knows, which is text only after "named" or "the word".
    Known,
    /// A function word such as "the", which is text only after "the word".
    Function,
    /// A path with slashes.
    Path,
}

/// What the grammar needs to know besides the words: the environment, the clock and the file system.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    /// The folders, the system and the time zone of the user.
    pub(crate) environment: &'a Environment,
    /// The current time, for words such as "today".
    pub(crate) clock: Clock,
    /// The file system in which names are looked up.
    pub(crate) fs: &'a dyn FileSystem,
    /// Whether the result of the previous request is unknown, so that "those" can't be resolved.
    pub(crate) is_lost: bool,
    /// Whether the step says "every" or the like, so that a singular noun may stand for all.
    pub(crate) says_each: bool,
    /// Whether the step says "each" or "every", be it of files or of folders.
    pub(crate) says_every: bool,
    /// Whether the step says "if" or "whether".
    pub(crate) says_if: bool,
    /// Whether the step asks if something is so, and so speaks of a file where it is named.
    pub(crate) asks_whether: bool,
    /// The words of the request before this one, if it was answered.
    pub(crate) earlier: Option<&'a str>,
    /// Whether the words are those of a template that the request is read as.
    pub(crate) is_template: bool,
    /// Whether the request is an earlier one, whose changes have been made.
    pub(crate) is_past: bool,
}

impl<'a> Context<'a> {
    /// The context at the start of a request, before any word is read.
    pub(crate) fn new(environment: &'a Environment, now: Now, fs: &'a dyn FileSystem) -> Self {
        let clock = Clock::new(now.wall, environment.utc_offset_s);
        Self {
            environment,
            clock,
            fs,
            is_lost: false,
            says_each: false,
            says_every: false,
            says_if: false,
            asks_whether: false,
            earlier: None,
            is_template: false,
            is_past: false,
        }
    }

    /// Whether a file or folder is in the way of a new one at a path; never for an earlier request, which may have made it.
    pub(crate) fn is_taken(&self, path: &str) -> bool {
        !self.is_past && self.fs.metadata(Path::new(path)).is_ok()
    }

    /// The file or folder that a typed name means: its kind is that of the existing entry, else guessed from the name.
    pub(crate) fn resolve(&self, typed: &str) -> Option<Place> {
        let place = resolve(typed, self.environment)?;
        let kind = self.on_disk(&place.path).unwrap_or(place.kind);
        Some(Place { kind, ..place })
    }

    /// The kind of the entry at a path, file or folder, links followed; `None` if it doesn't exist.
    pub(crate) fn on_disk(&self, path: &str) -> Option<PathKind> {
        let path = Path::new(path);
        match self.fs.metadata(path).ok()?.kind {
            EntryKind::Folder => Some(PathKind::Folder),
            EntryKind::Link if self.fs.list(path).is_ok() => Some(PathKind::Folder),
            EntryKind::Link if self.fs.open(path).is_err() => None,
            EntryKind::File | EntryKind::Link | EntryKind::Other => Some(PathKind::File),
        }
    }

    /// The only folder directly in the current folder whose name, in lower case, is `name` (which must be in lower
    /// case); `None` if there is none or several.
    pub(crate) fn folder_in_any_case(&self, name: &str) -> Option<Place> {
        let here = self.fs.list(Path::new(&self.environment.cwd)).unwrap_or_default();
        let named = |known: &[u8]| String::from_utf8_lossy(known).to_lowercase() == name;
        let mut found = here.into_iter().filter(|entry| entry.kind == EntryKind::Folder && named(entry.name_bytes()));
        let only = found.next().filter(|_| found.next().is_none())?;
        self.resolve(only.path.to_str()?).map(|place| Place { bare: true, ..place })
    }

    /// The entries below a folder without those in hidden folders; `None` if there are too many entries or bytes to
    /// read them only to understand a request.
    pub(crate) fn below(&self, folder: &str) -> Option<Vec<Entry>> {
        /// Maximum number of entries below a folder, and of bytes in its files, that are read to understand a request.
        const MOST: (usize, u64) = (5_000, 50_000_000);
        let mut open = vec![std::path::PathBuf::from(folder)];
        let (mut found, mut bytes) = (Vec::new(), 0);
        while let Some(folder) = open.pop() {
            for entry in self.fs.list(&folder).unwrap_or_default() {
                let is_hidden = entry.name_bytes().starts_with(b".");
                if entry.kind == EntryKind::Folder && !is_hidden {
                    open.push(entry.path.clone());
                }
                bytes += entry.bytes;
                found.push(entry);
            }
            if found.len() > MOST.0 || bytes > MOST.1 {
                return None;
            }
        }
        Some(found)
    }

    /// Whether a file below a folder contains a text, in any letter case; `false` if there are too many files to look.
    pub(crate) fn is_held_below(&self, folder: &str, text: &str) -> bool {
        let holds = |entry: &Entry| {
            entry.kind == EntryKind::File
                && crate::eval::text::file_holds(&entry.path, text.as_bytes(), true, self.fs) == Some(true)
        };
        self.below(folder).is_some_and(|entries| entries.iter().any(holds))
    }

    /// Whether a folder exists at this path.
    pub(crate) fn is_folder(&self, path: &str) -> bool {
        self.on_disk(path) == Some(PathKind::Folder)
    }
}

impl Item {
    /// The item for a parsed phrase.
    pub(crate) fn draft(draft: Draft) -> Self {
        Self::Draft(Box::new(draft))
    }

    /// Whether the item is this keyword.
    pub(crate) fn is_mark(&self, concept: &Concept) -> bool {
        matches!(self, Self::Mark(mark) if mark == concept)
    }

    /// Whether the item holds a verb for a change, such as "copy".
    pub(crate) fn is_act(&self) -> bool {
        matches!(self, Self::Draft(draft) if draft.act.is_some())
    }

    /// The number of an item, if it is a whole number.
    pub(crate) fn whole(&self) -> Option<u64> {
        let Self::Number(value, _) = self else { return None };
        value.whole()
    }

    /// The length of time that the item means; a unit alone counts as one ("older than a week").
    pub(crate) fn age(&self) -> Option<(u64, TimeUnit)> {
        if let Self::Mark(Concept::TimeUnit(unit)) = self {
            return Some((1, *unit));
        }
        let Self::Age { amount, unit } = self else { return None };
        Some((*amount, *unit))
    }

    /// The time range that the item means, a number being read as a year; `None` if it means none.
    pub(crate) fn stretch(&self, clock: Clock) -> Option<Stretch> {
        /// Whole numbers that are read as years.
        const YEARS: std::ops::RangeInclusive<u64> = 1970..=2100;
        if let Self::Stretch(stretch) = self {
            Some(*stretch)
        } else if let Self::MonthDay { month, day } = self {
            clock.latest(*month, *day)
        } else if let Self::Number(value, false) = self {
            let year = value.whole().filter(|year| YEARS.contains(year))?;
            clock.year(i16::try_from(year).ok()?)
        } else {
            None
        }
    }

    /// The item as a draft (a parsed phrase), if it expresses features without further words; a text becomes one if it
    /// names a file.
    pub(crate) fn as_draft(&self, context: &Context<'_>) -> Option<Draft> {
        use TextKind::{Bare, Extension, FileName, Quoted};
        let place = if let Self::Draft(draft) = self {
            return Some((**draft).clone());
        } else if let Self::Paths(places) = self {
            return Some(Draft { object: places.clone(), ..Draft::default() });
        } else if let Self::Path(place) = self {
            place.clone()
        } else if let Self::Text(Text { text, kind: FileName | Extension | Quoted | Bare }) = self {
            context.resolve(text).filter(|place| place.kind == PathKind::File)?
        } else {
            return None;
        };
        Some(Draft { object: vec![place], ..Draft::default() })
    }
}
