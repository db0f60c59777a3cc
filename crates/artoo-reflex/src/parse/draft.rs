//! A draft: the features that a span of words expresses. Each is set at most once and taken out once.

use std::collections::BTreeSet;

use crate::algebra::{
    Depth, Fact, Field, Function, GroupKey, Key, Kind, NameChange, NamePart, NameTest, Order, Part, Pred, Relation,
    Rewrite, Separator,
};
use crate::concept::{ActWord, Disk, Hidden, Reference, Verb};
use crate::place::Place;

/// What is asked about the elements; listing them is the default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ask {
    /// How many there are.
    Count,
    /// "and count them", after "find".
    CountThem,
    /// Their size.
    Size,
    /// When they were modified.
    WhenChanged,
    /// Another number.
    Number(Function),
}

/// Which lines or units of a text are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinesWanted {
    /// All lines.
    All,
    /// The rows of a table.
    Rows,
    /// A range of lines.
    Part(Part),
    /// The words of the text.
    Words,
    /// The numbers in the text.
    Numbers,
    /// The entries of an archive.
    Entries,
    /// The characters of the text; only counted.
    Characters,
}

/// The destination of an act, as worded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TargetWord {
    /// "to x": a folder or a file.
    Open(Place),
    /// "into the folder x".
    Folder(Place),
    /// "as x", "to the file x".
    File(Place),
    /// "there", "into it": the folder of the step before.
    There,
}

/// Declares [`Draft`] with its optional features.
macro_rules! draft {
    ($($(#[$doc:meta])* $field:ident: $ty:ty,)*) => {
        /// The features of a span of words.
        #[derive(Debug, Clone, Default, PartialEq, Eq)]
        pub(crate) struct Draft {
            $($(#[$doc])* pub(crate) $field: Option<$ty>,)*
            /// Kinds of file, any of which matches.
            pub(crate) types: Vec<Pred>,
            /// Conditions, all of which must hold.
            pub(crate) preds: Vec<Pred>,
            /// Whether the conditions are an "or" without brackets, which can't be combined with more conditions.
            pub(crate) loose: bool,
            /// Whether the draft ends in an exception whose extent is open: "except PDFs".
            pub(crate) excepts: bool,
            /// Places after "in": folders, or the file for its lines.
            pub(crate) scope: Vec<Place>,
            /// Paths named without "in".
            pub(crate) object: Vec<Place>,
            /// Sort keys with their directions, the most important first.
            pub(crate) sort: Vec<(Key, Option<Order>)>,
            /// Whether the noun is plural.
            pub(crate) plural: Option<bool>,
            /// Assumptions made while reading the words.
            pub(crate) notes: BTreeSet<String>,
        }

        impl Draft {
            /// Merges the optional features; `None` if both drafts set the same one.
            fn merge_single(&self, other: &Self) -> Option<Self> {
                Some(Self { $($field: one(&self.$field, &other.$field)?,)* ..Self::default() })
            }
        }
    };
}

draft! {
    /// The verb of a question.
    verb: Verb,
    /// What is asked.
    ask: Ask,
    /// The kind of entry that the noun means.
    noun: Kind,
    /// A text that lines must contain, as in "matching 'x'"; says nothing about files.
    needle: String,
    /// How many levels are searched.
    depth: Depth,
    /// Whether hidden files are included.
    hidden: Hidden,
    /// The sort order of "largest", "newest".
    superlative: (Key, Order),
    /// A sort direction without a key.
    order: Order,
    /// The number of elements.
    limit: u64,
    /// The position in an order, as in "the second".
    nth: u64,
    /// Which lines are asked for.
    lines: LinesWanted,
    /// "total": a sum over all elements.
    total: (),
    ignore_case: bool,
    /// Whether sizes and dates are listed too.
    details: (),
    in_bytes: (),
    /// "what is in": the direct content of a folder.
    contents: (),
    /// A reference to an earlier result.
    reference: Reference,
    /// The verb of a change.
    act: ActWord,
    /// The destination of a change.
    target: TargetWord,
    /// The content of a new file.
    text: String,
    /// The change of names.
    change: NameChange,
    /// The key of a grouping.
    group: GroupKey,
    /// "each", "per file".
    each: (),
    /// A property of files.
    field: Field,
    /// A fact of the machine.
    fact: Fact,
    /// A question about a file system.
    disk: Disk,
    /// Whether processes are asked for.
    processes: (),
    /// Whether files with equal content are asked for.
    duplicates: (),
    /// The number of a column.
    column: u64,
    /// The column separator.
    separator: Separator,
    /// Whether repeated lines are merged, or only they are asked for.
    once: Once,
    /// Whether lines are numbered.
    numbered: (),
    /// A text to replace, and its replacement.
    replace: (String, String),
    /// A comparison with a second text.
    relation: Relation,
    /// The part of each path that is asked for.
    names: NamePart,
    /// A text whose occurrences are asked for, and whether as whole words.
    matches: (String, bool),
    /// A transformation of a text.
    rewrite: Rewrite,
    /// Whether the texts looked for must be whole words.
    whole_word: (),
    /// "and print the result": nothing is written.
    printed: (),
    /// "find 'x'", a text in files or lines; whether it can't be a file name.
    found: bool,
}

/// Whether a draft has no features except the listed ones.
macro_rules! only {
    ($draft:expr, $($feature:ident),*) => {
        $draft.is_only(|rest| {
            $(rest.$feature = Default::default();)*
        })
    };
}
pub(super) use only;

/// How repeated lines are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Once {
    Unique,
    Repeated,
}

/// Merges an optional feature; the outer `None` means that both sides set it.
fn one<T: Clone>(a: &Option<T>, b: &Option<T>) -> Option<Option<T>> {
    match (a, b) {
        (Some(_), Some(_)) => None,
        (Some(value), None) | (None, Some(value)) => Some(Some(value.clone())),
        (None, None) => Some(None),
    }
}

impl Draft {
    /// Merges two drafts; `None` if both set the same feature.
    pub(crate) fn merge(&self, other: &Self) -> Option<Self> {
        let clash = (!self.types.is_empty() && !other.types.is_empty())
            || (!self.scope.is_empty() && !other.scope.is_empty())
            || (!self.object.is_empty() && !other.object.is_empty() && !self.takes_second_file(other))
            // "a, b or c": whether "or" ends there is open.
            || ((self.loose || other.loose) && !self.preds.is_empty() && !other.preds.is_empty())
            // "find ABC files" says neither a text nor a kind of file.
            || (self.found.is_some() && other.has_noun())
            // Not "starting with 'x' files".
            || (self.only_preds_of(|pred| matches!(pred, Pred::Name(_))) && other.has_noun());
        if clash {
            return None;
        }
        // "directly in ~/x, not counting subfolders" says the same twice.
        let once = if self.depth == other.depth { &Self { depth: None, ..other.clone() } } else { other };
        let mut merged = self.merge_single(once)?;
        merged.types = [self.types.clone(), other.types.clone()].concat();
        let later = if self.lines.is_some() && !self.has_noun() && other.only_preds() {
            other.preds.iter().cloned().map(of_line).collect()
        } else {
            other.preds.clone()
        };
        merged.preds = [self.preds.clone(), later].concat();
        merged.preds.sort();
        merged.loose = self.loose || other.loose;
        merged.excepts = other.excepts;
        merged.scope = [self.scope.clone(), other.scope.clone()].concat();
        merged.object = [self.object.clone(), other.object.clone()].concat();
        merged.sort = merged_keys(&self.sort, &other.sort)?;
        merged.plural = match (self.plural, other.plural) {
            (Some(a), Some(b)) => Some(a || b),
            (a, b) => a.or(b),
        };
        merged.notes = self.notes.union(&other.notes).cloned().collect();
        Some(merged)
    }

    /// Whether the other draft adds the second file of a comparison.
    fn takes_second_file(&self, other: &Self) -> bool {
        self.relation.is_none() && other.relation.is_some() && self.object.len() == 1
    }

    /// A draft with one condition.
    pub(crate) fn pred(pred: Pred) -> Self {
        Self { preds: vec![pred], ..Self::default() }
    }

    /// The draft with a note.
    pub(crate) fn noted(mut self, note: impl Into<String>) -> Self {
        self.notes.insert(note.into());
        self
    }

    /// Whether no feature is left after some are cleared; notes don't count.
    pub(crate) fn is_only(&self, clear: impl FnOnce(&mut Self)) -> bool {
        let mut rest = self.clone();
        clear(&mut rest);
        rest.notes.clear();
        rest.excepts = false;
        rest == Self::default()
    }

    /// Whether the draft has conditions and nothing else.
    pub(crate) fn only_preds(&self) -> bool {
        !self.preds.is_empty() && only!(self, preds, loose)
    }

    /// Whether the draft has conditions that all pass a test, and nothing else.
    pub(crate) fn only_preds_of(&self, test: fn(&Pred) -> bool) -> bool {
        self.only_preds() && self.preds.iter().all(test)
    }

    /// Whether the draft has kinds of file, perhaps with the noun "files", and nothing else.
    pub(crate) fn only_types(&self) -> bool {
        !self.types.is_empty() && self.noun.is_none_or(|kind| kind == Kind::File) && only!(self, types, noun, plural)
    }

    /// Whether the draft has a noun and nothing else.
    pub(crate) fn only_noun(&self) -> bool {
        self.noun.is_some() && only!(self, noun, plural)
    }

    /// Whether the draft has kinds of file with conditions and nothing else.
    pub(crate) fn only_types_with_conditions(&self) -> bool {
        !self.types.is_empty() && !self.preds.is_empty() && only!(self, types, preds, noun, plural)
    }

    /// Whether the draft has lines with conditions and nothing else.
    pub(crate) fn only_lines_with_conditions(&self) -> bool {
        self.lines == Some(LinesWanted::All) && !self.preds.is_empty() && !self.loose && only!(self, lines, preds)
    }

    /// Whether the draft has conditions on a noun or on lines, and nothing else.
    pub(crate) fn only_preds_of_a_noun(&self) -> bool {
        let lines = matches!(self.lines, None | Some(LinesWanted::All));
        let named = self.noun.is_some() || self.lines.is_some();
        let plain = only!(self, preds, noun, plural, lines);
        !self.preds.is_empty() && lines && named && plain
    }

    /// Whether the draft has places after "in" and nothing else.
    pub(crate) fn only_scope(&self) -> bool {
        !self.scope.is_empty() && only!(self, scope)
    }

    /// Whether the draft has sort keys and nothing else.
    pub(crate) fn only_keys(&self) -> bool {
        !self.sort.is_empty() && only!(self, sort, order)
    }

    /// Moves a sort direction to the last sort key.
    pub(crate) fn fix_order(&mut self) {
        if let (Some((_, slot @ None)), Some(order)) = (self.sort.last_mut(), self.order) {
            *slot = Some(order);
            self.order = None;
        }
    }

    /// Whether the draft has paths and nothing else.
    pub(crate) fn only_object(&self) -> bool {
        !self.object.is_empty() && only!(self, object)
    }

    /// Whether the draft has only features that can follow "and" after a noun.
    pub(crate) fn only_modifiers(&self) -> bool {
        !self.loose
            && only!(self, preds, scope, sort, depth, hidden, order, ignore_case, details, numbered, once, group)
            && *self != Self::default()
    }

    /// The verb, if the draft has nothing else.
    pub(crate) fn only_verb(&self) -> Option<Verb> {
        self.verb.filter(|_| only!(self, verb))
    }

    /// Whether the draft names a kind of entry or file.
    pub(crate) fn has_noun(&self) -> bool {
        self.noun.is_some() || !self.types.is_empty()
    }

    /// All kinds of file and conditions as one predicate.
    pub(crate) fn condition(&self) -> Pred {
        let mut all = self.preds.clone();
        if !self.types.is_empty() {
            all.push(Pred::Any(self.types.clone()));
        }
        Pred::All(all).normalise()
    }
}

/// A predicate on names as one on lines.
pub(crate) fn of_line(pred: Pred) -> Pred {
    pred.map(&|property| match property {
        Pred::Name(NameTest::Has(text)) => Pred::Contains { text, ignore_case: false },
        Pred::Name(test) => Pred::Line(test),
        Pred::MaxBytes(0) => Pred::Blank,
        Pred::MinBytes(1) => Pred::Not(Box::new(Pred::Blank)),
        other => other,
    })
}

/// Merges sort keys; `None` if both sides have some and none completes the other.
fn merged_keys(a: &[(Key, Option<Order>)], b: &[(Key, Option<Order>)]) -> Option<Vec<(Key, Option<Order>)>> {
    match (a, b) {
        // "by date, oldest first": the second says the direction of the first.
        ([(by, None)], [(again, order @ Some(_))]) | ([(again, order @ Some(_))], [(by, None)]) if by == again => {
            Some(vec![(*by, *order)])
        }
        ([], keys) | (keys, []) => Some(keys.to_vec()),
        _ => None,
    }
}
