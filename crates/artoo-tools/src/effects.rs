//! The effects of a tool call: declared by a tool before it runs, or observed after a run.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use artoo_proto::{EffectClass, escape};
use globset::GlobBuilder;
use serde::{Deserialize, Serialize};

/// What happens to a path: it is created, or it is modified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) enum Action {
    /// The path does not exist before the call, and does afterwards.
    #[serde(rename = "make")]
    Create,
    /// The path exists before the call, and is changed, moved or removed.
    #[serde(rename = "take")]
    Modify,
}

/// An action on one path, or on a folder with everything below it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct FileEffect {
    pub(crate) action: Action,
    /// Absolute, symlinks in its folder resolved; if it is a symlink itself, the effect is on the link.
    pub(crate) path: PathBuf,
    /// Whether the path is a folder, and everything below it is affected too.
    pub(crate) is_recursive: bool,
}

/// A set of file effects.
pub(crate) type EffectSet = BTreeSet<FileEffect>;

/// Whether a call uses the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NetworkUse {
    /// The tool can't use the network.
    None,
    /// A program that the sandbox keeps from the network, if this machine has a sandbox.
    Blocked,
    /// The call may use the network.
    Possible,
    /// The call uses the network.
    #[cfg_attr(not(feature = "web"), expect(dead_code, reason = "only web searches do"))]
    Certain,
}

impl NetworkUse {
    /// How a sandboxed program may use the network: `Possible` if allowed, otherwise `Blocked`.
    pub(crate) fn of_sandbox(is_allowed: bool) -> Self {
        if is_allowed { Self::Possible } else { Self::Blocked }
    }
}

/// How the files that a call changes are saved so that the call can be undone.
#[derive(Debug, Clone)]
pub(crate) enum UndoMethod {
    /// The files are not saved.
    None,
    /// Each step is written to the journal before it is made.
    Steps,
    /// A program's changes are committed once they are known, and the commit is written to the journal.
    Commit,
    /// These paths and everything below them are copied first.
    Snapshot(Vec<PathBuf>),
}

/// The effects of one call, as far as they are known.
#[derive(Debug, Clone)]
pub(crate) struct CallEffects {
    pub(crate) class: EffectClass,
    /// Paths that it creates, changes or removes.
    pub(crate) changes: EffectSet,
    /// Whether `changes` holds every effect, so that an approval can cover more than this one call.
    pub(crate) is_complete: bool,
    /// Absolute paths that it names, patterns as written. If the effects are not complete, it may change these.
    pub(crate) paths: Vec<PathBuf>,
    /// Hosts that it names in addresses.
    pub(crate) hosts: BTreeSet<String>,
    /// The simple commands of a command line.
    pub(crate) commands: Vec<Vec<String>>,
    pub(crate) network: NetworkUse,
    pub(crate) undo: UndoMethod,
    /// The effects as text for the user, one per line.
    pub(crate) lines: Vec<String>,
}

impl CallEffects {
    /// The effects of a call of this class that names these paths; further effects are not yet known.
    pub(crate) fn new(class: EffectClass, paths: Vec<PathBuf>, network: NetworkUse) -> Self {
        Self {
            class,
            changes: EffectSet::new(),
            is_complete: false,
            paths,
            hosts: BTreeSet::new(),
            commands: Vec::new(),
            network,
            undo: UndoMethod::None,
            lines: Vec::new(),
        }
    }

    /// The effects of a call that only reads these paths.
    pub(crate) fn of_reading(paths: Vec<PathBuf>) -> Self {
        Self::new(EffectClass::ReadOnly, paths, NetworkUse::None)
    }

    /// Whether the call has only read-only effects.
    pub(crate) fn is_read_only(&self) -> bool {
        self.class == EffectClass::ReadOnly
    }

    /// The set of all file effects of the call; `None` if the set may be incomplete or there are none.
    pub(crate) fn all_changes(&self) -> Option<&EffectSet> {
        (self.is_complete && !self.changes.is_empty()).then_some(&self.changes)
    }

    /// A sentence about the call's use of the network, for the user, also if it uses none. `is_sandboxed`: this machine has a sandbox.
    pub(crate) fn network_message(&self, is_sandboxed: bool) -> String {
        let message = match self.network {
            NetworkUse::None => "uses no network",
            NetworkUse::Blocked if is_sandboxed => "uses no network (the sandbox blocks it)",
            NetworkUse::Blocked => "may use the network: this machine has no sandbox that blocks it",
            NetworkUse::Possible => "may use the network",
            NetworkUse::Certain => "uses the network",
        };
        if self.hosts.is_empty() {
            return message.to_owned();
        }
        let hosts: Vec<&str> = self.hosts.iter().map(String::as_str).collect();
        format!("{message} and names {}", escape::one_line(&hosts.join(", ")))
    }
}

/// Whether a text has wildcards that a shell expands.
pub(crate) fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// Whether a name, which may be a glob pattern, is this path or matches it.
pub(crate) fn matches(name: &Path, path: &Path) -> bool {
    let Some(pattern) = name.to_str().filter(|text| is_pattern(text)) else { return name == path };
    let glob = || GlobBuilder::new(pattern).literal_separator(true).build();
    name == path || glob().is_ok_and(|glob| glob.compile_matcher().is_match(path))
}
