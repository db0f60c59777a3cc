//! What an act did, told from what stood there before and what stands there now.

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
use super::walk::{Seen, walk};
use crate::digest;
use crate::files::rename;
use crate::limit::Limit;
use crate::openat::Place;
use crate::paths;

/// Everything an act did, in the order of doing. `made`: what it says it made, where it came to its end.
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

/// Paths, as lines, that an act made, with the digests it took.
pub(super) type Made = BTreeMap<String, Option<String>>;

struct Reconciling<'a> {
    journal: &'a Journal,
    blobs: &'a BlobDir,
    limit: &'a Limit,
    made: Option<Made>,
}

impl Reconciling<'_> {
    /// What differs below the watched paths.
    fn watched(&self, begun: &Begun) -> io::Result<Vec<Change>> {
        let mut before: BTreeMap<&Path, &State> =
            begun.before.iter().map(|Before { path, state }| (path.as_path(), state)).collect();
        // What shows in a folder that could not be looked into may have been there all along.
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

    /// Both sides of a difference, with their digests; `None` where there is none.
    fn difference(&self, before: State, seen: &Seen<'_>) -> io::Result<Option<(State, State)>> {
        if let (State::File(was), State::File(is)) = (&before, &seen.state) {
            let same_facts = was.facts.mode == is.facts.mode && was.facts.same_time(&is.facts) && was.bytes == is.bytes;
            let same_bytes = match was.saved {
                Some(number) if was.bytes == is.bytes => match seen.place.open_file() {
                    Ok(mut file) => state::equal(&mut file, &mut self.blobs.open(number)?, self.limit)?,
                    Err(_) => same_facts && was.inode == is.inode,
                },
                Some(_) => false,
                // What could not be read is known by what the system keeps.
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

    /// The state with the digest of what was kept.
    fn digested(&self, mut state: State) -> io::Result<State> {
        if let State::File(file) = &mut state
            && let (None, Some(number)) = (&file.digest, file.saved)
        {
            file.digest = Some(digest::of_whole(&mut self.blobs.open(number)?, self.limit)?);
        }
        Ok(state)
    }

    fn current(&self, place: &Place, path: &Path, state: &State) -> io::Result<State> {
        let mut state = state.clone();
        if let State::File(file) = &mut state {
            file.digest = match self.told(path).flatten() {
                Some(digest) => Some(digest.to_owned()),
                // One that can't be read is not known again, and is left alone.
                None => match place.open_file() {
                    Ok(mut file) => Some(digest::of_whole(&mut file, self.limit)?),
                    Err(_) => None,
                },
            };
        }
        Ok(state)
    }

    /// What the act says of something it made: its digest, if it took one.
    fn told(&self, path: &Path) -> Option<Option<&str>> {
        self.made.as_ref()?.get(paths::line(path).as_str()).map(Option::as_deref)
    }

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
                    self.half_brought(before, aside.as_deref())?.into_iter().for_each(|told| done.push(told));
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
                        self.half_brought(before, None)?.into_iter().for_each(|told| done.add(told));
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

    /// Everything at and below a path where nothing stood, but for what was moved there.
    fn created(&self, root: &Path, arrived: &BTreeSet<&PathBuf>) -> io::Result<Vec<Change>> {
        let mut changes = Vec::new();
        let skip = |path: &Path| is_skipped(&self.journal.protected, path) || arrived.iter().any(|to| *to == path);
        walk(root, &skip, self.limit, &mut |seen| {
            if self.made.is_none() || self.told(seen.path).is_some() {
                let after = self.current(seen.place, seen.path, &seen.state)?;
                changes.push(Change { path: seen.path.to_path_buf(), before: State::Absent, after });
            }
            Ok(())
        })?;
        Ok(changes)
    }

    /// Puts a file back that was moved away although it was no longer what was looked at.
    fn half_removed(&self, before: &Before) -> io::Result<()> {
        let Some(number) = before.state.saved().filter(|number| self.blobs.holds(*number)) else { return Ok(()) };
        let kept = self.blobs.place(number)?;
        if before.state.same(&state::read(&kept, self.limit)?) {
            return Ok(());
        }
        Ok(rename(&kept, &Place::of(&before.path)?)?)
    }

    /// A path that was being brought back when artoo ended.
    fn half_brought(&self, before: &Before, aside: Option<&str>) -> io::Result<Option<Done>> {
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
                // Displaced, and its content is kept or it has none.
                None if before.state.same(&beside) => remove()?,
                // What was to be put there, while the old still stands; its source is kept.
                _ if before.state.same(&state::at(&before.path, self.limit)?) => remove()?,
                // Anything else is not known here, and stays.
                _ => {}
            }
        }
        let after = state::at(&before.path, self.limit)?;
        let change = Change { path: before.path.clone(), before: before.state.clone(), after };
        Ok((!change.before.same(&change.after)).then(|| Done::Changed { changes: vec![change] }))
    }
}

/// Adds what was done; changes that follow one another are one, but never two of the same path: their order matters.
#[derive(Default)]
struct Joined {
    done: Vec<Done>,
    /// Paths of the last of them, where those are changes.
    paths: HashSet<PathBuf>,
}

impl Joined {
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

    fn push(&mut self, told: Done) {
        self.paths.clear();
        if let Done::Changed { changes } = &told {
            self.paths.extend(changes.iter().map(|one| one.path.clone()));
        }
        self.done.push(told);
    }

    fn push_changes(&mut self, changes: Vec<Change>) {
        if !changes.is_empty() {
            self.push(Done::Changed { changes });
        }
    }
}

/// A move that nobody saw the end of: what stands where tells.
fn found_moved(from: &Path, to: &Path, tree: &str) -> io::Result<Option<Done>> {
    let stands = |path: &Path| match std::fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if state::is_missing(path, &error) => Ok(false),
        Err(error) => Err(error),
    };
    let (from, to) = ((from, stands(from)?), (to, stands(to)?));
    Ok(match (from.1, to.1) {
        (false, true) => Some(Done::Moved { from: from.0.into(), to: to.0.into(), tree: tree.to_owned() }),
        (true, true) => Some(Done::Torn { from: from.0.into(), to: to.0.into() }),
        (_, false) => None,
    })
}
