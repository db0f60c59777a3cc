//! Opens folders and files name by name with `openat`, so that no symlink, `..` or replaced folder is followed.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, open, openat, unlinkat};
use rustix::io::Errno;

/// Mode of folders that the tools create, before the umask.
const FOLDER_MODE: Mode = Mode::from_raw_mode(0o777);

/// Mode of files that the tools create, before the umask.
const FILE_MODE: Mode = Mode::from_raw_mode(0o666);

const FOLDER_FLAGS: OFlags = OFlags::DIRECTORY.union(OFlags::RDONLY).union(OFlags::CLOEXEC);

/// A name in an open folder, for a file that may not exist. Replacing the folder's path does not affect it.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) folder: OwnedFd,
    pub(crate) name: OsString,
}

/// A file that was just created and is open, with its place in the open folder.
pub(crate) struct Made {
    pub(crate) file: File,
    pub(crate) place: Place,
}

impl Made {
    /// Removes the file that was just created.
    pub(crate) fn remove_created(self) {
        // The caller reports its own error.
        let _ = unlinkat(&self.place.folder, &self.place.name, AtFlags::empty());
    }
}

impl Place {
    /// The place of an absolute path whose folders exist and hold no link.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        Self::reach(path, |_| Err(Errno::NOENT))
    }

    /// The place of an absolute path; missing folders are created and added to `made`.
    pub(crate) fn making_folders(path: &Path, made: &mut Vec<PathBuf>) -> io::Result<Self> {
        Self::reach(path, |missing| {
            made.push(missing.to_path_buf());
            Ok(())
        })
    }

    /// Opens the folders of an absolute path one by one without following symlinks; calls `missing` for each that has
    /// to be created.
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
                    match mkdirat(&folder, part, FOLDER_MODE) {
                        // Another call may have made it meanwhile.
                        Ok(()) | Err(Errno::EXIST) => {}
                        Err(error) => return Err(error.into()),
                    }
                    open_below(&folder, part, FOLDER_FLAGS, Mode::empty())?
                }
                found => found?,
            };
        }
        Ok(Self { folder, name })
    }

    /// The place of a name in the folder that is at this place.
    pub(crate) fn inside(&self, name: &OsStr) -> io::Result<Self> {
        Ok(Self { folder: self.open_folder()?, name: name.to_owned() })
    }

    /// Opens the folder at this place.
    pub(crate) fn open_folder(&self) -> io::Result<OwnedFd> {
        open_below(&self.folder, &self.name, FOLDER_FLAGS, Mode::empty())
    }

    /// Opens the regular file of this name for reading, without blocking on a pipe.
    pub(crate) fn open_file(&self) -> io::Result<File> {
        self.open_regular(OFlags::RDONLY)
    }

    /// Opens the regular file of this name for reading and writing; the file keeps its content.
    pub(crate) fn open_to_write(&self) -> io::Result<File> {
        self.open_regular(OFlags::RDWR)
    }

    /// Opens the regular file of this name with this access (read, or read and write).
    fn open_regular(&self, access: OFlags) -> io::Result<File> {
        let flags = access | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
        let file = File::from(open_below(&self.folder, &self.name, flags, Mode::empty())?);
        if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
    }

    /// Opens the name with `O_PATH`, so that later calls act on the same inode.
    #[cfg(target_os = "linux")]
    pub(crate) fn open_path(&self) -> io::Result<OwnedFd> {
        open_below(&self.folder, &self.name, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
    }

    /// A second handle of the same open folder, with the same name.
    pub(crate) fn reopen(&self) -> io::Result<Self> {
        Ok(Self { folder: rustix::io::dup(&self.folder)?, name: self.name.clone() })
    }

    /// Creates a folder; fails if the name exists.
    pub(crate) fn make_folder(&self) -> io::Result<()> {
        Ok(mkdirat(&self.folder, &self.name, FOLDER_MODE)?)
    }

    /// Creates a file; fails if the name exists.
    pub(crate) fn make_file(self) -> io::Result<Made> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOCTTY;
        let file = File::from(open_below(&self.folder, &self.name, flags, FILE_MODE)?);
        Ok(Made { file, place: self })
    }
}

/// Opens a name in a folder; fails if the name is a symlink.
fn open_below(folder: impl AsFd, name: &OsStr, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
    let flags = flags | OFlags::NOFOLLOW;
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{ResolveFlags, openat2};
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        match openat2(folder.as_fd(), name, flags, mode, resolve) {
            // Kernels before 5.6, and sandboxes without this system call.
            Err(Errno::NOSYS | Errno::PERM) => {}
            other => return other.map_err(io::Error::from),
        }
    }
    openat(folder, name, flags, mode).map_err(io::Error::from)
}
