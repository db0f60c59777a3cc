//! The option `--output`: writes a task's answer to a file.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use artoo_proto::Answer;
use artoo_tools::EvidenceStore;

use super::writer::write_exact;
use crate::failure::Failure;

/// Writes the answers with exact values to a file, which is replaced only once all of them are written; a special file,
/// such as a pipe, is written directly. Returns the size of the file in bytes.
pub(crate) fn write(path: &Path, answers: &[Answer], evidence: &EvidenceStore) -> Result<u64, Failure> {
    let is_special = fs::metadata(path).is_ok_and(|found| !found.is_file());
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = path.with_file_name(format!(".{name}.new-{}", std::process::id()));
    let written = if is_special { path } else { &beside };
    let attempt = || -> io::Result<u64> {
        let mut file = File::create(written)?;
        write_exact(answers, evidence, &mut file)?;
        file.flush()?;
        let bytes = file.metadata()?.len();
        if !is_special {
            fs::rename(written, path)?;
        }
        Ok(bytes)
    };
    attempt().map_err(|error: io::Error| {
        if !is_special {
            // A partly written file is of no use.
            drop(fs::remove_file(&beside));
        }
        Failure::Output { path: path.to_owned(), source: error }
    })
}
