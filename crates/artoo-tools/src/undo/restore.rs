//! Reverting the changes of one act, except on paths that were changed since.

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
use super::state::{self, FileState, State, exists};
use super::store::ItemOutcome;
use super::tree::{fingerprint_at, is_fingerprint};
use super::verdict::{
    changed_meanwhile, conflict_or, failed_restore, has_other_time, interrupted_move, is_left, judge, moved_from,
    too_large,
};
use crate::digest;
use crate::files;
use crate::limit::Limit;
use crate::openat::Place;
use crate::{paths, texts};

/// Maximum number of paths whose removal is announced with one line of the log.
const REMOVED_MAX: usize = 1024;

/// The undo of one act, in progress: what it still has to revert, and its own recording.
pub(super) struct Restoring<'a> {
    /// The undo's own recording, which saves what it removes.
    act: &'a mut Act,
    /// The saved contents of the act that is reverted.
    source: &'a BlobDir,
    /// The changes of earlier undos of the entry that were cut off.
    resumed: &'a Resumed,
    limit: &'a Limit,
    undone: &'a mut Undone,
    /// Files with several names among the changes.
    shared: BTreeMap<PathBuf, FileState>,
    /// Device and inode of such files whose content was overwritten, with the number of the saved content.
    overwritten: BTreeMap<(u64, u64), u64>,
}

/// What an undo carries from one act to the next one that it reverts: numbers, space that is left, and paths that were
/// not reverted.
#[derive(Default)]
pub(super) struct Undone {
    /// The last number of a saved content or temporary name.
    pub(super) next: u64,
    /// Bytes that may still be saved.
    pub(super) room: u64,
    /// Paths that were not reverted.
    pub(super) left: Vec<PathBuf>,
}

/// A path, the verb for what an undo did with it, and the outcome.
pub(super) type Told = (PathBuf, &'static str, ItemOutcome);

impl<'a> Restoring<'a> {
    /// Starts the undo of one act with what earlier acts of the undo have left over.
    pub(super) fn new(
        act: &'a mut Act,
        source: &'a BlobDir,
        resumed: &'a Resumed,
        limit: &'a Limit,
        undone: &'a mut Undone,
    ) -> Self {
        Self { act, source, resumed, limit, undone, shared: BTreeMap::new(), overwritten: BTreeMap::new() }
    }

    /// Reverts one recorded change or move of an act, and returns the outcome for each path.
    pub(super) fn take_back(&mut self, done: &Done) -> Vec<Told> {
        match done {
            Done::Moved { from, to, tree } => {
                self.limit.meter.add_entries(1);
                let outcome = self.move_back(from, to, tree).unwrap_or_else(|error| failed_restore(&error));
                if is_left(&outcome) {
                    self.undone.left.push(to.clone());
                    self.undone.left.extend(crate::trash::note_of(to));
                }
                vec![(from.clone(), moved_from(to), outcome)]
            }
            Done::Torn { from, to } => vec![interrupted_move(from, to)],
            Done::Changed { changes } => self.group(changes),
        }
    }

    /// Reverts a group of changes: makes changed folders writable, removes created paths from the deepest up, restores
    /// the others from the top down, and sets the modes of folders last, since a mode may deny access to the content.
    fn group(&mut self, changes: &[Change]) -> Vec<Told> {
        let mut ordered: Vec<&Change> = changes.iter().collect();
        ordered.sort_by_key(|change| (change.path.components().count(), change.path.as_path()));
        self.shared = self.shared_files(&ordered);
        let (mut all, mut folders) = (Vec::new(), Vec::new());
        let is_folder = |state: &State| matches!(state, State::Folder(_));
        let stays = |change: &&&Change| is_folder(&change.before) && is_folder(&change.after);
        for change in ordered.iter().filter(stays) {
            self.restore_and_report(change, &mut folders, &mut all);
        }
        let made: Vec<&Change> =
            ordered.iter().rev().filter(|change| change.before == State::Absent).copied().collect();
        for changes in made.chunks(REMOVED_MAX) {
            self.remove_all(changes, &mut all);
        }
        for change in ordered.iter().filter(|change| change.before != State::Absent && !stays(change)) {
            self.restore_and_report(change, &mut folders, &mut all);
        }
        folders.sort_by(|one, two| one.path.cmp(&two.path));
        for change in folders.into_iter().rev() {
            if let State::Folder(facts) = &change.before
                && let Err(error) = Place::of(&change.path).and_then(|place| set_facts(&place, facts))
                // An interrupted undo may have removed it already, when it reverted a later act.
                && !(self.resumed.has_brought(&change.path, &change.before) && state::is_missing(&change.path, &error))
            {
                all.push((change.path.clone(), "given its mode", failed_restore(&error)));
            }
        }
        all
    }

    /// Restores one path and adds the outcome; folders are collected, so that their modes can be set last.
    fn restore_and_report<'c>(&mut self, change: &'c Change, folders: &mut Vec<&'c Change>, all: &mut Vec<Told>) {
        let outcome = self.restore_path(change).unwrap_or_else(|error| failed_restore(&error));
        self.limit.meter.add_entries(1);
        let is_folder = matches!(change.before, State::Folder(_));
        if is_folder && matches!(outcome, ItemOutcome::Done | ItemOutcome::Already) {
            folders.push(change);
        }
        all.push((change.path.clone(), "brought back", outcome));
    }

    /// The present states of files with several hard links, read before any of them is restored.
    fn shared_files(&self, changes: &[&Change]) -> BTreeMap<PathBuf, FileState> {
        let is_shared = |change: &&&Change| change.after.file().is_some_and(|file| file.links > 1);
        let standing =
            changes.iter().filter(is_shared).filter_map(|change| match state::at(&change.path, self.limit) {
                Ok(State::File(file)) => Some((change.path.clone(), file)),
                _ => None,
            });
        standing.collect()
    }

    /// Records another name of a file whose content is restored already, so that the undo of the undo has each name.
    fn record_other_name(&mut self, change: &Change) -> io::Result<()> {
        let Some(file) = self.shared.get(&change.path) else { return Ok(()) };
        let Some(number) = self.overwritten.get(&(file.device, file.inode)) else { return Ok(()) };
        let before = State::File(FileState { saved: Some(*number), ..file.clone() });
        self.announce(&change.path, &before, None)?;
        self.record_restored(change, &before)
    }

    /// Restores one path to its recorded state, unless it was changed since.
    fn restore_path(&mut self, change: &Change) -> io::Result<ItemOutcome> {
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
                self.record_other_name(change)?;
                if has_other_time(change, &present)
                    && let Some(facts) = change.before.facts()
                {
                    self.announce(&change.path, &present, None)?;
                    set_time(&place, facts)?;
                    self.record_restored(change, &present)?;
                    return Ok(ItemOutcome::Done);
                }
            }
            return Ok(outcome);
        }
        let path = change.path.as_path();
        match (&present, &change.before) {
            (State::Folder(_), State::Folder(facts)) => {
                // Writable while its content is restored; its own mode is set at the end.
                self.announce(path, &present, None)?;
                set_mode(&place, facts.mode | 0o700)?;
                self.record_restored(change, &present)?;
                Ok(ItemOutcome::Done)
            }
            (State::Folder(_), before) => {
                self.announce(path, &present, None)?;
                let removed = remove_folder(&place)?;
                if removed != ItemOutcome::Done {
                    return Ok(removed);
                }
                self.record_state(path, &present, State::Absent)?;
                if *before == State::Absent { Ok(ItemOutcome::Done) } else { self.create_missing(&place, change) }
            }
            (State::Absent, _) => self.create_missing(&place, change),
            (State::File(is), State::File(was)) if is.digest == was.digest => {
                self.announce(path, &present, None)?;
                set_facts(&place, &was.facts)?;
                self.record_restored(change, &present)?;
                Ok(ItemOutcome::Done)
            }
            (State::File(is), State::File(was)) if is.links > 1 && (is.device, is.inode) == (was.device, was.inode) => {
                self.overwrite(&place, change, &present, was)
            }
            (_, State::File(_) | State::Link { .. }) => self.exchange(&place, change, &present),
            (_, before) => {
                let gone = self.move_aside_and_save(&place, path, &present)?;
                if gone != ItemOutcome::Done || *before == State::Absent {
                    Ok(gone)
                } else {
                    self.create_missing(&place, change)
                }
            }
        }
    }

    /// Restores a path that is missing now, unless another program creates it meanwhile.
    fn create_missing(&mut self, place: &Place, change: &Change) -> io::Result<ItemOutcome> {
        if let State::Folder(facts) | State::Pipe(facts) = &change.before {
            self.announce(&change.path, &State::Absent, None)?;
            if matches!(change.before, State::Folder(_)) {
                // Its own mode is set at the end.
                rustix::fs::mkdirat(&place.folder, &place.name, Mode::RWXU)?;
                set_owner(place, facts);
            } else {
                rustix::fs::mkfifoat(&place.folder, &place.name, Mode::RUSR | Mode::WUSR)?;
                set_owner(place, facts);
                set_facts(place, facts)?;
            }
            self.record_restored(change, &State::Absent)?;
            return Ok(ItemOutcome::Done);
        }
        let aside = self.aside(place)?;
        self.announce(&change.path, &State::Absent, Some(&aside))?;
        self.make(&aside, &change.before)?;
        fault::point("the new has its temporary name");
        if let Err(error) = files::rename(&aside, place) {
            unlinkat(&aside.folder, &aside.name, AtFlags::empty())?;
            return conflict_or(error);
        }
        self.record_restored(change, &State::Absent)?;
        Ok(ItemOutcome::Done)
    }

    /// Moves a file out of the way to a temporary name, checks that it is unchanged, and saves it in the journal.
    fn move_aside_and_save(&mut self, place: &Place, path: &Path, present: &State) -> io::Result<ItemOutcome> {
        let Some((aside, kept)) = self.announce_kept(place, path, present)? else { return Ok(too_large()) };
        files::rename(place, &aside)?;
        fault::point("the old has its temporary name");
        if !state::read(&aside, self.limit)?.same(present) {
            files::rename(&aside, place)?;
            return Ok(changed_meanwhile());
        }
        self.store_displaced(&aside, &kept)?;
        self.record_state(path, &kept, State::Absent)?;
        Ok(ItemOutcome::Done)
    }

    /// Swaps the restored file with the present one in one step, then checks that the one displaced is unchanged, and
    /// saves it.
    fn exchange(&mut self, place: &Place, change: &Change, present: &State) -> io::Result<ItemOutcome> {
        let Some((aside, kept)) = self.announce_kept(place, &change.path, present)? else { return Ok(too_large()) };
        self.make(&aside, &change.before)?;
        fault::point("the new has its temporary name");
        if !swap(place, &aside)? {
            // On a file system without exchange: two renames.
            unlinkat(&aside.folder, &aside.name, AtFlags::empty())?;
            let gone = self.move_aside_and_save(place, &change.path, present)?;
            return if gone == ItemOutcome::Done { self.create_missing(place, change) } else { Ok(gone) };
        }
        fault::point("old and new are exchanged");
        if !state::read(&aside, self.limit)?.same(present) {
            swap(place, &aside)?;
            unlinkat(&aside.folder, &aside.name, AtFlags::empty())?;
            return Ok(changed_meanwhile());
        }
        self.store_displaced(&aside, &kept)?;
        self.record_restored(change, &kept)?;
        Ok(ItemOutcome::Done)
    }

    /// Overwrites a file with several hard links in place, so that each name has the old content.
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
        files::copy_until_deadline(&mut source, &mut file, self.limit)?;
        file.set_len(was.bytes)?;
        file.sync_all()?;
        set_facts(place, &was.facts)?;
        self.record_restored(change, &kept)?;
        Ok(ItemOutcome::Done)
    }

    /// Moves a file or folder back to its old path, unless one of the two was changed since.
    fn move_back(&mut self, from: &Path, to: &Path, tree: &str) -> io::Result<ItemOutcome> {
        let tree_at = |place: &Place, path: &Path| -> io::Result<String> {
            // Format 1 has digests of contents for trees.
            if is_fingerprint(tree) {
                return fingerprint_at(place, path, self.limit);
            }
            Ok(tree_digest(path, &files::inventory(place, path, self.limit)?))
        };
        if self.resumed.has_moved(to, from) {
            return Ok(ItemOutcome::Already);
        }
        let target = Place::of(from)?;
        let is_taken = exists(&target)?;
        let source = match Place::of(to) {
            Ok(source) if exists(&source)? => source,
            Err(error) if !state::is_missing(to, &error) => return Err(error),
            Ok(_) | Err(_) => {
                let is_back = is_taken && tree_at(&target, from)? == tree;
                let reason = format!("it is no longer at {}", paths::line(to));
                return Ok(if is_back { ItemOutcome::Already } else { ItemOutcome::Conflict { reason } });
            }
        };
        if is_taken {
            let reason = format!("the path is in use now; the old one is at {}", paths::line(to));
            return Ok(ItemOutcome::Conflict { reason });
        }
        if tree_at(&source, to)? != tree {
            return Ok(ItemOutcome::Conflict { reason: format!("changed since, at {}", paths::line(to)) });
        }
        self.act.moving(to, from, tree)?;
        fault::point("a move back is due");
        match shift(&source, &target) {
            Err(Errno::XDEV) => {
                let inventory = files::inventory(&source, to, self.limit)?;
                let (now, back) = (files::Side { place: source, path: to }, files::Side { place: target, path: from });
                files::move_item(now, back, &inventory, &mut Vec::new(), self.limit)?;
            }
            done => done?,
        }
        self.act.moved(to, from, tree)?;
        Ok(ItemOutcome::Done)
    }

    /// Creates the file or link that an undo restores, completely, under a temporary name.
    fn make(&self, aside: &Place, before: &State) -> io::Result<()> {
        match before {
            State::Link { target } => {
                let target = artoo_proto::escape::path_from_line(target).ok_or(io::ErrorKind::InvalidData)?;
                rustix::fs::symlinkat(std::ffi::OsStr::from_bytes(&target), &aside.folder, &aside.name)?;
                Ok(())
            }
            State::File(was) => {
                let mut source = self.checked(was)?;
                let mut new = aside.reopen()?.make_file()?;
                let filled = rustix::fs::fchmod(&new.file, Mode::RUSR | Mode::WUSR)
                    .map_err(io::Error::from)
                    .and_then(|()| files::copy_until_deadline(&mut source, &mut new.file, self.limit))
                    .and_then(|()| {
                        set_owner(aside, &was.facts);
                        rustix::fs::fchmod(&new.file, Mode::from_raw_mode(was.facts.mode))?;
                        set_time(aside, &was.facts)?;
                        // The name must not reach the disk before the content.
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

    /// Opens a saved content of the journal after checking its digest.
    fn checked(&self, was: &FileState) -> io::Result<std::fs::File> {
        let number = was.saved.ok_or(io::ErrorKind::NotFound)?;
        let mut source = self.source.open(number)?;
        if Some(digest::of_whole(&mut source, self.limit)?) != was.digest {
            return Err(io::Error::other("the copy that was kept is damaged"));
        }
        io::Seek::rewind(&mut source)?;
        Ok(source)
    }

    /// Moves a file that an undo replaced from its temporary name into the journal; deletes links and others that need
    /// no saved content.
    fn store_displaced(&self, aside: &Place, kept: &State) -> io::Result<()> {
        let (State::File(file), Some(blobs), Some(number)) = (kept, self.act.blobs(), kept.saved()) else {
            return Ok(unlinkat(&aside.folder, &aside.name, AtFlags::empty())?);
        };
        // Another name of the same file could change the saved content.
        let is_alone = file.links <= 1;
        if is_alone && files::rename(aside, &blobs.place(number)?).is_ok() {
            return Ok(());
        }
        blobs.keep(&mut aside.open_file()?, number, self.limit)?;
        blobs.open(number)?.sync_all()?;
        Ok(unlinkat(&aside.folder, &aside.name, AtFlags::empty())?)
    }

    /// A new, unused temporary name in the folder of a place.
    fn aside(&mut self, place: &Place) -> io::Result<Place> {
        self.undone.next += 1;
        Ok(Place { folder: rustix::io::dup(&place.folder)?, name: format!("{ASIDE}{}", self.undone.next).into() })
    }

    /// The number under which to save a file's content: `Some(None)` for links and folders, which need none; `None` if
    /// the file is too large to save.
    fn number(&mut self, present: &State) -> Option<Option<u64>> {
        self.undone.next += 1;
        let Some(file) = present.file() else { return Some(None) };
        // Moving a file takes no additional space.
        if !self.is_movable(file) {
            self.undone.room = self.undone.room.checked_sub(file.bytes)?;
        }
        Some(Some(self.undone.next))
    }

    /// Whether a file can be saved by moving it. A file with several hard links can't, since another name could change
    /// the saved content.
    fn is_movable(&self, file: &FileState) -> bool {
        file.links <= 1 && self.act.blobs().is_some_and(|blobs| blobs.is_on(file.device))
    }

    /// Announces in the log that what is at a path will be saved; returns its temporary place, and its state with the
    /// saved number. `None` if it is too large to save.
    fn announce_kept(&mut self, place: &Place, path: &Path, present: &State) -> io::Result<Option<(Place, State)>> {
        let Some(number) = self.number(present) else { return Ok(None) };
        let (aside, kept) = (self.aside(place)?, present.clone().stored_as(number));
        self.announce(path, &kept, Some(&aside))?;
        Ok(Some((aside, kept)))
    }

    /// Announces in the log that a path is about to be restored; `aside` is the temporary name that is used.
    fn announce(&mut self, path: &Path, present: &State, aside: Option<&Place>) -> io::Result<()> {
        let before = Before { path: path.to_path_buf(), state: present.clone() };
        let aside = aside.map(|place| place.name.to_string_lossy().into_owned());
        self.act.write(Step::Bringing { before, aside })
    }

    /// Records in the journal that an announced path was restored, with its states before and after.
    fn record_restored(&mut self, change: &Change, present: &State) -> io::Result<()> {
        self.record_state(&change.path, present, change.before.clone())
    }

    /// Writes to the journal that the undo changed a path from one state to another.
    fn record_state(&mut self, path: &Path, before: &State, after: State) -> io::Result<()> {
        self.act.note_reverted(vec![Change { path: path.to_path_buf(), before: before.clone(), after }])
    }
}

/// Removes an empty folder; a conflict if it is not empty.
fn remove_folder(place: &Place) -> io::Result<ItemOutcome> {
    match unlinkat(&place.folder, &place.name, AtFlags::REMOVEDIR) {
        Err(Errno::NOTEMPTY | Errno::EXIST) => Ok(ItemOutcome::Conflict { reason: texts::HOLDS_LATER.to_owned() }),
        removed => Ok(removed.map(|()| ItemOutcome::Done)?),
    }
}
