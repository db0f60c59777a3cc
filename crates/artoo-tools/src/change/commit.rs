//! Committing a change set as one act of the undo journal.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, OFlags, linkat, unlinkat};
use rustix::process::geteuid;

use super::class::refusal;
use super::content::open_in_layer;
use super::set::{ChangeSet, Entry, Kind};
use crate::limit::Limit;
use crate::openat::Place;
use crate::paths;
use crate::protect::Protected;
use crate::undo::{
    Attributes, Change, Identity, Journal, OWNER, Operation, RecordedChanges, State, Stopped, Subject, chmod_opened,
    of_stat, set_time, stat, with_mode,
};

/// The outcome of a commit: what was changed, and where it stopped, if it did.
#[derive(Debug)]
pub(crate) struct Committed {
    /// The changes for the record.
    pub(crate) changes: RecordedChanges,
    /// Where the commit stopped, if it did. Entries before are committed, this one and later ones are not.
    pub(crate) stopped: Option<Stopped>,
}

/// Why a commit of a change set failed: a path that is never changed, the undo journal, or the view's layer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommitError {
    #[error("{path} is never changed: {reason}")]
    Refused { path: String, reason: String },
    #[error("the change could not be made undoable, so nothing was committed: {0}")]
    Journal(#[source] io::Error),
    #[error("the changes were made and can be undone, but the journal could not be written to its end: {0}")]
    Unended(#[source] io::Error),
    #[error("{path} in the view's layer could not be prepared, so nothing was committed: {source}")]
    Layer {
        path: String,
        #[source]
        source: io::Error,
    },
}

/// Commits a change set to the real files as one act that can be undone; stops at the first entry that was changed
/// since.
///
/// # Errors
/// [`CommitError::Unended`] if everything was committed but the journal's last note is missing, any other if nothing was.
pub(crate) fn commit(
    journal: &Journal,
    subject: Subject<'_>,
    protected: &Protected,
    set: &ChangeSet,
    limit: &Limit,
) -> Result<Committed, CommitError> {
    let own_data = protected.own_data();
    for entry in &set.entries {
        if let Some(reason) = refusal(entry, &own_data) {
            return Err(CommitError::Refused { path: paths::line(&entry.path), reason });
        }
    }
    let mut act = journal.begin(subject, None, limit).map_err(CommitError::Journal)?;
    let failed = |path: &Path| {
        let path = paths::line(path);
        move |source| CommitError::Layer { path, source }
    };
    let outer = || set.entries.iter().filter(|entry| !entry.is_inside);
    let sources: BTreeSet<&Path> =
        outer().filter(|entry| entry.new.is_some()).filter_map(|entry| entry.source.parent()).collect();
    for folder in sources {
        // Entries are moved out of the folder, whatever its final mode is.
        set_mode(folder, |mode| mode | OWNER).map_err(failed(folder))?;
    }
    // New folders whose mode denies their owner access are opened from the top down, and closed from the bottom up.
    let is_shut = |entry: &&Entry| entry.kind == Kind::Created && is_closed(&entry.after);
    let shut: Vec<(&PathBuf, &State)> =
        set.entries.iter().filter(is_shut).map(|entry| (&entry.source, &entry.after)).collect();
    for (path, _) in &shut {
        set_mode(path, |mode| mode | OWNER).map_err(failed(path))?;
    }
    for path in &set.marked {
        clean(path).map_err(failed(path))?;
    }
    for path in &set.residue {
        in_folder(path, |place| Ok(unlinkat(&place.folder, &place.name, AtFlags::empty())?)).map_err(failed(path))?;
    }
    for entry in &set.entries {
        // If no hard link can be made, the copy in the layer is used; it differs only in being a separate file.
        let _ = entry.link_of.as_deref().map(|existing| link(entry, existing));
    }
    for (path, state) in shut.iter().rev() {
        let mode = state.facts().map_or(0, |facts| facts.mode);
        set_mode(path, |_| mode).map_err(failed(path))?;
    }
    let operations = operations(set).map_err(CommitError::Journal)?;
    let changed: BTreeSet<&Path> = outer().filter_map(|entry| entry.path.parent()).collect();
    let folders = set.folders.iter().filter(|folder| changed.contains(folder.path.as_path()));
    let touched: Vec<_> = set.touched.iter().chain(folders).cloned().collect();
    let stopped = act.commit(operations, &touched, left_out(set), limit).map_err(CommitError::Journal)?;
    let found = act.end(&[], limit).map_err(CommitError::Unended)?;
    let changes = if stopped.is_none() { set.changes() } else { found };
    Ok(Committed { changes, stopped })
}

/// The part of the change set that an undo can't revert, as a sentence; `None` if it can revert all.
fn left_out(set: &ChangeSet) -> Option<String> {
    let first = set.entries.iter().find(|entry| entry.is_left_out())?;
    Some(format!("owners and attributes of folders are not brought back, as of {}", paths::line(&first.path)))
}

/// The operations that commit a change set, in order: renames of folders, modes that open folders, deletions, new
/// contents, other modes and times.
fn operations(set: &ChangeSet) -> io::Result<Vec<Operation>> {
    let (mut renames, mut stores, mut arrivals, mut facts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let stays = |entry: &Entry| matches!(entry.kind, Kind::Mode | Kind::Times);
    let outer = set.entries.iter().filter(|entry| !entry.is_inside && !stays(entry));
    let parents: BTreeSet<&Path> = outer.filter_map(|entry| entry.path.parent()).collect();
    let mut folders = closed_folders(&parents)?;
    for (at, entry) in set.entries.iter().enumerate().filter(|(_, entry)| !entry.is_inside) {
        let number = u64::try_from(at).unwrap_or(u64::MAX);
        let (path, source, tree) = (entry.path.clone(), entry.source.clone(), entry.tree.clone().unwrap_or_default());
        let (before, after) = (entry.before.clone(), entry.after.clone());
        let old = entry.old.ok_or(io::ErrorKind::InvalidData);
        match &entry.kind {
            Kind::Renamed { from } => {
                renames.push(Operation::Rename { from: from.clone(), to: path, old: old?, tree });
            }
            Kind::Deleted => stores.push(Operation::Store { path, before, old: old?, tree, number }),
            Kind::Created => {
                let (new, below) = (identity(entry)?, below(set, at));
                arrivals.push(Operation::Put { path, source, after, new, number, below });
            }
            Kind::Changed | Kind::Replaced => {
                let (old, new, tree, below) = (old?, identity(entry)?, entry.tree.clone(), below(set, at));
                // A content that is stored to be created again has its number in the state.
                let before = if tree.is_none() { before.stored_as(Some(number)) } else { before };
                let from_layer = Operation::Exchange { path, source, before, after, old, new, tree, number, below };
                arrivals.push(from_layer);
            }
            Kind::Times => {
                facts.push(Operation::Facts { path, before, after, old: old?, closes_to: None, source: None });
            }
            Kind::Mode => {
                let source = (entry.attributes.0 != entry.attributes.1).then_some(source);
                folders.insert(path, Facts { before, after, old: old?, source });
            }
        }
    }
    let mut openings = Vec::new();
    // A folder's mode may deny access to entries below it: the deepest folders come first, and those that must be open
    // before all others.
    for (path, Facts { mut before, after, old, source }) in folders.into_iter().rev() {
        if is_closed(&before) && parents.contains(path.as_path()) {
            let closes_to = after.facts().map(|facts| facts.mode);
            let open = opened(&before);
            let (path, after) = (path.clone(), open.clone());
            openings.push(Operation::Facts { path, before, after, old, closes_to, source: None });
            before = open;
        }
        if before != after || source.is_some() {
            facts.push(Operation::Facts { path, before, after, old, closes_to: None, source });
        }
    }
    openings.reverse();
    Ok([renames, openings, stores, arrivals, facts].into_iter().flatten().collect())
}

/// A change of mode, owner or attributes that a commit makes on an existing path.
struct Facts {
    before: State,
    after: State,
    old: Identity,
    source: Option<PathBuf>,
}

/// Whether the state is that of a folder whose mode denies its owner access; never if artoo runs as root.
fn is_closed(state: &State) -> bool {
    let mode = if let State::Folder(facts) = state { facts.mode } else { OWNER };
    mode & OWNER != OWNER && !geteuid().is_root()
}

/// The state of a folder with the permissions that its owner needs to change its entries; other states unchanged.
fn opened(state: &State) -> State {
    let mut state = state.clone();
    if let State::Folder(facts) = &mut state {
        facts.mode |= OWNER;
    }
    state
}

/// Those of the given real folders that are the user's own and deny the owner access, with their present state; missing
/// ones are skipped.
fn closed_folders(parents: &BTreeSet<&Path>) -> io::Result<BTreeMap<PathBuf, Facts>> {
    let mut closed = BTreeMap::new();
    for folder in parents {
        // An entry that does not exist yet moves with its folder.
        let Ok(place) = Place::of(folder) else { continue };
        let Some(found) = stat(&place.folder, &place.name)? else { continue };
        let state = of_stat(&place.folder, &place.name, &found)?;
        if is_closed(&state) && found.st_uid == geteuid().as_raw() {
            let (before, after, old) = (state.clone(), state, Identity::of(&found));
            closed.insert(folder.to_path_buf(), Facts { before, after, old, source: None });
        }
    }
    Ok(closed)
}

/// The entries below a new folder of the change set, as changes for the undo journal.
fn below(set: &ChangeSet, at: usize) -> Vec<Change> {
    let Some(root) = set.entries.get(at).map(|entry| &entry.path) else { return Vec::new() };
    // In sorted order, a folder comes right before its entries.
    let inside = set.entries.iter().skip(at + 1).take_while(|entry| entry.path.starts_with(root));
    let new = inside.filter(|entry| entry.is_inside && entry.kind == Kind::Created);
    new.map(|entry| Change { path: entry.path.clone(), before: State::Absent, after: entry.after.clone() }).collect()
}

/// The device and inode of an entry's new file in the layer.
fn identity(entry: &Entry) -> io::Result<Identity> {
    match (&entry.link_of, entry.new) {
        (Some(_), _) => Identity::at(&Place::of(&entry.source)?)?.ok_or_else(|| io::ErrorKind::NotFound.into()),
        (None, Some(new)) => Ok(new),
        (None, None) => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// Removes the overlay's own attributes from a file or folder in a layer before it is moved to its real path.
fn clean(path: &Path) -> io::Result<()> {
    let place = Place::of(path)?;
    let Some(found) = stat(&place.folder, &place.name)? else { return Ok(()) };
    let is_folder = rustix::fs::FileType::from_raw_mode(found.st_mode).is_dir();
    let flags = if is_folder { OFlags::RDONLY | OFlags::DIRECTORY } else { OFlags::RDONLY };
    let opened = open_in_layer(&place.folder, &place.name, flags)?;
    let attributes = Attributes::of_layer(&opened)?;
    let mode = found.st_mode & 0o7777;
    if mode & 0o200 != 0 {
        return attributes.clean(&opened);
    }
    with_mode(&place.open_path()?, mode | 0o200, mode, || attributes.clean(&opened))
}

/// Sets the mode of a folder in a layer to what `change` makes of its present mode.
fn set_mode(folder: &Path, change: impl FnOnce(u32) -> u32) -> io::Result<()> {
    let held = Place::of(folder)?.open_path()?;
    let mode = rustix::fs::fstat(&held)?.st_mode & 0o7777;
    let wanted = change(mode);
    if mode == wanted { Ok(()) } else { chmod_opened(&held, wanted) }
}

/// Replaces a copy in a layer by a hard link to the real file of which it is an unchanged copy.
fn link(entry: &Entry, existing: &Path) -> io::Result<()> {
    in_folder(&entry.source, |place| {
        let existing = Place::of(existing)?;
        let passing = Place { folder: rustix::io::dup(&place.folder)?, name: ".artoo-link".into() };
        linkat(&existing.folder, &existing.name, &passing.folder, &passing.name, AtFlags::empty())?;
        let renamed = rustix::fs::renameat(&passing.folder, &passing.name, &place.folder, &place.name);
        Ok(renamed.inspect_err(|_| {
            let _ = unlinkat(&passing.folder, &passing.name, AtFlags::empty());
        })?)
    })
}

/// Calls `act` with a place in a layer, and afterwards restores the modification time of the folder that it is in.
fn in_folder(path: &Path, act: impl FnOnce(&Place) -> io::Result<()>) -> io::Result<()> {
    let place = Place::of(path)?;
    let folder = Place::of(path.parent().ok_or(io::ErrorKind::InvalidInput)?)?;
    let found = stat(&folder.folder, &folder.name)?.ok_or(io::ErrorKind::NotFound)?;
    act(&place)?;
    let state = of_stat(&folder.folder, &folder.name, &found)?;
    state.facts().map_or(Ok(()), |facts| set_time(&folder, facts))
}
