//! Folders and files reached name by name, so that no symlink, `..` or swapped folder leads anywhere else.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, open, openat, unlinkat};
use rustix::io::Errno;

/// New folders: for the owner, as the user's umask allows for others.
const FOLDER_MODE: Mode = Mode::from_raw_mode(0o777);

/// New files likewise.
const FILE_MODE: Mode = Mode::from_raw_mode(0o666);

/// How a folder is opened to reach what is in it.
const FOLDER_FLAGS: OFlags = OFlags::DIRECTORY.union(OFlags::RDONLY).union(OFlags::CLOEXEC);

/// One name in an open folder; the folder can't be swapped for another any more.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) folder: OwnedFd,
    pub(crate) name: OsString,
}

/// A file that has just been made, and where.
pub(crate) struct Made {
    pub(crate) file: File,
    pub(crate) place: Place,
}

impl Made {
    /// Takes the file away again: it is ours and nobody has used it yet.
    pub(crate) fn unmake(self) {
        // Where this fails the caller has already failed for a better reason.
        let _ = unlinkat(&self.place.folder, &self.place.name, AtFlags::empty());
    }
}

impl Place {
    /// The place of an absolute path whose folders exist and hold no link.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        Self::reach(path, |_| Err(Errno::NOENT))
    }

    /// Likewise, making the folders that are missing; `made` is told each of them.
    pub(crate) fn making_folders(path: &Path, made: &mut Vec<PathBuf>) -> io::Result<Self> {
        Self::reach(path, |missing| {
            made.push(missing.to_path_buf());
            Ok(())
        })
    }

    fn reach(path: &Path, mut missing: impl FnMut(&Path) -> Result<(), Errno>) -> io::Result<Self> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_owned();
        let mut folder = open("/", FOLDER_FLAGS, Mode::empty())?;
        let mut so_far = PathBuf::from("/");
        for component in path.parent().unwrap_or(Path::new("/")).components() {
            let part = match component {
                Component::RootDir => continue,
                Component::Normal(part) => part,
                Component::CurDir | Component::ParentDir | Component::Prefix(_) => {
                    return Err(io::ErrorKind::InvalidInput.into());
                }
            };
            so_far.push(part);
            folder = match open_below(&folder, part, FOLDER_FLAGS, Mode::empty()) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    missing(&so_far)?;
                    mkdirat(&folder, part, FOLDER_MODE)?;
                    open_below(&folder, part, FOLDER_FLAGS, Mode::empty())?
                }
                found => found?,
            };
        }
        Ok(Self { folder, name })
    }

    /// A name in the folder that stands at this place.
    pub(crate) fn inside(&self, name: &OsStr) -> io::Result<Self> {
        Ok(Self { folder: self.open_folder()?, name: name.to_owned() })
    }

    /// Opens the folder that stands here.
    pub(crate) fn open_folder(&self) -> io::Result<OwnedFd> {
        open_below(&self.folder, &self.name, FOLDER_FLAGS, Mode::empty())
    }

    /// Opens the file that stands here for reading; never waits on a pipe.
    pub(crate) fn open_file(&self) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
        let file = File::from(open_below(&self.folder, &self.name, flags, Mode::empty())?);
        if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
    }

    /// Opens the file that stands here for writing; its bytes stay.
    pub(crate) fn open_to_write(&self) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
        let file = File::from(open_below(&self.folder, &self.name, flags, Mode::empty())?);
        if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
    }

    /// Holds what stands here fast, to act on it and on nothing that is put in its place.
    #[cfg(target_os = "linux")]
    pub(crate) fn open_path(&self) -> io::Result<OwnedFd> {
        open_below(&self.folder, &self.name, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
    }

    /// The same place once more.
    pub(crate) fn again(&self) -> io::Result<Self> {
        Ok(Self { folder: rustix::io::dup(&self.folder)?, name: self.name.clone() })
    }

    /// Makes a folder here; nothing may stand here yet.
    pub(crate) fn make_folder(&self) -> io::Result<()> {
        Ok(mkdirat(&self.folder, &self.name, FOLDER_MODE)?)
    }

    /// Makes a file here; nothing may stand here yet.
    pub(crate) fn make_file(self) -> io::Result<Made> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOCTTY;
        let file = File::from(open_below(&self.folder, &self.name, flags, FILE_MODE)?);
        Ok(Made { file, place: self })
    }
}

/// Makes the file `parts` names below `root`, with the folders on the way; it must not exist.
///
/// Every folder is opened from the one before it without following a link, so each step stays below the last.
pub(crate) fn create(root: &Path, parts: &[&str]) -> io::Result<Made> {
    let Some((name, folders)) = parts.split_last() else {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    };
    let mut folder = open(root, FOLDER_FLAGS, Mode::empty())?;
    for part in folders {
        match mkdirat(&folder, *part, FOLDER_MODE) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        folder = open_below(&folder, OsStr::new(part), FOLDER_FLAGS, Mode::empty())?;
    }
    Place { folder, name: name.into() }.make_file()
}

/// Opens one name in a folder; a link there is an error.
fn open_below(folder: impl AsFd, name: &OsStr, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
    let flags = flags | OFlags::NOFOLLOW;
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{ResolveFlags, openat2};
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        match openat2(folder.as_fd(), name, flags, mode, resolve) {
            // Kernels before 5.6, and sandboxes that hide the call.
            Err(Errno::NOSYS | Errno::PERM) => {}
            other => return other.map_err(io::Error::from),
        }
    }
    openat(folder, name, flags, mode).map_err(io::Error::from)
}
