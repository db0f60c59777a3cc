//! The meanings of the lexicon's phrases, as the grammar's rules use them. Quoted words in the docs are example
//! phrases.

mod words;

use serde::Deserialize;

use crate::algebra::{
    Fact, Field, Function, GroupKey, Key, Kind, NameChange, NamePart, Order, Relation as Between, Rewrite,
};

pub(crate) use words::{
    ActWord, Bound, Calendar, Counted, DepthWord, Disk, Edge, Hidden, Measure, NameRelation, Reference, Relation,
    TextUnit, TimeUnit, Verb,
};

/// The meaning of a phrase of the lexicon.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Concept {
    /// A function word without a meaning of its own, such as "the".
    Skip,
    /// "is", "do": a function word inside a request; at its start it makes a yes/no question.
    Copula,
    /// "only": before a noun it has no effect; after a place it excludes subfolders.
    Only,
    /// "for", as in "search x for y".
    For,
    /// "and".
    And,
    /// "or".
    Or,
    /// "nor", between two kinds of file after "neither".
    Nor,
    /// A verb that asks: "list", "show", "find".
    Verb(Verb),
    /// "what is in": lists the direct content of a folder.
    ListFolder,
    /// "how many".
    Count,
    /// "and count them", after "find …".
    CountThem,
    /// "the size of".
    Size,
    /// "the total size of".
    TotalSize,
    /// "take up", the end of "how much space do … take up".
    SizeTail,
    /// "with their sizes": a listing with size and date.
    Details,
    /// "when was", the start of "when was x modified".
    WhenWas,
    /// "in bytes".
    InBytes,
    /// "files", "folder": a noun for a kind of entry.
    Noun {
        kind: Kind,
        plural: bool,
    },
    /// "lines".
    Lines {
        plural: bool,
    },
    /// "rows": the lines of a table without its heading.
    Rows {
        plural: bool,
    },
    /// "first", "last": of the lines of a text or of a sorted list.
    Edge(Edge),
    /// "the beginning of": the first or last lines, without a number.
    SomeLines(Edge),
    /// "largest", "newest": the first element in an order.
    Superlative {
        by: Key,
        order: Order,
    },
    /// "last modified", a superlative only before a noun.
    SuperlativeBefore {
        by: Key,
        order: Order,
    },
    /// "sorted by", before a sort key.
    SortBy,
    /// A sort key, such as "size".
    Key(Key),
    /// "alphabetically": a whole sort order.
    Sorted {
        by: Key,
        order: Order,
    },
    /// "in descending order".
    Order(Order),
    /// "larger than", before a quantity.
    Compare {
        bound: Bound,
        of: Measure,
    },
    /// "or more", after a quantity.
    OrBound {
        bound: Bound,
        of: Measure,
    },
    /// "between".
    Between,
    /// "to", between the ends of a range.
    To,
    /// "with a size", before a comparison.
    SizeField,
    /// "in size", after a comparison.
    SizeSuffix,
    /// "empty", of a file.
    Empty,
    /// "non-empty", of a file.
    NonEmpty,
    /// A unit of size, in bytes.
    Bytes(u64),
    TimeUnit(TimeUnit),
    /// "modified".
    Modified,
    /// "in the last", before a length of time.
    LastSpan,
    /// "not modified for", before a length of time.
    Unmodified,
    /// "not modified since", before a date.
    UnmodifiedSince,
    /// "ago".
    Ago,
    /// "old", after a length of time.
    Old,
    Relation(Relation),
    Calendar(Calendar),
    /// "today's", before a noun.
    CalendarOf(Calendar),
    /// A weekday, 1 = Monday.
    Weekday(i8),
    /// A month, from 1.
    Month(i8),
    /// "of", "on", "from": followed by a path or a known folder.
    Within,
    /// "in", "under": followed by a path or any word that can be a folder's name.
    Inside,
    /// A known folder: `.`, `~` or a name below the home folder.
    Place(String),
    /// A known folder whose word also means a kind of file, so it counts only after "in".
    PlaceAfterPreposition(String),
    /// "here": the current folder.
    Here,
    /// "in the trash": a folder below the home folder, with its preposition.
    InPlace(String),
    /// "contain", after a folder: "how many PDFs does ~/x contain".
    Holds,
    /// "recursively": how many levels are searched.
    Depth(DepthWord),
    /// "hidden": whether hidden files are included.
    Hidden(Hidden),
    /// "dotfiles": files whose names start with a dot.
    Dotfiles,
    /// "named", "starting with": a relation of names to a text that follows.
    Name(NameRelation),
    /// "in the name", after a text.
    InName,
    /// "in it", after a text.
    InContent,
    /// "with".
    With,
    /// "containing", before a text.
    Contains,
    /// "the word", before a text.
    TheWord,
    /// "grep".
    Grep,
    /// "ignoring case".
    IgnoreCase,
    /// "case-sensitively".
    MatchCase,
    /// "with the extension", before one.
    Extension,
    /// "of type", before a kind of file.
    OfType,
    /// "extension", after one.
    ExtensionSuffix,
    /// "except", "not".
    Except,
    /// A number in words.
    Number(u64),
    /// An ordinal in words.
    Ordinal(u64),
    /// A verb for a change that the built-in reader doesn't know; recognised only to refuse the request.
    Act,
    /// A verb for a change, such as "copy".
    Do(ActWord),
    /// "then", between two steps.
    Then,
    /// "either", before two conditions joined by "or".
    Either,
    /// "it", "those": refers to the result of an earlier step or request.
    Reference(Reference),
    /// "one", "ones": a pronoun in place of a noun.
    One {
        plural: bool,
    },
    /// "again": repeats the request before.
    Again,
    /// "to", "into": before the destination of a copy or a move.
    Into,
    /// "into the folder", before a destination folder.
    IntoFolder,
    /// "as", "to a file named": before a destination file.
    AsFile,
    /// "there", "into it": the folder of the step before.
    There,
    /// "with the text", before the content of a new file.
    WithContent,
    /// "per", before the key of a grouping.
    Per,
    /// "each", "per file".
    Each,
    /// "how often does each word": counts equal words or lines.
    Frequency(Counted),
    /// "occur", the end of "how often does each word occur".
    Occurs,
    /// "groups", as in "the first 5 groups".
    Groups,
    /// The key of a grouping, such as "extension".
    GroupKey(GroupKey),
    /// A property of files, such as "owner".
    Field(Field),
    /// "average size of": a number other than a count or a total size.
    Ask(Function),
    /// "words", "characters": a unit that a text is divided into.
    TextUnit(TextUnit),
    /// "duplicates": files with equal content.
    Duplicates,
    /// "unique", of lines.
    Unique,
    /// "repeated", of lines.
    Repeated,
    /// "with line numbers".
    Numbered,
    /// "on", the end of "from line 5 on".
    Onward,
    /// "column", before or after its number.
    Column,
    /// "separated by", before a separator.
    SeparatedBy,
    /// "commas": a separator in words.
    Separator(String),
    /// "replacing", before the text to replace.
    Replacing,
    /// "with", between the text to replace and its replacement.
    ReplaceWith,
    /// "where the line starts with", before a text.
    LineTest(NameRelation),
    /// "blank", of lines.
    Blank,
    /// "with nothing in it", of folders.
    EmptyFolder,
    /// "what day is it".
    WeekdayNow,
    /// "characters", after a number.
    Characters,
    /// "also in", "identical to": a comparison, before the second text.
    Versus(Between),
    /// "lines common to": a comparison, before both texts.
    Both(Between),
    /// "inside a folder", before its name.
    BelowFolder,
    /// "outside of", before a folder's name.
    NotBelow,
    /// "executable".
    Executable,
    /// "with permissions", before them.
    Permissions,
    /// "owned by", before a user's name.
    OwnedBy,
    /// "to lower case", of names or texts.
    NameCase(NameChange),
    /// "with the new extension", before it.
    NewExtension,
    /// "with the prefix", before it.
    NewPrefix,
    /// "with the suffix", before it.
    NewSuffix,
    /// "add the prefix", before it.
    AddPrefix,
    /// "add the suffix", before it.
    AddSuffix,
    /// "to names like", before a template.
    NewTemplate,
    /// "processes".
    Processes {
        plural: bool,
    },
    /// A fact of the machine, such as "kernel version".
    Fact(Fact),
    /// A question about a file system, such as "free disk space of".
    Disk(Disk),
    /// "day of the week of", before a date.
    DayOfWeek,
    /// "environment variable", before or after its name.
    Variable,
    /// "with their counts", of lines.
    WithCounts,
    /// "of each line", after a column.
    OfEachLine,
    /// "using", before a separator.
    Using,
    /// "as the separator", after one.
    AsSeparator,
    /// "permissions", after digits.
    RightsBehind,
    /// "and print the result": the change is shown and nothing is written.
    Printed,
    /// "scripts", after an extension such as ".sh".
    KindNoun,
    /// "bare names of": a part of each path.
    NamePart(NamePart),
    /// "folders that contain", before files: each folder once.
    FoldersOf,
    /// "duplicate file names".
    RepeatedNames,
    /// "occurrences of", before a text: whether they are counted, and whether they must be whole words.
    Occurrences {
        counted: bool,
        whole: bool,
    },
    /// "containing the whole word", before it.
    ContainsWord,
    /// "as a whole word", after a text.
    AsWord,
    /// A transformation of a text, such as "in upper case".
    Rewrite(Rewrite),
    /// "wrapped at", before a number of columns.
    WrappedAt,
    /// "joined by", before a separator.
    JoinedBy,
    /// "whatever the case of its letters", after a name.
    AnyCase,
    /// "lying below", before a folder.
    LyingBelow,
    /// "of the group", before its name.
    OfGroup,
    /// Permission bits in words, such as "writable by all".
    Rights(u32),
    /// "with all of the permissions", before digits.
    AllPermissions,
    /// "accessed": read at some time.
    Accessed,
    /// "not accessed for", before a length of time.
    Unaccessed,
    /// "not accessed since", before a date.
    UnaccessedSince,
    /// "date", before a number of days from today.
    DateWord,
    /// "after today", after a number of days.
    AfterToday,
    /// "before today", after a number of days.
    BeforeToday,
    /// "kernel parameter", before its name.
    KernelParameter,
    /// "groups of the user", before a name.
    GroupsOf,
    /// "belongs to", the end of "which groups ada belongs to".
    IsMember,
    /// "user number of the user", before a name.
    UserIdOf,
    /// "location of the program", before its name.
    Program,
    /// "installed", after a program's name.
    Installed,
}
