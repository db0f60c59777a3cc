//! What a person has refused, and whether another call would do the same by other words (decision D10).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::reach::{Deed, Reach, Verb, place};
use crate::blocked::{self, Named};
use crate::paths;

/// What is known of a call's effects.
#[derive(Debug, Clone)]
pub(crate) enum Footprint {
    /// All of them.
    Known(Reach),
    /// Only what its words name.
    Named {
        named: Named,
        /// It is known for changing or removing things, so what it names it may take with all below.
        is_destructive: bool,
    },
}

impl Footprint {
    /// All effects, where they are known.
    pub(crate) fn reach(&self) -> Option<&Reach> {
        match self {
            Self::Known(reach) => Some(reach),
            Self::Named { .. } => None,
        }
    }
}

/// Something a person said no to.
#[derive(Debug, Clone)]
pub(crate) struct Refusal {
    deeds: Vec<Deed>,
    /// Places of a command that nobody could prove to do less than anything.
    places: BTreeSet<PathBuf>,
    hosts: BTreeSet<String>,
    commands: Vec<Vec<String>>,
}

impl Refusal {
    pub(crate) fn of(footprint: &Footprint) -> Self {
        match footprint {
            Footprint::Known(reach) => Self {
                deeds: reach.deeds().cloned().collect(),
                places: BTreeSet::new(),
                hosts: BTreeSet::new(),
                commands: Vec::new(),
            },
            Footprint::Named { named, .. } => Self {
                deeds: Vec::new(),
                places: forms(&named.places).collect(),
                hosts: named.hosts.clone(),
                commands: named.commands.clone(),
            },
        }
    }

    /// What of the refused the call would do, for a person; `None` where nothing is known to be the same.
    pub(crate) fn hit_by(&self, footprint: &Footprint) -> Option<String> {
        match footprint {
            Footprint::Known(reach) => {
                reach.deeds().find(|deed| self.is_done_by(deed)).map(|deed| paths::line(&deed.path))
            }
            Footprint::Named { named, is_destructive } => self.is_named_in(named, *is_destructive),
        }
    }

    fn is_done_by(&self, deed: &Deed) -> bool {
        let same = |refused: &Deed| refused.verb == deed.verb && meet(&refused.path, refused.whole, deed);
        // What a refused command names was to be left as it is; making something new below it is another matter.
        let named = |place: &PathBuf| match deed.verb {
            Verb::Take => is_met(place, deed),
            Verb::Make => blocked::is_at(place, &deed.path),
        };
        self.deeds.iter().any(same) || self.places.iter().any(named)
    }

    fn is_named_in(&self, named: &Named, is_destructive: bool) -> Option<String> {
        if !self.commands.is_empty() && self.commands == named.commands {
            return Some("the same command".to_owned());
        }
        if let Some(host) = named.hosts.iter().find(|host| self.hosts.contains(*host)) {
            return Some(host.clone());
        }
        let refused: Vec<&PathBuf> = self.places.iter().chain(self.deeds.iter().map(|deed| &deed.path)).collect();
        let is_same = |place: &Path| {
            refused.iter().any(|refused| {
                let is_it = blocked::is_at(place, refused) || blocked::is_at(refused, place);
                let is_around = is_destructive && refused.starts_with(place);
                is_it || is_around || is_below(place, refused)
            })
        };
        forms(&named.places).find(|place| is_same(place)).map(|place| paths::line(&place))
    }
}

/// A place as it is written, with its folder's links resolved, and where it leads itself.
fn forms(places: &[PathBuf]) -> impl Iterator<Item = PathBuf> + '_ {
    places.iter().flat_map(|path| [path.clone(), place(path), paths::real(path)])
}

/// The deed takes a refused place, all or part of it, or what holds it.
fn is_met(refused: &Path, deed: &Deed) -> bool {
    blocked::is_at(refused, &deed.path)
        || is_below(&deed.path, refused)
        || (deed.whole && refused.starts_with(&deed.path))
}

fn meet(refused: &Path, whole: bool, deed: &Deed) -> bool {
    deed.path == refused || (whole && deed.path.starts_with(refused)) || (deed.whole && refused.starts_with(&deed.path))
}

/// Whether a path lies in a refused folder.
fn is_below(path: &Path, refused: &Path) -> bool {
    path != refused && path.starts_with(refused)
}
