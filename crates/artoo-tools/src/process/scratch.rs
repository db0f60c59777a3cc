//! A private temporary folder for one command.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Attempts to find an unused name.
const TRIES: u32 = 16;

static MADE: AtomicU64 = AtomicU64::new(0);

/// The folder; dropping it deletes it with its content.
#[derive(Debug)]
pub(crate) struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// Creates a folder with access for the user only in the folder for temporary files.
    pub(crate) fn new() -> io::Result<Self> {
        let parent = std::env::temp_dir().canonicalize()?;
        let mut last = io::ErrorKind::AlreadyExists.into();
        for _ in 0..TRIES {
            let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.subsec_nanos());
            let count = MADE.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!("artoo-{}-{count}-{nanos:08x}", std::process::id()));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self { path }),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A program may have removed permissions from its folders; then the system deletes them later.
        let _ = fs::remove_dir_all(&self.path);
    }
}
