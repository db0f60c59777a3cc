//! Undoing an act that has just ended, as if it had not been done.

use std::io;
use std::path::PathBuf;

use super::act::Act;
use super::format::{Header, VERSION};
use super::journal;
use super::restore::{Restoring, Undone};
use super::resumed::Resumed;
use super::verdict::is_left;
use crate::limit::Limit;

impl Act {
    /// Whether everything that it may have changed was copied before it began.
    pub(crate) fn can_be_taken_back(&self) -> bool {
        self.sees_all() && self.header().is_some_and(|header| header.not_undoable.is_none())
    }

    /// Ends the act and undoes what it did, and returns the paths that could not be restored. If there are none, nothing
    /// of it stays in the journal.
    ///
    /// # Errors
    /// When nothing was recorded, or the journal can't be used.
    pub(crate) fn take_back(self, limit: &Limit) -> io::Result<Vec<PathBuf>> {
        let no_record = || io::Error::other("it was not recorded");
        let (journal, source) = self.recording().ok_or_else(no_record)?;
        let header = Header { version: VERSION, at: journal::now(), ..self.header().ok_or_else(no_record)?.clone() };
        let done = self.close(&[], false, limit)?;
        if done.is_empty() {
            return Ok(Vec::new());
        }
        let entry = source.folder.parent().ok_or_else(no_record)?;
        let header = Header { what: format!("restores what was changed by {}", header.what), ..header };
        let mut act = journal.open(entry, header, None, journal.lock(limit)?, limit)?;
        let own = act.recording().map(|(_, own)| own);
        let (resumed, mut undone) = (Resumed::default(), Undone { room: u64::MAX, ..Undone::default() });
        let mut restoring = Restoring::new(&mut act, &source, &resumed, limit, &mut undone);
        let mut left = Vec::new();
        for done in done.iter().rev() {
            let told = restoring.take_back(done);
            left.extend(told.into_iter().filter(|(_, _, outcome)| is_left(outcome)).map(|(path, _, _)| path));
        }
        act.close(&[], false, limit)?;
        if left.is_empty() {
            source.forget()?;
            // The second one is gone already if it changed nothing.
            let _ = own.map(|own| own.forget());
            // Earlier calls of the task may be in it.
            let _ = std::fs::remove_dir(entry);
        }
        Ok(left)
    }
}
