//! The changes of a command in a view: reading them from the overlays' upper layers, and committing them.
//!
//! [`scan_changes`] makes the list of changes, [`classify`] says which of them need an approval, [`commit`] performs them as one
//! act of the undo journal.

mod class;
mod commit;
mod content;
mod diff;
mod incidental;
mod names;
mod renames;
mod scan;
mod set;
mod shared;

#[cfg(test)]
mod tests;

pub(crate) use class::{Class, Places, Reason, classify};
pub(crate) use commit::{CommitError, Committed, commit};
pub(crate) use diff::with_text;
pub(crate) use names::{NewNames, command_folders};
pub(crate) use scan::scan_changes;
pub(crate) use set::{ChangeSet, Entry, Kind, Layer};
