//! SHA-256 checksums of files, and their text form.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Bytes hashed per read: large enough that the disk, not the system calls, sets the speed.
const CHUNK_BYTES: usize = 1024 * 1024;

/// Number of hexadecimal digits in a SHA-256.
const HEX_CHARS: usize = 64;

/// A SHA-256 checksum as 64 lowercase hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checksum(String);

impl Checksum {
    /// Hashes a whole file; `on_progress` receives the number of bytes hashed so far.
    ///
    /// # Errors
    /// If the path is not a regular file or can't be read.
    pub fn of_file(path: &Path, on_progress: &dyn Fn(u64)) -> io::Result<Self> {
        // Opening a pipe would block.
        if !path.metadata()?.is_file() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut file = File::open(path)?;
        let (mut hasher, mut chunk, mut done) = (Sha256::new(), vec![0; CHUNK_BYTES], 0);
        loop {
            let read = file.read(&mut chunk)?;
            if read == 0 {
                return Ok(Self(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()));
            }
            hasher.update(chunk.get(..read).unwrap_or_default());
            done += read as u64;
            on_progress(done);
        }
    }
}

impl FromStr for Checksum {
    type Err = &'static str;

    /// Parses upper or lower case, with or without a `sha256:` prefix.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let hex = text.strip_prefix("sha256:").unwrap_or(text);
        let is_valid = hex.len() == HEX_CHARS && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_valid.then(|| Self(hex.to_ascii_lowercase())).ok_or("a SHA-256 has 64 hexadecimal digits")
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Tests of parsing and computing checksums.
#[cfg(test)]
mod tests {
    use super::Checksum;

    const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    /// A checksum's text must have exactly 64 hexadecimal digits; spaces around it and a `sha256:` prefix are allowed.
    #[test]
    fn checksum_text_is_parsed_strictly() {
        let check = |text: &str, expected: bool| assert_eq!(text.parse::<Checksum>().is_ok(), expected, "{text:?}");
        check(EMPTY, true);
        check(&EMPTY.to_uppercase(), true);
        check(&format!(" sha256:{EMPTY}\n"), true);
        check(&EMPTY[1..], false);
        check(&format!("{EMPTY}0"), false);
        check(&EMPTY.replace('e', "g"), false);
        check("", false);
    }

    /// Progress is reported up to the file's whole length; the checksum of an empty file is right, and that of another
    /// file differs.
    #[test]
    fn file_checksum_covers_all_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        std::fs::write(&path, "").unwrap();
        assert_eq!(Checksum::of_file(&path, &|_| {}).unwrap().to_string(), EMPTY);
        std::fs::write(&path, vec![7; 3 * 1024 * 1024 + 1]).unwrap();
        let seen = std::cell::Cell::new(0);
        let sum = Checksum::of_file(&path, &|done| seen.set(done)).unwrap();
        assert_eq!(seen.get(), 3 * 1024 * 1024 + 1);
        assert_ne!(sum.to_string(), EMPTY);
    }
}
