//! Items of the chart: keywords that wait for an argument, values, and drafts.

use std::path::Path;

use artoo_proto::{Environment, Timestamp};

use super::draft::Draft;
use crate::algebra::Pred;
use crate::calendar::{Clock, Stretch};
use crate::concept::{Bound, Concept, Edge, TimeUnit};
use crate::eval::{EntryKind, FileSystem};
use crate::lex::Decimal;
use crate::place::{PathKind, Place, resolve};

/// One reading of a span of words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Item {
    /// A word without meaning.
    Skip,
    /// A keyword that waits for an argument.
    Mark(Concept),
    /// A comma that joins.
    Comma,
    /// An opening bracket.
    Open,
    /// A closing bracket.
    Close,
    /// An adjective for kinds of file, which needs a noun: predicates and notes.
    TypeWord(Vec<Pred>, Vec<String>),
    /// Text that can be a name, a path or content.
    Text(Text),
    /// A number, and whether it was written in words.
    Number(Decimal, bool),
    /// An ordinal such as "3rd".
    Ordinal(u64),
    /// A size and its unit, in bytes.
    Bytes { value: u64, unit: u64 },
    /// A length of time.
    Age { amount: u64, unit: TimeUnit },
    /// A number of characters.
    Characters(u64),
    /// A time range.
    Stretch(Stretch),
    /// A month, perhaps with a day, without a year.
    MonthDay { month: i8, day: Option<i8> },
    /// A point in time.
    Moment(Timestamp),
    /// A path.
    Path(Place),
    /// Several paths: "a.txt and b.txt".
    Paths(Vec<Place>),
    /// A time range that needs a word such as "modified": "in 2023".
    When(Stretch),
    /// The first part of a construction.
    Partial(Partial),
    /// Features.
    Draft(Box<Draft>),
}

/// The first part of a construction that waits for the rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Partial {
    /// Read so far: "more than 3 days", before "old".
    AgeBound { bound: Bound, amount: u64, unit: TimeUnit },
    /// Read so far: "between X".
    Between(Box<Item>),
    /// Read so far: "between X and".
    BetweenAnd(Box<Item>),
    /// Read so far: "X and", of kinds of file or nouns.
    Joining(Box<Item>),
    /// Read so far: "X or", of conditions.
    EitherOf(Box<Draft>),
    /// Read so far: "named a and".
    AlsoNamed(Box<Draft>),
    /// Read so far: "containing 'x' and", before another text.
    BothOf(Box<Draft>),
    /// Read so far: "containing 'x' but not".
    ButNot(Box<Draft>),
    /// Read so far: "( X".
    Opened(Box<Item>),
    /// Read so far: "in python files".
    InFiles(Box<Draft>),
    /// Read so far: "replace x", "replacing x", before "with y"; whether the verb stands where a clause begins.
    Replacing(String, bool),
    /// Read so far: "replace x with".
    ReplacingWith(String, bool),
    /// Read so far: "and in", "and also in", of folders.
    JoiningScope(Box<Draft>),
    /// Read so far: "to the PDFs", after "add the prefix 'x'".
    OntoFiles(Box<Draft>),
    /// Read so far: "by size and then".
    JoiningKeys(Box<Draft>),
    /// Read so far: "a.txt and", of paths.
    JoiningPaths(Vec<Place>),
    /// Read so far: "lines 5".
    LinesFrom { from: u64, plural: bool },
    /// Read so far: "between line 5".
    LinesBetween(u64),
    /// Read so far: "lines 5 to".
    LinesFromTo(u64),
    /// Read so far: "first 5", "last 5".
    Numbered(Edge, u64),
    /// Read so far: "with 'x'", before "in the name" or, if the text can be content, "in it".
    WithText { text: String, is_content: bool },
    /// Read so far: "a text file nor": its second half follows.
    Nor(Box<Item>),
    /// Read so far: "a text file nor a pdf": "neither" stands before it.
    NeitherNor(Box<Item>),
    /// Read so far: "the last 3 non-empty": lines follow.
    NumberedOf { edge: Edge, count: u64, exact: bool, draft: Box<Draft> },
    /// Read so far: ".rs extension", after "with".
    ExtensionPhrase(Pred),
    /// Read so far: "folder named", "file named": a path's name follows.
    Named(PathKind),
    /// Read so far: "search x".
    SearchIn(Place),
    /// Read so far: "search x for", x a file.
    SearchFor(Place),
    /// Read so far: "3 days after today", negative before it.
    Days(i32),
    /// Read so far: "when was x".
    WhenWas(Place),
}

/// Text that can be a name, a path or content, depending on the words around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Text {
    pub(crate) text: String,
    pub(crate) kind: TextKind,
}

/// The form of a text, which decides what it can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextKind {
    /// Text in quotation marks.
    Quoted,
    /// Text after "the word": content, never a path.
    Phrase,
    /// A name with an extension.
    FileName,
    /// An extension with its dot.
    Extension,
    /// A pattern with wildcards.
    Glob,
    /// A word that the lexicon doesn't know.
    Bare,
    /// An unknown word in the plural: can name a folder, but isn't content.
    BarePlural,
    /// A word for a kind of file, which can also name a folder ("the logs folder").
    KindWord,
    /// A number.
    Digits,
    /// A word with a meaning of its own, which is text only after "named" or "the word".
    Known,
    /// A function word, which is text only after "the word".
    Function,
    /// A path with slashes.
    Path,
}

/// What the grammar needs to know besides the words.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) environment: &'a Environment,
    pub(crate) clock: Clock,
    pub(crate) fs: &'a dyn FileSystem,
    /// Whether the result of the request before is unknown, so that "those" can't be resolved.
    pub(crate) is_lost: bool,
}

impl Context<'_> {
    /// The place a name stands for; its kind is that of the existing entry, else guessed from the name.
    pub(crate) fn resolve(&self, typed: &str) -> Option<Place> {
        let place = resolve(typed, self.environment)?;
        let kind = self.on_disk(&place.path).unwrap_or(place.kind);
        Some(Place { kind, ..place })
    }

    /// The kind of the entry at a path, links followed; `None` if it doesn't exist.
    pub(crate) fn on_disk(&self, path: &str) -> Option<PathKind> {
        let path = Path::new(path);
        match self.fs.metadata(path).ok()?.kind {
            EntryKind::Folder => Some(PathKind::Folder),
            EntryKind::Link if self.fs.list(path).is_ok() => Some(PathKind::Folder),
            EntryKind::Link if self.fs.open(path).is_err() => None,
            EntryKind::File | EntryKind::Link | EntryKind::Other => Some(PathKind::File),
        }
    }

    /// Whether a folder exists at a path.
    pub(crate) fn is_folder(&self, path: &str) -> bool {
        self.on_disk(path) == Some(PathKind::Folder)
    }
}

impl Item {
    /// An item with these features.
    pub(crate) fn draft(draft: Draft) -> Self {
        Self::Draft(Box::new(draft))
    }

    /// Whether the item is this keyword.
    pub(crate) fn is_mark(&self, concept: &Concept) -> bool {
        matches!(self, Self::Mark(mark) if mark == concept)
    }

    /// Whether the item has a verb of a change.
    pub(crate) fn is_act(&self) -> bool {
        matches!(self, Self::Draft(draft) if draft.act.is_some())
    }

    /// The value, if the item is a whole number.
    pub(crate) fn whole(&self) -> Option<u64> {
        let Self::Number(value, _) = self else { return None };
        value.whole()
    }

    /// The length of time; a unit alone counts as one ("older than a week").
    pub(crate) fn age(&self) -> Option<(u64, TimeUnit)> {
        if let Self::Mark(Concept::TimeUnit(unit)) = self {
            return Some((1, *unit));
        }
        let Self::Age { amount, unit } = self else { return None };
        Some((*amount, *unit))
    }

    /// The time range that the item means.
    pub(crate) fn stretch(&self, clock: Clock) -> Option<Stretch> {
        /// Numbers that are read as years.
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

    /// The item as features, if it has some without further words.
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
