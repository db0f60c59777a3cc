//! What the lexicon's phrases mean, as types the grammar's rules speak of.

use serde::Deserialize;

use crate::algebra::{
    Depth, Fact, Field, Function, GroupKey, Key, Kind, NameChange, NamePart, Order, Part, Relation as Between, Rewrite,
};

/// The meaning of one phrase.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Concept {
    /// A function word.
    Skip,
    /// "is", "do" …: a function word inside a request, a yes/no question at its start.
    Copula,
    /// Before a noun it restricts nothing more; after a place it means "not below it".
    Only,
    /// After "search x".
    For,
    And,
    Or,
    /// "nor": joins kinds after "neither", and nothing else.
    Nor,
    Verb(Verb),
    /// "what is in": lists a folder's own content.
    ListFolder,
    Count,
    /// "and count them", after "find …".
    CountThem,
    Size,
    /// "total size": of all together.
    TotalSize,
    /// "take up", after "how much space do …".
    SizeTail,
    Details,
    WhenWas,
    InBytes,
    Noun {
        kind: Kind,
        plural: bool,
    },
    Lines {
        plural: bool,
    },
    /// Lines, of a table those below its heading.
    Rows {
        plural: bool,
    },
    /// "first", "last": of a text's lines or of an ordered list.
    Edge(Edge),
    /// The first or last lines without a number.
    SomeLines(Edge),
    Superlative {
        by: Key,
        order: Order,
    },
    /// "last modified", which is a superlative only before a noun.
    SuperlativeBefore {
        by: Key,
        order: Order,
    },
    SortBy,
    Key(Key),
    Sorted {
        by: Key,
        order: Order,
    },
    Order(Order),
    Compare {
        bound: Bound,
        of: Measure,
    },
    /// "or more", after a quantity.
    OrBound {
        bound: Bound,
        of: Measure,
    },
    Between,
    To,
    SizeField,
    SizeSuffix,
    Empty,
    NonEmpty,
    Bytes(u64),
    TimeUnit(TimeUnit),
    Modified,
    LastSpan,
    Unmodified,
    UnmodifiedSince,
    Ago,
    Old,
    Relation(Relation),
    Calendar(Calendar),
    /// "today's": before a noun.
    CalendarOf(Calendar),
    /// 1 = Monday.
    Weekday(i8),
    Month(i8),
    /// "of", "on", "from": a path or a known folder follows.
    Within,
    /// "in", "under": so may any word that can be a folder's name.
    Inside,
    /// A folder: `.`, `~` or a name below the home folder.
    Place(String),
    /// The same, but only after "in", since the word is also a kind of file.
    PlaceAfterPreposition(String),
    Here,
    /// "in the trash": a folder below the home folder, with its preposition.
    InPlace(String),
    /// "contain", after a folder: "how many PDFs does ~/x contain".
    Holds,
    /// How far down.
    Depth(DepthWord),
    Hidden(Hidden),
    Dotfiles,
    Name(NameRelation),
    InName,
    InContent,
    With,
    Contains,
    TheWord,
    Grep,
    IgnoreCase,
    MatchCase,
    Extension,
    OfType,
    ExtensionSuffix,
    Except,
    Number(u64),
    Ordinal(u64),
    /// A verb that changes the machine in a way this crate does not know: understood only to be refused.
    Act,
    /// A verb that changes the machine.
    Do(ActWord),
    /// "then": the next step.
    Then,
    /// "either", before an "or" that ends where it seems to.
    Either,
    Reference(Reference),
    /// "one", "ones": a noun for what was spoken of.
    One {
        plural: bool,
    },
    /// "again": the request before.
    Again,
    /// "to", "into": where an act leads.
    Into,
    /// "into the folder".
    IntoFolder,
    /// "as", "to a file named".
    AsFile,
    /// "there", "into it".
    There,
    /// "with the text": of a new file.
    WithContent,
    /// "per", "for each".
    Per,
    Each,
    /// "how often does each word".
    Frequency(Counted),
    /// "occur", after it.
    Occurs,
    /// What a grouping yields: "the first 5 groups".
    Groups,
    GroupKey(GroupKey),
    Field(Field),
    /// "average size of".
    Ask(Function),
    /// The words, numbers or entries of a text.
    TextUnit(TextUnit),
    Duplicates,
    Unique,
    Repeated,
    Numbered,
    /// "on", after "from line 5".
    Onward,
    Column,
    SeparatedBy,
    Separator(String),
    Replacing,
    ReplaceWith,
    /// "where the line starts with".
    LineTest(NameRelation),
    Blank,
    EmptyFolder,
    /// "what day is it".
    WeekdayNow,
    /// "characters", after a number.
    Characters,
    /// "that are also in", "identical to".
    Versus(Between),
    /// "lines common to", before both.
    Both(Between),
    /// "excluding the folder", "below a folder".
    BelowFolder,
    NotBelow,
    Executable,
    Permissions,
    OwnedBy,
    /// "to lower case".
    NameCase(NameChange),
    NewExtension,
    NewPrefix,
    NewSuffix,
    /// "add the prefix".
    AddPrefix,
    AddSuffix,
    NewTemplate,
    Processes {
        plural: bool,
    },
    Fact(Fact),
    Disk(Disk),
    DayOfWeek,
    Variable,
    /// "with their counts", of lines.
    WithCounts,
    /// "of each line", behind a column.
    OfEachLine,
    /// "using", before a separator.
    Using,
    /// "as the separator", behind one.
    AsSeparator,
    /// "permissions", behind digits.
    RightsBehind,
    /// "and print the result": nothing is written.
    Printed,
    /// "scripts", behind ".sh".
    KindNoun,
    /// "bare names of".
    NamePart(NamePart),
    /// "folders that contain", before files: each once.
    FoldersOf,
    /// "duplicate file names".
    RepeatedNames,
    /// "occurrences of", before a text; whether they are counted, and stand alone as words.
    Occurrences {
        counted: bool,
        whole: bool,
    },
    /// "containing the whole word".
    ContainsWord,
    /// "as a whole word", behind it.
    AsWord,
    Rewrite(Rewrite),
    /// "wrapped at", before a number of characters.
    WrappedAt,
    /// "joined by", before a sign.
    JoinedBy,
    /// "whatever the case of its letters", behind a name.
    AnyCase,
    /// "lying below", before a folder.
    LyingBelow,
    /// "of the group", before its name.
    OfGroup,
    /// Permission bits, all of which are meant.
    Rights(u32),
    /// "with all of the permissions", before digits.
    AllPermissions,
    Accessed,
    Unaccessed,
    UnaccessedSince,
    /// "date", before how many days from today it is.
    DateWord,
    /// "after today", behind a number of days.
    AfterToday,
    BeforeToday,
    /// "kernel parameter", before its name.
    KernelParameter,
    /// "groups of the user", before a name.
    GroupsOf,
    /// "belongs to", behind it.
    IsMember,
    /// "user number of the user", before a name.
    UserIdOf,
    Program,
    /// "installed", after a program's name.
    Installed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ActWord {
    Create,
    /// "mkdir".
    CreateFolder,
    Copy,
    Move,
    Rename,
    /// "change the extension of".
    ChangeExtension,
    Archive,
    Extract,
    Delete,
    Replace,
}

/// Words for what was spoken of before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reference {
    It,
    Those,
    /// "one", in place of a noun.
    One,
    /// The whole request.
    Again,
}

/// What is counted one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Counted {
    Words,
    Lines,
}

/// What a text is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TextUnit {
    Words,
    Characters,
    Numbers,
    Entries,
}

/// What is asked of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Disk {
    Free,
    Used,
    /// Used, as a share of all.
    Share,
    /// What one folder or file takes.
    OfFolder,
    Total,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verb {
    List,
    Show,
    Find,
    Read,
    Sort,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Edge {
    First,
    Last,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Bound {
    Above,
    AtLeast,
    Exactly,
    AtMost,
    Below,
}

impl Edge {
    /// So many lines at this end of a text.
    pub(crate) fn part(self, count: u64) -> Part {
        match self {
            Self::First => Part::First(count),
            Self::Last => Part::Last(count),
        }
    }
}

/// What a comparison can be about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Measure {
    Size,
    Age,
    /// Decided by what it is compared with.
    Either,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TimeUnit {
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Fortnight,
    Month,
    Year,
}

/// How a time of change lies to a stretch of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Relation {
    Since,
    Before,
    After,
    Until,
    /// Within it; says by itself that a time of change is meant.
    From,
    /// Within it; only after a word for change.
    During,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Calendar {
    Today,
    Yesterday,
    DayBeforeYesterday,
    ThisMorning,
    ThisWeek,
    LastWeek,
    ThisMonth,
    LastMonth,
    ThisYear,
    LastYear,
}

/// Words about depth: with or without a place after them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DepthWord {
    Whole,
    /// "directly in": a place follows.
    Direct,
    /// "not including subfolders".
    DirectAdverb,
}

impl DepthWord {
    pub(crate) fn depth(self) -> Depth {
        match self {
            Self::Whole => Depth::Whole,
            Self::Direct | Self::DirectAdverb => Depth::Direct,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Hidden {
    Include,
    Exclude,
    Only,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum NameRelation {
    Is,
    Starts,
    Ends,
    Has,
    Glob,
    /// Exactly so, though it holds signs of a pattern.
    Literally,
}
