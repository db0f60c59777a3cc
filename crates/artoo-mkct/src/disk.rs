//! The disk of a memory: the one of the system, or a simulated one for tests.
//!
//! All files of a memory are accessed through [`Disk`], so that a simulated disk can fail at every single write.

use std::{
    fmt::Debug,
    fs::{self, File, OpenOptions, TryLockError},
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Whether `Disk::open` opens a file for reading, for writing, or for writing after truncating it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OpenMode {
    /// Opens an existing file for reading.
    Read,
    /// Opens a file for reading and writing; a missing file is created, accessible by its user only.
    Write,
    /// Opens a file like [`OpenMode::Write`], and truncates the file to zero length.
    Truncate,
}

/// Access to files and folders; paths are used as given.
pub trait Disk: Debug + Send + Sync {
    /// Opens a file.
    ///
    /// # Errors
    /// The error of the system.
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn DiskFile>>;

    /// The names of the files and folders in a folder, without the folder's path, in no particular order.
    ///
    /// # Errors
    /// The error of the system.
    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>>;

    /// Creates a folder and its missing parents, accessible by their user only; does nothing if the folder exists.
    ///
    /// # Errors
    /// The error of the system.
    fn create_folder(&self, folder: &Path) -> io::Result<()>;

    /// Renames a file atomically, replacing the target.
    ///
    /// # Errors
    /// The error of the system.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// The error of the system.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Removes a folder and everything in it.
    ///
    /// # Errors
    /// The error of the system.
    fn remove_folder(&self, folder: &Path) -> io::Result<()>;

    /// Syncs a folder, so that the names in it survive the loss of power.
    ///
    /// # Errors
    /// The error of the system.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;
}

/// An open file without a cursor: reads and writes name their offset.
pub trait DiskFile: Debug + Send + Sync {
    /// The length of the file in bytes.
    ///
    /// # Errors
    /// The error of the system.
    fn length(&self) -> io::Result<u64>;

    /// Reads up to `bytes.len()` bytes from offset `at` (in bytes); returns the number read, smaller only near the end.
    ///
    /// # Errors
    /// The error of the system.
    fn read_at(&self, bytes: &mut [u8], at: u64) -> io::Result<usize>;

    /// Writes all of `bytes` at offset `at`, in bytes from the start of the file.
    ///
    /// # Errors
    /// The error of the system; a part may have been written.
    fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<()>;

    /// Sets the file's length in bytes: truncates the file, or extends it with zeros.
    ///
    /// # Errors
    /// The error of the system.
    fn set_length(&self, length: u64) -> io::Result<()>;

    /// Syncs the file: waits until its content is on the disk.
    ///
    /// # Errors
    /// The error of the system; bytes written since the last successful sync may be lost then.
    fn sync(&self) -> io::Result<()>;

    /// Locks the file exclusively, also against other handles of this process; false if the file is locked already.
    ///
    /// # Errors
    /// The error of the system.
    fn try_lock(&self) -> io::Result<bool>;

    /// Releases the lock of `DiskFile::try_lock`.
    ///
    /// Closing the file may not release the lock: a child that another thread has just forked holds a copy of the
    /// descriptor, and the lock with it, until it runs its own program.
    fn unlock(&self);
}

/// The disk of the operating system.
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
        // Only Unix can sync a folder.
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
        // If unlocking fails, closing the file is the only way left.
        let _ = Self::unlock(self);
    }
}

/// Reads bytes of a file at an offset with one system call; may read fewer than `bytes` has room for.
#[cfg(unix)]
fn read_some(file: &File, bytes: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, bytes, at)
}

/// Writes bytes to a file at an offset with one system call; may write only a part of `bytes`.
#[cfg(unix)]
fn write_some(file: &File, bytes: &[u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::write_at(file, bytes, at)
}

/// Reads bytes of a file at an offset with one system call; may read fewer than `bytes` has room for (Windows).
#[cfg(windows)]
fn read_some(file: &File, bytes: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, bytes, at)
}

/// Writes bytes to a file at an offset with one system call; may write only a part of `bytes` (Windows).
#[cfg(windows)]
fn write_some(file: &File, bytes: &[u8], at: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_write(file, bytes, at)
}

/// A locked file; dropping it releases the lock.
#[derive(Debug)]
pub(crate) struct LockedFile(Arc<dyn DiskFile>);

impl LockedFile {
    /// Locks a file; `None` if it is locked already.
    pub(crate) fn lock(file: Arc<dyn DiskFile>) -> io::Result<Option<Self>> {
        Ok(if file.try_lock()? { Some(Self(file)) } else { None })
    }

    /// The file that is locked.
    pub(crate) fn file(&self) -> &Arc<dyn DiskFile> {
        &self.0
    }
}

impl Drop for LockedFile {
    fn drop(&mut self) {
        self.0.unlock();
    }
}

/// The parent folder of a path; `.` for a bare file name.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
