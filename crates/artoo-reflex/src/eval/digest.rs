//! Hashes of file contents.

use std::path::Path;

use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256};

use super::{EvalError, FileSystem, FileSystemError, unreadable};

/// Number of bytes of a file hashed at a time.
const BLOCK_BYTES: usize = 64 << 10;

/// A hash algorithm for file contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Algorithm {
    Md5,
    Sha1,
    Sha256,
}

/// The hash of a file's content, in hexadecimal.
pub(super) fn of_file(path: &Path, algorithm: Algorithm, fs: &dyn FileSystem) -> Result<String, EvalError> {
    match algorithm {
        Algorithm::Md5 => read::<Md5>(path, fs),
        Algorithm::Sha1 => read::<Sha1>(path, fs),
        Algorithm::Sha256 => read::<Sha256>(path, fs),
    }
}

/// The hash of a file's content by the algorithm `D`, in hexadecimal.
fn read<D: Digest>(path: &Path, fs: &dyn FileSystem) -> Result<String, EvalError> {
    let unreadable = unreadable(path);
    let mut file = fs.open(path).map_err(&unreadable)?;
    let mut digest = D::new();
    let mut block = vec![0; BLOCK_BYTES];
    loop {
        match file.read(&mut block) {
            Ok(0) => return Ok(hex(&digest.finalize())),
            Ok(read) => digest.update(block.get(..read).unwrap_or_default()),
            Err(problem) if problem.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return Err(unreadable(FileSystemError::Failed)),
        }
    }
}

/// The SHA-256 of bytes, in hexadecimal.
pub(super) fn of_bytes(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Bytes in hexadecimal, in lower case.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
