//! SHA-256 sums: of a file, and as people write them.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Bytes read at a time: large enough that the disk, not the calls, sets the pace.
const CHUNK_BYTES: usize = 1024 * 1024;

/// Letters of a sum in hex.
const HEX_CHARS: usize = 64;

/// A SHA-256 in lower-case hex.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct Sum(String);

/// A text that is no sum.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("give a SHA-256 as 64 letters and digits from 0 to f")]
pub struct NoSum;

impl Sum {
    /// Of a file's whole content; `grown` hears how many bytes have been read.
    ///
    /// # Errors
    /// When it can't be read.
    pub fn of_file(path: &Path, grown: &dyn Fn(u64)) -> io::Result<Self> {
        // A pipe would be waited for.
        if !path.metadata()?.is_file() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut file = File::open(path)?;
        let (mut hasher, mut chunk, mut done) = (Sha256::new(), vec![0; CHUNK_BYTES], 0);
        loop {
            let read = file.read(&mut chunk)?;
            if read == 0 {
                return Ok(Self::of(hasher));
            }
            hasher.update(chunk.get(..read).unwrap_or_default());
            done += read as u64;
            grown(done);
        }
    }

    fn of(hasher: Sha256) -> Self {
        Self(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

impl FromStr for Sum {
    type Err = NoSum;

    /// As `sha256sum` and hubs write it: upper or lower case, with or without `sha256:` before it.
    fn from_str(text: &str) -> Result<Self, NoSum> {
        let text = text.trim();
        let hex = text.strip_prefix("sha256:").unwrap_or(text);
        let is_sum = hex.len() == HEX_CHARS && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_sum { Ok(Self(hex.to_ascii_lowercase())) } else { Err(NoSum) }
    }
}

impl TryFrom<String> for Sum {
    type Error = NoSum;

    fn try_from(text: String) -> Result<Self, NoSum> {
        text.parse()
    }
}

impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Sum;

    const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    #[test]
    fn a_sum_is_read_as_people_write_it_and_nothing_else_is_one() {
        let check = |text: &str, expected: bool| assert_eq!(text.parse::<Sum>().is_ok(), expected, "{text:?}");
        check(EMPTY, true);
        check(&EMPTY.to_uppercase(), true);
        check(&format!(" sha256:{EMPTY}\n"), true);
        check(&EMPTY[1..], false);
        check(&format!("{EMPTY}0"), false);
        check(&EMPTY.replace('e', "g"), false);
        check("", false);
    }

    #[test]
    fn a_files_sum_is_that_of_its_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        std::fs::write(&path, "").unwrap();
        assert_eq!(Sum::of_file(&path, &|_| {}).unwrap().to_string(), EMPTY);
        std::fs::write(&path, vec![7; 3 * 1024 * 1024 + 1]).unwrap();
        let seen = std::cell::Cell::new(0);
        let sum = Sum::of_file(&path, &|done| seen.set(done)).unwrap();
        assert_eq!(seen.get(), 3 * 1024 * 1024 + 1);
        assert_ne!(sum.to_string(), EMPTY);
    }
}
