//! Tests that feedback waits for the disk, with a disk that can fail.

use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use artoo_mkct::Options;
use artoo_mkct::disk::{Disk, DiskFile, OpenMode, SystemDisk};
use artoo_proto::{MemoryFeedbackKind, TaskId};
use uuid::Uuid;

use crate::runtime::{RuntimeError, System};

thread_local! {
    /// The failing disk of stores that this thread opens: fails while the flag is true. `None` for the system's disk.
    static FAILS: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// The memory options with the failing disk that the test on this thread selected; unchanged if none was.
pub(super) fn planted(options: Options) -> Options {
    match FAILS.with_borrow(Clone::clone) {
        Some(fails) => options.with(|options| options.disk = Arc::new(Failing(fails))),
        None => options,
    }
}

/// A disk whose files can't be synced while its flag is true.
#[derive(Debug)]
struct Failing(Arc<AtomicBool>);

/// A file that can't be synced while the flag is true; all else works.
#[derive(Debug)]
struct FailingFile(Arc<dyn DiskFile>, Arc<AtomicBool>);

impl Disk for Failing {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn DiskFile>> {
        Ok(Arc::new(FailingFile(SystemDisk.open(path, mode)?, Arc::clone(&self.0))))
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        SystemDisk.list(folder)
    }

    fn create_folder(&self, folder: &Path) -> io::Result<()> {
        SystemDisk.create_folder(folder)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        SystemDisk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        SystemDisk.remove(path)
    }

    fn remove_folder(&self, folder: &Path) -> io::Result<()> {
        SystemDisk.remove_folder(folder)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        SystemDisk.sync_folder(folder)
    }
}

impl DiskFile for FailingFile {
    fn length(&self) -> io::Result<u64> {
        self.0.length()
    }

    fn read_at(&self, bytes: &mut [u8], at: u64) -> io::Result<usize> {
        self.0.read_at(bytes, at)
    }

    fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        self.0.write_at(bytes, at)
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        self.0.set_length(length)
    }

    fn sync(&self) -> io::Result<()> {
        if self.1.load(Ordering::Relaxed) { Err(io::ErrorKind::StorageFull.into()) } else { self.0.sync() }
    }

    fn try_lock(&self) -> io::Result<bool> {
        self.0.try_lock()
    }

    fn unlock(&self) {
        self.0.unlock();
    }
}

#[tokio::test]
async fn feedback_is_confirmed_after_sync() {
    let (folder, fails) = (tempfile::tempdir().unwrap(), Arc::new(AtomicBool::new(false)));
    FAILS.set(Some(Arc::clone(&fails)));
    let system = System::builder().data_dir(folder.path()).start().unwrap();
    FAILS.set(None);
    let note = |text: &str| {
        let feedback = MemoryFeedbackKind::Remember { content: text.to_owned() };
        system.feedback(TaskId::new("note", Uuid::nil()), feedback)
    };
    assert_eq!(note("photos are in ~/p").await.unwrap(), 1);
    let stats = system.stored_memory().unwrap().stats().queue;
    assert_eq!((stats.synced, stats.accepted), (1, 1));
    fails.store(true, Ordering::Relaxed);
    let failed = note("bills are in ~/b").await.unwrap_err();
    assert!(matches!(failed, RuntimeError::NotKept(_)), "{failed}");
    // The store takes nothing more then.
    let refused = note("music is in ~/m").await.unwrap_err();
    assert!(matches!(refused, RuntimeError::NotKept(_)), "{refused}");
    assert!(!system.close().await.problems.is_empty());
}
