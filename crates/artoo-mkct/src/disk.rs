//! Where a memory's files live: the system's disk, or a test's that forgets what nobody synced.
//!
//! Everything this crate keeps goes through [`Disk`], the index included, so that one fake disk can break all of it at
//! every single write.

use std::{
    fmt::Debug,
    fs::{self, File, OpenOptions, TryLockError},
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OpenMode {
    /// To read; it must be there.
    Read,
    /// To read and write; made, for its user alone, where it is missing.
    Write,
    /// The same, and emptied.
    Truncate,
}

/// The files and folders a store needs; paths are used as given.
pub trait Disk: Debug + Send + Sync {
    /// Opens a file.
    ///
    /// # Errors
    /// As the system says.
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn DiskFile>>;

    /// The names in a folder, in no order.
    ///
    /// # Errors
    /// As the system says.
    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>>;

    /// Makes a folder and those above it, for its user alone.
    ///
    /// # Errors
    /// As the system says.
    fn create_folder(&self, folder: &Path) -> io::Result<()>;

    /// Renames a file over whatever has the new name, in one step.
    ///
    /// # Errors
    /// As the system says.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// As the system says.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Removes a folder and everything in it.
    ///
    /// # Errors
    /// As the system says.
    fn remove_folder(&self, folder: &Path) -> io::Result<()>;

    /// Makes the names in a folder survive the loss of power.
    ///
    /// # Errors
    /// As the system says.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;
}

/// An open file; positions are given, none is kept.
pub trait DiskFile: Debug + Send + Sync {
    /// Its length in bytes.
    ///
    /// # Errors
    /// As the system says.
    fn length(&self) -> io::Result<u64>;

    /// Reads up to `bytes.len()` bytes; fewer only near the end.
    ///
    /// # Errors
    /// As the system says.
    fn read_at(&self, bytes: &mut [u8], at: u64) -> io::Result<usize>;

    /// Writes all of `bytes`.
    ///
    /// # Errors
    /// As the system says; some of it may have been written.
    fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<()>;

    /// Cuts the file, or fills it up with zeros.
    ///
    /// # Errors
    /// As the system says.
    fn set_length(&self, length: u64) -> io::Result<()>;

    /// Waits until the content is on the disk.
    ///
    /// # Errors
    /// As the system says; what was not on the disk before may be lost then.
    fn sync(&self) -> io::Result<()>;

    /// Locks the file against other processes (and other openings in this one); false where somebody has it.
    ///
    /// # Errors
    /// As the system says.
    fn try_lock(&self) -> io::Result<bool>;

    /// Gives the lock back.
    ///
    /// Closing alone does not do that: a child that another thread has just forked holds a copy of the descriptor,
    /// and the lock with it, until it runs its own program.
    fn unlock(&self);
}

/// The system's disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SystemDisk;

impl Disk for SystemDisk {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn DiskFile>> {
        let mut options = OpenOptions::new();
        options.read(true);
        if mode != OpenMode::Read {
            options.write(true).create(true).truncate(mode == OpenMode::Truncate);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        let file = options.open(path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        Ok(Arc::new(file))
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        fs::read_dir(folder)?.map(|entry| entry.map(|entry| PathBuf::from(entry.file_name()))).collect()
    }

    fn create_folder(&self, folder: &Path) -> io::Result<()> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_folder(&self, folder: &Path) -> io::Result<()> {
        fs::remove_dir_all(folder)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        // Elsewhere a folder cannot be opened, and names are the file system's own care.
        if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
    }
}

impl DiskFile for File {
    fn length(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn read_at(&self, bytes: &mut [u8], at: u64) -> io::Result<usize> {
        let mut read = 0;
        while let Some(rest) = bytes.get_mut(read..).filter(|rest| !rest.is_empty()) {
            match read_some(self, rest, at + read as u64) {
                Ok(0) => break,
                Ok(count) => read += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(read)
    }

    fn write_at(&self, mut bytes: &[u8], mut at: u64) -> io::Result<()> {
        while !bytes.is_empty() {
            match write_some(self, bytes, at) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => {
                    bytes = bytes.get(count..).unwrap_or_default();
                    at += count as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }

    fn try_lock(&self) -> io::Result<bool> {
        match Self::try_lock(self) {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    fn unlock(&self) {
        // Where unlocking fails, closing is what is left.
        let _ = Self::unlock(self);
    }
}

#[cfg(unix)]
fn read_some(file: &File, bytes: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, bytes, at)
}

#[cfg(unix)]
fn write_some(file: &File, bytes: &[u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::write_at(file, bytes, at)
}

#[cfg(windows)]
fn read_some(file: &File, bytes: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, bytes, at)
}

#[cfg(windows)]
fn write_some(file: &File, bytes: &[u8], at: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_write(file, bytes, at)
}

/// An open file whose lock goes when this is dropped.
#[derive(Debug)]
pub(crate) struct LockedFile(Arc<dyn DiskFile>);

impl LockedFile {
    /// Locks a file; `None` where somebody else has it.
    pub(crate) fn lock(file: Arc<dyn DiskFile>) -> io::Result<Option<Self>> {
        Ok(if file.try_lock()? { Some(Self(file)) } else { None })
    }

    pub(crate) fn file(&self) -> &Arc<dyn DiskFile> {
        &self.0
    }
}

impl Drop for LockedFile {
    fn drop(&mut self) {
        self.0.unlock();
    }
}

/// The folder a path is in.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
