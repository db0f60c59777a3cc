//! What a commit that was cut off has done, told by inodes and contents; what it left half done is ended.

use std::io;
use std::path::Path;

use super::super::blobs::{BlobDir, discard};
use super::super::commit::{arrived, aside, store_displaced};
use super::super::facts::{set_mode, shift};
use super::super::format::{Change, Done, Operation};
use super::super::state::{self, Identity, State, stands};
use crate::limit::Limit;
use crate::openat::Place;

/// A commit that nobody saw the end of.
pub(super) struct Found<'a> {
    pub(super) blobs: &'a BlobDir,
    pub(super) nonce: &'a str,
    pub(super) limit: &'a Limit,
    /// Everything at and below a path where nothing stood.
    pub(super) created: &'a dyn Fn(&Path) -> io::Result<Vec<Change>>,
}

impl Found<'_> {
    /// What one of its operations has done.
    pub(super) fn done(&self, operation: &Operation) -> io::Result<Vec<Done>> {
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
            Operation::Store { before, old, number, .. } => {
                self.put_back_aside(&place, old, *number)?;
                let to = stored.join(number.to_string());
                if is_inode(&place, old)? {
                    self.give_mode(&place, before)?;
                    discard(&Place::of(&to)?)?;
                    return Ok(Vec::new());
                }
                let place = Place::of(&to)?;
                if !stands(&place)? {
                    return Ok(Vec::new());
                }
                self.give_mode(&place, before)?;
                Ok(operation.done(&stored))
            }
            Operation::Put { path, after, new, number, .. } => {
                discard(&aside(&place, self.nonce, *number)?)?;
                if !self.is_new(&place, new, after)? {
                    return Ok(Vec::new());
                }
                self.give_mode(&place, after)?;
                Ok(arrived((self.created)(path)?))
            }
            Operation::Exchange { .. } => self.exchanged(operation, &place),
            Operation::Facts { after, closes_to, .. } => {
                let mode = state::read_facts(&place)?.facts().map(|facts| facts.mode);
                let is_done = mode.is_some() && (mode == after.facts().map(|facts| facts.mode) || mode == *closes_to);
                Ok(if is_done { operation.done(&stored) } else { Vec::new() })
            }
        }
    }

    fn exchanged(&self, operation: &Operation, place: &Place) -> io::Result<Vec<Done>> {
        let Operation::Exchange { path, source, before, after, old, new, tree, number, .. } = operation else {
            return Ok(Vec::new());
        };
        let beside = aside(place, self.nonce, *number)?;
        let stored = self.blobs.stored()?;
        if is_inode(place, old)? {
            discard(&beside)?;
            discard(&stored_place(&stored, *number)?)?;
            self.give_mode(place, before)?;
            return Ok(Vec::new());
        }
        let mut is_kept = self.blobs.holds(*number) || tree.is_some() && stands(&stored_place(&stored, *number)?)?;
        // Displaced, and not stored yet: in the layer, or beside its path where that is another file system.
        for displaced in [Place::of(source).ok(), Some(beside)].into_iter().flatten() {
            if is_inode(&displaced, old)? {
                discard(&stored_place(&stored, *number)?)?;
                store_displaced(self.blobs, &displaced, before, tree.as_deref(), *number, self.limit)?;
                is_kept = true;
            }
        }
        let needs_nothing = tree.is_none() && !matches!(before, State::File(_));
        if !(is_kept || needs_nothing && self.is_new(place, new, after)?) {
            return Ok(Vec::new());
        }
        self.give_mode(place, after)?;
        let mut done = operation.done(&stored);
        if matches!(after, State::Folder(_)) {
            // The process that knew what it holds is gone.
            done.retain(|done| matches!(done, Done::Moved { .. }));
            let mut changes = (self.created)(path)?;
            if let (None, Some(root)) = (tree, changes.first_mut()) {
                root.before = before.clone();
            }
            done.extend(arrived(changes));
        }
        Ok(done)
    }

    /// Whether it is the new thing, by its inode or, where it had to be copied, by what it is.
    fn is_new(&self, place: &Place, new: &Identity, after: &State) -> io::Result<bool> {
        let Some(found) = Identity::at(place)? else { return Ok(false) };
        Ok(found.same_inode(new) || found.device != new.device && state::read(place, self.limit)?.same(after))
    }

    /// What stood aside on its way to another file system goes back.
    fn put_back_aside(&self, place: &Place, old: &Identity, number: u64) -> io::Result<()> {
        let beside = aside(place, self.nonce, number)?;
        if is_inode(&beside, old)? && !stands(place)? {
            shift(&beside, place)?;
        }
        Ok(())
    }

    /// The mode of a folder that had to be opened for a moment to be moved.
    fn give_mode(&self, place: &Place, state: &State) -> io::Result<()> {
        let State::Folder(facts) = state else { return Ok(()) };
        let present = state::read_facts(place)?;
        let is_opened =
            present.facts().is_some_and(|present| present.mode != facts.mode && present.mode == facts.mode | 0o700);
        if is_opened { set_mode(place, facts.mode) } else { Ok(()) }
    }
}

fn is_inode(place: &Place, wanted: &Identity) -> io::Result<bool> {
    Ok(Identity::at(place)?.is_some_and(|found| found.same_inode(wanted)))
}

fn stored_place(stored: &Path, number: u64) -> io::Result<Place> {
    Place::of(&stored.join(number.to_string()))
}
