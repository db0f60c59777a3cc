//! Attributes, access lists and capabilities of files and folders, told apart from what an overlay writes for itself.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fd::AsFd;
use rustix::fs::{XattrFlags, fgetxattr, flistxattr, fremovexattr, fsetxattr};
use rustix::io::Errno;

use super::state::State;
use super::walk::{Seen, walk_place};
use crate::digest;
use crate::limit::Limit;
use crate::openat::Place;

/// Attributes of this kind need no rights beyond those on the file.
const USER: &[u8] = b"user.";

/// Rights beside those of the mode: who else may reach a file, and what it may do when it runs.
const RIGHTS: [&[u8]; 3] = [b"system.posix_acl_access", b"system.posix_acl_default", CAPABILITY];

const CAPABILITY: &[u8] = b"security.capability";

/// The overlay's own; what a program sets below this name is escaped by the name once more.
const OVERLAY: &[u8] = b"user.overlay.";
const ESCAPED: &[u8] = b"user.overlay.overlay.";

/// Largest list of names and largest value that Linux allows.
const VALUE_MAX: usize = 64 * 1024;

/// What is attached to one file or folder.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Attributes {
    /// The programs' own, and the rights.
    user: BTreeMap<Vec<u8>, Vec<u8>>,
    /// Names that the overlay wrote, with what each stands for where it is an escaped one.
    overlay: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
    /// Whether the overlay hides what the folder below it holds.
    pub(crate) is_opaque: bool,
}

impl Attributes {
    /// Those of an open file or folder of a layer.
    pub(crate) fn of_layer(file: impl AsFd) -> io::Result<Self> {
        let mut all = Self::default();
        for name in names(&file)? {
            if let Some(rest) = name.strip_prefix(ESCAPED) {
                let plain = [OVERLAY, rest].concat();
                all.user.insert(plain.clone(), value(&file, &name)?);
                all.overlay.insert(name, Some(plain));
            } else if name.starts_with(OVERLAY) {
                all.is_opaque |= name == b"user.overlay.opaque" && value(&file, &name)? == b"y";
                all.overlay.insert(name, None);
            } else {
                all.user.insert(name.clone(), value(&file, &name)?);
            }
        }
        Ok(all)
    }

    /// Those of an open file or folder outside a layer.
    pub(crate) fn of(file: impl AsFd) -> io::Result<Self> {
        let mut all = Self::default();
        for name in names(&file)? {
            all.user.insert(name.clone(), value(&file, &name)?);
        }
        Ok(all)
    }

    /// Rights that a program has which runs this file, whoever starts it.
    pub(crate) fn capability(&self) -> Option<&[u8]> {
        self.user.get(CAPABILITY).map(Vec::as_slice)
    }

    /// A digest of the programs' own and the rights; `None` where there are none.
    pub(crate) fn digest(&self) -> Option<String> {
        let parts = self.user.iter().flat_map(|(name, value)| [name.as_slice(), value.as_slice()]);
        (!self.user.is_empty()).then(|| digest::of_parts(parts))
    }

    /// Whether the overlay left something on it that does not belong outside a layer.
    pub(crate) fn is_marked(&self) -> bool {
        !self.overlay.is_empty()
    }

    /// Takes off what the overlay wrote, and gives escaped ones their names.
    pub(crate) fn clean(&self, file: impl AsFd) -> io::Result<()> {
        for (name, plain) in &self.overlay {
            if let Some(plain) = plain
                && let Some(value) = self.user.get(plain)
            {
                set(&file, plain, value)?;
            }
            fremovexattr(&file, OsStr::from_bytes(name))?;
        }
        Ok(())
    }
}

/// Gives a copy on another file system the attributes of what it is a copy of, all in it likewise.
pub(super) fn copied(from: &Place, to: &Place, limit: &Limit) -> io::Result<()> {
    let mut carry = |seen: Seen<'_>| {
        let below = seen.path.strip_prefix("/").unwrap_or(seen.path);
        let found = match &seen.state {
            State::File(_) => Attributes::of_layer(seen.place.open_file()?)?.user,
            State::Folder(_) => Attributes::of_layer(seen.place.open_folder()?)?.user,
            State::Absent | State::Link { .. } | State::Pipe(_) | State::Odd { .. } => return Ok(()),
        };
        if found.is_empty() {
            return Ok(());
        }
        let mut target = to.again()?;
        for name in below {
            target = target.inside(name)?;
        }
        let target =
            if matches!(seen.state, State::File(_)) { target.open_file()?.into() } else { target.open_folder()? };
        found.iter().try_for_each(|(name, value)| match set(&target, name, value) {
            // Not every file system has them, and a closed file takes none.
            Err(_) if name.starts_with(USER) => Ok(()),
            done => done,
        })
    };
    walk_place(from, Path::new("/"), &|_| false, limit, &mut carry)
}

/// Gives one folder the attributes of another, which lies in a layer.
pub(super) fn transfer(source: &Place, target: &Place) -> io::Result<()> {
    let wanted = Attributes::of_layer(source.open_folder()?)?.user;
    let target = target.open_folder()?;
    let found = Attributes::of(&target)?.user;
    for name in found.keys().filter(|name| !wanted.contains_key(*name)) {
        fremovexattr(&target, OsStr::from_bytes(name))?;
    }
    for (name, value) in wanted.iter().filter(|(name, value)| found.get(*name) != Some(value)) {
        set(&target, name, value)?;
    }
    Ok(())
}

fn set(file: impl AsFd, name: &[u8], value: &[u8]) -> io::Result<()> {
    Ok(fsetxattr(file, OsStr::from_bytes(name), value, XattrFlags::empty())?)
}

fn names(file: impl AsFd) -> io::Result<Vec<Vec<u8>>> {
    // Most have few or none: the short list is enough.
    let mut short = [0; 512];
    match flistxattr(&file, &mut short) {
        Err(Errno::NOTSUP) => Ok(Vec::new()),
        Err(Errno::RANGE) => {
            let mut long = vec![0; VALUE_MAX];
            let length = flistxattr(&file, &mut long)?;
            Ok(split(long.get(..length).unwrap_or_default()))
        }
        length => Ok(split(short.get(..length?).unwrap_or_default())),
    }
}

fn split(names: &[u8]) -> Vec<Vec<u8>> {
    let is_kept = |name: &&[u8]| name.starts_with(USER) || RIGHTS.contains(name);
    names.split(|byte| *byte == 0).filter(is_kept).map(<[u8]>::to_vec).collect()
}

fn value(file: impl AsFd, name: &[u8]) -> io::Result<Vec<u8>> {
    let mut value = vec![0; VALUE_MAX];
    let length = fgetxattr(file, OsStr::from_bytes(name), &mut value)?;
    value.truncate(length);
    Ok(value)
}
