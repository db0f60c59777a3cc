//! SHA-256 of texts and files, in hex.

use std::fs::File;
use std::io::{self, Read, Seek};

use sha2::{Digest, Sha256};

use crate::limit::Limit;

/// Bytes of a file that are read at a time to hash it: most files are small.
const CHUNK_BYTES: usize = 16 * 1024;

/// Hex digest of several parts, each with its length before it, so that different lists have different digests.
pub(crate) fn of_parts<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
        hasher.update(part);
    }
    hex(&hasher.finalize())
}

/// Hex digest of the rest of an open file; `None` if the limit was reached first.
pub(crate) fn of_file(file: &mut File, limit: &Limit) -> io::Result<Option<String>> {
    of_rest(file, |read| {
        limit.meter.add_bytes(read);
        limit.reached()
    })
}

/// Hex digest of an open file from its start; fails with `TimedOut` if the limit was reached first.
pub(crate) fn of_whole(file: &mut File, limit: &Limit) -> io::Result<String> {
    file.rewind()?;
    of_file(file, limit)?.ok_or_else(|| io::ErrorKind::TimedOut.into())
}

/// Hex digest of all bytes of a reader.
pub(crate) fn of_reader(reader: impl Read) -> io::Result<String> {
    Ok(of_rest(reader, |_| false)?.unwrap_or_default())
}

/// Hex SHA-256 of what is left of a reader; `None` if `is_over` (given the bytes read last) is true before its end.
fn of_rest(mut reader: impl Read, is_over: impl Fn(usize) -> bool) -> io::Result<Option<String>> {
    let mut hasher = Sha256::new();
    let mut chunk = [0; CHUNK_BYTES];
    let mut read = 0;
    while !is_over(read) {
        read = reader.read(&mut chunk)?;
        if read == 0 {
            return Ok(Some(hex(&hasher.finalize())));
        }
        hasher.update(chunk.get(..read).unwrap_or_default());
    }
    Ok(None)
}

/// Bytes in hex with lowercase letters.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 0x0f]);
    digits.filter_map(|digit| char::from_digit(u32::from(digit), 16)).collect()
}

/// Tests of the digests.
#[cfg(test)]
mod tests {
    use super::{hex, of_parts};
    use sha2::{Digest, Sha256};

    /// Digests are SHA-256, and parts are kept apart by their lengths.
    #[test]
    fn digests_are_sha256_of_separate_parts() {
        assert_eq!(hex(&Sha256::digest(b"abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_ne!(of_parts([b"ab".as_slice(), b"c"]), of_parts([b"a".as_slice(), b"bc"]));
    }
}
