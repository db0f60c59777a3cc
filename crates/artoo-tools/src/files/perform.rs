//! Performs a plan step by step. The first step that fails ends it, and the record lists the steps before it.

use std::io;
use std::path::{Path, PathBuf};

use artoo_proto::{Environment, FOLDER};
use rustix::fs::{AtFlags, RenameFlags, renameat_with, statat, unlinkat};
use rustix::io::Errno;

use crate::files::copy::{self, Changes, made, removed_path};
use crate::files::plan::{Operation, Plan};
use crate::files::{edit, pack, unpack};
use crate::limit::Limit;
use crate::openat::Place;
use crate::record::Record;
use crate::undo::{Act, tree_digest};
use crate::{digest, paths, texts, trash};

/// Maximum number of steps listed in the text of a record; its list of changes has all.
const REPORTED_MAX: usize = 50;

/// Performs a plan of `files` or `trash` and returns the record.
pub(crate) fn run(plan: &Plan, environment: &Environment, mut act: Act, limit: &Limit) -> Record {
    let (mut changes, mut done) = (Changes::new(), Vec::new());
    let mut problem = None;
    if let Some(stage) = plan.stage {
        limit.meter.begin(stage);
    }
    for operation in &plan.operations {
        match operation.perform(environment, &mut changes, &mut act, limit) {
            Ok(line) => done.push(line),
            Err(error) => {
                problem = Some(format!("{}: {error}", paths::line(operation.subject())));
                break;
            }
        }
    }
    // For files changed in place, the journal compares what it saved before.
    let made = if plan.edited().is_some() { &[] } else { changes.as_slice() };
    if let Err(error) = act.end(made, limit) {
        // The journal entry stays open, and an undo compares the files again.
        problem.get_or_insert_with(|| format!("what was done is not yet noted for undo: {error}"));
    }
    let more = done.len().saturating_sub(REPORTED_MAX);
    let total = done.len();
    done.truncate(REPORTED_MAX);
    if more > 0 {
        done.push(format!("and {more} more"));
    }
    let text = done.join("\n");
    let record = match problem {
        None => Record::read(text),
        Some(problem) => {
            let of = plan.operations.len();
            let so_far =
                if total == 0 { "nothing was done".to_owned() } else { format!("{total} of {of} done:\n{text}") };
            Record::hindered(format!("{problem}\n{so_far}"))
        }
    };
    Record { measures: false, changed: changes, ..record.class(plan.class) }
}

impl Operation {
    /// The path by which the error of a failed operation names it.
    fn subject(&self) -> &Path {
        match self {
            Self::MakeFolder { to }
            | Self::MakeFile { to, .. }
            | Self::MakeLink { to, .. }
            | Self::Write { to, .. }
            | Self::SetMode { path: to, .. }
            | Self::Pack { to, .. } => to,
            Self::Copy { from, .. } | Self::Move { from, .. } | Self::Trash { from } | Self::Unpack { from, .. } => {
                from
            }
        }
    }

    /// Performs one operation of a `files` plan, adds the paths that it changed, and returns the line that reports it.
    fn perform(
        &self,
        environment: &Environment,
        changes: &mut Changes,
        act: &mut Act,
        limit: &Limit,
    ) -> io::Result<String> {
        match self {
            Self::MakeFolder { to } => {
                let place = reach(to, changes, act)?;
                place.make_folder()?;
                changes.push(made(to, FOLDER.to_owned()));
                Ok(format!("made the folder {}", paths::line(to)))
            }
            Self::MakeFile { to, text } => {
                let mut new = reach(to, changes, act)?.make_file()?;
                let written = io::Write::write_all(&mut new.file, text.as_bytes())
                    .and_then(|()| digest::of_whole(&mut new.file, limit));
                copy::finish(new, to, written, changes)?;
                Ok(format!("made {} with {}", paths::line(to), texts::exactly(text.len() as u64, "byte", "bytes")))
            }
            Self::MakeLink { to, target } => {
                edit::link(reach(to, changes, act)?, to, target, changes)?;
                Ok(format!("linked {} to {}", paths::line(to), paths::line(target)))
            }
            Self::Write { to, text, before } => {
                edit::write(to, text, before, changes, limit)?;
                Ok(format!("changed {}", paths::line(to)))
            }
            Self::SetMode { path, mode } => {
                let mode = edit::set_mode(path, *mode, changes, limit)?;
                Ok(format!("set the permissions of {} to {mode:04o}", paths::line(path)))
            }
            Self::Copy { from, to } => {
                let source = Place::of(from)?;
                copy::copy(&source, reach(to, changes, act)?, to, changes, limit)?;
                Ok(format!("copied {} → {}", paths::line(from), paths::line(to)))
            }
            Self::Move { from, to } => {
                relocate(from, to, changes, act, limit)?;
                Ok(format!("moved {} → {}", paths::line(from), paths::line(to)))
            }
            Self::Trash { from } => {
                let place = Place::of(from)?;
                let left = copy::inventory(&place, from, limit)?;
                trash::move_to_trash(environment, &place, from, &tree_digest(from, &left), act)?;
                changes.extend(left.into_iter().map(|(path, digest)| removed_path(&path, digest)));
                Ok(format!("moved {} to the trash", paths::line(from)))
            }
            Self::Pack { sources, to } => {
                let new = reach(to, changes, act)?.make_file()?;
                let (digest, entries) = pack::pack(sources, to, new, limit)?;
                changes.push(made(to, digest));
                Ok(format!("packed {} into {}", texts::exactly(entries, "entry", "entries"), paths::line(to)))
            }
            Self::Unpack { from, into } => {
                let files = unpack::unpack(from, into, changes, act, limit)?;
                Ok(format!("unpacked {} into {}", texts::exactly(files, "file", "files"), paths::line(into)))
            }
        }
    }
}

/// Opens the folder for a path that is about to be created; missing folders are created and recorded.
fn reach(path: &Path, changes: &mut Changes, act: &mut Act) -> io::Result<Place> {
    act.creating(path)?;
    let mut folders: Vec<PathBuf> = Vec::new();
    let place = Place::making_folders(path, &mut folders);
    changes.extend(folders.iter().map(|folder| made(folder, FOLDER.to_owned())));
    place
}

/// Moves a file or folder and records it in the undo journal.
fn relocate(from: &Path, to: &Path, changes: &mut Changes, act: &mut Act, limit: &Limit) -> io::Result<()> {
    let source = Place::of(from)?;
    let before = copy::inventory(&source, from, limit)?;
    let target = match to.parent() {
        // Only the missing folders are created; the path itself is moved there.
        Some(parent) if !parent.is_dir() => reach(to, changes, act)?,
        _ => Place::of(to)?,
    };
    let tree = tree_digest(from, &before);
    act.moving(from, to, &tree)?;
    move_item(Side { place: source, path: from }, Side { place: target, path: to }, &before, changes, limit)?;
    act.moved(from, to, &tree)?;
    changes.extend(before.into_iter().map(|(path, digest)| removed_path(&path, digest)));
    Ok(())
}

/// One end of a move, source or target: its path and its place in an open folder.
pub(crate) struct Side<'a> {
    pub(crate) place: Place,
    pub(crate) path: &'a Path,
}

/// Moves a file or folder to a path that must not exist. `before` are its digests, to check that nothing was lost.
pub(crate) fn move_item(
    from: Side<'_>,
    to: Side<'_>,
    before: &[(PathBuf, String)],
    changes: &mut Changes,
    limit: &Limit,
) -> io::Result<()> {
    match rename(&from.place, &to.place) {
        Ok(()) => {
            for (path, digest) in before {
                let below = path.strip_prefix(from.path).unwrap_or(Path::new(""));
                let at = if below.as_os_str().is_empty() { to.path.to_path_buf() } else { to.path.join(below) };
                changes.push(made(&at, digest.clone()));
            }
            Ok(())
        }
        // On another file system: copied, read back, and then removed at the source.
        Err(Errno::XDEV) => {
            copy::copy(&from.place, to.place, to.path, changes, limit)?;
            if copy::inventory(&from.place, from.path, limit)? != before {
                return Err(io::Error::other("it changed while it was copied; both copies are there"));
            }
            remove(&from.place)
        }
        Err(error) => Err(error.into()),
    }
}

/// Renames a file or folder; an error if the target exists.
pub(crate) fn rename(from: &Place, to: &Place) -> Result<(), Errno> {
    match renameat_with(&from.folder, &from.name, &to.folder, &to.name, RenameFlags::NOREPLACE) {
        // On a file system without `RENAME_NOREPLACE` the target is checked first, which leaves a race.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
            match statat(&to.folder, &to.name, AtFlags::SYMLINK_NOFOLLOW) {
                Err(Errno::NOENT) => rustix::fs::renameat(&from.folder, &from.name, &to.folder, &to.name),
                Ok(_) => Err(Errno::EXIST),
                Err(error) => Err(error),
            }
        }
        done => done,
    }
}

/// Removes a file, or a folder with everything in it.
pub(crate) fn remove(place: &Place) -> io::Result<()> {
    let found = statat(&place.folder, &place.name, AtFlags::SYMLINK_NOFOLLOW)?;
    let flags = if rustix::fs::FileType::from_raw_mode(found.st_mode).is_dir() {
        for name in copy::names(place)? {
            remove(&place.inside(&name)?)?;
        }
        AtFlags::REMOVEDIR
    } else {
        AtFlags::empty()
    };
    Ok(unlinkat(&place.folder, &place.name, flags)?)
}
