//! Approval scopes: which file effects an approval for a task or a rule covers.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::effects::{Action, EffectSet, FileEffect};
use crate::paths;

/// How much of a path an approval covers: the path itself, the path with everything below it, or only what is below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) enum PathScope {
    /// The path alone, not a folder with everything below it.
    #[serde(rename = "itself")]
    Exact,
    /// The path and everything below it.
    #[serde(rename = "whole")]
    Recursive,
    /// Everything below the path, without the path itself.
    #[serde(rename = "inside")]
    Children,
}

/// What an approval covers: one action on one path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ApprovalScope {
    #[serde(rename = "verb")]
    pub(crate) action: Action,
    pub(crate) path: PathBuf,
    #[serde(rename = "span")]
    pub(crate) scope: PathScope,
}

/// Whether each of these effects is covered by one of the approval scopes.
pub(crate) fn covers<'a>(scopes: impl Iterator<Item = &'a ApprovalScope> + Clone, effects: &EffectSet) -> bool {
    effects.iter().all(|effect| scopes.clone().any(|scope| scope.covers(effect)))
}

/// One approval scope for each of these effects, no wider than the effect.
pub(crate) fn exact(effects: &EffectSet) -> Vec<ApprovalScope> {
    let scope = |effect: &FileEffect| if effect.is_recursive { PathScope::Recursive } else { PathScope::Exact };
    let of =
        |effect: &FileEffect| ApprovalScope { action: effect.action, path: effect.path.clone(), scope: scope(effect) };
    effects.iter().map(of).collect()
}

/// Approval scopes that cover everything in the folders of these effects, outermost only; empty if an effect has no
/// folder.
pub(crate) fn folders(effects: &EffectSet) -> Vec<ApprovalScope> {
    let mut folders: BTreeSet<ApprovalScope> = BTreeSet::new();
    for effect in effects {
        let Some(folder) = effect.path.parent() else { return Vec::new() };
        let path = folder.to_path_buf();
        folders.insert(ApprovalScope { action: effect.action, path, scope: PathScope::Children });
    }
    let is_inner = |scope: &ApprovalScope| {
        let is_other = |other: &ApprovalScope| other.action == scope.action && other.path != scope.path;
        folders.iter().any(|other| is_other(other) && scope.path.starts_with(&other.path))
    };
    folders.iter().filter(|scope| !is_inner(scope)).cloned().collect()
}

impl ApprovalScope {
    /// Whether this scope alone covers the effect.
    pub(crate) fn covers(&self, effect: &FileEffect) -> bool {
        let is_exact = effect.path == self.path;
        let is_in_path = match self.scope {
            PathScope::Exact => is_exact && !effect.is_recursive,
            PathScope::Recursive => effect.path.starts_with(&self.path),
            PathScope::Children => effect.path.starts_with(&self.path) && !is_exact,
        };
        self.action == effect.action && is_in_path
    }

    /// The scope as text for the user.
    pub(crate) fn message(&self) -> String {
        let path = paths::line(&self.path);
        let place = match self.scope {
            PathScope::Exact => path,
            PathScope::Recursive => format!("{path} and everything below it"),
            PathScope::Children => format!("anything in {path}"),
        };
        let action = match self.action {
            Action::Create => "create",
            Action::Modify => "delete, move or change",
        };
        format!("{action} {place}")
    }
}
