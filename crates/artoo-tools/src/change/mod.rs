//! The changes of a command in a view: reading them from the overlays' upper layers, and committing them.
//!
//! [`look`] makes the list of changes, [`classify`] says which of them need an approval, [`commit`] performs them as one
//! act of the undo journal.

mod class;
mod commit;
mod content;
mod diff;
mod incidental;
mod look;
mod names;
mod renames;
mod set;
mod shared;

#[cfg(test)]
mod tests;

pub(crate) use class::{Class, Places, Reason, classify};
pub(crate) use commit::{CommitError, Committed, commit};
pub(crate) use look::look;
pub(crate) use names::{NewNames, command_folders};
pub(crate) use set::{ChangeSet, Entry, Kind, Layer};
