//! A private temporary folder for one command, gone with it.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Names tried before it is given up; another process would have to guess each of them.
const TRIES: u32 = 16;

static MADE: AtomicU64 = AtomicU64::new(0);

/// The folder; dropping it removes it with all that is in it.
#[derive(Debug)]
pub(crate) struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// Makes a folder nobody else may enter, where the user's temporary files go.
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
        // A program may have taken rights from its own folders; then the system's own cleaning has to do it.
        let _ = fs::remove_dir_all(&self.path);
    }
}
