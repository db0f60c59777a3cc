//! Extraction of one file from a zip archive.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, copy};
use std::path::Path;

use zip::ZipArchive;

use super::error::FilesError;
use super::private;

/// Extracts the file `member`, which must have exactly `bytes` bytes, from a zip archive into a new file.
pub(super) fn extract(archive: &Path, member: &str, bytes: u64, into: &Path) -> Result<(), FilesError> {
    let problem = |problem: String| FilesError::Response {
        shown: format!("the archive {}", archive.display()),
        problem: format!("can't be unpacked: {problem}"),
    };
    let file = File::open(archive).map_err(FilesError::io(archive))?;
    let mut zip = ZipArchive::new(file).map_err(|error| problem(error.to_string()))?;
    let member = zip.by_name(member).map_err(|error| problem(error.to_string()))?;
    private::remove(into)?;
    let mut to = private::open(OpenOptions::new().write(true).create_new(true), into)?;
    // The size in the archive's directory is a claim, so at most one byte more than expected is written.
    let written = copy(&mut member.take(bytes.saturating_add(1)), &mut to).map_err(|error| {
        let is_full = error.kind() == ErrorKind::StorageFull;
        if is_full { FilesError::io(into)(error) } else { problem(error.to_string()) }
    })?;
    if written != bytes {
        return Err(problem(format!("the model file has {written} bytes or more, expected {bytes}")));
    }
    to.sync_all().map_err(FilesError::io(into))
}
