//! Denied effects, and whether another call would cause the same (decision D10).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::effects::{self, Action, CallEffects, EffectSet, FileEffect, UndoMethod};
use crate::paths;

/// The effects, hosts and commands of a call that the user denied.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Denial {
    changes: EffectSet,
    /// Paths and patterns that the call named; empty if its effects were complete.
    names: BTreeSet<PathBuf>,
    hosts: BTreeSet<String>,
    commands: Vec<Vec<String>>,
}

impl Denial {
    /// The denial of a call with these effects, to recognise calls that would repeat them.
    pub(crate) fn of(denied: &CallEffects) -> Self {
        let names = if denied.is_complete { &[] } else { denied.paths.as_slice() };
        Self {
            changes: denied.changes.clone(),
            names: spellings(names).collect(),
            hosts: denied.hosts.clone(),
            commands: denied.commands.clone(),
        }
    }

    /// The denied path, host or command that a call would use again; `None` if the call repeats no denied effect.
    pub(crate) fn repeated_by(&self, call: &CallEffects) -> Option<String> {
        if let Some(effect) = call.changes.iter().find(|effect| self.has_effect(effect)) {
            return Some(paths::line(&effect.path));
        }
        if call.is_complete { None } else { self.named_by(call) }
    }

    /// Whether this effect overlaps a denied effect, or concerns a path that the denied call named.
    fn has_effect(&self, effect: &FileEffect) -> bool {
        let is_same = |denied: &FileEffect| denied.action == effect.action && overlap(denied, effect);
        // A denied change of a path itself does not cover creating something below it.
        let is_named = |name: &PathBuf| match effect.action {
            Action::Modify => {
                effects::matches(name, &effect.path)
                    || effect.path.starts_with(name)
                    || (effect.is_recursive && name.starts_with(&effect.path))
            }
            Action::Create => effects::matches(name, &effect.path),
        };
        self.changes.iter().any(is_same) || self.names.iter().any(is_named)
    }

    /// The denied host, path or command that this call names too, for the message that refuses the call.
    fn named_by(&self, call: &CallEffects) -> Option<String> {
        if !self.commands.is_empty() && self.commands == call.commands {
            return Some("the same command".to_owned());
        }
        if let Some(host) = call.hosts.iter().find(|host| self.hosts.contains(*host)) {
            return Some(host.clone());
        }
        let denied: Vec<&PathBuf> = self.names.iter().chain(self.changes.iter().map(|effect| &effect.path)).collect();
        let may_remove = matches!(call.undo, UndoMethod::Snapshot(_));
        let is_denied = |name: &Path| {
            denied.iter().any(|denied| {
                let is_around = may_remove && denied.starts_with(name);
                effects::matches(name, denied)
                    || effects::matches(denied, name)
                    || is_around
                    || name.starts_with(denied)
            })
        };
        spellings(&call.paths).find(|name| is_denied(name)).map(|name| paths::line(&name))
    }
}

/// The spellings of each path: as written, with the symlinks in its folder resolved, and with all symlinks resolved.
fn spellings(names: &[PathBuf]) -> impl Iterator<Item = PathBuf> + '_ {
    names.iter().flat_map(|path| [path.clone(), paths::without_links(path), paths::real(path)])
}

/// Whether two effects concern a common path.
fn overlap(denied: &FileEffect, effect: &FileEffect) -> bool {
    let is_inside = |inner: &FileEffect, outer: &FileEffect| outer.is_recursive && inner.path.starts_with(&outer.path);
    effect.path == denied.path || is_inside(effect, denied) || is_inside(denied, effect)
}
