//! The meanings of the dictionary's phrases, as the grammar's rules use them. Quoted words in the docs are example
//! phrases.

mod words;

use serde::Deserialize;

use crate::algebra::{
    Depth, Fact, Field, Function, GroupKey, Key, Kind, NameChange, NamePart, Order, Relation as Between, Rewrite,
};

pub(crate) use words::{
    ActWord, Bound, Calendar, Disk, Edge, Hidden, Measure, NameRelation, Reference, Relation, TextUnit, TimeUnit, Verb,
};

/// The meaning of a phrase of the dictionary; each phrase has one or several.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Concept {
    /// A function word without a meaning of its own, such as "the".
    Skip,
    /// A word such as "is" or "do": a function word inside a request; at the start it makes a yes/no question.
    Copula,
    /// The word "only": before a noun it has no effect; after a folder it excludes subfolders.
    Only,
    /// The word "for", as in "search x for y".
    For,
    /// A word such as "and", which joins two items.
    And,
    /// A word such as "or", which joins two alternatives.
    Or,
    /// The word "nor", between two kinds of file after "neither".
    Nor,
    /// A verb that asks a question, such as "list", "show" or "find".
    Verb(Verb),
    /// A phrase such as "as a tree": everything below a folder.
    Tree,
    /// A phrase such as "what is in", which lists the direct content of a folder.
    ListFolder,
    /// A phrase such as "how many", which asks for a count.
    Count,
    /// A phrase such as "and count them", after "find …".
    CountThem,
    /// A phrase such as "the size of", which asks for the size of each file or of all.
    Size,
    /// A phrase such as "the total size of", which asks for the sum of the sizes.
    TotalSize,
    /// A phrase such as "take up", the end of "how much space do … take up".
    SizeTail,
    /// A phrase such as "with their sizes", which asks for a listing with size and date.
    Details,
    /// A phrase such as "when was", the start of "when was x modified".
    WhenWas,
    /// A phrase such as "the full path of", before what is listed.
    PathsOf,
    /// A phrase such as "and print their paths" or "and where": what is found is listed.
    WithPaths,
    /// A phrase such as "in bytes", which adds nothing as sizes are always in bytes.
    InBytes,
    /// A word such as "files" or "folder": a noun for a kind of entry.
    Noun { kind: Kind, plural: bool },
    /// The noun "lines" (of a text), in the singular or plural.
    Lines { plural: bool },
    /// A word such as "rows": the lines of a table without its heading.
    Rows,
    /// A word such as "first" or "last": an end of a text or of a sorted list.
    Edge(Edge),
    /// A phrase such as "the beginning of": the first or last lines, without a number.
    SomeLines(Edge),
    /// A word such as "largest" or "newest": the first element in a sort order.
    Superlative { by: Key, order: Order },
    /// A word such as "bigger", said of one of two files.
    Comparative { by: Key, order: Order },
    /// A superlative only before a noun, such as "last modified".
    SuperlativeBefore { by: Key, order: Order },
    /// A phrase such as "sorted by", before a sort key.
    SortBy,
    /// A sort key named in the request, such as "size".
    Key(Key),
    /// A word such as "alphabetically": a sort key with its direction.
    Sorted { by: Key, order: Order },
    /// A sort direction such as "in descending order".
    Order(Order),
    /// A phrase such as "larger than", before a quantity.
    Compare { bound: Bound, of: Measure },
    /// A bound after a quantity, such as "or more".
    OrBound { bound: Bound, of: Measure },
    /// The word "between", before the two ends of a range.
    Between,
    /// A word such as "to", between the ends of a range.
    To,
    /// A phrase such as "with a size", before a comparison.
    SizeField,
    /// A phrase such as "in size", after a comparison.
    SizeSuffix,
    /// A word such as "empty", said of a file.
    Empty,
    /// A word such as "non-empty", said of a file.
    NonEmpty,
    /// A unit of size, such as "MB", in bytes.
    Bytes(u64),
    /// A unit of time, such as "days".
    TimeUnit(TimeUnit),
    /// A word such as "modified", before or after a time.
    Modified,
    /// A phrase such as "in the last", before a length of time.
    LastSpan,
    /// A phrase such as "not modified for", before a length of time.
    Unmodified,
    /// A phrase such as "not modified since", before a date.
    UnmodifiedSince,
    /// A word such as "ago", after a length of time.
    Ago,
    /// A word such as "old", after a length of time.
    Old,
    /// A preposition of time, such as "since" or "before".
    Relation(Relation),
    /// A named time range, such as "last week".
    Calendar(Calendar),
    /// A word such as "today's", before a noun.
    CalendarOf(Calendar),
    /// A weekday as a number; 1 is Monday, -1 the last Monday before today.
    Weekday(i8),
    /// A month as a number from 1.
    Month(i8),
    /// A preposition such as "of", "on" or "from", followed by a path or a known folder.
    Within,
    /// A preposition such as "in" or "under", followed by a path or any word that can be a folder's name.
    Inside,
    /// A known folder: `.`, `~` or a name below the home folder.
    Place(String),
    /// A known folder whose word also means a kind of file, so it means the folder only after "in".
    PlaceAfterPreposition(String),
    /// A word such as "here": the current folder.
    Here,
    /// A phrase such as "in the trash": a folder below the home folder, with its preposition.
    InPlace(String),
    /// A word such as "contain", after a folder: "how many PDFs does ~/x contain".
    Holds,
    /// A word such as "recursively" or "not including subfolders": how many levels below a folder are searched.
    Depth(Depth),
    /// A phrase such as "directly in", before a folder whose direct children are meant.
    DirectlyIn,
    /// A word such as "hidden": whether hidden files are included, excluded or the only ones.
    Hidden(Hidden),
    /// A word such as "dotfiles": files whose names start with a dot.
    Dotfiles,
    /// A relation of names to the text that follows, such as "named" or "starting with".
    Name(NameRelation),
    /// A phrase such as "in the name", after a text.
    InName,
    /// A phrase such as "whose name does not", before a condition.
    NameLacks,
    /// The word "without", before a text that is not in the name.
    Lacking,
    /// A phrase such as "in it", after a text.
    InContent,
    /// The word "with", before a text or a property.
    With,
    /// A word such as "containing", before a text.
    Contains,
    /// A phrase such as "the word", before a text that is content.
    TheWord,
    /// A word such as "errors": the lines that have this text, in any letter case.
    Marker(String),
    /// A phrase such as "the word", before one word that is content, whatever else it means.
    ThisWord,
    /// A phrase such as "on which line is", before a text to look for.
    WhichLine,
    /// A command such as "grep", before a text to look for in lines.
    Grep,
    /// A phrase such as "ignoring case": texts are searched without regard to case.
    IgnoreCase,
    /// A word such as "case-sensitively": texts are searched with regard to case.
    MatchCase,
    /// A phrase such as "with the extension", before a file extension.
    Extension,
    /// A phrase such as "of type", before a kind of file.
    OfType,
    /// The word "extension", after a file extension.
    ExtensionSuffix,
    /// A word such as "except" or "not", before what is excluded.
    Except,
    /// A number written in words, such as "three".
    Number(u64),
    /// An ordinal written in words, such as "third".
    Ordinal(u64),
    /// A verb for a change that the built-in reader doesn't know; recognised only to refuse the request.
    Act,
    /// A verb for a change of files, such as "copy".
    Do(ActWord),
    /// A word such as "then", between two steps.
    Then,
    /// A word such as "either", before two conditions joined by "or".
    Either,
    /// A word such as "it" or "those": refers to the result of an earlier step or request.
    Reference(Reference),
    /// A word such as "one" or "ones": a pronoun in place of a noun.
    One { plural: bool },
    /// A phrase such as "what about", before the folder or file for which the previous request is repeated.
    WhatAbout,
    /// A word such as "again", which repeats the previous request.
    Again,
    /// A word such as "to" or "into", before the destination of a copy or a move.
    Into,
    /// A phrase such as "into the folder", before a destination folder.
    IntoFolder,
    /// A phrase such as "as" or "to a file named", before a destination file.
    AsFile,
    /// A phrase such as "there" or "into it": the folder of the previous step.
    There,
    /// A word such as "per", before the key of a grouping.
    Per,
    /// A phrase such as "each" or "per file": the answer is wanted for each element.
    Each,
    /// A phrase such as "how often does each word": counts equal words, or equal lines.
    Frequency { words: bool },
    /// A word such as "occur", the end of "how often does each word occur".
    Occurs,
    /// A word such as "groups", as in "the first 5 groups".
    Groups,
    /// The key of a grouping, such as "extension" in "per extension".
    GroupKey(GroupKey),
    /// A property of files, such as "owner".
    Field(Field),
    /// A phrase that asks for a number other than a count or a total size, such as "average size of".
    Ask(Function),
    /// A word such as "words" or "characters": a unit that a text is divided into.
    TextUnit(TextUnit),
    /// A word such as "duplicates": files with equal content.
    Duplicates,
    /// A word such as "unique", said of lines: each line once.
    Unique,
    /// A word such as "repeated", said of lines: those that occur more than once.
    Repeated,
    /// A phrase such as "with line numbers", which asks for numbered lines.
    Numbered,
    /// A word such as "on", the end of "from line 5 on".
    Onward,
    /// The word "column", before or after the column's number.
    Column,
    /// A phrase such as "separated by", before a separator.
    SeparatedBy,
    /// A word that names a separator, such as "commas".
    Separator(String),
    /// A word such as "replacing", before the text to replace.
    Replacing,
    /// A word such as "with", between the text to replace and its replacement.
    ReplaceWith,
    /// A phrase such as "where the line starts with", before a text.
    LineTest(NameRelation),
    /// A word such as "blank", said of lines.
    Blank,
    /// A phrase such as "with nothing in it", said of folders.
    EmptyFolder,
    /// A phrase such as "what day is it", which asks for today's weekday.
    WeekdayNow,
    /// A word such as "characters", after a number.
    Characters,
    /// A phrase such as "also in" or "identical to": a comparison, before the second text.
    Versus(Between),
    /// A phrase such as "lines common to": a comparison, before both texts.
    Both(Between),
    /// A phrase such as "inside a folder", before the folder's name.
    BelowFolder,
    /// A phrase such as "outside of", before a folder's name.
    NotBelow,
    /// A word such as "executable", said of a file.
    Executable,
    /// A phrase such as "with permissions", before the permission bits.
    Permissions,
    /// A phrase such as "owned by", before a user's name.
    OwnedBy,
    /// A phrase such as "to lower case": a change of case in names or texts.
    NameCase(NameChange),
    /// A phrase such as "with the new extension", before the extension.
    NewExtension,
    /// A phrase such as "with the prefix", before the text put in front of a name.
    NewPrefix,
    /// A phrase such as "with the suffix", before the text put after a name's stem.
    NewSuffix,
    /// A phrase such as "to names like", before a template.
    NewTemplate,
    /// The noun "processes", in the singular or plural.
    Processes { plural: bool },
    /// A fact of the machine, such as "kernel version".
    Fact(Fact),
    /// A question about a file system, such as "free disk space of".
    Disk(Disk),
    /// A phrase such as "day of the week of", before a date.
    DayOfWeek,
    /// A phrase such as "environment variable", before or after the variable's name.
    Variable,
    /// A phrase such as "with their counts", said of lines: how often each occurs.
    WithCounts,
    /// A phrase such as "of each line", after a column.
    OfEachLine,
    /// A word such as "using", before a separator.
    Using,
    /// A phrase such as "as the separator", after the separator.
    AsSeparator,
    /// The word "permissions", after digits.
    RightsBehind,
    /// A phrase such as "and print the result": the change is shown and nothing is written.
    Printed,
    /// A word such as "scripts", after an extension such as ".sh".
    KindNoun,
    /// A phrase such as "bare names of", which asks for a part of each path.
    NamePart(NamePart),
    /// A phrase such as "folders that contain", before files: asks for the folder of each file, each folder once.
    FoldersOf,
    /// A phrase such as "duplicate file names": file names that several files have.
    RepeatedNames,
    /// A phrase such as "occurrences of", before a text: whether they are counted, and whether they must be whole
    /// words.
    Occurrences { counted: bool, whole: bool },
    /// A phrase such as "containing the whole word", before the word.
    ContainsWord,
    /// A phrase such as "as a whole word", after a text.
    AsWord,
    /// A transformation of a text, such as "in upper case".
    Rewrite(Rewrite),
    /// A phrase such as "wrapped at", before a number of columns.
    WrappedAt,
    /// A phrase such as "joined by", before a separator.
    JoinedBy,
    /// A phrase such as "whatever the case of its letters", after a name to compare without regard to case.
    AnyCase,
    /// A phrase such as "lying below", before a folder that must contain the files.
    LyingBelow,
    /// A phrase such as "of the group", before the owning group's name.
    OfGroup,
    /// Permission bits in words, such as "writable by all".
    Rights(u32),
    /// A phrase such as "with all of the permissions", before digits.
    AllPermissions,
    /// A word such as "accessed": read at some time.
    Accessed,
    /// A phrase such as "not accessed for", before a length of time.
    Unaccessed,
    /// A phrase such as "not accessed since", before a date.
    UnaccessedSince,
    /// The word "date", before a number of days from today.
    DateWord,
    /// A phrase such as "after today", after a number of days.
    AfterToday,
    /// A phrase such as "before today", after a number of days.
    BeforeToday,
    /// A phrase such as "kernel parameter", before the parameter's name.
    KernelParameter,
    /// A phrase such as "groups of the user", before a name.
    GroupsOf,
    /// A phrase such as "belongs to", the end of "which groups ada belongs to".
    IsMember,
    /// A phrase such as "user number of the user", before a name.
    UserIdOf,
    /// A phrase such as "location of the program", before the program's name.
    Program,
    /// A word such as "installed", after a program's name.
    Installed,
}
