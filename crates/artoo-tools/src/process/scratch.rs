//! A private temporary folder for one command.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::open;

/// The temporary folder of a command; dropping it deletes it with its content.
#[derive(Debug)]
pub(crate) struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// Creates the folder in the folder for temporary files, with access for the user only.
    pub(crate) fn new() -> io::Result<Self> {
        let parent = std::env::temp_dir().canonicalize()?;
        Ok(Self { path: open::private_folder(&parent, "artoo-")? })
    }

    /// The path of the command's private temporary folder.
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
