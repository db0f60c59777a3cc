//! Hashes of file contents.

use std::path::Path;

use sha2::{Digest, Sha256};

use super::{EvalError, FileSystem, text, unreadable};

/// The hash of a file's content by the algorithm `D`, in hexadecimal.
pub(crate) fn of_file<D: Digest>(path: &Path, fs: &dyn FileSystem) -> Result<String, EvalError> {
    let mut digest = D::new();
    text::each_block(path, fs, |block| {
        digest.update(block);
        true
    })
    .map_err(unreadable(path))?;
    Ok(hex(&digest.finalize()))
}

/// The SHA-256 of bytes, in hexadecimal.
pub(crate) fn of_bytes(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Bytes in hexadecimal, in lower case.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
