//! The files of LevelDB on a [`Disk`]: a flush that syncs, and names that are synced with their files.

use std::{
    io::{self, Read, Write},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use rusty_leveldb::{
    Result, Status, StatusCode,
    env::{Env, FileLock, Logger, RandomAccess},
};

use crate::disk::{Disk, DiskFile, LockedFile, OpenMode, folder_of};

/// Where LevelDB finds its files.
pub(super) struct DiskEnv {
    disk: Arc<dyn Disk>,
    began: Instant,
    lock: Mutex<Option<LockedFile>>,
}

impl DiskEnv {
    pub(super) fn new(disk: &Arc<dyn Disk>) -> Self {
        Self { disk: Arc::clone(disk), began: Instant::now(), lock: Mutex::new(None) }
    }

    fn writable(&self, path: &Path, mode: OpenMode) -> Result<Box<dyn Write>> {
        let file = self.disk.open(path, mode)?;
        let at = file.length()?;
        let (disk, path) = (Arc::clone(&self.disk), path.to_owned());
        Ok(Box::new(Writable { disk, path, file, at, named: false }))
    }
}

impl Env for DiskEnv {
    fn open_sequential_file(&self, path: &Path) -> Result<Box<dyn Read>> {
        Ok(Box::new(Sequential { file: self.disk.open(path, OpenMode::Read)?, at: 0 }))
    }

    fn open_random_access_file(&self, path: &Path) -> Result<Box<dyn RandomAccess>> {
        Ok(Box::new(Random(self.disk.open(path, OpenMode::Read)?)))
    }

    fn open_writable_file(&self, path: &Path) -> Result<Box<dyn Write>> {
        self.writable(path, OpenMode::Truncate)
    }

    fn open_appendable_file(&self, path: &Path) -> Result<Box<dyn Write>> {
        self.writable(path, OpenMode::Write)
    }

    fn exists(&self, path: &Path) -> Result<bool> {
        let name = path.file_name().map(PathBuf::from).unwrap_or_default();
        Ok(self.disk.list(folder_of(path)).is_ok_and(|names| names.contains(&name)))
    }

    fn children(&self, folder: &Path) -> Result<Vec<PathBuf>> {
        // A name that is no text would make LevelDB panic, and is none of its files.
        Ok(self.disk.list(folder)?.into_iter().filter(|name| name.to_str().is_some()).collect())
    }

    fn size_of(&self, path: &Path) -> Result<usize> {
        Ok(self.disk.open(path, OpenMode::Read)?.length()? as usize)
    }

    fn delete(&self, path: &Path) -> Result<()> {
        Ok(self.disk.remove(path)?)
    }

    fn mkdir(&self, folder: &Path) -> Result<()> {
        Ok(self.disk.create_folder(folder)?)
    }

    fn rmdir(&self, folder: &Path) -> Result<()> {
        Ok(self.disk.remove_folder(folder)?)
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        self.disk.rename(from, to)?;
        Ok(self.disk.sync_folder(folder_of(to))?)
    }

    fn lock(&self, path: &Path) -> Result<FileLock> {
        let locked = LockedFile::lock(self.disk.open(path, OpenMode::Write)?)?;
        let locked = locked.ok_or_else(|| Status::new(StatusCode::LockError, "in use by another process"))?;
        *self.lock.lock().unwrap_or_else(PoisonError::into_inner) = Some(locked);
        Ok(FileLock { id: path.to_string_lossy().into_owned() })
    }

    fn unlock(&self, _: FileLock) -> Result<()> {
        *self.lock.lock().unwrap_or_else(PoisonError::into_inner) = None;
        Ok(())
    }

    fn new_logger(&self, _: &Path) -> Result<Logger> {
        Ok(Logger::new(Box::new(io::sink())))
    }

    fn micros(&self) -> u64 {
        self.began.elapsed().as_micros() as u64
    }

    fn sleep_for(&self, micros: u32) {
        std::thread::sleep(Duration::from_micros(micros.into()));
    }
}

struct Sequential {
    file: Arc<dyn DiskFile>,
    at: u64,
}

impl Read for Sequential {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(bytes, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

struct Random(Arc<dyn DiskFile>);

impl RandomAccess for Random {
    fn read_at(&self, offset: usize, bytes: &mut [u8]) -> Result<usize> {
        Ok(self.0.read_at(bytes, offset as u64)?)
    }
}

struct Writable {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    file: Arc<dyn DiskFile>,
    at: u64,
    named: bool,
}

impl Write for Writable {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write_at(bytes, self.at)?;
        self.at += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.sync()?;
        if !self.named {
            self.disk.sync_folder(folder_of(&self.path))?;
            self.named = true;
        }
        Ok(())
    }
}
