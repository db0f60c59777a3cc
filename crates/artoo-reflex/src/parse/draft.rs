//! A draft: the features a stretch of words carries. Each is set at most once and consumed exactly once.

use std::collections::BTreeSet;

use crate::algebra::{Depth, Key, Kind, Order, Part, Pred};
use crate::concept::{Hidden, Verb};
use crate::place::Place;

/// What is asked about the things found; listing is the default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ask {
    Count,
    /// "and count them", which fits "find" and not "list".
    CountThem,
    Size,
    WhenChanged,
}

/// Which lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinesWanted {
    All,
    Part(Part),
}

/// The features of a stretch of words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Draft {
    pub(crate) verb: Option<Verb>,
    pub(crate) ask: Option<Ask>,
    pub(crate) noun: Option<Kind>,
    /// Grammatical number of the noun or type word.
    pub(crate) plural: Option<bool>,
    /// Kinds of file, any of which will do.
    pub(crate) types: Vec<Pred>,
    /// What must hold, all of it.
    pub(crate) preds: Vec<Pred>,
    /// Text that lines must match ("matching 'x'"), which says nothing about files.
    pub(crate) needle: Option<String>,
    /// "in …": the folder (or the file, for its lines).
    pub(crate) scope: Option<Place>,
    /// A path named without "in", or one that looks like a file.
    pub(crate) object: Option<Place>,
    pub(crate) depth: Option<Depth>,
    pub(crate) hidden: Option<Hidden>,
    pub(crate) superlative: Option<(Key, Order)>,
    pub(crate) sort: Option<(Key, Option<Order>)>,
    pub(crate) order: Option<Order>,
    pub(crate) limit: Option<u64>,
    pub(crate) lines: Option<LinesWanted>,
    pub(crate) ignore_case: Option<bool>,
    pub(crate) details: Option<()>,
    pub(crate) in_bytes: Option<()>,
    /// "what is in": a folder's own content.
    pub(crate) contents: Option<()>,
    /// How words were read where they could have been read otherwise.
    pub(crate) notes: BTreeSet<String>,
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
        if !self.types.is_empty() && !other.types.is_empty() {
            return None;
        }
        let plural = match (self.plural, other.plural) {
            (Some(a), Some(b)) => Some(a || b),
            (a, b) => a.or(b),
        };
        Some(Self {
            verb: one(&self.verb, &other.verb)?,
            ask: one(&self.ask, &other.ask)?,
            noun: one(&self.noun, &other.noun)?,
            plural,
            types: if self.types.is_empty() { other.types.clone() } else { self.types.clone() },
            preds: {
                let mut preds = [self.preds.clone(), other.preds.clone()].concat();
                preds.sort();
                preds
            },
            needle: one(&self.needle, &other.needle)?,
            scope: one(&self.scope, &other.scope)?,
            object: one(&self.object, &other.object)?,
            depth: one(&self.depth, &other.depth)?,
            hidden: one(&self.hidden, &other.hidden)?,
            superlative: one(&self.superlative, &other.superlative)?,
            sort: match (self.sort, other.sort) {
                // "by date, oldest first": the second says the direction of the first.
                (Some((by, None)), Some((again, order @ Some(_))))
                | (Some((again, order @ Some(_))), Some((by, None)))
                    if by == again =>
                {
                    Some((by, order))
                }
                (a, b) => one(&a, &b)?,
            },
            order: one(&self.order, &other.order)?,
            limit: one(&self.limit, &other.limit)?,
            lines: one(&self.lines, &other.lines)?,
            ignore_case: one(&self.ignore_case, &other.ignore_case)?,
            details: one(&self.details, &other.details)?,
            in_bytes: one(&self.in_bytes, &other.in_bytes)?,
            contents: one(&self.contents, &other.contents)?,
            notes: self.notes.union(&other.notes).cloned().collect(),
        })
    }

    pub(crate) fn pred(pred: Pred) -> Self {
        Self { preds: vec![pred], ..Self::default() }
    }

    pub(crate) fn noted(mut self, note: impl Into<String>) -> Self {
        self.notes.insert(note.into());
        self
    }

    /// Whether nothing is set but what `rest` leaves when the features in question are cleared.
    fn is_only(&self, clear: impl FnOnce(&mut Self)) -> bool {
        let mut rest = self.clone();
        clear(&mut rest);
        rest.notes.clear();
        rest == Self::default()
    }

    /// Only predicates.
    pub(crate) fn only_preds(&self) -> bool {
        !self.preds.is_empty() && self.is_only(|d| d.preds.clear())
    }

    /// Only predicates, each of which passes.
    pub(crate) fn only_preds_of(&self, test: fn(&Pred) -> bool) -> bool {
        self.only_preds() && self.preds.iter().all(test)
    }

    /// Only kinds of file, with or without a word for "file".
    pub(crate) fn only_types(&self) -> bool {
        !self.types.is_empty()
            && self.noun.is_none_or(|kind| kind == Kind::File)
            && self.is_only(|d| {
                d.types.clear();
                d.noun = None;
                d.plural = None;
            })
    }

    /// Only a noun.
    pub(crate) fn only_noun(&self) -> bool {
        self.noun.is_some()
            && self.is_only(|d| {
                d.noun = None;
                d.plural = None;
            })
    }

    /// Only what can follow "and" after a noun: no noun, verb, question or superlative of its own.
    pub(crate) fn only_modifiers(&self) -> bool {
        self.is_only(|d| {
            d.preds.clear();
            d.scope = None;
            d.depth = None;
            d.hidden = None;
            d.sort = None;
            d.order = None;
            d.ignore_case = None;
            d.details = None;
        }) && *self != Self::default()
    }

    /// Only a verb.
    pub(crate) fn only_verb(&self) -> Option<Verb> {
        self.verb.filter(|_| self.is_only(|d| d.verb = None))
    }

    /// Whether it speaks of things that can be listed.
    pub(crate) fn has_noun(&self) -> bool {
        self.noun.is_some() || !self.types.is_empty()
    }
}
