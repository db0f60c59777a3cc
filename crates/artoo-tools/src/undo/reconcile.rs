//! Finds what an act did, by comparing the recorded states before it with the present ones.

mod commit;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use self::commit::Found;
use super::blobs::BlobDir;
use super::format::{Before, Begun, Change, Done, Step};
use super::journal::{CLOSED, Journal};
use super::state::{self, State};
use super::survey::is_skipped;
use super::walk::{WalkedPath, walk};
use crate::digest;
use crate::files::rename;
use crate::limit::Limit;
use crate::openat::Place;
use crate::paths;

/// Finds every change of an act, in order, and completes or reverts steps that a crash cut off. `made`: the paths that
/// it reports as created, if it ended.
pub(super) fn reconcile(
    journal: &Journal,
    blobs: &BlobDir,
    begun: &Begun,
    steps: &[Step],
    made: Option<Made>,
    limit: &Limit,
) -> io::Result<Vec<Done>> {
    let reconciling = Reconciling { journal, blobs, limit, made };
    let mut joined = Joined::default();
    if !begun.roots.is_empty() {
        joined.push_changes(reconciling.watched(begun)?);
    }
    reconciling.steps(steps, &mut joined)?;
    Ok(joined.done)
}

/// The paths that an act reports as created, each with its digest if the act knew it.
pub(super) type Made = BTreeMap<String, Option<String>>;

/// A comparison of the states that an act recorded with those on disk, to find its changes.
struct Reconciling<'a> {
    journal: &'a Journal,
    blobs: &'a BlobDir,
    limit: &'a Limit,
    made: Option<Made>,
}

impl Reconciling<'_> {
    /// The changes at and below the paths that were read before the act.
    fn watched(&self, begun: &Begun) -> io::Result<Vec<Change>> {
        let mut before: BTreeMap<&Path, &State> =
            begun.before.iter().map(|Before { path, state }| (path.as_path(), state)).collect();
        // Entries in a folder that could not be read before may have existed all along.
        let is_closed = |before: &&Before| matches!(&before.state, State::Odd { what } if what == CLOSED);
        let closed: Vec<&PathBuf> = begun.before.iter().filter(is_closed).map(|before| &before.path).collect();
        let mut changes = Vec::new();
        for root in &begun.roots {
            let skip = |path: &Path| {
                let is_below = closed.iter().any(|folder| path != folder.as_path() && path.starts_with(folder));
                is_below || is_skipped(&self.journal.protected, path)
            };
            walk(root, &skip, self.limit, &mut |seen| {
                let was = before.remove(seen.path).cloned().unwrap_or(State::Absent);
                let path = seen.path.to_path_buf();
                if let Some((before, after)) = self.difference(was, &seen)? {
                    changes.push(Change { path, before, after });
                }
                Ok(())
            })?;
        }
        for (path, was) in before {
            changes.push(Change {
                path: path.to_path_buf(),
                before: self.digested(was.clone())?,
                after: State::Absent,
            });
        }
        changes.sort_by(|one, two| one.path.cmp(&two.path));
        Ok(changes)
    }

    /// The states of a walked path before and after the act, with digests; `None` if nothing differs.
    fn difference(&self, before: State, seen: &WalkedPath<'_>) -> io::Result<Option<(State, State)>> {
        if let (State::File(was), State::File(is)) = (&before, &seen.state) {
            let same_facts = was.facts.mode == is.facts.mode && was.facts.same_time(&is.facts) && was.bytes == is.bytes;
            let same_bytes = match was.saved {
                Some(number) if was.bytes == is.bytes => match seen.place.open_file() {
                    Ok(mut file) => state::equal(&mut file, &mut self.blobs.open(number)?, self.limit)?,
                    Err(_) => same_facts && was.inode == is.inode,
                },
                Some(_) => false,
                // A file that could not be read is compared by its metadata.
                None => same_facts && was.inode == is.inode,
            };
            if same_facts && same_bytes {
                return Ok(None);
            }
        } else if before.same(&seen.state) {
            return Ok(None);
        }
        Ok(Some((self.digested(before)?, self.current(seen.place, seen.path, &seen.state)?)))
    }

    /// The state of a file with its digest, which is computed from the saved content if it is missing.
    fn digested(&self, mut state: State) -> io::Result<State> {
        if let State::File(file) = &mut state
            && let (None, Some(number)) = (&file.digest, file.saved)
        {
            file.digest = Some(digest::of_whole(&mut self.blobs.open(number)?, self.limit)?);
        }
        Ok(state)
    }

    /// The present state of a path; for a file with its content's digest, if it can be read.
    fn current(&self, place: &Place, path: &Path, state: &State) -> io::Result<State> {
        let mut state = state.clone();
        if let State::File(file) = &mut state {
            file.digest = match self.reported_digest(path).flatten() {
                Some(digest) => Some(digest.to_owned()),
                // A file that can't be read has no digest, so an undo leaves it.
                None => match place.open_file() {
                    Ok(mut file) => Some(digest::of_whole(&mut file, self.limit)?),
                    Err(_) => None,
                },
            };
        }
        Ok(state)
    }

    /// The digest that the ended act reports for a path it created; the outer `None` if it did not create the path.
    fn reported_digest(&self, path: &Path) -> Option<Option<&str>> {
        self.made.as_ref()?.get(paths::line(path).as_str()).map(Option::as_deref)
    }

    /// Adds the changes of all logged steps, and of the last one if a crash interrupted it.
    fn steps(&self, steps: &[Step], done: &mut Joined) -> io::Result<()> {
        let moved = steps.iter().filter_map(|step| if let Step::Moving { to, .. } = step { Some(to) } else { None });
        let arrived: BTreeSet<&PathBuf> = moved.collect();
        let mut rest = steps.iter().peekable();
        while let Some(step) = rest.next() {
            let is_told = matches!(rest.peek(), Some(Step::Done { .. }));
            match step {
                Step::Creating { root } => {
                    done.push_changes(self.created(root, &arrived)?);
                }
                Step::Moving { .. } | Step::Bringing { .. } if is_told => {}
                Step::Moving { from, to, tree } => {
                    found_moved(from, to, tree)?.into_iter().for_each(|told| done.push(told))
                }
                Step::Bringing { before, aside } => {
                    self.half_restored(before, aside.as_deref())?.into_iter().for_each(|told| done.push(told));
                }
                Step::Removing { all } => {
                    let told: HashSet<&Path> = match rest.peek() {
                        Some(Step::Done { done: Done::Changed { changes } }) => {
                            changes.iter().map(|change| change.path.as_path()).collect()
                        }
                        _ => HashSet::new(),
                    };
                    for before in all.iter().filter(|before| !told.contains(before.path.as_path())) {
                        self.half_removed(before)?;
                        self.half_restored(before, None)?.into_iter().for_each(|told| done.add(told));
                    }
                }
                Step::Committing { nonce, operations } => {
                    let created = |path: &Path| self.created(path, &arrived);
                    let found = Found { blobs: self.blobs, nonce, limit: self.limit, created: &created };
                    for operation in operations {
                        found.done(operation)?.into_iter().for_each(|told| done.add(told));
                    }
                }
                Step::Done { done: told } => done.add(told.clone()),
            }
        }
        Ok(())
    }

    /// Changes that an act made by creating `root`: every path at and below it, except those that were moved there; if
    /// the act ended, only those that it reports.
    fn created(&self, root: &Path, arrived: &BTreeSet<&PathBuf>) -> io::Result<Vec<Change>> {
        let mut changes = Vec::new();
        let skip = |path: &Path| is_skipped(&self.journal.protected, path) || arrived.iter().any(|to| *to == path);
        walk(root, &skip, self.limit, &mut |seen| {
            if self.made.is_none() || self.reported_digest(seen.path).is_some() {
                let after = self.current(seen.place, seen.path, &seen.state)?;
                changes.push(Change { path: seen.path.to_path_buf(), before: State::Absent, after });
            }
            Ok(())
        })?;
        Ok(changes)
    }

    /// Moves a saved file back from the journal if another program had changed it before it was moved there.
    fn half_removed(&self, before: &Before) -> io::Result<()> {
        let Some(number) = before.state.saved().filter(|number| self.blobs.holds(*number)) else { return Ok(()) };
        let kept = self.blobs.place(number)?;
        if before.state.same(&state::read(&kept, self.limit)?) {
            return Ok(());
        }
        Ok(rename(&kept, &Place::of(&before.path)?)?)
    }

    /// Completes or removes the temporary file of an undo that was interrupted at this path, and returns the changes it
    /// had made.
    fn half_restored(&self, before: &Before, aside: Option<&str>) -> io::Result<Vec<Done>> {
        let mut told = Vec::new();
        if let Some(name) = aside {
            let place = Place::of(&before.path.with_file_name(name))?;
            let beside = state::read(&place, self.limit)?;
            let remove = || rustix::fs::unlinkat(&place.folder, &place.name, rustix::fs::AtFlags::empty());
            let missing = before.state.saved().filter(|number| !self.blobs.holds(*number));
            match missing {
                _ if beside == State::Absent => {}
                Some(number) if before.state.same(&beside) => match rename(&place, &self.blobs.place(number)?) {
                    Err(Errno::XDEV) => {
                        self.blobs.keep(&mut place.open_file()?, number, self.limit)?;
                        self.blobs.open(number)?.sync_all()?;
                        remove()?;
                    }
                    done => done?,
                },
                // Displaced, and its content is saved or it has none.
                None if before.state.same(&beside) => remove()?,
                // The content to be put there, while the old file still exists; its source is kept.
                _ if before.state.same(&state::at(&before.path, self.limit)?) => remove()?,
                // The content is not known; the file stays, and the next undo names it.
                _ => told.push(Done::Torn { from: before.path.clone(), to: before.path.with_file_name(name) }),
            }
        }
        let after = state::at(&before.path, self.limit)?;
        let change = Change { path: before.path.clone(), before: before.state.clone(), after };
        if !change.before.same(&change.after) {
            told.push(Done::Changed { changes: vec![change] });
        }
        Ok(told)
    }
}

/// A list of recorded changes in which consecutive ones are joined, but never two of the same path: their order
/// matters.
#[derive(Default)]
struct Joined {
    done: Vec<Done>,
    /// Paths of the last item, if it is a list of changes.
    paths: HashSet<PathBuf>,
}

impl Joined {
    /// Adds a recorded change, joined to the last one if no path occurs twice.
    fn add(&mut self, told: Done) {
        match (self.done.last_mut(), told) {
            (Some(Done::Changed { changes }), Done::Changed { changes: more })
                if more.iter().all(|one| !self.paths.contains(&one.path)) =>
            {
                self.paths.extend(more.iter().map(|one| one.path.clone()));
                changes.extend(more);
            }
            (_, told) => self.push(told),
        }
    }

    /// Adds a recorded change without joining it to the one before.
    fn push(&mut self, told: Done) {
        self.paths.clear();
        if let Done::Changed { changes } = &told {
            self.paths.extend(changes.iter().map(|one| one.path.clone()));
        }
        self.done.push(told);
    }

    /// Adds changes as one group; does nothing if there are none.
    fn push_changes(&mut self, changes: Vec<Change>) {
        if !changes.is_empty() {
            self.push(Done::Changed { changes });
        }
    }
}

/// Finds out from the disk whether an interrupted move was made, was torn (both paths exist), or was not made (`None`).
fn found_moved(from: &Path, to: &Path, tree: &str) -> io::Result<Option<Done>> {
    let is_there = |path: &Path| match std::fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if state::is_missing(path, &error) => Ok(false),
        Err(error) => Err(error),
    };
    let (from, to) = ((from, is_there(from)?), (to, is_there(to)?));
    Ok(match (from.1, to.1) {
        (false, true) => Some(Done::Moved { from: from.0.into(), to: to.0.into(), tree: tree.to_owned() }),
        (true, true) => Some(Done::Torn { from: from.0.into(), to: to.0.into() }),
        (_, false) => None,
    })
}
