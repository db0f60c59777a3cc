//! A draft: a parsed phrase as a set of features. Each feature is set at most once and used once.

use std::collections::BTreeSet;

use crate::algebra::{
    Depth, Fact, Field, Function, GroupKey, Key, Kind, NameChange, NamePart, NameTest, Order, Part, Pred, Relation,
    Rewrite, Separator,
};
use crate::concept::{ActWord, Disk, Hidden, Reference, Verb};
use crate::eval::regex;
use crate::place::Place;

/// The position that stands for "the last one" until the elements of the earlier answer are counted.
pub(crate) const LAST: u64 = u64::MAX;

/// What a question asks about the selected files or lines; without it, they are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ask {
    /// How many elements there are.
    Count,
    /// How many elements there are, asked by "and count them" after "find".
    CountThem,
    /// The size of the elements.
    Size,
    /// When the elements were modified.
    WhenChanged,
    /// Another number computed from the elements.
    Number(Function),
}

/// How a text to look for is written, which decides whether it can be a name instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sought {
    /// "the word x": text for certain.
    Text,
    /// In quotation marks: a name if there is exactly this name.
    Quoted,
    /// A plain word: a name, if a name has it.
    Bare,
}

/// Which lines or other units of a text a question asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinesWanted {
    /// All lines of the text.
    All,
    /// The rows of a table, without its heading.
    Rows,
    /// A range of the lines.
    Part(Part),
    /// Whether the text has at least this many lines.
    AtLeast(u64),
    /// The words of the text.
    Words,
    /// The numbers in the text.
    Numbers,
    /// The entries of an archive.
    Entries,
    /// The characters of the text, which can only be counted.
    Characters,
}

/// The destination of a copy, a move or another act, as worded in the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TargetWord {
    /// "to x": x may be a folder or a file.
    Open(Place),
    /// "into the folder x": x is a folder.
    Folder(Place),
    /// "as x" or "to the file x": x is a file.
    File(Place),
    /// "there" or "into it": the folder of the previous step.
    There,
}

/// Declares [`Draft`] with its optional features, and how two drafts merge them.
macro_rules! draft {
    ($($(#[$doc:meta])* $field:ident: $ty:ty,)*) => {
        /// A parsed phrase: the features that a span of words expresses, such as a verb, a noun and conditions.
        #[derive(Debug, Clone, Default, PartialEq, Eq)]
        pub(crate) struct Draft {
            $($(#[$doc])* pub(crate) $field: Option<$ty>,)*
            /// Kinds of file, as predicates on the extension; a file must match one of them.
            pub(crate) types: Vec<Pred>,
            /// Conditions on the elements, all of which must hold.
            pub(crate) preds: Vec<Pred>,
            /// Whether the conditions were joined by "or" without brackets, so that no more conditions can be added.
            pub(crate) loose: bool,
            /// Whether the draft ends in an exception that the next words may extend: "except PDFs".
            pub(crate) excepts: bool,
            /// Whether a place follows the destination, to which it may belong: "copy a.txt to b.txt in docs".
            pub(crate) placed_late: bool,
            /// Places after "in": folders to search, or the file whose lines are meant.
            pub(crate) scope: Vec<Place>,
            /// Paths of files or folders named without "in".
            pub(crate) object: Vec<Place>,
            /// Sort keys with their directions, the most important first.
            pub(crate) sort: Vec<(Key, Option<Order>)>,
            /// Whether the noun is plural; `None` if the draft has no noun.
            pub(crate) plural: Option<bool>,
            /// Assumptions made while reading the words, each as a sentence for the user.
            pub(crate) notes: BTreeSet<String>,
        }

        impl Draft {
            /// Merges the optional features of two drafts; `None` if both set the same one.
            fn merge_single(&self, other: &Self) -> Option<Self> {
                Some(Self { $($field: one(&self.$field, &other.$field)?,)* ..Self::default() })
            }
        }
    };
}

draft! {
    /// The verb of the question, such as "list".
    verb: Verb,
    /// What the question asks about the elements, such as their number.
    ask: Ask,
    /// The kind of entry that the noun means.
    noun: Kind,
    /// A text that lines must contain, as in "matching 'x'"; says nothing about files.
    needle: Pred,
    /// How many levels below the folders are searched.
    depth: Depth,
    /// Whether hidden files are included, excluded or the only ones.
    hidden: Hidden,
    /// The sort order that a superlative such as "largest" or "newest" means.
    superlative: (Key, Order),
    /// A sort direction given without a sort key.
    order: Order,
    /// The maximum number of elements, as in "first 5".
    limit: u64,
    /// The position of one element in a sort order, as in "the second".
    nth: u64,
    /// Which lines of a text the question asks for.
    lines: LinesWanted,
    /// Set by "total": a sum over all elements.
    total: (),
    /// Whether the case of texts is ignored; unset if the request doesn't say.
    ignore_case: bool,
    /// Set if sizes and dates are listed too.
    details: (),
    /// Set by "in bytes", which is accepted where the answer has a size or a number.
    in_bytes: (),
    /// Set by "and print their paths": what is found is listed.
    paths: (),
    /// Set by "what is in": the direct content of a folder is listed.
    contents: (),
    /// A reference to an earlier result, such as "those".
    reference: Reference,
    /// The verb of a change, such as "copy".
    act: ActWord,
    /// The destination of a copy, a move or another change.
    target: TargetWord,
    /// How file names change in a renaming.
    change: NameChange,
    /// The key by which elements are grouped.
    group: GroupKey,
    /// Set by "each" or "per file": the answer is given for each file.
    each: (),
    /// A property of files that the question asks for.
    field: Field,
    /// A fact of the machine that the question asks for.
    fact: Fact,
    /// A question about a file system, such as its free space.
    disk: Disk,
    /// Set if the question is about processes.
    processes: (),
    /// Set if files with equal content are asked for.
    duplicates: (),
    /// The number of the column that is asked for.
    column: u64,
    /// What separates the columns of a table.
    separator: Separator,
    /// Whether repeated lines are merged into one, or only repeated lines are asked for.
    once: Once,
    /// Set if lines are shown with their line numbers.
    numbered: (),
    /// The text to replace, and its replacement.
    replace: (String, String),
    /// A comparison with a second text.
    relation: Relation,
    /// The part of each path that is asked for.
    names: NamePart,
    /// A text whose occurrences are asked for, and whether as whole words.
    matches: (String, bool),
    /// A transformation of a text.
    rewrite: Rewrite,
    /// Set if the texts to look for must be whole words.
    whole_word: (),
    /// Set by "and print the result": the change is shown and nothing is written.
    printed: (),
    /// Set by "is a.txt" or "does ~/x": what follows is asked of this one file or folder.
    of_one: (),
    /// Set by "find 'x'", where x is text in files or lines, and how x is said.
    found: Sought,
}

/// Whether a draft (a parsed phrase) has no features except the listed ones.
macro_rules! only {
    ($draft:expr, $($feature:ident),*) => {
        $draft.is_only(|rest| {
            $(rest.$feature = Default::default();)*
        })
    };
}
pub(super) use only;

/// How lines that occur more than once are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Once {
    /// Each distinct line once.
    Unique,
    /// Only lines that occur more than once, each once.
    Repeated,
}

/// Merges one optional feature of two drafts; the outer `None` means that both have set it.
fn one<T: Clone>(a: &Option<T>, b: &Option<T>) -> Option<Option<T>> {
    match (a, b) {
        (Some(_), Some(_)) => None,
        (Some(value), None) | (None, Some(value)) => Some(Some(value.clone())),
        (None, None) => Some(None),
    }
}

impl Draft {
    /// Merges two drafts; `None` if both set the same feature, or if the words after each other would be ambiguous.
    pub(crate) fn merge(&self, other: &Self) -> Option<Self> {
        let clash = (!self.types.is_empty() && !other.types.is_empty())
            || (!self.scope.is_empty() && !other.scope.is_empty())
            || (!self.object.is_empty() && !other.object.is_empty() && !self.takes_second_file(other))
            // "a, b or c": it is unclear where "or" ends.
            || ((self.loose || other.loose) && !self.preds.is_empty() && !other.preds.is_empty())
            // "find ABC files": it is unclear whether ABC is a text or a kind of file.
            || (self.found.is_some() && other.has_noun())
            // After the verb of an act or a question, another verb is a noun: "delete the output files".
            || (other.verb.is_some() && (self.act.is_some() || (self.ask.is_some() && other.verb != Some(Verb::Find))))
            || (self.verb.is_some() && other.act.is_some())
            // "what is in the backup folder": the folder is that, not folders in it.
            || (self.contents.is_some() && !self.scope.is_empty() && other.only_noun() && other.noun == Some(Kind::Folder))
            // "the most common line": the grammar joins the two, and knows whether one is meant.
            || (self.only_rank_of_lines() && only!(other, lines) && other.lines.is_some())
            // In "starting with 'x' files", the noun must come before the condition.
            || (self.only_preds_of(|pred| matches!(pred, Pred::Name(_))) && other.has_noun());
        if clash {
            return None;
        }
        // "directly in ~/x, not counting subfolders" gives the same depth twice, "and print the result without changing
        // the file" says twice that it is printed.
        let depth = other.depth.filter(|_| self.depth != other.depth);
        let once = &Self { depth, printed: other.printed.filter(|()| self.printed.is_none()), ..other.clone() };
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
        let names_none = other.object.is_empty() && !other.has_noun();
        merged.placed_late =
            self.placed_late || other.placed_late || (self.target.is_some() && !other.scope.is_empty() && names_none);
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

    /// Whether this draft names one file and the other compares it with a second one ("also in b.txt"), so that both
    /// may name a path.
    fn takes_second_file(&self, other: &Self) -> bool {
        self.relation.is_none() && other.relation.is_some() && self.object.len() == 1
    }

    /// A draft with one condition.
    pub(crate) fn pred(pred: Pred) -> Self {
        Self { preds: vec![pred], ..Self::default() }
    }

    /// The draft with this note for the user added.
    pub(crate) fn noted(mut self, note: impl Into<String>) -> Self {
        self.notes.insert(note.into());
        self
    }

    /// Whether the draft has no features except those that `clear` resets; notes don't count.
    pub(crate) fn is_only(&self, clear: impl FnOnce(&mut Self)) -> bool {
        let mut rest = self.clone();
        clear(&mut rest);
        rest.notes.clear();
        rest.excepts = false;
        rest == Self::default()
    }

    /// Whether the draft has more than a noun phrase: a verb, a question, a pronoun, a destination, a property of files
    /// or a fact.
    pub(crate) fn says_what_to_do(&self) -> bool {
        self.verb.is_some()
            || self.act.is_some()
            || self.ask.is_some()
            || self.reference.is_some()
            || self.target.is_some()
            || self.field.is_some()
            || self.contents.is_some()
            || self.fact.is_some()
            || self.disk.is_some()
    }

    /// The draft of an act without `here`, the folder that its names are in anyway.
    pub(crate) fn without_folder(mut self, here: Option<&Place>) -> Self {
        let is_here = matches!((self.scope.as_slice(), here), ([scope], Some(here)) if scope.path == here.path);
        let are_bare = !self.object.is_empty() && self.object.iter().all(|object| object.bare);
        let takes = matches!(self.act, Some(ActWord::Copy | ActWord::Move | ActWord::Delete | ActWord::Rename));
        if takes && is_here && are_bare {
            self.scope.clear();
        }
        self
    }

    /// Whether the draft asks about things without saying where they are.
    pub(crate) fn asks_without_place(&self) -> bool {
        self.act.is_none() && self.has_noun() && self.scope.is_empty() && self.object.is_empty()
    }

    /// Whether the draft has conditions and nothing else.
    pub(crate) fn only_preds(&self) -> bool {
        !self.preds.is_empty() && only!(self, preds, loose)
    }

    /// Whether the draft has conditions that all pass a test, and nothing else.
    pub(crate) fn only_preds_of(&self, test: fn(&Pred) -> bool) -> bool {
        self.only_preds() && self.preds.iter().all(test)
    }

    /// Whether the draft is "the most common" or "the longest", perhaps with a number, and nothing else.
    pub(crate) fn only_rank_of_lines(&self) -> bool {
        matches!(self.superlative, Some((Key::Length | Key::Value, _))) && only!(self, superlative, limit)
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

    /// Gives the sort direction that was said without a key to the last sort key.
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

    /// Whether the draft has only features that can follow "and" after a noun, such as conditions and sort keys.
    pub(crate) fn only_modifiers(&self) -> bool {
        !self.loose
            && only!(self, preds, scope, sort, depth, hidden, order, ignore_case, details, numbered, once, group)
            && *self != Self::default()
    }

    /// The verb, if the draft has nothing else.
    pub(crate) fn only_verb(&self) -> Option<Verb> {
        self.verb.filter(|_| only!(self, verb))
    }

    /// Whether the draft names a kind of entry or a kind of file.
    pub(crate) fn has_noun(&self) -> bool {
        self.noun.is_some() || !self.types.is_empty()
    }

    /// The kinds of file and the conditions of a draft as one predicate.
    pub(crate) fn condition(&self) -> Pred {
        let mut all = self.preds.clone();
        if !self.types.is_empty() {
            all.push(Pred::Any(self.types.clone()));
        }
        Pred::All(all).normalise()
    }
}

/// A predicate on names turned into one on lines: "starting with x" for a line.
pub(crate) fn of_line(pred: Pred) -> Pred {
    pred.map(&|property| match property {
        Pred::Name(NameTest::Has(text)) => Pred::Contains { text, ignore_case: false },
        // For lines, a pattern with characters such as ".*" is a regular expression.
        Pred::Name(NameTest::Glob(text)) if regex::is_meant(&text) => {
            Pred::Line(NameTest::Pattern(regex::extended(&text, false).unwrap_or(text)))
        }
        // As a wildcard pattern "[x]" would only match the line "x".
        Pred::Name(NameTest::Glob(text)) if !text.contains(['*', '?']) => Pred::Contains { text, ignore_case: false },
        Pred::Name(test) => Pred::Line(test),
        Pred::MaxBytes(0) => Pred::Blank,
        Pred::MinBytes(1) => Pred::Not(Box::new(Pred::Blank)),
        other => other,
    })
}

/// Merges the sort keys of two drafts; `None` if both have some and neither completes the other.
fn merged_keys(a: &[(Key, Option<Order>)], b: &[(Key, Option<Order>)]) -> Option<Vec<(Key, Option<Order>)>> {
    match (a, b) {
        // "by date, oldest first": the second part gives the direction of the first.
        ([(by, None)], [(again, order @ Some(_))]) | ([(again, order @ Some(_))], [(by, None)]) if by == again => {
            Some(vec![(*by, *order)])
        }
        ([], keys) | (keys, []) => Some(keys.to_vec()),
        _ => None,
    }
}
