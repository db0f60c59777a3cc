//! The file effects of a plan of `files`, for approvals.

use std::path::Path;

use super::plan::{Operation, Plan};
use crate::effects::{Action, EffectSet, FileEffect};

impl Plan {
    /// The file effects of all operations of the plan.
    pub(super) fn changes(&self) -> EffectSet {
        self.operations.iter().flat_map(effects).collect()
    }
}

/// The file effects (paths created or modified) of one operation of a plan.
fn effects(operation: &Operation) -> Vec<FileEffect> {
    let create =
        |path: &Path, is_recursive| FileEffect { action: Action::Create, path: path.to_path_buf(), is_recursive };
    let modify =
        |path: &Path| FileEffect { action: Action::Modify, path: path.to_path_buf(), is_recursive: is_folder(path) };
    match operation {
        Operation::MakeFolder { to }
        | Operation::MakeFile { to, .. }
        | Operation::MakeLink { to, .. }
        | Operation::Pack { to, .. } => vec![create(to, false)],
        Operation::Write { to: path, .. } | Operation::SetMode { path, .. } => {
            vec![FileEffect { action: Action::Modify, path: path.clone(), is_recursive: false }]
        }
        Operation::Copy { from, to } => vec![create(to, is_folder(from))],
        Operation::Move { from, to } => vec![modify(from), create(to, is_folder(from))],
        Operation::Trash { from } => vec![modify(from)],
        Operation::Unpack { into, .. } => vec![create(into, true)],
    }
}

/// Whether the path is a folder and not a symlink to one.
fn is_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_dir())
}
