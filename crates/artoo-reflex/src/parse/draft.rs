//! A draft: the features a stretch of words carries. Each is set at most once and consumed exactly once.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "conditions that read differently of a line are named; every other is not"
)]

use std::collections::BTreeSet;

use crate::algebra::{
    Depth, Fact, Field, Function, GroupKey, Key, Kind, NameChange, NamePart, NameTest, Order, Part, Pred, Relation,
    Rewrite, Separator,
};
use crate::concept::{ActWord, Disk, Hidden, Reference, Verb};
use crate::place::Place;

/// What is asked about the things found; listing is the default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ask {
    Count,
    /// "and count them", which fits "find" and not "list".
    CountThem,
    Size,
    WhenChanged,
    /// A number of another sort.
    Number(Function),
}

/// Which lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinesWanted {
    All,
    /// The rows of a table.
    Rows,
    Part(Part),
    /// The words of the text.
    Words,
    /// Its numbers.
    Numbers,
    /// What an archive holds.
    Entries,
    /// The signs of the text; only counted.
    Characters,
}

/// Where an act leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TargetWord {
    /// "to x": a folder or a file.
    Open(Place),
    /// "into the folder x".
    Folder(Place),
    /// "as x", "to the file x".
    File(Place),
    /// "there", "into it".
    There,
}

macro_rules! draft {
    ($($(#[$doc:meta])* $field:ident: $ty:ty,)*) => {
        /// The features of a stretch of words.
        #[derive(Debug, Clone, Default, PartialEq, Eq)]
        pub(crate) struct Draft {
            $($(#[$doc])* pub(crate) $field: Option<$ty>,)*
            /// Kinds of file, any of which will do.
            pub(crate) types: Vec<Pred>,
            /// What must hold, all of it.
            pub(crate) preds: Vec<Pred>,
            /// Whether the condition is an "or" that nothing holds together.
            pub(crate) loose: bool,
            /// Whether it ends in an exception of kinds that nothing holds together: how far that reaches is open.
            pub(crate) excepts: bool,
            /// "in …": the folders (or the file, for its lines).
            pub(crate) scope: Vec<Place>,
            /// Paths named without "in", or that look like files.
            pub(crate) object: Vec<Place>,
            /// What orders, the first key first.
            pub(crate) sort: Vec<(Key, Option<Order>)>,
            /// Grammatical number of the noun or type word.
            pub(crate) plural: Option<bool>,
            /// How words were read where they could have been read otherwise.
            pub(crate) notes: BTreeSet<String>,
        }

        impl Draft {
            /// The features that occur at most once, of both; `None` where both say something about the same one.
            fn merge_single(&self, other: &Self) -> Option<Self> {
                Some(Self { $($field: one(&self.$field, &other.$field)?,)* ..Self::default() })
            }
        }
    };
}

draft! {
    verb: Verb,
    ask: Ask,
    noun: Kind,
    /// Text that lines must match ("matching 'x'"), which says nothing about files.
    needle: String,
    depth: Depth,
    hidden: Hidden,
    superlative: (Key, Order),
    order: Order,
    limit: u64,
    /// "the second": only this one of an order.
    nth: u64,
    lines: LinesWanted,
    /// "total": of all together.
    total: (),
    ignore_case: bool,
    details: (),
    in_bytes: (),
    /// "what is in": a folder's own content.
    contents: (),
    reference: Reference,
    act: ActWord,
    target: TargetWord,
    /// Text of a new file.
    text: String,
    change: NameChange,
    group: GroupKey,
    /// "each", "per file".
    each: (),
    field: Field,
    fact: Fact,
    disk: Disk,
    processes: (),
    duplicates: (),
    column: u64,
    separator: Separator,
    /// Each line once; only the repeated ones.
    once: Once,
    numbered: (),
    replace: (String, String),
    relation: Relation,
    /// Parts of paths rather than paths.
    names: NamePart,
    /// Occurrences of a text, and whether they stand alone as words.
    matches: (String, bool),
    rewrite: Rewrite,
    /// Texts looked for stand alone as words.
    whole_word: (),
    /// "and print the result": nothing is written.
    printed: (),
    /// "find 'x'": a text looked for, in files of a folder or in the lines of a file; whether it can't be a name.
    found: bool,
}

/// Whether a draft has no features but these.
macro_rules! only {
    ($draft:expr, $($feature:ident),*) => {
        $draft.is_only(|rest| {
            $(rest.$feature = Default::default();)*
        })
    };
}
pub(super) use only;

/// How lines that occur twice are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Once {
    Unique,
    Repeated,
}

/// A feature set on one side at most; the outer `None` is a clash.
fn one<T: Clone>(a: &Option<T>, b: &Option<T>) -> Option<Option<T>> {
    match (a, b) {
        (Some(_), Some(_)) => None,
        (Some(value), None) | (None, Some(value)) => Some(Some(value.clone())),
        (None, None) => Some(None),
    }
}

impl Draft {
    /// Both drafts' features; `None` where both say something about the same one.
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

    /// "lines of a.txt that are also in b.txt".
    fn takes_second_file(&self, other: &Self) -> bool {
        self.relation.is_none() && other.relation.is_some() && self.object.len() == 1
    }

    pub(crate) fn pred(pred: Pred) -> Self {
        Self { preds: vec![pred], ..Self::default() }
    }

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

    /// Only predicates.
    pub(crate) fn only_preds(&self) -> bool {
        !self.preds.is_empty() && only!(self, preds, loose)
    }

    /// Only predicates, each of which passes.
    pub(crate) fn only_preds_of(&self, test: fn(&Pred) -> bool) -> bool {
        self.only_preds() && self.preds.iter().all(test)
    }

    /// Only kinds of file, with or without a word for "file".
    pub(crate) fn only_types(&self) -> bool {
        !self.types.is_empty() && self.noun.is_none_or(|kind| kind == Kind::File) && only!(self, types, noun, plural)
    }

    /// Only a noun.
    pub(crate) fn only_noun(&self) -> bool {
        self.noun.is_some() && only!(self, noun, plural)
    }

    /// Only kinds of file with conditions.
    pub(crate) fn only_types_with_conditions(&self) -> bool {
        !self.types.is_empty() && !self.preds.is_empty() && only!(self, types, preds, noun, plural)
    }

    /// Only lines, of which something is said.
    pub(crate) fn only_lines_with_conditions(&self) -> bool {
        self.lines == Some(LinesWanted::All) && !self.preds.is_empty() && !self.loose && only!(self, lines, preds)
    }

    /// Conditions on a noun, or on lines.
    pub(crate) fn only_preds_of_a_noun(&self) -> bool {
        let lines = matches!(self.lines, None | Some(LinesWanted::All));
        let named = self.noun.is_some() || self.lines.is_some();
        let plain = only!(self, preds, noun, plural, lines);
        !self.preds.is_empty() && lines && named && plain
    }

    /// Only places after "in".
    pub(crate) fn only_scope(&self) -> bool {
        !self.scope.is_empty() && only!(self, scope)
    }

    /// Only keys of an order, perhaps with a direction.
    pub(crate) fn only_keys(&self) -> bool {
        !self.sort.is_empty() && only!(self, sort, order)
    }

    /// Gives a direction that was named to the last key.
    pub(crate) fn fix_order(&mut self) {
        if let (Some((_, slot @ None)), Some(order)) = (self.sort.last_mut(), self.order) {
            *slot = Some(order);
            self.order = None;
        }
    }

    /// Only paths.
    pub(crate) fn only_object(&self) -> bool {
        !self.object.is_empty() && only!(self, object)
    }

    /// Only what can follow "and" after a noun: no noun, verb, question or superlative of its own.
    pub(crate) fn only_modifiers(&self) -> bool {
        !self.loose
            && only!(self, preds, scope, sort, depth, hidden, order, ignore_case, details, numbered, once, group)
            && *self != Self::default()
    }

    /// Only a verb.
    pub(crate) fn only_verb(&self) -> Option<Verb> {
        self.verb.filter(|_| only!(self, verb))
    }

    /// Whether it speaks of things that can be listed.
    pub(crate) fn has_noun(&self) -> bool {
        self.noun.is_some() || !self.types.is_empty()
    }

    /// All conditions as one: the types (any of them) and the predicates.
    pub(crate) fn condition(&self) -> Pred {
        let mut all = self.preds.clone();
        if !self.types.is_empty() {
            all.push(Pred::Any(self.types.clone()));
        }
        Pred::All(all).normalise()
    }
}

/// A condition on a name as one on a line.
pub(crate) fn of_line(pred: Pred) -> Pred {
    pred.map(&|property| match property {
        Pred::Name(NameTest::Has(text)) => Pred::Contains { text, ignore_case: false },
        Pred::Name(test) => Pred::Line(test),
        Pred::MaxBytes(0) => Pred::Blank,
        Pred::MinBytes(1) => Pred::Not(Box::new(Pred::Blank)),
        other => other,
    })
}

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
