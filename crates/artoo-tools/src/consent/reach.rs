//! What a call does to which places, as a set that can be compared: the unit in which leave is asked, given and refused.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::paths;

/// What is done to a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verb {
    /// Something new stands there afterwards.
    Make,
    /// What stood there is changed, moved away or removed.
    Take,
}

/// One thing done to one place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Deed {
    pub(crate) verb: Verb,
    /// Absolute, links on the way resolved; the last name is never followed.
    pub(crate) path: PathBuf,
    /// It is a folder, and all below it goes with it.
    pub(crate) whole: bool,
}

/// All that a call does. Only a call whose every effect is known has one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Reach {
    deeds: BTreeSet<Deed>,
}

/// How much of a place is covered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Span {
    /// What stands there, unless it is a folder with all below it.
    Itself,
    /// It and everything below.
    Whole,
    /// What lies in the folder and below, not the folder.
    Inside,
}

/// What a yes covers: one verb at one place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cover {
    pub(crate) verb: Verb,
    pub(crate) path: PathBuf,
    pub(crate) span: Span,
}

impl Verb {
    fn in_words(self) -> &'static str {
        match self {
            Self::Make => "make what is not there yet",
            Self::Take => "take away, move or change what is there",
        }
    }
}

impl Reach {
    /// The set of these deeds; `None` where there is none, since a call that does nothing knowable is not known.
    pub(crate) fn of(deeds: impl IntoIterator<Item = Deed>) -> Option<Self> {
        let deeds: BTreeSet<Deed> = deeds.into_iter().collect();
        (!deeds.is_empty()).then_some(Self { deeds })
    }

    pub(crate) fn deeds(&self) -> impl Iterator<Item = &Deed> {
        self.deeds.iter()
    }

    /// Whether each deed is covered by one of these.
    pub(crate) fn is_within<'a>(&self, covers: impl Iterator<Item = &'a Cover> + Clone) -> bool {
        self.deeds.iter().all(|deed| covers.clone().any(|cover| cover.holds(deed)))
    }

    /// Exactly this, to be allowed again.
    pub(crate) fn covers(&self) -> Vec<Cover> {
        let span = |deed: &Deed| if deed.whole { Span::Whole } else { Span::Itself };
        let of = |deed: &Deed| Cover { verb: deed.verb, path: deed.path.clone(), span: span(deed) };
        self.deeds.iter().map(of).collect()
    }

    /// What lies in the folders it acts in: what a rule would cover. Empty where a deed has no folder.
    pub(crate) fn folders(&self) -> Vec<Cover> {
        let mut folders: BTreeSet<Cover> = BTreeSet::new();
        for deed in &self.deeds {
            let Some(folder) = deed.path.parent() else { return Vec::new() };
            folders.insert(Cover { verb: deed.verb, path: folder.to_path_buf(), span: Span::Inside });
        }
        let is_inner = |cover: &Cover| {
            let around = |other: &Cover| other.verb == cover.verb && other.path != cover.path;
            folders.iter().any(|other| around(other) && cover.path.starts_with(&other.path))
        };
        folders.iter().filter(|cover| !is_inner(cover)).cloned().collect()
    }
}

impl Cover {
    /// Whether the deed is allowed by this alone.
    pub(crate) fn holds(&self, deed: &Deed) -> bool {
        let is_itself = deed.path == self.path;
        let reaches = match self.span {
            Span::Itself => is_itself && !deed.whole,
            Span::Whole => deed.path.starts_with(&self.path),
            Span::Inside => deed.path.starts_with(&self.path) && !is_itself,
        };
        self.verb == deed.verb && reaches
    }

    /// For a person.
    pub(crate) fn in_words(&self) -> String {
        let path = paths::line(&self.path);
        let place = match self.span {
            Span::Itself => path,
            Span::Whole => format!("{path} and everything below it"),
            Span::Inside => format!("anything in {path}"),
        };
        format!("{}: {place}", self.verb.in_words())
    }
}

/// The path with links on the way to its last name resolved, that name itself left as it is.
pub(crate) fn place(path: &Path) -> PathBuf {
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => paths::real(parent).join(name),
        _ => path.to_path_buf(),
    }
}
