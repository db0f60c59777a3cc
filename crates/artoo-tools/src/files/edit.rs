//! Edits by `files` of what exists: a file's content or permission bits; also creates symbolic links.

use std::fmt;
use std::fs::{File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use artoo_proto::{FOLDER, FileChange, escape};
use rustix::fs::{AtFlags, FileType, Gid, Mode, Uid, fchmod, fchown, renameat, statat, symlinkat};
use serde::Deserialize;

use crate::change;
use crate::files::copy::{self, Changes};
use crate::files::plan::Operation;
use crate::files::survey::{Kind, Source};
use crate::input::unfit;
use crate::limit::Limit;
use crate::openat::Place;
use crate::record::Record;
use crate::{digest, paths};

/// Maximum number of lines of a diff in a question.
const DIFF_LINES_MAX: usize = 60;

/// Mode bits that a call may set; set-id and sticky bits are left out.
const BITS_MAX: u32 = 0o777;

/// How permission bits change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) enum ModeChange {
    /// The bits become exactly these.
    Bits(u32),
    /// Everyone who may read the file may execute it, and the owner in any case.
    Executable,
    NotExecutable,
    ReadOnly,
    /// These bits are set besides those that are.
    Added(u32),
    /// These bits are cleared.
    Removed(u32),
}

impl TryFrom<String> for ModeChange {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let (how, octal): (fn(u32) -> Self, &str) = match text.split_at_checked(1) {
            Some(("+", octal)) => (Self::Added, octal),
            Some(("-", octal)) => (Self::Removed, octal),
            _ => (Self::Bits, &text),
        };
        let is_octal = octal.bytes().all(|byte| byte.is_ascii_digit());
        let bits = || u32::from_str_radix(octal, 8).ok().filter(|bits| is_octal && *bits <= BITS_MAX).map(how);
        match text.as_str() {
            "executable" => Ok(Self::Executable),
            "not_executable" => Ok(Self::NotExecutable),
            "read_only" => Ok(Self::ReadOnly),
            _ => bits().ok_or_else(|| {
                "mode: octal bits up to 777 are expected, after + or - those to set or to clear".to_owned()
            }),
        }
    }
}

impl fmt::Display for ModeChange {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bits(bits) => write!(to, "{bits:04o}"),
            Self::Added(bits) => write!(to, "+{bits:04o}"),
            Self::Removed(bits) => write!(to, "-{bits:04o}"),
            Self::Executable => to.write_str("executable"),
            Self::NotExecutable => to.write_str("not executable"),
            Self::ReadOnly => to.write_str("read-only"),
        }
    }
}

impl ModeChange {
    /// The permission bits that a file with the mode `mode` has after this change.
    fn of(self, mode: u32) -> u32 {
        match self {
            Self::Bits(bits) => bits,
            Self::Added(bits) => mode | bits,
            Self::Removed(bits) => mode & !bits,
            Self::Executable => mode | 0o100 | (mode & 0o444) >> 2,
            Self::NotExecutable => mode & !0o111,
            Self::ReadOnly => mode & !0o222,
        }
    }
}

/// The lines of the unified diff of an operation that writes a file; `None` for any other, or if the file is not text.
pub(super) fn diff(operation: &Operation) -> Option<Vec<String>> {
    let Operation::Write { to, text, .. } = operation else { return None };
    Some(change::with_text(to, text, DIFF_LINES_MAX)?.lines().map(escape::one_line).collect())
}

/// Checks that each source is a regular file with one name, so that its content can be replaced.
pub(super) fn check_text(sources: &[Source]) -> Result<(), Box<Record>> {
    sources.iter().try_for_each(|source| {
        let path = paths::line(&source.path);
        let links = std::fs::symlink_metadata(&source.real).map_or(0, |found| found.nlink());
        match source.kind {
            Kind::File if links == 1 => Ok(()),
            Kind::File => Err(unfit(format!("{path} has several names; it is not replaced"))),
            Kind::Folder | Kind::Link => Err(unfit(format!("{path} is not a file"))),
        }
    })
}

/// Checks that no source is a symlink, which has no permission bits of its own.
pub(super) fn check_links(sources: &[Source]) -> Result<(), Box<Record>> {
    match sources.iter().find(|source| source.kind == Kind::Link) {
        Some(link) => Err(unfit(format!("{} is a link; name what it leads to", paths::line(&link.path)))),
        None => Ok(()),
    }
}

/// Replaces the content of a file in one step, if it still has the digest `before`; its permissions and owner stay.
pub(super) fn write(to: &Path, text: &str, before: &str, changes: &mut Changes, limit: &Limit) -> io::Result<()> {
    let place = Place::of(to)?;
    let facts = statat(&place.folder, &place.name, AtFlags::SYMLINK_NOFOLLOW)?;
    let beside = Place { folder: rustix::io::dup(&place.folder)?, name: temporary_name(to).into() };
    let mut new = beside.make_file()?;
    let written = new.file.write_all(text.as_bytes()).and_then(|()| {
        if new.file.metadata().is_ok_and(|found| owner(&found) != (facts.st_uid, facts.st_gid)) {
            fchown(&new.file, Some(Uid::from_raw(facts.st_uid)), Some(Gid::from_raw(facts.st_gid)))?;
        }
        fchmod(&new.file, Mode::from_raw_mode(facts.st_mode & 0o7777))?;
        new.file.sync_all()?;
        let after = digest::of_whole(&mut new.file, limit)?;
        if digest::of_whole(&mut place.open_file()?, limit)? != before {
            return Err(io::Error::other("it was changed since it was read"));
        }
        renameat(&new.place.folder, &new.place.name, &place.folder, &place.name)?;
        Ok(after)
    });
    match written {
        Ok(after) => {
            changes.push(FileChange { path: paths::line(to), before: Some(before.to_owned()), after: Some(after) });
            Ok(())
        }
        Err(error) => {
            new.remove_created();
            Err(error)
        }
    }
}

/// The user id and group id of a file.
fn owner(found: &std::fs::Metadata) -> (u32, u32) {
    (found.uid(), found.gid())
}

/// The temporary name under which a file's new content is written before it replaces the old one.
fn temporary_name(to: &Path) -> String {
    let name = to.file_name().unwrap_or_default().to_string_lossy();
    let short: String = name.chars().take(40).collect();
    format!(".{short}.artoo-{}", std::process::id())
}

/// Changes the permission bits of a file or folder; returns the new ones.
pub(super) fn set_mode(path: &Path, change: ModeChange, changes: &mut Changes, limit: &Limit) -> io::Result<u32> {
    let place = Place::of(path)?;
    let facts = statat(&place.folder, &place.name, AtFlags::SYMLINK_NOFOLLOW)?;
    let is_folder = FileType::from_raw_mode(facts.st_mode).is_dir();
    let file = if is_folder { File::from(place.open_folder()?) } else { place.open_file()? };
    let old = file.metadata()?.mode() & 0o7777;
    let new = change.of(old);
    let content = if is_folder { FOLDER.to_owned() } else { copy::digest_of(&place, limit)? };
    if old != new {
        file.set_permissions(Permissions::from_mode(new))?;
    }
    let state = |mode: u32| Some(format!("{content} mode {mode:04o}"));
    changes.push(FileChange { path: paths::line(path), before: state(old), after: state(new) });
    Ok(new)
}

/// Creates a symbolic link.
pub(super) fn link(place: Place, to: &Path, target: &PathBuf, changes: &mut Changes) -> io::Result<()> {
    symlinkat(target, &place.folder, &place.name)?;
    let after = format!("link to {}", target.to_string_lossy());
    changes.push(FileChange { path: paths::line(to), before: None, after: Some(after) });
    Ok(())
}
