//! Finding what a commit that was cut off has done, by inodes and contents, and completing half-done operations.

use std::io;
use std::path::Path;

use super::super::blobs::{BlobDir, discard};
use super::super::commit::{aside, aside_name, created_changes, displaced_place, store_displaced};
use super::super::facts::{set_mode, shift};
use super::super::format::{Change, Done, Operation};
use super::super::state::{self, Identity, State, exists};
use super::super::tree::fingerprint_at;
use crate::limit::Limit;
use crate::openat::Place;

/// A commit that a crash interrupted, with what is needed to find out what it did.
pub(super) struct Found<'a> {
    pub(super) blobs: &'a BlobDir,
    pub(super) nonce: &'a str,
    pub(super) limit: &'a Limit,
    /// Lists every path at and below a new path.
    pub(super) created: &'a dyn Fn(&Path) -> io::Result<Vec<Change>>,
}

impl Found<'_> {
    /// The changes an interrupted commit made by this operation. A temporary name that remains is added as a torn move.
    pub(super) fn done(&self, operation: &Operation) -> io::Result<Vec<Done>> {
        let mut done = self.found(operation)?;
        let path = operation.path();
        if let Some(beside) = operation.number().map(|number| path.with_file_name(aside_name(self.nonce, number)))
            && beside.symlink_metadata().is_ok()
        {
            done.push(Done::Torn { from: path.to_path_buf(), to: beside });
        }
        Ok(done)
    }

    /// The changes that an interrupted commit made by this operation, found by the inodes at its paths; completes or
    /// reverts one that is half done.
    fn found(&self, operation: &Operation) -> io::Result<Vec<Done>> {
        let stored = self.blobs.stored()?;
        let place = match Place::of(operation.path()) {
            Ok(place) => place,
            Err(error) if state::is_missing(operation.path(), &error) => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        match operation {
            Operation::Rename { to, old, .. } => {
                let is_there = Place::of(to).and_then(|place| Identity::at(&place)).ok().flatten();
                let is_done = is_there.is_some_and(|found| found.same_inode(old));
                Ok(if is_done { operation.done(&stored) } else { Vec::new() })
            }
            Operation::Store { path, before, old, number, tree } => {
                let to = stored_place(&stored, *number)?;
                let beside = aside(&place, self.nonce, *number)?;
                if is_inode(&beside, old)? && !exists(&place)? {
                    if self.is_half_removed(&beside, Some(&to), path, Some(tree))? {
                        discard(&beside)?;
                    } else {
                        shift(&beside, &place)?;
                    }
                }
                if is_inode(&place, old)? {
                    self.give_mode(&place, before)?;
                    discard(&to)?;
                    return Ok(Vec::new());
                }
                if !exists(&to)? {
                    return Ok(Vec::new());
                }
                self.give_mode(&to, before)?;
                Ok(operation.done(&stored))
            }
            Operation::Put { path, after, new, number, .. } => {
                discard(&aside(&place, self.nonce, *number)?)?;
                if !self.is_new(&place, new, after)? {
                    return Ok(Vec::new());
                }
                self.give_mode(&place, after)?;
                Ok(created_changes((self.created)(path)?))
            }
            Operation::Exchange { .. } => self.exchanged(operation, &place),
            Operation::Facts { after, closes_to, .. } => {
                let mode = state::read_facts(&place)?.facts().map(|facts| facts.mode);
                let is_done = mode.is_some() && (mode == after.facts().map(|facts| facts.mode) || mode == *closes_to);
                Ok(if is_done { operation.done(&stored) } else { Vec::new() })
            }
        }
    }

    /// The changes of an interrupted operation that replaces a file or folder; completes or reverts one that is half
    /// done.
    fn exchanged(&self, operation: &Operation, place: &Place) -> io::Result<Vec<Done>> {
        let Operation::Exchange { path, source, before, after, old, new, tree, number, .. } = operation else {
            return Ok(Vec::new());
        };
        let beside = aside(place, self.nonce, *number)?;
        let stored = self.blobs.stored()?;
        let kept = displaced_place(self.blobs, before, tree.as_deref(), *number)?;
        if is_inode(place, old)? {
            discard(&beside)?;
            kept.as_ref().map_or(Ok(()), discard)?;
            self.give_mode(place, before)?;
            return Ok(Vec::new());
        }
        let mut is_kept = kept.as_ref().map_or(Ok(false), exists)?;
        // Displaced and not stored yet: it is in the layer, or beside its path on another file system.
        for displaced in [Place::of(source).ok(), Some(beside)].into_iter().flatten() {
            if !is_inode(&displaced, old)? {
                continue;
            }
            is_kept = true;
            if self.is_half_removed(&displaced, kept.as_ref(), path, tree.as_deref())? {
                discard(&displaced)?;
            } else {
                // A copy that was cut off is deleted and made again.
                kept.as_ref().map_or(Ok(()), discard)?;
                store_displaced(self.blobs, &displaced, before, tree.as_deref(), *number, self.limit)?;
            }
        }
        if !(is_kept || kept.is_none() && self.is_new(place, new, after)?) {
            return Ok(Vec::new());
        }
        self.give_mode(place, after)?;
        let mut done = operation.done(&stored);
        if matches!(after, State::Folder(_)) {
            // The process that knew the content has ended.
            done.retain(|done| matches!(done, Done::Moved { .. }));
            let mut changes = (self.created)(path)?;
            if let (None, Some(root)) = (tree, changes.first_mut()) {
                root.before = before.clone();
            }
            done.extend(created_changes(changes));
        }
        Ok(done)
    }

    /// Whether the commit's new file or folder is at the place: the same inode, or an equal copy on another file
    /// system.
    fn is_new(&self, place: &Place, new: &Identity, after: &State) -> io::Result<bool> {
        let Some(found) = Identity::at(place)? else { return Ok(false) };
        Ok(found.same_inode(new) || found.device != new.device && state::read(place, self.limit)?.same(after))
    }

    /// Whether the process was killed while it removed the original of a move to another file system, whose copy is
    /// complete.
    fn is_half_removed(
        &self,
        original: &Place,
        copy: Option<&Place>,
        path: &Path,
        tree: Option<&str>,
    ) -> io::Result<bool> {
        let (Some(copy), Some(tree)) = (copy, tree) else { return Ok(false) };
        Ok(fingerprint_at(original, path, self.limit)? != tree && fingerprint_at(copy, path, self.limit)? == tree)
    }

    /// Removes the owner's access that was added to a folder so that it could be moved, if it is still there.
    fn give_mode(&self, place: &Place, state: &State) -> io::Result<()> {
        let State::Folder(facts) = state else { return Ok(()) };
        let present = state::read_facts(place)?;
        let is_opened =
            present.facts().is_some_and(|present| present.mode != facts.mode && present.mode == facts.mode | 0o700);
        if is_opened { set_mode(place, facts.mode) } else { Ok(()) }
    }
}

/// Whether the file or folder at a place has this device and inode.
fn is_inode(place: &Place, wanted: &Identity) -> io::Result<bool> {
    Ok(Identity::at(place)?.is_some_and(|found| found.same_inode(wanted)))
}

/// The place in the journal of a file or folder that is stored under this number.
fn stored_place(stored: &Path, number: u64) -> io::Result<Place> {
    Place::of(&stored.join(number.to_string()))
}
