//! Reading the change set: compares the upper layers of a view with the real folders.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fd::OwnedFd;
use rustix::fs::{FileType, OFlags, Stat, fstat};

use super::content::{LayerFolder, open, open_in_layer};
use super::renames::{is_whiteout, is_whole, joined};
use super::set::{ChangeSet, Entry, Kind, Layer};
use super::shared::SharedNames;
use super::{incidental, set};
use crate::limit::Limit;
use crate::openat::Place;
use crate::undo::{Attributes, Identity, State, Touched, fingerprint, list, names, of_stat, stat};
use crate::{digest, paths};

/// Maximum number of files and folders that one command may change in a view, including those in deleted folders.
#[doc(alias = "limit")]
pub(crate) const ENTRIES_MAX: usize = 400_000;

/// Maximum depth of folders in a layer that is compared.
const DEPTH_MAX: usize = 256;

/// Maximum bytes of deleted files, in total, that are read to compute digests for the record.
const DELETED_READ_MAX: u64 = 64 * 1024 * 1024;

/// Why a change set could not be read: too many or too deep entries, changed by another program meanwhile, too slow, or
/// an I/O error.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ScanError {
    #[error("the command changed more than {ENTRIES_MAX} entries; let it change fewer at a time")]
    TooMany,
    #[error("{path} lies deeper than {DEPTH_MAX} folders, which is not committed")]
    TooDeep { path: String },
    #[error("{path} was changed by another program while the command ran")]
    Conflict { path: String },
    #[error("the changes of the command could not be read in time")]
    TimedOut,
    #[error("{path} could not be read: {source}")]
    Io {
        path: String,
        #[source]
        source: io::Error,
    },
}

/// Reads the change set from a view's layers. `renames`: folders renamed in the view, oldest first. `started`: when the
/// command was started.
///
/// # Errors
/// [`ScanError`] if the layers can't be read completely, or another program changed the same files during the run; then
/// nothing may be committed.
pub(crate) fn scan_changes(
    layers: &[Layer],
    renames: &[(PathBuf, PathBuf)],
    started: SystemTime,
    limit: &Limit,
) -> Result<ChangeSet, ScanError> {
    let all = joined(renames);
    let renames = all.iter().filter(|(from, to)| is_whole(layers, &all, from, to)).cloned().collect();
    let since = started.duration_since(UNIX_EPOCH).unwrap_or_default();
    let started = (since.as_secs().cast_signed(), i64::from(since.subsec_nanos()));
    let set = ChangeSet { started, ..ChangeSet::default() };
    let mut look =
        ChangeScan { limit, set, renames, shared: SharedNames::default(), deleted_bytes: 0, late: BTreeSet::new() };
    for layer in layers {
        look.layer(layer).map_err(|error| problem(&layer.lower, error))?;
    }
    let mut set = look.set;
    look.shared.set_links(&mut set.entries);
    set.entries.sort_by(|one, two| one.path.cmp(&two.path));
    incidental::set_aside(&mut set, limit);
    match set.entries.iter().find(|entry| look.late.contains(&entry.path)) {
        Some(entry) => Err(ScanError::Conflict { path: paths::line(&entry.path) }),
        None => Ok(set),
    }
}

/// A comparison of a view's layers with the real files, in progress: the change set so far and what is needed to
/// complete it.
struct ChangeScan<'a> {
    limit: &'a Limit,
    set: ChangeSet,
    renames: Vec<(PathBuf, PathBuf)>,
    shared: SharedNames,
    deleted_bytes: u64,
    /// Real files and folders that were changed after the command was started.
    late: BTreeSet<PathBuf>,
}

/// A folder of a layer with the real folder of the same path, if that exists.
struct FolderPair<'a> {
    upper: &'a OwnedFd,
    real: Option<&'a OwnedFd>,
    path: &'a Path,
    source: &'a Path,
    depth: usize,
}

/// One name in a folder of a layer, with its path and its `stat` in the layer.
struct Name<'a> {
    here: &'a FolderPair<'a>,
    name: &'a OsStr,
    path: PathBuf,
    source: PathBuf,
    /// The `stat` of the name in the layer.
    new: Stat,
}

impl ChangeScan<'_> {
    /// Adds the changes of one layer to the set.
    fn layer(&mut self, layer: &Layer) -> io::Result<()> {
        let (path, source) = (layer.lower.as_path(), layer.upper.as_path());
        let (upper, real) = (Place::of(source)?.open_folder()?, Place::of(path)?.open_folder()?);
        self.folder_itself((&upper, &fstat(&upper)?), (Some(&real), &fstat(&real)?), path, source)?;
        self.folder(&FolderPair { upper: &upper, real: Some(&real), path, source, depth: 0 }, false)
    }

    /// Compares all entries of a layer's folder with the real one. `hides`: real entries that are not in the layer are
    /// deleted.
    fn folder(&mut self, here: &FolderPair<'_>, hides: bool) -> io::Result<()> {
        if here.depth > DEPTH_MAX {
            return Err(io::Error::other(ScanError::TooDeep { path: paths::line(here.path) }));
        }
        let inside = names(here.upper)?;
        for name in &inside {
            let path = here.path.join(name);
            let Some(new) = stat(here.upper, name)? else { continue };
            let name = Name { here, name, source: here.source.join(name), path, new };
            self.name(&name).map_err(|error| io::Error::other(problem(&name.path, error)))?;
        }
        if let Some(real) = here.real.filter(|_| hides) {
            for name in names(real)?.iter().filter(|name| inside.binary_search(name).is_err()) {
                if let Some(old) = stat(real, name)? {
                    self.deleted(real, name, &here.path.join(name), &old, false)?;
                }
            }
        }
        Ok(())
    }

    /// Compares one name of a layer with the real name and adds the change.
    fn name(&mut self, name: &Name<'_>) -> io::Result<()> {
        if self.limit.reached() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        if let Some((from, _)) = self.renames.iter().find(|(_, to)| *to == name.path) {
            let from = from.clone();
            return self.renamed(name, &from);
        }
        let is_gone = self.renames.iter().any(|(from, _)| *from == name.path);
        let real = name.here.real.filter(|_| !is_gone);
        let old = real.map(|real| stat(real, name.name)).transpose()?.flatten();
        let kind = |found: &Stat| FileType::from_raw_mode(found.st_mode);
        match old.zip(real) {
            Some((old, real)) if is_whiteout(&name.new) => self.deleted(real, name.name, &name.path, &old, false),
            None if is_whiteout(&name.new) => {
                self.set.residue.push(name.source.clone());
                Ok(())
            }
            Some((old, real)) if kind(&name.new) == kind(&old) => self.compare_same_kind(name, real, &old),
            Some((old, real)) => self.replaced(name, real, &old),
            None => self.created(name),
        }
    }

    /// Adds a file, folder or link that does not exist in the real folder.
    fn created(&mut self, name: &Name<'_>) -> io::Result<()> {
        let (after, attributes) = self.new_state(name)?;
        let is_inside = name.here.real.is_none();
        self.shared.note(&name.new, Some(self.set.entries.len()), None);
        let entry = Entry {
            kind: Kind::Created,
            after,
            attributes: (None, attributes.digest()),
            gains_capability: attributes.capability().is_some(),
            is_inside,
            new: Some(Identity::of(&name.new)),
            ..entry_with_paths(&name.path, &name.source)
        };
        self.push(entry)?;
        self.inside_new(name)
    }

    /// Adds the entries of a folder that is new in the layer, all of them as new; does nothing for other files.
    fn inside_new(&mut self, name: &Name<'_>) -> io::Result<()> {
        if !FileType::from_raw_mode(name.new.st_mode).is_dir() {
            return Ok(());
        }
        let opened = LayerFolder::open(name.here.upper, name.name)?;
        let (path, source, upper) = (name.path.as_path(), name.source.as_path(), &opened.folder);
        self.folder(&FolderPair { upper, real: None, path, source, depth: name.here.depth + 1 }, false)
    }

    /// Adds a name whose kind differs from the real one, such as a file in place of a folder.
    fn replaced(&mut self, name: &Name<'_>, real: &OwnedFd, old: &Stat) -> io::Result<()> {
        let (after, attributes) = self.new_state(name)?;
        let at = self.set.entries.len();
        self.deleted(real, name.name, &name.path, old, true)?;
        if let Some(entry) = self.set.entries.get_mut(at) {
            entry.kind = Kind::Replaced;
            entry.after = after;
            entry.attributes.1 = attributes.digest();
            entry.gains_capability = attributes.capability().is_some();
            entry.new = Some(Identity::of(&name.new));
            entry.source.clone_from(&name.source);
        }
        self.shared.note(&name.new, Some(at), None);
        self.inside_new(name)
    }

    /// Compares an entry that has the same file type in the layer and in the real folder.
    fn compare_same_kind(&mut self, name: &Name<'_>, real: &OwnedFd, old: &Stat) -> io::Result<()> {
        match FileType::from_raw_mode(old.st_mode) {
            FileType::Directory => {
                let flags = OFlags::DIRECTORY | OFlags::RDONLY;
                let opened = LayerFolder::open(name.here.upper, name.name)?;
                let upper = &opened.folder;
                let (path, source) = (name.path.as_path(), name.source.as_path());
                let below = match open(real, name.name, flags) {
                    // A folder whose mode denies its owner access may get another mode; its content stays unknown.
                    Err(error) if is_denied(&error) && names(upper)?.is_empty() => {
                        return self.folder_itself((upper, &name.new), (None, old), path, source).map(drop);
                    }
                    opened => opened?,
                };
                let is_opaque = self.folder_itself((upper, &name.new), (Some(&below), old), path, source)?;
                let depth = name.here.depth + 1;
                self.folder(&FolderPair { upper, real: Some(&below), path, source, depth }, is_opaque)
            }
            FileType::RegularFile => self.file(name, real, old),
            FileType::Symlink => {
                let (before, after) = (of_stat(real, name.name, old)?, self.new_state(name)?.0);
                if before == after { Ok(()) } else { self.changed(name, (before, after), old, (None, None), false) }
            }
            FileType::Fifo | FileType::Socket | FileType::CharacterDevice | FileType::BlockDevice => {
                let is_same = of_stat(real, name.name, old)?.same(&self.new_state(name)?.0);
                if is_same && old.st_rdev == name.new.st_rdev { Ok(()) } else { self.replaced(name, real, old) }
            }
            FileType::Unknown => self.replaced(name, real, old),
        }
    }

    /// Compares a folder's mode, owner, attributes and times with the real one and notes what differs; returns whether
    /// the layer's folder hides the real folder's entries.
    fn folder_itself(
        &mut self,
        (upper, new): (&OwnedFd, &Stat),
        (real, old): (Option<&OwnedFd>, &Stat),
        path: &Path,
        source: &Path,
    ) -> io::Result<bool> {
        let (after, before) = (of_stat(upper, OsStr::new(""), new)?, of_stat(upper, OsStr::new(""), old)?);
        let attached = Attributes::of_layer(upper)?;
        let was_attached = real.map(Attributes::of).transpose()?;
        let attributes = (was_attached.and_then(|attached| attached.digest()), attached.digest());
        if let Some((was, is)) = before.facts().zip(after.facts()) {
            if was.mode != is.mode || !before.same_owner(&after) || attributes.0 != attributes.1 {
                self.note_late(path, old);
                let (before, after, old) = (before.clone(), after.clone(), Some(Identity::of(old)));
                let kind = Kind::Mode;
                self.set.entries.push(Entry { kind, before, after, attributes, old, ..entry_with_paths(path, source) });
            }
            let touched = Touched { path: path.to_path_buf(), facts: is.clone(), old: Identity::of(old) };
            let times = if was.same_time(is) { &mut self.set.folders } else { &mut self.set.touched };
            times.push(touched);
        }
        Ok(attached.is_opaque)
    }

    /// Compares a regular file with the real one, and adds it if content, mode, owner, attributes or times differ.
    fn file(&mut self, name: &Name<'_>, real: &OwnedFd, old: &Stat) -> io::Result<()> {
        let (after, attached) = self.new_state(name)?;
        let mut before = of_stat(real, name.name, old)?;
        let was_attached = match open(real, name.name, OFlags::RDONLY) {
            Ok(opened) => {
                let attached = Attributes::of(&opened)?;
                self.read_into(&mut before, opened)?;
                attached
            }
            // The mode denies access to the content, so the file is compared by its metadata only.
            Err(error) if is_denied(&error) => Attributes::default(),
            Err(error) => return Err(error),
        };
        let attributes = (was_attached.digest(), attached.digest());
        let (State::File(was), State::File(is)) = (&before, &after) else { return Ok(()) };
        let is_same_content = was.digest.is_some() && was.digest == is.digest;
        if !is_same_content || !before.same_owner(&after) || attributes.0 != attributes.1 {
            let gains = attached.capability().is_some() && attached.capability() != was_attached.capability();
            return self.changed(name, (before, after), old, attributes, gains);
        }
        self.shared.note(&name.new, None, Some(&name.path));
        let is_retimed = !was.facts.same_time(&is.facts);
        if is_retimed {
            let touched = Touched { path: name.path.clone(), facts: is.facts.clone(), old: Identity::of(old) };
            self.set.touched.push(touched);
        }
        let kind = if was.facts.mode == is.facts.mode { Kind::Times } else { Kind::Mode };
        if kind == Kind::Times && !is_retimed {
            return Ok(());
        }
        self.note_late(&name.path, old);
        let (old, new) = (Some(Identity::of(old)), Some(Identity::of(&name.new)));
        self.push(Entry { kind, before, after, attributes, old, new, ..entry_with_paths(&name.path, &name.source) })
    }

    /// Adds a change of a file or link whose content, owner or attributes in the layer differ from the real one.
    fn changed(
        &mut self,
        name: &Name<'_>,
        (before, after): (State, State),
        old: &Stat,
        attributes: set::AttributeDigests,
        gains_capability: bool,
    ) -> io::Result<()> {
        self.note_late(&name.path, old);
        // A file or folder with properties that the state does not have, or with other names, is stored unchanged.
        let is_plain = before.file().is_none_or(|file| file.digest.is_some() && file.links <= 1);
        let is_told = is_plain && attributes == (None, None) && before.same_owner(&after);
        let tree = (!is_told).then(|| fingerprint(&name.path, &[(name.path.clone(), before.clone())]));
        let (old, new) = (Some(Identity::of(old)), Some(Identity::of(&name.new)));
        self.shared.note(&name.new, Some(self.set.entries.len()), None);
        let entry = Entry { before, after, attributes, gains_capability, ..entry_with_paths(&name.path, &name.source) };
        self.push(Entry { old, new, tree, ..entry })
    }

    /// Adds a folder that was renamed in the view, compared with the real folder at its old path.
    fn renamed(&mut self, name: &Name<'_>, from: &Path) -> io::Result<()> {
        let place = Place::of(from)?;
        let old = stat(&place.folder, &place.name)?.ok_or(io::ErrorKind::NotFound)?;
        let all = list(&place, from, self.limit, &mut |_, _| Ok(()))?;
        let opened = LayerFolder::open(name.here.upper, name.name)?;
        let (upper, real) = (&opened.folder, place.open_folder()?);
        let before = of_stat(&place.folder, &place.name, &old)?;
        self.push(Entry {
            kind: Kind::Renamed { from: from.to_path_buf() },
            after: before.clone(),
            before,
            old: Some(Identity::of(&old)),
            tree: Some(fingerprint(from, &all)),
            ..entry_with_paths(&name.path, &name.source)
        })?;
        let (path, source) = (name.path.as_path(), name.source.as_path());
        self.folder_itself((upper, &name.new), (Some(&real), &old), path, source)?;
        self.folder(&FolderPair { upper, real: Some(&real), path, source, depth: name.here.depth + 1 }, true)
    }

    /// Adds a deletion of a real file, or of a folder with all entries. `is_replaced`: another file or folder has the
    /// path now.
    fn deleted(&mut self, real: &OwnedFd, name: &OsStr, path: &Path, old: &Stat, is_replaced: bool) -> io::Result<()> {
        let place = Place { folder: rustix::io::dup(real)?, name: name.to_owned() };
        let (limit, bytes, started) = (self.limit, &mut self.deleted_bytes, self.set.started);
        let mut late = Vec::new();
        let mut read = |place: &Place, state: &mut State| {
            late.push(stat(&place.folder, &place.name)?.is_none_or(|found| is_late(&found, started)));
            let State::File(file) = state else { return Ok(()) };
            *bytes = bytes.saturating_add(file.bytes);
            if *bytes <= DELETED_READ_MAX
                && let Ok(mut opened) = place.open_file()
            {
                file.digest = Some(digest::of_whole(&mut opened, limit)?);
            }
            Ok(())
        };
        let all = list(&place, path, limit, &mut read)?;
        self.late.extend(all.iter().zip(late).filter(|(_, is_late)| *is_late).map(|((path, _), _)| path.clone()));
        let tree = fingerprint(path, &all);
        // A small file or a link that is replaced can be created again from its recorded state.
        let is_plain = match all.first() {
            Some((_, State::File(file))) => file.digest.is_some() && file.links <= 1 && !is_attached(&place),
            Some((_, State::Link { .. })) => true,
            _ => false,
        };
        let mut tree = (!(is_replaced && is_plain)).then_some(tree);
        for (number, (path, before)) in all.into_iter().enumerate() {
            self.push(Entry {
                kind: Kind::Deleted,
                before,
                is_inside: number > 0,
                old: (number == 0).then(|| Identity::of(old)),
                tree: if number == 0 { tree.take() } else { None },
                ..entry_with_paths(&path, Path::new(""))
            })?;
        }
        Ok(())
    }

    /// The state of a name in the layer, with its content's digest, and its extended attributes.
    fn new_state(&mut self, name: &Name<'_>) -> io::Result<(State, Attributes)> {
        let mut state = of_stat(name.here.upper, name.name, &name.new)?;
        let flags = match &state {
            State::File(_) => OFlags::RDONLY,
            State::Folder(_) => OFlags::RDONLY | OFlags::DIRECTORY,
            State::Absent | State::Link { .. } | State::Pipe(_) | State::Odd { .. } => {
                return Ok((state, Attributes::default()));
            }
        };
        let opened = open_in_layer(name.here.upper, name.name, flags)?;
        let attributes = Attributes::of_layer(&opened)?;
        if attributes.is_marked() {
            self.set.marked.push(name.source.clone());
        }
        if matches!(state, State::File(_)) {
            self.read_into(&mut state, opened)?;
        }
        Ok((state, attributes))
    }

    /// Notes a real path that another program changed after the command had started.
    fn note_late(&mut self, path: &Path, old: &Stat) {
        if is_late(old, self.set.started) {
            self.late.insert(path.to_path_buf());
        }
    }

    /// Computes the digest of an opened file's content and stores it in the file's state.
    fn read_into(&mut self, state: &mut State, opened: OwnedFd) -> io::Result<()> {
        if let State::File(file) = state {
            file.digest = Some(digest::of_whole(&mut File::from(opened), self.limit)?);
        }
        Ok(())
    }

    /// Adds an entry to the change set; an error if the set has [`ENTRIES_MAX`].
    fn push(&mut self, entry: Entry) -> io::Result<()> {
        if self.set.entries.len() >= ENTRIES_MAX {
            return Err(io::Error::other(ScanError::TooMany));
        }
        self.set.entries.push(entry);
        Ok(())
    }
}

/// An entry of a change set with its paths only; its states and digests are added later.
fn entry_with_paths(path: &Path, source: &Path) -> Entry {
    Entry { path: path.to_path_buf(), source: source.to_path_buf(), ..Entry::default() }
}

/// Whether a file was changed after the run started. Where times are whole seconds, the second of the start counts too.
fn is_late(found: &Stat, started: (i64, i64)) -> bool {
    let changed = (found.st_ctime, i64::try_from(found.st_ctime_nsec).unwrap_or(0));
    changed > started || changed == (started.0, 0)
}

/// Whether a file has extended attributes, or might have some because they can't be read.
fn is_attached(place: &Place) -> bool {
    place.open_file().and_then(Attributes::of).map_or(true, |attributes| attributes.digest().is_some())
}

/// Whether an error is a denied permission.
fn is_denied(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied
}

/// Converts an I/O error to a scan error with this path; one that is a scan error already keeps its path, a timeout has
/// none.
fn problem(path: &Path, error: io::Error) -> ScanError {
    if error.kind() == io::ErrorKind::TimedOut {
        return ScanError::TimedOut;
    }
    error.downcast().unwrap_or_else(|source| ScanError::Io { path: paths::line(path), source })
}
