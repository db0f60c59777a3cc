//! Performs a commit: moves files and folders from a layer to their paths, and the displaced ones into the journal.

use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, unlinkat};
use rustix::io::Errno;

use super::attributes;
use super::blobs::{BlobDir, discard, sync_folder};
use super::facts::{OWNER, chmod_opened, set_time, shift, swap};
use super::fault;
use super::format::{Change, Done, Operation};
use super::state::{Facts, Identity, State};
use super::tree::fingerprint_at;
use crate::files;
use crate::limit::Limit;
use crate::openat::Place;

/// Prefix of the temporary names that commits and undos use beside a path.
pub(super) const ASIDE: &str = ".artoo-undo-";

/// Maximum number of files that a commit syncs one by one; for more, syncing the whole file system is faster.
const SYNCED_EACH_MAX: usize = 64;

/// The path at which a commit stopped before its last operation, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stopped {
    /// The path of the operation that was not made.
    pub(crate) path: PathBuf,
    pub(crate) reason: String,
    /// Whether another program changed the path since it was read; it is unchanged.
    pub(crate) is_conflict: bool,
}

/// Times that a commit sets on a path if the path still has the same inode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Touched {
    pub(crate) path: PathBuf,
    pub(crate) facts: Facts,
    pub(crate) old: Identity,
}

/// A commit in progress: its journal folder, deadline and open folders.
pub(super) struct Commit<'a> {
    blobs: &'a BlobDir,
    /// The journal's subfolder for files and folders moved there unchanged.
    stored: PathBuf,
    nonce: String,
    limit: &'a Limit,
    targets: Folders,
    sources: Folders,
}

/// The folder that a commit opened last, cached since consecutive entries are often in the same one.
#[derive(Default)]
pub(super) struct Folders(Option<(PathBuf, Place)>);

impl Folders {
    /// The place of a path, in the folder that is open already if it is the same.
    pub(super) fn place(&mut self, path: &Path) -> io::Result<Place> {
        let (folder, name) = path.parent().zip(path.file_name()).ok_or(io::ErrorKind::InvalidInput)?;
        let held = match self.0.take() {
            Some((known, held)) if known == folder => held,
            _ => Place::of(path)?,
        };
        let place = Place { folder: rustix::io::dup(&held.folder)?, name: name.to_owned() };
        self.0 = Some((folder.to_path_buf(), held));
        Ok(place)
    }
}

impl Operation {
    /// The path that the commit operation changes; of a rename the old path.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Rename { from: path, .. }
            | Self::Store { path, .. }
            | Self::Put { path, .. }
            | Self::Exchange { path, .. }
            | Self::Facts { path, .. } => path,
        }
    }

    /// The number under which the journal stores what the operation replaces; also part of its temporary name. `None`
    /// if nothing is stored.
    pub(super) fn number(&self) -> Option<u64> {
        match self {
            Self::Store { number, .. } | Self::Put { number, .. } | Self::Exchange { number, .. } => Some(*number),
            Self::Rename { .. } | Self::Facts { .. } => None,
        }
    }

    /// The journal's record of the changes that the completed operation made.
    pub(super) fn done(&self, stored: &Path) -> Vec<Done> {
        let one = |path: &Path, before: &State, after: &State| Change {
            path: path.to_path_buf(),
            before: before.clone(),
            after: after.clone(),
        };
        match self {
            Self::Rename { from, to, tree, .. } => {
                vec![Done::Moved { from: from.clone(), to: to.clone(), tree: tree.clone() }]
            }
            Self::Store { path, tree, number, .. } => vec![move_into_journal(path, stored, *number, tree)],
            Self::Put { path, after, below, .. } => {
                let root = one(path, &State::Absent, after);
                created_changes(std::iter::once(root).chain(below.iter().cloned()).collect())
            }
            Self::Exchange { path, before, after, tree, number, below, .. } => {
                let old = if tree.is_some() { &State::Absent } else { before };
                let changes = std::iter::once(one(path, old, after)).chain(below.iter().cloned()).collect();
                let moved = tree.as_ref().map(|tree| move_into_journal(path, stored, *number, tree));
                moved.into_iter().chain(created_changes(changes)).collect()
            }
            Self::Facts { path, before, after, .. } => vec![Done::Changed { changes: vec![one(path, before, after)] }],
        }
    }
}

/// Created paths as changes for the journal. A folder without access for its owner becomes two changes, since an undo
/// has to open it first.
pub(super) fn created_changes(mut changes: Vec<Change>) -> Vec<Done> {
    let mut closings = Vec::new();
    for change in changes.iter_mut().filter(|change| !matches!(change.before, State::Folder(_))) {
        if let State::Folder(facts) = &mut change.after
            && facts.mode & OWNER != OWNER
        {
            let closed = State::Folder(facts.clone());
            facts.mode |= OWNER;
            closings.push(Change { path: change.path.clone(), before: change.after.clone(), after: closed });
        }
    }
    let closed = (!closings.is_empty()).then_some(Done::Changed { changes: closings });
    [Done::Changed { changes }].into_iter().chain(closed).collect()
}

/// The journal's record of moving a displaced file or folder into the journal.
fn move_into_journal(path: &Path, stored: &Path, number: u64, tree: &str) -> Done {
    Done::Moved { from: path.to_path_buf(), to: stored.join(number.to_string()), tree: tree.to_owned() }
}

/// The place for the temporary file of a commit operation, beside the path it changes.
pub(super) fn aside(place: &Place, nonce: &str, number: u64) -> io::Result<Place> {
    Ok(Place { folder: rustix::io::dup(&place.folder)?, name: aside_name(nonce, number).into() })
}

/// The temporary name of the commit operation with this number.
pub(super) fn aside_name(nonce: &str, number: u64) -> String {
    format!("{ASIDE}{nonce}-{number}")
}

/// The place in the journal for a replaced or deleted file or folder; `None` if its recorded state suffices to create
/// it again.
pub(super) fn displaced_place(
    blobs: &BlobDir,
    before: &State,
    tree: Option<&str>,
    number: u64,
) -> io::Result<Option<Place>> {
    match (tree, before) {
        (Some(_), _) => Place::of(&blobs.stored()?.join(number.to_string())).map(Some),
        (None, State::File(_)) => blobs.place(number).map(Some),
        (None, _) => Ok(None),
    }
}

/// Moves a file or folder that a commit replaced or deleted from its temporary name into the journal, or deletes it if
/// its recorded state suffices.
pub(super) fn store_displaced(
    blobs: &BlobDir,
    aside: &Place,
    before: &State,
    tree: Option<&str>,
    number: u64,
    limit: &Limit,
) -> io::Result<()> {
    let Some(to) = displaced_place(blobs, before, tree, number)? else {
        return Ok(unlinkat(&aside.folder, &aside.name, AtFlags::empty())?);
    };
    match shift(aside, &to) {
        Err(Errno::XDEV) => move_to_other_file_system(aside, to, limit),
        done => Ok(done?),
    }
}

/// Moves to another file system: makes a synced copy, then deletes the original.
fn move_to_other_file_system(aside: &Place, to: Place, limit: &Limit) -> io::Result<()> {
    let kept = to.reopen()?;
    let copied = files::copy(aside, to, Path::new(""), &mut Vec::new(), limit)
        .and_then(|()| attributes::copy_all(aside, &kept, limit))
        .and_then(|()| sync(&kept));
    if let Err(error) = copied {
        let _ = discard(&kept);
        return Err(error);
    }
    fault::point("the copy is whole");
    // A part of the original that can't be removed must not be put back.
    let _ = discard(aside);
    Ok(())
}

/// Syncs the file system that contains a place.
fn sync(place: &Place) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::fs::syncfs(&place.folder)?;
    #[cfg(not(target_os = "linux"))]
    rustix::fs::fsync(&place.folder)?;
    Ok(())
}

impl<'a> Commit<'a> {
    /// Starts to commit into this act's journal folder; `nonce` makes the temporary names unique.
    pub(super) fn new(blobs: &'a BlobDir, nonce: String, limit: &'a Limit) -> io::Result<Self> {
        let stored = blobs.stored()?;
        sync_folder(&blobs.folder)?;
        Ok(Self { blobs, stored, nonce, limit, targets: Folders::default(), sources: Folders::default() })
    }

    /// The first path of the commit that another program changed since the change set was read, or that can't be read;
    /// `None` if there is none.
    pub(super) fn check(&mut self, operations: &[Operation]) -> Option<Stopped> {
        let renamed = |path: &Path| {
            operations.iter().take_while(|operation| matches!(operation, Operation::Rename { .. })).any(|operation| {
                matches!(operation, Operation::Rename { from, to, .. } if path.starts_with(to) || path == from)
            })
        };
        let is_rename = |operation: &Operation| matches!(operation, Operation::Rename { .. });
        operations.iter().find_map(|operation| {
            let path = operation.path();
            if !is_rename(operation) && renamed(path) {
                return None;
            }
            let found = match self.targets.place(path).and_then(|place| Identity::at(&place)) {
                Ok(found) => found,
                Err(error) => return Some(failed(path, &error)),
            };
            let is_same = match operation {
                Operation::Put { .. } => found.is_none(),
                Operation::Rename { old, .. } => found.is_some_and(|found| found.same_inode(old)),
                Operation::Store { old, before, .. }
                | Operation::Exchange { old, before, .. }
                | Operation::Facts { old, before, .. } => {
                    found.is_some_and(|found| is_entry_that_was_read(&found, old, before))
                }
            };
            (!is_same).then(|| conflict(path))
        })
    }

    /// Syncs to disk the new contents of files that replace others, before they are committed.
    pub(super) fn sync_sources(&mut self, operations: &[Operation]) -> io::Result<()> {
        let mut files = operations.iter().filter_map(|operation| {
            let Operation::Exchange { source, after: State::File(_), .. } = operation else { return None };
            Some(source)
        });
        let first: Vec<&PathBuf> = files.by_ref().take(SYNCED_EACH_MAX).collect();
        if files.next().is_some()
            && let Some(source) = first.first()
        {
            return sync(&self.sources.place(source)?);
        }
        for source in first {
            // A file whose mode denies access is synced later with the rest of the file system.
            if let Ok(file) = self.sources.place(source)?.open_file() {
                file.sync_data()?;
            }
        }
        Ok(())
    }

    /// Performs one operation of the commit completely or not at all; `Err` after the deadline, on a conflict with
    /// another program, or on a failure.
    pub(super) fn perform(&mut self, operation: &Operation) -> Result<Vec<Done>, Stopped> {
        if self.limit.reached() {
            return Err(failed(operation.path(), &io::ErrorKind::TimedOut.into()));
        }
        match self.step(operation) {
            Ok(true) => Ok(operation.done(&self.stored)),
            Ok(false) => Err(conflict(operation.path())),
            Err(error) => Err(failed(operation.path(), &error)),
        }
    }

    /// Performs one operation of the commit; `false` if it was not made because another program changed or created the
    /// path.
    fn step(&mut self, operation: &Operation) -> io::Result<bool> {
        let place = self.targets.place(operation.path())?;
        match operation {
            Operation::Rename { to, tree, .. } => {
                let target = self.targets.place(to)?;
                if let Err(error) = shift(&place, &target) {
                    return taken(error);
                }
                fault::point("a folder is renamed");
                let is_same = fingerprint_at(&target, to, self.limit)? == *tree;
                if !is_same {
                    shift(&target, &place)?;
                }
                Ok(is_same)
            }
            Operation::Store { path, before, old, tree, number } => {
                self.store(&place, path, (before, old, Some(tree)), *number)
            }
            Operation::Put { source, after, new, number, .. } => {
                let from = self.checked(source, new, after)?;
                self.move_into_place(&place, &from, *number)
            }
            Operation::Exchange { path, source, before, after, old, new, tree, number, .. } => {
                let from = self.checked(source, new, after)?;
                self.exchange(&place, path, from, (before, old, tree.as_deref()), *number)
            }
            Operation::Facts { before, after, old, source, .. } => {
                set_facts(&place, before, after, old)?;
                if let Some(source) = source {
                    attributes::transfer(&self.sources.place(source)?, &place)?;
                }
                fault::point("facts are set");
                Ok(true)
            }
        }
    }

    /// Moves a new file or folder from the layer to its path; `false` if something exists there.
    fn move_into_place(&self, place: &Place, from: &Place, number: u64) -> io::Result<bool> {
        match shift(from, place) {
            Ok(()) => {
                fault::point("the new is put");
                Ok(true)
            }
            Err(Errno::XDEV) => {
                let beside = self.copy_beside(place, from, number)?;
                match files::rename(&beside, place) {
                    Ok(()) => Ok(true),
                    Err(error) => {
                        discard(&beside)?;
                        taken(error)
                    }
                }
            }
            Err(error) => taken(error),
        }
    }

    /// Exchanges a path with its new file or folder, and stores the displaced one; `false`, with everything put back,
    /// if that is not the one that was read.
    fn exchange(&self, place: &Place, path: &Path, mut from: Place, old: Old<'_>, number: u64) -> io::Result<bool> {
        let mut swapped = swap(place, &from);
        let is_elsewhere = matches!(&swapped, Err(error) if Errno::from_io_error(error) == Some(Errno::XDEV));
        if is_elsewhere {
            from = self.copy_beside(place, &from, number)?;
            swapped = swap(place, &from);
        }
        if !swapped? {
            // On a file system without exchange: two renames.
            return Ok(self.store(place, path, old, number)? && {
                files::rename(&from, place)?;
                true
            });
        }
        fault::point("old and new are exchanged");
        let kept = if self.came_out(&from, path, old)? {
            store_displaced(self.blobs, &from, old.0, old.2, number, self.limit).map(|()| true)
        } else {
            Ok(false)
        };
        if !matches!(kept, Ok(true)) {
            swap(place, &from)?;
            if is_elsewhere {
                discard(&from)?;
            }
            return kept;
        }
        fault::point("the old is stored");
        Ok(true)
    }

    /// Moves a deleted file or folder into the journal; `false`, with everything put back, if it is not the one that
    /// was read.
    fn store(&self, place: &Place, path: &Path, old: Old<'_>, number: u64) -> io::Result<bool> {
        let to = match old {
            (State::File(_), _, None) => self.blobs.place(number)?,
            _ => Place::of(&self.stored.join(number.to_string()))?,
        };
        let (beside, is_elsewhere) = match shift(place, &to) {
            Ok(()) => (to, false),
            Err(Errno::XDEV) => {
                let beside = aside(place, &self.nonce, number)?;
                shift(place, &beside)?;
                (beside, true)
            }
            Err(error) => return Err(error.into()),
        };
        fault::point("the old is moved");
        let mut kept = self.came_out(&beside, path, old);
        if is_elsewhere && matches!(kept, Ok(true)) {
            kept = store_displaced(self.blobs, &beside, old.0, old.2, number, self.limit).map(|()| true);
        }
        if !matches!(kept, Ok(true)) {
            shift(&beside, place)?;
        }
        kept
    }

    /// Whether the file or folder that a commit displaced is the one that was read, and for a folder with the same
    /// content.
    fn came_out(&self, displaced: &Place, path: &Path, (before, old, tree): Old<'_>) -> io::Result<bool> {
        let is_same = Identity::at(displaced)?.is_some_and(|found| is_entry_that_was_read(&found, old, before));
        Ok(is_same
            && match (before, tree) {
                (State::Folder(_), Some(tree)) => fingerprint_at(displaced, path, self.limit)? == tree,
                _ => true,
            })
    }

    /// The place of the new file in the layer; an error unless it is still the one that was read.
    fn checked(&mut self, source: &Path, new: &Identity, after: &State) -> io::Result<Place> {
        let from = self.sources.place(source)?;
        let is_same = Identity::at(&from)?.is_some_and(|found| is_entry_that_was_read(&found, new, after));
        if is_same { Ok(from) } else { Err(io::Error::other("the view's layer was changed; run the command again")) }
    }

    /// Copies a file or folder to a temporary name beside the target, which is on another file system.
    fn copy_beside(&self, place: &Place, from: &Place, number: u64) -> io::Result<Place> {
        let beside = aside(place, &self.nonce, number)?;
        let copied = files::copy(from, beside.reopen()?, Path::new(""), &mut Vec::new(), self.limit);
        let copied = copied.and_then(|()| attributes::copy_all(from, &beside, self.limit));
        if let Err(error) = copied.and_then(|()| sync(&beside)) {
            let _ = discard(&beside);
            return Err(error);
        }
        fault::point("the new has its temporary name");
        Ok(beside)
    }
}

/// What was at a path when the change set was read: its state, its identity, and a tree digest if it is stored
/// unchanged.
type Old<'a> = (&'a State, &'a Identity, Option<&'a str>);

/// Sets on committed paths the modification times read from the layer, if they still have the same inode.
pub(super) fn touch(touched: &[Touched]) {
    let mut folders = Folders::default();
    for Touched { path, facts, old } in touched {
        let Ok(place) = folders.place(path) else { continue };
        let is_same = Identity::at(&place).ok().flatten().is_some_and(|found| found.same_inode(old));
        if is_same {
            // A time that can't be set must not end a commit whose operations are done.
            let _ = set_time(&place, facts);
        }
    }
}

/// Whether this is still the file or folder from which the change set was read. A folder is compared by inode alone.
fn is_entry_that_was_read(found: &Identity, old: &Identity, before: &State) -> bool {
    if matches!(before, State::Folder(_)) { found.same_inode(old) } else { found == old }
}

/// Sets mode and owner of a path; an error unless it has the inode and mode from which the change set was read.
fn set_facts(place: &Place, before: &State, after: &State, old: &Identity) -> io::Result<()> {
    use rustix::fs::{Gid, Uid, chownat, fstat};
    let changed = || io::Error::other("it was changed since it was read");
    let (was, is) = before.facts().zip(after.facts()).ok_or(io::ErrorKind::InvalidInput)?;
    let held = place.open_path()?;
    let found = fstat(&held)?;
    if !Identity::of(&found).same_inode(old) || found.st_mode & 0o7777 != was.mode {
        return Err(changed());
    }
    if (was.owner, was.group) != (is.owner, is.group) {
        let (owner, group) = (Uid::from_raw(is.owner), Gid::from_raw(is.group));
        chownat(&held, "", Some(owner), Some(group), AtFlags::EMPTY_PATH)?;
    } else if was.mode == is.mode {
        // Only times are set, which a user other than the owner may do as well.
        return Ok(());
    }
    chmod_opened(&held, is.mode)
}

/// The result of a commit that stopped at a path because another program changed it.
fn conflict(path: &Path) -> Stopped {
    let reason = "it was changed by another program since the command ran".to_owned();
    Stopped { path: path.to_path_buf(), reason, is_conflict: true }
}

/// The result of a commit that stopped at a path because of an I/O error, with the reason as text.
fn failed(path: &Path, error: &io::Error) -> Stopped {
    let reason = match Errno::from_io_error(error) {
        Some(Errno::LOOP | Errno::NOTDIR | Errno::NOENT) => "the folder it is in was moved or removed".to_owned(),
        Some(Errno::NOSPC | Errno::DQUOT) => "there is no room to keep what was there".to_owned(),
        _ => error.to_string(),
    };
    Stopped { path: path.to_path_buf(), reason, is_conflict: false }
}

/// `false` if the error means that the target of a rename exists; any other error is returned.
fn taken(error: Errno) -> io::Result<bool> {
    if matches!(error, Errno::EXIST | Errno::NOTEMPTY) { Ok(false) } else { Err(error.into()) }
}
