//! Finds the other names (hard links) of files in a layer.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Stat};

use super::set::Entry;
use crate::undo::Identity;

/// Files with several names in a layer, by device and inode, with the names found so far.
#[derive(Default)]
pub(super) struct SharedNames(HashMap<(u64, u64), Shared>);

/// The names of one inode in a layer: how many it has, how many were found, and their entries in the change set.
#[derive(Default)]
struct Shared {
    links: u64,
    names: u64,
    /// The real file that this is an unchanged copy of.
    same_as: Option<PathBuf>,
    entries: Vec<usize>,
}

impl SharedNames {
    /// Notes a name of an inode with several names: that of an entry, or of an unchanged copy of the real file
    /// `same_as`.
    #[expect(clippy::useless_conversion, reason = "the widths differ between systems")]
    pub(super) fn note(&mut self, new: &Stat, entry: Option<usize>, same_as: Option<&Path>) {
        if new.st_nlink <= 1 || !FileType::from_raw_mode(new.st_mode).is_file() {
            return;
        }
        let identity = Identity::of(new);
        let shared = self.0.entry((identity.device, identity.inode)).or_default();
        shared.links = u64::from(new.st_nlink);
        shared.names += 1;
        shared.entries.extend(entry);
        if let Some(path) = same_as {
            shared.same_as.get_or_insert_with(|| path.to_path_buf());
        }
    }

    /// Sets in each entry whether its file has other names and of which file it is a link, once all names are known.
    pub(super) fn set_links(&self, entries: &mut [Entry]) {
        for shared in self.0.values() {
            for at in &shared.entries {
                let Some(entry) = entries.get_mut(*at) else { continue };
                entry.has_other_names = shared.names < shared.links;
                entry.link_of.clone_from(&shared.same_as);
            }
        }
    }
}
