//! Bringing back what one act changed: never over something that the act did not leave.

mod removal;

use std::collections::BTreeMap;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, unlinkat};
use rustix::io::Errno;

use super::act::{Act, tree_digest};
use super::blobs::BlobDir;
use super::commit::ASIDE;
use super::facts::{set_facts, set_mode, set_owner, set_time, shift, swap};
use super::fault;
use super::format::{Before, Change, Done, Step};
use super::resumed::Resumed;
use super::state::{self, FileState, State, stands};
use super::store::ItemOutcome;
use super::tree::{fingerprint_at, is_fingerprint};
use super::verdict::{changed_meanwhile, conflict_or, has_other_time, is_left, judge, moved_from, told, too_large};
use crate::digest;
use crate::files;
use crate::limit::Limit;
use crate::openat::Place;
use crate::paths;

/// Things that are taken away with one announcement.
const REMOVED_MAX: usize = 1024;

/// An undo under way.
pub(super) struct Restoring<'a> {
    /// Its own recording; what it takes away is kept there.
    pub(super) act: &'a mut Act,
    /// What the act that is taken back kept.
    pub(super) source: &'a BlobDir,
    /// What earlier undos of the same entry did, cut off in the middle.
    pub(super) resumed: &'a Resumed,
    pub(super) limit: &'a Limit,
    /// The next number something is kept under.
    pub(super) next: u64,
    /// Bytes that may still be kept.
    pub(super) room: u64,
    /// Paths that stay.
    pub(super) left: Vec<PathBuf>,
    /// Files with more than one name in what is being taken back.
    pub(super) shared: BTreeMap<PathBuf, FileState>,
    /// Of those, device and inode of the ones whose bytes were overwritten, with the number of what they held.
    pub(super) overwritten: BTreeMap<(u64, u64), u64>,
}

/// What came of one thing that was done.
pub(super) type Told = (PathBuf, &'static str, ItemOutcome);

impl Restoring<'_> {
    /// Takes back one thing that was done, its last part first.
    pub(super) fn take_back(&mut self, done: &Done) -> Vec<Told> {
        match done {
            Done::Moved { from, to, tree } => {
                let outcome = self.move_back(from, to, tree).unwrap_or_else(|error| told(&error));
                if is_left(&outcome) {
                    self.left.push(to.clone());
                    self.left.extend(crate::trash::note_of(to));
                }
                vec![(from.clone(), moved_from(to), outcome)]
            }
            Done::Torn { from, to } => {
                let reason = format!("it was being moved to {}; what is at both places is left", paths::line(to));
                vec![(from.clone(), "moved back", ItemOutcome::Impossible { reason })]
            }
            Done::Changed { changes } => self.group(changes),
        }
    }

    /// Folders that stay are opened first. What was made goes, from the deepest up; then all else comes back, from the
    /// top down; modes of folders come last, since one may lock its own content in.
    fn group(&mut self, changes: &[Change]) -> Vec<Told> {
        let mut ordered: Vec<&Change> = changes.iter().collect();
        ordered.sort_by_key(|change| (change.path.components().count(), change.path.as_path()));
        self.shared = self.shared_files(&ordered);
        let (mut all, mut folders) = (Vec::new(), Vec::new());
        let is_folder = |state: &State| matches!(state, State::Folder(_));
        let stays = |change: &&&Change| is_folder(&change.before) && is_folder(&change.after);
        for change in ordered.iter().filter(stays) {
            self.bring_back(change, &mut folders, &mut all);
        }
        let made: Vec<&Change> =
            ordered.iter().rev().filter(|change| change.before == State::Absent).copied().collect();
        for changes in made.chunks(REMOVED_MAX) {
            self.remove_all(changes, &mut all);
        }
        for change in ordered.iter().filter(|change| change.before != State::Absent && !stays(change)) {
            self.bring_back(change, &mut folders, &mut all);
        }
        folders.sort_by(|one, two| one.path.cmp(&two.path));
        for change in folders.into_iter().rev() {
            if let State::Folder(facts) = &change.before
                && let Err(error) = Place::of(&change.path).and_then(|place| set_facts(&place, facts))
                // An undo that was cut off may have taken it away already, as part of what was done before this.
                && !(self.resumed.has_brought(&change.path, &change.before) && state::is_missing(&change.path, &error))
            {
                all.push((change.path.clone(), "given its mode", told(&error)));
            }
        }
        all
    }

    fn bring_back<'c>(&mut self, change: &'c Change, folders: &mut Vec<&'c Change>, all: &mut Vec<Told>) {
        let outcome = self.bring(change).unwrap_or_else(|error| told(&error));
        let is_folder = matches!(change.before, State::Folder(_));
        if is_folder && matches!(outcome, ItemOutcome::Done | ItemOutcome::Already) {
            folders.push(change);
        }
        all.push((change.path.clone(), "brought back", outcome));
    }

    /// Files with other names, as they stand before the first of their names gets its bytes back.
    fn shared_files(&self, changes: &[&Change]) -> BTreeMap<PathBuf, FileState> {
        let is_shared = |change: &&&Change| change.after.file().is_some_and(|file| file.links > 1);
        let standing =
            changes.iter().filter(is_shared).filter_map(|change| match state::at(&change.path, self.limit) {
                Ok(State::File(file)) => Some((change.path.clone(), file)),
                _ => None,
            });
        standing.collect()
    }

    /// Another name of a file that has its bytes back already: noted, so that it can be taken back by itself.
    fn tell_shared(&mut self, change: &Change) -> io::Result<()> {
        let Some(file) = self.shared.get(&change.path) else { return Ok(()) };
        let Some(number) = self.overwritten.get(&(file.device, file.inode)) else { return Ok(()) };
        let before = State::File(FileState { saved: Some(*number), ..file.clone() });
        self.announce(&change.path, &before, None)?;
        self.tell(change, &before)
    }

    fn bring(&mut self, change: &Change) -> io::Result<ItemOutcome> {
        if self.resumed.has_brought(&change.path, &change.before) {
            return Ok(ItemOutcome::Already);
        }
        let place = match Place::of(&change.path) {
            Ok(place) => place,
            Err(error) if state::is_missing(&change.path, &error) && change.before == State::Absent => {
                return Ok(ItemOutcome::Already);
            }
            Err(error) => return Err(error),
        };
        let present = state::read(&place, self.limit)?;
        if let Some(outcome) = judge(change, &present, self.resumed) {
            if outcome == ItemOutcome::Already {
                self.tell_shared(change)?;
            }
            if outcome == ItemOutcome::Already
                && has_other_time(change, &present)
                && let Some(facts) = change.before.facts()
            {
                set_time(&place, facts)?;
                return Ok(ItemOutcome::Done);
            }
            return Ok(outcome);
        }
        let path = change.path.as_path();
        match (&present, &change.before) {
            (State::Folder(_), State::Folder(facts)) => {
                // Open while its content comes back; its own mode is set when all is done.
                self.announce(path, &present, None)?;
                set_mode(&place, facts.mode | 0o700)?;
                self.tell(change, &present)?;
                Ok(ItemOutcome::Done)
            }
            (State::Folder(_), before) => {
                self.announce(path, &present, None)?;
                let removed = remove_folder(&place)?;
                if removed != ItemOutcome::Done {
                    return Ok(removed);
                }
                self.tell_state(path, &present, State::Absent)?;
                if *before == State::Absent { Ok(ItemOutcome::Done) } else { self.put(&place, change) }
            }
            (State::Absent, _) => self.put(&place, change),
            (State::File(is), State::File(was)) if is.digest == was.digest => {
                self.announce(path, &present, None)?;
                set_facts(&place, &was.facts)?;
                self.tell(change, &present)?;
                Ok(ItemOutcome::Done)
            }
            (State::File(is), State::File(was)) if is.links > 1 && (is.device, is.inode) == (was.device, was.inode) => {
                self.overwrite(&place, change, &present, was)
            }
            (_, State::File(_) | State::Link { .. }) => self.exchange(&place, change, &present),
            (_, before) => {
                let gone = self.take_away(&place, path, &present)?;
                if gone != ItemOutcome::Done || *before == State::Absent { Ok(gone) } else { self.put(&place, change) }
            }
        }
    }

    /// Makes what is missing; nothing may have come there meanwhile.
    fn put(&mut self, place: &Place, change: &Change) -> io::Result<ItemOutcome> {
        if let State::Folder(facts) | State::Pipe(facts) = &change.before {
            self.announce(&change.path, &State::Absent, None)?;
            if matches!(change.before, State::Folder(_)) {
                // Its own mode is set when all is done.
                rustix::fs::mkdirat(&place.folder, &place.name, Mode::RWXU)?;
                set_owner(place, facts);
            } else {
                rustix::fs::mkfifoat(&place.folder, &place.name, Mode::RUSR | Mode::WUSR)?;
                set_owner(place, facts);
                set_facts(place, facts)?;
            }
            self.tell(change, &State::Absent)?;
            return Ok(ItemOutcome::Done);
        }
        let aside = self.aside(place)?;
        self.announce(&change.path, &State::Absent, Some(&aside))?;
        self.make(&aside, &change.before)?;
        fault::point("the new stands aside");
        if let Err(error) = files::rename(&aside, place) {
            unlinkat(&aside.folder, &aside.name, AtFlags::empty())?;
            return conflict_or(error);
        }
        self.tell(change, &State::Absent)?;
        Ok(ItemOutcome::Done)
    }

    /// Takes away what stands at a place, looks at it once more where nobody reaches for it, and keeps it.
    fn take_away(&mut self, place: &Place, path: &Path, present: &State) -> io::Result<ItemOutcome> {
        let Some(number) = self.number(present) else { return Ok(too_large()) };
        let aside = self.aside(place)?;
        let kept = present.clone().stored_as(number);
        self.announce(path, &kept, Some(&aside))?;
        files::rename(place, &aside)?;
        fault::point("the old stands aside");
        if !state::read(&aside, self.limit)?.same(present) {
            files::rename(&aside, place)?;
            return Ok(changed_meanwhile());
        }
        self.store_displaced(&aside, &kept)?;
        self.tell_state(path, &kept, State::Absent)?;
        Ok(ItemOutcome::Done)
    }

    /// Puts the old in the place of the new in one step, then looks at what it displaced.
    fn exchange(&mut self, place: &Place, change: &Change, present: &State) -> io::Result<ItemOutcome> {
        let Some(number) = self.number(present) else { return Ok(too_large()) };
        let aside = self.aside(place)?;
        let kept = present.clone().stored_as(number);
        self.announce(&change.path, &kept, Some(&aside))?;
        self.make(&aside, &change.before)?;
        fault::point("the new stands aside");
        if !swap(place, &aside)? {
            // A file system that can't: one after the other.
            unlinkat(&aside.folder, &aside.name, AtFlags::empty())?;
            let gone = self.take_away(place, &change.path, present)?;
            return if gone == ItemOutcome::Done { self.put(place, change) } else { Ok(gone) };
        }
        fault::point("old and new are exchanged");
        if !state::read(&aside, self.limit)?.same(present) {
            swap(place, &aside)?;
            unlinkat(&aside.folder, &aside.name, AtFlags::empty())?;
            return Ok(changed_meanwhile());
        }
        self.store_displaced(&aside, &kept)?;
        self.tell(change, &kept)?;
        Ok(ItemOutcome::Done)
    }

    /// A file with more names than one gets its bytes back, so that all of them have them.
    fn overwrite(
        &mut self,
        place: &Place,
        change: &Change,
        present: &State,
        was: &FileState,
    ) -> io::Result<ItemOutcome> {
        let Some(number) = self.number(present) else { return Ok(too_large()) };
        let kept = present.clone().stored_as(number);
        let mut file = place.open_to_write()?;
        if let (Some(blobs), Some(number)) = (self.act.blobs(), number) {
            blobs.keep(&mut file, number, self.limit)?;
            blobs.open(number)?.sync_all()?;
            self.overwritten.insert((was.device, was.inode), number);
        }
        let mut source = self.checked(was)?;
        self.announce(&change.path, &kept, None)?;
        io::Seek::rewind(&mut file)?;
        fault::point("bytes are about to be overwritten");
        files::pour(&mut source, &mut file, self.limit)?;
        file.set_len(was.bytes)?;
        file.sync_all()?;
        set_facts(place, &was.facts)?;
        self.tell(change, &kept)?;
        Ok(ItemOutcome::Done)
    }

    fn move_back(&mut self, from: &Path, to: &Path, tree: &str) -> io::Result<ItemOutcome> {
        let by_facts = is_fingerprint(tree);
        let tree_at = |place: &Place, path: &Path, limit: &Limit| -> io::Result<String> {
            if by_facts {
                return fingerprint_at(place, path, limit);
            }
            Ok(tree_digest(path, &files::inventory(place, path, limit)?))
        };
        if self.resumed.has_moved(to, from) {
            return Ok(ItemOutcome::Already);
        }
        let target = Place::of(from)?;
        let stands = stands(&target)?;
        let source = match Place::of(to) {
            Ok(source) if self::stands(&source)? => source,
            Err(error) if !state::is_missing(to, &error) => return Err(error),
            Ok(_) | Err(_) => {
                let is_back = stands && tree_at(&target, from, self.limit)? == tree;
                let reason = format!("it is no longer at {}", paths::line(to));
                return Ok(if is_back { ItemOutcome::Already } else { ItemOutcome::Conflict { reason } });
            }
        };
        if stands {
            let reason = format!("something stands there now; the old one is at {}", paths::line(to));
            return Ok(ItemOutcome::Conflict { reason });
        }
        let inventory = if by_facts { Vec::new() } else { files::inventory(&source, to, self.limit)? };
        let found = if by_facts { fingerprint_at(&source, to, self.limit)? } else { tree_digest(to, &inventory) };
        if found != tree {
            return Ok(ItemOutcome::Conflict { reason: format!("changed since, at {}", paths::line(to)) });
        }
        self.act.moving(to, from, tree)?;
        fault::point("a move back is due");
        match shift(&source, &target) {
            Err(Errno::XDEV) => {
                // Also where the facts were enough so far: a copy is held against contents.
                let inventory = if by_facts { files::inventory(&source, to, self.limit)? } else { inventory };
                let (now, back) = (files::Side { place: source, path: to }, files::Side { place: target, path: from });
                files::carry(now, back, &inventory, &mut Vec::new(), self.limit)?;
            }
            done => done?,
        }
        self.act.moved(to, from, tree)?;
        Ok(ItemOutcome::Done)
    }

    /// Makes the old thing under its passing name, complete before it gets its own.
    fn make(&self, aside: &Place, before: &State) -> io::Result<()> {
        match before {
            State::Link { target } => {
                let target = artoo_proto::escape::path_from_line(target).ok_or(io::ErrorKind::InvalidData)?;
                rustix::fs::symlinkat(std::ffi::OsStr::from_bytes(&target), &aside.folder, &aside.name)?;
                Ok(())
            }
            State::File(was) => {
                let mut source = self.checked(was)?;
                let mut new = aside.again()?.make_file()?;
                let filled = rustix::fs::fchmod(&new.file, Mode::RUSR | Mode::WUSR)
                    .map_err(io::Error::from)
                    .and_then(|()| files::pour(&mut source, &mut new.file, self.limit))
                    .and_then(|()| {
                        set_owner(aside, &was.facts);
                        rustix::fs::fchmod(&new.file, Mode::from_raw_mode(was.facts.mode))?;
                        set_time(aside, &was.facts)?;
                        // Its name must not come to the disk before its bytes.
                        new.file.sync_all()
                    });
                filled.inspect_err(|_| {
                    let _ = unlinkat(&aside.folder, &aside.name, AtFlags::empty());
                })
            }
            State::Absent | State::Folder(_) | State::Pipe(_) | State::Odd { .. } => {
                Err(io::ErrorKind::InvalidInput.into())
            }
        }
    }

    /// The kept content, which is what it was when it was kept.
    fn checked(&self, was: &FileState) -> io::Result<std::fs::File> {
        let number = was.saved.ok_or(io::ErrorKind::NotFound)?;
        let mut source = self.source.open(number)?;
        if Some(digest::of_whole(&mut source, self.limit)?) != was.digest {
            return Err(io::Error::other("the copy that was kept is damaged"));
        }
        io::Seek::rewind(&mut source)?;
        Ok(source)
    }

    /// Moves a displaced thing to where it is kept.
    fn store_displaced(&self, aside: &Place, kept: &State) -> io::Result<()> {
        let (State::File(file), Some(blobs), Some(number)) = (kept, self.act.blobs(), kept.saved()) else {
            return Ok(unlinkat(&aside.folder, &aside.name, AtFlags::empty())?);
        };
        // Another name of the same file could change what is kept.
        let is_alone = file.links <= 1;
        if is_alone && files::rename(aside, &blobs.place(number)?).is_ok() {
            return Ok(());
        }
        blobs.keep(&mut aside.open_file()?, number, self.limit)?;
        blobs.open(number)?.sync_all()?;
        Ok(unlinkat(&aside.folder, &aside.name, AtFlags::empty())?)
    }

    /// A name of its own beside a place, for a moment.
    fn aside(&mut self, place: &Place) -> io::Result<Place> {
        self.next += 1;
        Ok(Place { folder: rustix::io::dup(&place.folder)?, name: format!("{ASIDE}{}", self.next).into() })
    }

    /// The number a thing is kept under, which only a file needs; `None` where it is too large to be kept.
    fn number(&mut self, present: &State) -> Option<Option<u64>> {
        self.next += 1;
        let Some(file) = present.file() else { return Some(None) };
        // What is moved there takes no more room than it had.
        if !self.is_movable(file) {
            self.room = self.room.checked_sub(file.bytes)?;
        }
        Some(Some(self.next))
    }

    /// Whether it can be kept by moving it: another name of the same file could change what is kept.
    fn is_movable(&self, file: &FileState) -> bool {
        file.links <= 1 && self.act.blobs().is_some_and(|blobs| blobs.is_on(file.device))
    }

    fn announce(&mut self, path: &Path, present: &State, aside: Option<&Place>) -> io::Result<()> {
        let before = Before { path: path.to_path_buf(), state: present.clone() };
        let aside = aside.map(|place| place.name.to_string_lossy().into_owned());
        self.act.bringing(Step::Bringing { before, aside })
    }

    fn tell(&mut self, change: &Change, present: &State) -> io::Result<()> {
        self.tell_state(&change.path, present, change.before.clone())
    }

    fn tell_state(&mut self, path: &Path, before: &State, after: State) -> io::Result<()> {
        self.act.brought(vec![Change { path: path.to_path_buf(), before: before.clone(), after }])
    }
}

fn remove_folder(place: &Place) -> io::Result<ItemOutcome> {
    match unlinkat(&place.folder, &place.name, AtFlags::REMOVEDIR) {
        Err(Errno::NOTEMPTY | Errno::EXIST) => {
            Ok(ItemOutcome::Conflict { reason: "it holds something that came later".to_owned() })
        }
        removed => Ok(removed.map(|()| ItemOutcome::Done)?),
    }
}
