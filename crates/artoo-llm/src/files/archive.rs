//! Taking one file out of an archive, piece by piece and no more of it than was announced.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;

use zip::ZipArchive;

use super::error::FilesError;
use super::private;
use super::progress::{Progress, Step};

/// Bytes unpacked at a time.
const CHUNK_BYTES: usize = 256 * 1024;

/// Unpacks `member`, which has exactly `bytes` bytes, into a new file.
pub(super) fn unpack(
    archive: &Path,
    member: &str,
    bytes: u64,
    into: &Path,
    progress: &dyn Progress,
) -> Result<(), FilesError> {
    let shown = format!("the archive {}", archive.display());
    let problem =
        |problem: String| FilesError::Answer { shown: shown.clone(), problem: format!("can't be unpacked: {problem}") };
    let file = File::open(archive).map_err(FilesError::io(archive))?;
    let mut archive = ZipArchive::new(file).map_err(|error| problem(error.to_string()))?;
    let mut member = archive.by_name(member).map_err(|error| problem(error.to_string()))?;
    if member.size() != bytes {
        return Err(problem(format!("it holds {} bytes where {bytes} were expected", member.size())));
    }
    private::remove(into.to_path_buf())?;
    let mut to = private::open(OpenOptions::new().write(true).create_new(true), into)?;
    let (mut chunk, mut done) = (vec![0; CHUNK_BYTES], 0);
    loop {
        let read = member.read(&mut chunk).map_err(|error| problem(error.to_string()))?;
        done += read as u64;
        // What the archive says of itself is a claim.
        if done > bytes || (read == 0 && done < bytes) {
            return Err(problem(format!("it does not hold the {bytes} bytes it announces")));
        }
        if read == 0 {
            return to.sync_all().map_err(FilesError::io(into));
        }
        to.write_all(chunk.get(..read).unwrap_or_default()).map_err(FilesError::io(into))?;
        progress.at(Step::Working { what: "unpacking", done, total: bytes });
    }
}
