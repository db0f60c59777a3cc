//! Reading the change set: the upper layers of a view beside the real folders they lie on.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fd::OwnedFd;
use rustix::fs::{FileType, OFlags, Stat, fstat};

use super::content::{LayerFolder, Side, open};
use super::renames::{is_whiteout, is_whole, joined};
use super::set::{ChangeSet, Entry, Kind, Layer};
use super::shared::SharedNames;
use super::{incidental, set};
use crate::limit::Limit;
use crate::openat::Place;
use crate::undo::{Attributes, Identity, State, Touched, fingerprint, list, names, of_stat, stat};
use crate::{digest, paths};

/// Files and folders that one command may change in a view, those in deleted folders counted.
#[doc(alias = "limit")]
pub(crate) const ENTRIES_MAX: usize = 400_000;

/// Folders inside folders; deeper ones are made to exhaust whoever follows them.
const DEPTH_MAX: usize = 256;

/// Bytes of deleted files that are read for the record; of the rest only facts are told.
const DELETED_READ_MAX: u64 = 64 * 1024 * 1024;

/// Why a change set could not be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LookError {
    #[error("the command changed more than {ENTRIES_MAX} entries; let it change fewer at a time")]
    TooMany,
    #[error("{path} lies deeper than {DEPTH_MAX} folders, which is not committed")]
    TooDeep { path: String },
    #[error("{path} was changed by another program while the command ran")]
    Conflict { path: String },
    #[error("what the command changed could not be looked at in time")]
    TimedOut,
    #[error("{path} could not be looked at: {source}")]
    Io {
        path: String,
        #[source]
        source: io::Error,
    },
}

/// Reads what differs. `renames`: folders that were renamed in the view by copying, oldest first. `started`: when the
/// command was started.
///
/// # Errors
/// [`LookError`] where the layers can't be read whole, or something that differs is no longer what the command found:
/// then nothing of them may be committed.
pub(crate) fn look(
    layers: &[Layer],
    renames: &[(PathBuf, PathBuf)],
    started: SystemTime,
    limit: &Limit,
) -> Result<ChangeSet, LookError> {
    let all = joined(renames);
    let renames = all.iter().filter(|(from, to)| is_whole(layers, &all, from, to)).cloned().collect();
    let since = started.duration_since(UNIX_EPOCH).unwrap_or_default();
    let started = (since.as_secs().cast_signed(), i64::from(since.subsec_nanos()));
    let set = ChangeSet { started, ..ChangeSet::default() };
    let mut look =
        Look { limit, set, renames, shared: SharedNames::default(), deleted_bytes: 0, late: BTreeSet::new() };
    for layer in layers {
        look.layer(layer)?;
    }
    let mut set = look.set;
    look.shared.tell(&mut set.entries);
    set.entries.sort_by(|one, two| one.path.cmp(&two.path));
    incidental::set_aside(&mut set, limit);
    match set.entries.iter().find(|entry| look.late.contains(&entry.path)) {
        Some(entry) => Err(LookError::Conflict { path: paths::line(&entry.path) }),
        None => Ok(set),
    }
}

struct Look<'a> {
    limit: &'a Limit,
    set: ChangeSet,
    renames: Vec<(PathBuf, PathBuf)>,
    shared: SharedNames,
    deleted_bytes: u64,
    /// What really changed after the command was started.
    late: BTreeSet<PathBuf>,
}

/// A folder of a layer and the real one it lies on.
struct Here<'a> {
    upper: &'a OwnedFd,
    real: Option<&'a OwnedFd>,
    path: &'a Path,
    source: &'a Path,
    depth: usize,
}

/// One name in a folder of a layer.
struct Name<'a> {
    here: &'a Here<'a>,
    name: &'a OsStr,
    path: PathBuf,
    source: PathBuf,
    /// What stands in the layer.
    new: Stat,
}

impl Look<'_> {
    fn layer(&mut self, layer: &Layer) -> Result<(), LookError> {
        let failed = |path: &Path| {
            let path = path.to_path_buf();
            move |error: io::Error| problem(&path, error)
        };
        let reach = |path: &Path| Place::of(path).and_then(|place| place.open_folder());
        let upper = reach(&layer.upper).map_err(failed(&layer.upper))?;
        let real = reach(&layer.lower).map_err(failed(&layer.lower))?;
        let (new, old) = (
            fstat(&upper).map_err(|error| problem(&layer.upper, error.into()))?,
            fstat(&real).map_err(|error| problem(&layer.lower, error.into()))?,
        );
        let (path, source) = (layer.lower.as_path(), layer.upper.as_path());
        self.folder_itself((&upper, &new), (Some(&real), &old), path, source).map_err(failed(path))?;
        self.folder(&Here { upper: &upper, real: Some(&real), path, source, depth: 0 }, false)
    }

    /// Everything in a folder of a layer. `hides`: what the layer does not hold of it is deleted.
    fn folder(&mut self, here: &Here<'_>, hides: bool) -> Result<(), LookError> {
        if here.depth > DEPTH_MAX {
            return Err(LookError::TooDeep { path: paths::line(here.path) });
        }
        let failed = |error| problem(here.path, error);
        let inside = names(here.upper).map_err(failed)?;
        for name in &inside {
            let path = here.path.join(name);
            let Some(new) = stat(here.upper, name).map_err(failed)? else { continue };
            let name = Name { here, name, source: here.source.join(name), path, new };
            self.name(&name)?;
        }
        if let Some(real) = here.real.filter(|_| hides) {
            for name in names(real).map_err(failed)?.iter().filter(|name| inside.binary_search(name).is_err()) {
                if let Some(old) = stat(real, name).map_err(failed)? {
                    self.deleted(real, name, &here.path.join(name), &old, false)?;
                }
            }
        }
        Ok(())
    }

    fn name(&mut self, name: &Name<'_>) -> Result<(), LookError> {
        if self.limit.reached() {
            return Err(LookError::TimedOut);
        }
        let is_gone = self.renames.iter().any(|(from, _)| *from == name.path);
        let real = name.here.real.filter(|_| !is_gone);
        let old = match real {
            Some(real) => stat(real, name.name).map_err(|error| problem(&name.path, error))?,
            None => None,
        };
        let arrived = self.renames.iter().find(|(_, to)| *to == name.path).map(|(from, _)| from.clone());
        let kind = |found: &Stat| FileType::from_raw_mode(found.st_mode);
        match (old, real) {
            _ if arrived.is_some() => self.renamed(name, arrived.unwrap_or_default()),
            (Some(old), Some(real)) if is_whiteout(&name.new) => self.deleted(real, name.name, &name.path, &old, false),
            _ if is_whiteout(&name.new) => {
                self.set.residue.push(name.source.clone());
                Ok(())
            }
            (Some(old), Some(real)) if kind(&name.new) == kind(&old) => self.both(name, real, &old),
            (Some(old), Some(real)) => self.replaced(name, real, &old),
            _ => self.created(name),
        }
    }

    fn created(&mut self, name: &Name<'_>) -> Result<(), LookError> {
        let failed = |error| problem(&name.path, error);
        let (after, attributes) = self.new_state(name).map_err(failed)?;
        let is_inside = name.here.real.is_none();
        self.shared.note(&name.new, Some(self.set.entries.len()), None);
        let entry = Entry {
            kind: Kind::Created,
            after,
            attributes: (None, attributes.digest()),
            gains_capability: attributes.capability().is_some(),
            is_inside,
            new: Some(Identity::of(&name.new)),
            ..blank(&name.path, &name.source)
        };
        self.push(entry)?;
        self.inside_new(name)
    }

    /// What a new folder holds.
    fn inside_new(&mut self, name: &Name<'_>) -> Result<(), LookError> {
        if !FileType::from_raw_mode(name.new.st_mode).is_dir() {
            return Ok(());
        }
        let opened = LayerFolder::open(name.here.upper, name.name).map_err(|error| problem(&name.path, error))?;
        let (path, source, upper) = (name.path.as_path(), name.source.as_path(), &opened.folder);
        self.folder(&Here { upper, real: None, path, source, depth: name.here.depth + 1 }, false)
    }

    fn replaced(&mut self, name: &Name<'_>, real: &OwnedFd, old: &Stat) -> Result<(), LookError> {
        let failed = |error| problem(&name.path, error);
        let (after, attributes) = self.new_state(name).map_err(failed)?;
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

    /// The same kind of thing stands at both sides.
    fn both(&mut self, name: &Name<'_>, real: &OwnedFd, old: &Stat) -> Result<(), LookError> {
        let failed = |error| problem(&name.path, error);
        match FileType::from_raw_mode(old.st_mode) {
            FileType::Directory => {
                let flags = OFlags::DIRECTORY | OFlags::RDONLY;
                let opened = LayerFolder::open(name.here.upper, name.name).map_err(failed)?;
                let upper = &opened.folder;
                let (path, source) = (name.path.as_path(), name.source.as_path());
                let below = match open(real, name.name, flags, Side::Real) {
                    // One that its own mode keeps shut may be given another; what is in it stays unknown.
                    Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                        if !names(upper).map_err(failed)?.is_empty() {
                            return Err(failed(error));
                        }
                        return self
                            .folder_itself((upper, &name.new), (None, old), path, source)
                            .map(drop)
                            .map_err(failed);
                    }
                    opened => opened.map_err(failed)?,
                };
                let is_opaque =
                    self.folder_itself((upper, &name.new), (Some(&below), old), path, source).map_err(failed)?;
                let depth = name.here.depth + 1;
                self.folder(&Here { upper, real: Some(&below), path, source, depth }, is_opaque)
            }
            FileType::RegularFile => self.file(name, real, old),
            FileType::Symlink => {
                let before = of_stat(real, name.name, old).map_err(failed)?;
                let (after, _) = self.new_state(name).map_err(failed)?;
                if before == after { Ok(()) } else { self.push_both(name, (before, after), old, None) }
            }
            FileType::Fifo | FileType::Socket | FileType::CharacterDevice | FileType::BlockDevice => {
                let before = of_stat(real, name.name, old).map_err(failed)?;
                let (after, _) = self.new_state(name).map_err(failed)?;
                let is_same = before.same(&after) && old.st_rdev == name.new.st_rdev;
                if is_same { Ok(()) } else { self.replaced(name, real, old) }
            }
            FileType::Unknown => self.replaced(name, real, old),
        }
    }

    /// A folder's own mode, owner and attributes; whether it hides what it lies on.
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
            if (was.mode, was.owner, was.group) != (is.mode, is.owner, is.group) || attributes.0 != attributes.1 {
                self.note_late(path, old);
                let (before, after, old) = (before.clone(), after.clone(), Some(Identity::of(old)));
                let kind = Kind::Mode;
                self.set.entries.push(Entry { kind, before, after, attributes, old, ..blank(path, source) });
            }
            let touched = Touched { path: path.to_path_buf(), facts: is.clone(), old: Identity::of(old) };
            let times = if was.same_time(is) { &mut self.set.folders } else { &mut self.set.touched };
            times.push(touched);
        }
        Ok(attached.is_opaque)
    }

    fn file(&mut self, name: &Name<'_>, real: &OwnedFd, old: &Stat) -> Result<(), LookError> {
        let failed = |error| problem(&name.path, error);
        let (after, attached) = self.new_state(name).map_err(failed)?;
        let mut before = of_stat(real, name.name, old).map_err(failed)?;
        let was_attached = match open(real, name.name, OFlags::RDONLY, Side::Real) {
            Ok(opened) => {
                let attached = Attributes::of(&opened).map_err(failed)?;
                self.read_into(&mut before, opened).map_err(failed)?;
                attached
            }
            // Its mode keeps it shut: it is known by its facts alone.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Attributes::default(),
            Err(error) => return Err(failed(error)),
        };
        let attributes = (was_attached.digest(), attached.digest());
        let (State::File(was), State::File(is)) = (&before, &after) else { return Ok(()) };
        let is_same_content = was.digest.is_some() && was.digest == is.digest;
        let is_same_owner = (was.facts.owner, was.facts.group) == (is.facts.owner, is.facts.group);
        if !is_same_content || !is_same_owner || attributes.0 != attributes.1 {
            let capability = attached.capability().filter(|_| attached.capability() != was_attached.capability());
            let attributes = Some((attributes, capability.is_some()));
            return self.push_both(name, (before, after), old, attributes);
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
        self.push(Entry { kind, before, after, attributes, old, new, ..blank(&name.path, &name.source) })
    }

    fn push_both(
        &mut self,
        name: &Name<'_>,
        (before, after): (State, State),
        old: &Stat,
        attributes: Option<(set::AttributeDigests, bool)>,
    ) -> Result<(), LookError> {
        self.note_late(&name.path, old);
        // What the state does not tell, or what has other names, is stored as it is.
        let (attributes, gains_capability) = attributes.unwrap_or_default();
        let is_plain =
            before.file().is_none_or(|file| file.digest.is_some() && file.links <= 1 && attributes.0.is_none());
        let same_owner =
            before.facts().zip(after.facts()).is_none_or(|(was, is)| (was.owner, was.group) == (is.owner, is.group));
        let all = [(name.path.clone(), before.clone())];
        let tree = (!is_plain || !same_owner || attributes.1.is_some()).then(|| fingerprint(&name.path, &all));
        let (old, new) = (Some(Identity::of(old)), Some(Identity::of(&name.new)));
        self.shared.note(&name.new, Some(self.set.entries.len()), None);
        self.push(Entry {
            kind: Kind::Changed,
            before,
            after,
            attributes,
            gains_capability,
            old,
            new,
            tree,
            ..blank(&name.path, &name.source)
        })
    }

    fn renamed(&mut self, name: &Name<'_>, from: PathBuf) -> Result<(), LookError> {
        let failed = |error| problem(&name.path, error);
        let place = Place::of(&from).map_err(failed)?;
        let old = stat(&place.folder, &place.name).map_err(failed)?.ok_or(io::ErrorKind::NotFound);
        let old = old.map_err(|error| failed(error.into()))?;
        let all = list(&place, &from, self.limit, &mut |_, _| Ok(())).map_err(failed)?;
        let opened = LayerFolder::open(name.here.upper, name.name).map_err(failed)?;
        let upper = &opened.folder;
        let real = place.open_folder().map_err(failed)?;
        let before = of_stat(&place.folder, &place.name, &old).map_err(failed)?;
        self.push(Entry {
            kind: Kind::Renamed { from: from.clone() },
            after: before.clone(),
            before,
            old: Some(Identity::of(&old)),
            tree: Some(fingerprint(&from, &all)),
            ..blank(&name.path, &name.source)
        })?;
        let (path, source) = (name.path.as_path(), name.source.as_path());
        self.folder_itself((upper, &name.new), (Some(&real), &old), path, source).map_err(failed)?;
        self.folder(&Here { upper, real: Some(&real), path, source, depth: name.here.depth + 1 }, true)
    }

    /// What was really there and is no more, a folder with all in it. `is_replaced`: something else is there now.
    fn deleted(
        &mut self,
        real: &OwnedFd,
        name: &OsStr,
        path: &Path,
        old: &Stat,
        is_replaced: bool,
    ) -> Result<(), LookError> {
        let failed = |error| problem(path, error);
        let folder = rustix::io::dup(real).map_err(|error| failed(error.into()))?;
        let place = Place { folder, name: name.to_owned() };
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
        let all = list(&place, path, limit, &mut read).map_err(failed)?;
        self.late.extend(all.iter().zip(late).filter(|(_, is_late)| *is_late).map(|((path, _), _)| path.clone()));
        let tree = fingerprint(path, &all);
        // A small file or a link that something else replaces can be made again from what is known of it.
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
                ..blank(&path, Path::new(""))
            })?;
        }
        Ok(())
    }

    /// The state of what stands in the layer, its content read, and what is attached to it.
    fn new_state(&mut self, name: &Name<'_>) -> io::Result<(State, Attributes)> {
        let mut state = of_stat(name.here.upper, name.name, &name.new)?;
        let flags = match &state {
            State::File(_) => OFlags::RDONLY,
            State::Folder(_) => OFlags::RDONLY | OFlags::DIRECTORY,
            State::Absent | State::Link { .. } | State::Pipe(_) | State::Odd { .. } => {
                return Ok((state, Attributes::default()));
            }
        };
        let opened = open(name.here.upper, name.name, flags, Side::Layer)?;
        let attributes = Attributes::of_layer(&opened)?;
        if attributes.is_marked() {
            self.set.marked.push(name.source.clone());
        }
        if matches!(state, State::File(_)) {
            self.read_into(&mut state, opened)?;
        }
        Ok((state, attributes))
    }

    fn note_late(&mut self, path: &Path, old: &Stat) {
        if is_late(old, self.set.started) {
            self.late.insert(path.to_path_buf());
        }
    }

    fn read_into(&mut self, state: &mut State, opened: OwnedFd) -> io::Result<()> {
        if let State::File(file) = state {
            file.digest = Some(digest::of_whole(&mut File::from(opened), self.limit)?);
        }
        Ok(())
    }

    fn push(&mut self, entry: Entry) -> Result<(), LookError> {
        if self.set.entries.len() >= ENTRIES_MAX {
            return Err(LookError::TooMany);
        }
        self.set.entries.push(entry);
        Ok(())
    }
}

fn blank(path: &Path, source: &Path) -> Entry {
    Entry { path: path.to_path_buf(), source: source.to_path_buf(), ..Entry::default() }
}

/// Whether it was changed after that, as far as its file system tells: some keep whole seconds alone. The clock of file
/// times stands still for some milliseconds, in which no command starts and changes something.
#[expect(clippy::useless_conversion, reason = "the widths differ between systems")]
fn is_late(found: &Stat, (seconds, nanoseconds): (i64, i64)) -> bool {
    let (s, ns) = (found.st_ctime, i64::try_from(found.st_ctime_nsec).unwrap_or(0));
    (s, ns) > (seconds, nanoseconds) || (s == seconds && ns == 0)
}

/// Whether a file has attributes, or may have some.
fn is_attached(place: &Place) -> bool {
    place.open_file().and_then(Attributes::of).map_or(true, |attributes| attributes.digest().is_some())
}

fn problem(path: &Path, source: io::Error) -> LookError {
    if source.kind() == io::ErrorKind::TimedOut {
        return LookError::TimedOut;
    }
    LookError::Io { path: paths::line(path), source }
}
