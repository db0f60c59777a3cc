//! Extended attributes of files and folders: those that programs set, access control lists and capabilities, and the
//! attributes that an overlay file system adds.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fd::AsFd;
use rustix::fs::{XattrFlags, fgetxattr, flistxattr, fremovexattr, fsetxattr};
use rustix::io::Errno;

use super::state::State;
use super::walk::{WalkedPath, walk_place};
use crate::digest;
use crate::limit::Limit;
use crate::openat::Place;

/// Prefix of extended attributes that need no privileges to be set.
const USER: &[u8] = b"user.";

/// Names of attributes that grant rights in addition to the mode: access control lists and capabilities.
const RIGHTS: [&[u8]; 3] = [b"system.posix_acl_access", b"system.posix_acl_default", CAPABILITY];

const CAPABILITY: &[u8] = b"security.capability";

/// Prefix of the overlay's own attributes. A program's attribute with this prefix is stored with an escaped prefix.
const OVERLAY: &[u8] = b"user.overlay.";
const ESCAPED: &[u8] = b"user.overlay.overlay.";

/// Maximum size in bytes of a list of names, and of one value, that Linux allows.
const VALUE_MAX: usize = 64 * 1024;

/// The extended attributes of one file or folder that begin with [`USER`] or are among [`RIGHTS`].
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Attributes {
    /// Attributes set by programs, and [`RIGHTS`].
    user: BTreeMap<Vec<u8>, Vec<u8>>,
    /// Names of attributes that the overlay wrote, each with the unescaped name if it is a program's.
    overlay: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
    /// Whether the overlay folder hides the entries of the real folder.
    pub(crate) is_opaque: bool,
}

impl Attributes {
    /// Reads the extended attributes of an open file or folder in a layer of an overlay; not its mode or times.
    pub(crate) fn of_layer(file: impl AsFd) -> io::Result<Self> {
        Self::read(file, true)
    }

    /// Reads the extended attributes of an open file or folder outside a layer; not its mode or times.
    pub(crate) fn of(file: impl AsFd) -> io::Result<Self> {
        Self::read(file, false)
    }

    /// Reads the extended attributes of a file; `is_layer`: attributes of the overlay are expected and unescaped.
    fn read(file: impl AsFd, is_layer: bool) -> io::Result<Self> {
        let mut all = Self::default();
        for name in names(&file)? {
            let value = value(&file, &name)?;
            if !is_layer || !name.starts_with(OVERLAY) {
                all.user.insert(name, value);
            } else if let Some(rest) = name.strip_prefix(ESCAPED) {
                let plain = [OVERLAY, rest].concat();
                all.user.insert(plain.clone(), value);
                all.overlay.insert(name, Some(plain));
            } else {
                all.is_opaque |= name == b"user.overlay.opaque" && value == b"y";
                all.overlay.insert(name, None);
            }
        }
        Ok(all)
    }

    /// The attribute with the capabilities that a program gets from this file, for any user who runs it; `None` if
    /// there is none.
    pub(crate) fn capability(&self) -> Option<&[u8]> {
        self.user.get(CAPABILITY).map(Vec::as_slice)
    }

    /// The digest of the programs' attributes and of [`RIGHTS`]; `None` if there are none.
    pub(crate) fn digest(&self) -> Option<String> {
        let parts = self.user.iter().flat_map(|(name, value)| [name.as_slice(), value.as_slice()]);
        (!self.user.is_empty()).then(|| digest::of_parts(parts))
    }

    /// Whether the overlay added attributes to this file or folder that must be removed before a commit.
    pub(crate) fn is_marked(&self) -> bool {
        !self.overlay.is_empty()
    }

    /// Removes the overlay's attributes and unescapes the programs' attributes.
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

/// Copies the extended attributes of a file or folder in a layer, and of everything in it, to its copy on another file
/// system.
pub(super) fn copy_all(from: &Place, to: &Place, limit: &Limit) -> io::Result<()> {
    let root = Path::new("/");
    let mut copy = |seen: WalkedPath<'_>| {
        let found = match &seen.state {
            State::File(_) => Attributes::of_layer(seen.place.open_file()?)?.user,
            State::Folder(_) => Attributes::of_layer(seen.place.open_folder()?)?.user,
            State::Absent | State::Link { .. } | State::Pipe(_) | State::Odd { .. } => return Ok(()),
        };
        if found.is_empty() {
            return Ok(());
        }
        let mut target = to.reopen()?;
        for name in seen.path.strip_prefix(root).unwrap_or(seen.path) {
            target = target.inside(name)?;
        }
        let target =
            if matches!(seen.state, State::File(_)) { target.open_file()?.into() } else { target.open_folder()? };
        found.iter().try_for_each(|(name, value)| match set(&target, name, value) {
            // Some file systems don't support attributes, and a read-only file can't get any.
            Err(_) if name.starts_with(USER) => Ok(()),
            done => done,
        })
    };
    walk_place(from, root, &|_| false, limit, &mut copy)
}

/// Gives a real folder exactly the extended attributes that a folder in a layer has.
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

/// Sets one extended attribute of an open file.
fn set(file: impl AsFd, name: &[u8], value: &[u8]) -> io::Result<()> {
    Ok(fsetxattr(file, OsStr::from_bytes(name), value, XattrFlags::empty())?)
}

/// The names of the extended attributes of an open file that [`split`] selects; none if its file system has no
/// attributes.
fn names(file: impl AsFd) -> io::Result<Vec<Vec<u8>>> {
    // Most files have few or none, so a short buffer is tried first.
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

/// Splits a NUL-separated list of attribute names; only those of users and those that grant rights are returned.
fn split(names: &[u8]) -> Vec<Vec<u8>> {
    let is_kept = |name: &&[u8]| name.starts_with(USER) || RIGHTS.contains(name);
    names.split(|byte| *byte == 0).filter(is_kept).map(<[u8]>::to_vec).collect()
}

/// The value of one extended attribute of an open file.
fn value(file: impl AsFd, name: &[u8]) -> io::Result<Vec<u8>> {
    let mut value = vec![0; VALUE_MAX];
    let length = fgetxattr(file, OsStr::from_bytes(name), &mut value)?;
    value.truncate(length);
    Ok(value)
}
