//! What a planned act does to which places.

use std::path::Path;

use super::plan::{Operation, Plan};
use crate::consent::{Deed, Reach, Verb};

impl Plan {
    /// Every place it makes something at or takes something from; `None` for a plan without operations.
    pub(crate) fn reach(&self) -> Option<Reach> {
        Reach::of(self.operations.iter().flat_map(deeds))
    }
}

fn deeds(operation: &Operation) -> Vec<Deed> {
    let make = |path: &Path, whole| Deed { verb: Verb::Make, path: path.to_path_buf(), whole };
    let take = |path: &Path| Deed { verb: Verb::Take, path: path.to_path_buf(), whole: is_folder(path) };
    match operation {
        Operation::MakeFolder { to } | Operation::MakeFile { to, .. } | Operation::Pack { to, .. } => {
            vec![make(to, false)]
        }
        Operation::Copy { from, to } => vec![make(to, is_folder(from))],
        Operation::Move { from, to } => vec![take(from), make(to, is_folder(from))],
        Operation::Trash { from } => vec![take(from)],
        Operation::Unpack { into, .. } => vec![make(into, true)],
    }
}

/// Itself a folder: a link to one is taken without what it leads to.
fn is_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_dir())
}
