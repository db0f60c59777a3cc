//! Removes paths that an act created; one line of the log announces many of them.

use std::io;
use std::path::Path;

use super::super::commit::Folders;
use super::super::fault;
use super::super::format::{Before, Change, Step};
use super::super::state::{self, Identity, State};
use super::super::store::ItemOutcome;
use super::super::verdict::{changed_meanwhile, failed_restore, is_left, judge};
use super::{Restoring, Told, remove_folder};
use crate::files;
use crate::openat::Place;

impl Restoring<'_> {
    /// Removes created paths, the deepest first. Most are announced together, since syncing a line for each would take
    /// minutes.
    pub(super) fn remove_all(&mut self, changes: &[&Change], all: &mut Vec<Told>) {
        let mut folders = Folders::default();
        let mut due = Vec::new();
        for change in changes {
            match self.movable(change, &mut folders) {
                Ok(Some(found)) => due.push(found),
                Ok(None) => self.remove(&change.path, all, |restoring| restoring.restore_path(change)),
                Err(error) => self.remove(&change.path, all, |_| Err(error)),
            }
        }
        if due.is_empty() {
            return;
        }
        let announced = due.iter().map(|(before, _)| before.clone()).collect();
        let announced = self.act.write(Step::Removing { all: announced });
        let mut removed = Vec::new();
        for (Before { path, state }, old) in due {
            let done = announced.as_ref().map(drop).map_err(|error| io::Error::new(error.kind(), error.to_string()));
            self.remove(&path, all, |restoring| {
                done.and_then(|()| restoring.move_into_journal(&folders.place(&path)?, &state, &old))
            });
            if matches!(all.last(), Some((failed_restore, _, ItemOutcome::Done)) if *failed_restore == path) {
                removed.push(Change { path, before: state, after: State::Absent });
            }
        }
        // If this line can't be written, the paths themselves show what was removed.
        let _ = self.act.note_reverted(removed);
    }

    /// Reverts the creation of one path by `act`, and adds the outcome; does nothing if a path below it stays.
    fn remove(&mut self, path: &Path, all: &mut Vec<Told>, act: impl FnOnce(&mut Self) -> io::Result<ItemOutcome>) {
        // Paths that stay keep their folders, and in the trash the note with their origin.
        if self.undone.left.iter().any(|left| left.starts_with(path)) {
            return;
        }
        let outcome = act(self).unwrap_or_else(|error| failed_restore(&error));
        self.limit.meter.add_entries(1);
        if is_left(&outcome) {
            self.undone.left.push(path.to_path_buf());
        }
        all.push((path.to_path_buf(), "removed", outcome));
    }

    /// The present state of an unchanged folder, or of an unchanged file that can be moved; `None` for all others.
    fn movable(&mut self, change: &Change, folders: &mut Folders) -> io::Result<Option<(Before, Identity)>> {
        let Ok(place) = folders.place(&change.path) else { return Ok(None) };
        let Some(old) = Identity::at(&place)? else { return Ok(None) };
        let present = state::read(&place, self.limit)?;
        let is_movable = match &present {
            State::File(file) => self.is_movable(file),
            State::Folder(_) => true,
            State::Absent | State::Link { .. } | State::Pipe(_) | State::Odd { .. } => false,
        };
        if !is_movable || judge(change, &present, self.resumed).is_some() {
            return Ok(None);
        }
        let state = present.clone().stored_as(self.number(&present).flatten());
        Ok(Some((Before { path: change.path.clone(), state }, old)))
    }

    /// Moves a file into the journal instead of deleting it, if it is still the one that was read; removes a folder
    /// that is empty.
    fn move_into_journal(&mut self, place: &Place, present: &State, old: &Identity) -> io::Result<ItemOutcome> {
        let Some((blobs, number)) = self.act.blobs().zip(present.saved()) else { return remove_folder(place) };
        let to = blobs.place(number)?;
        files::rename(place, &to)?;
        fault::point("the old is kept");
        if Identity::at(&to)?.as_ref() == Some(old) {
            return Ok(ItemOutcome::Done);
        }
        files::rename(&to, place)?;
        Ok(changed_meanwhile())
    }
}
