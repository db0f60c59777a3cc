//! Searches a file for a text, in chunks.

use std::fs::File;
use std::io::{self, Read};

use crate::limit::Limit;

/// Bytes of a file that are read at a time to search its content.
const CHUNK_BYTES: usize = 256 * 1024;

/// A text that `glob` and `read_file` search for in file contents.
#[derive(Debug, Clone)]
pub(crate) struct Needle {
    text: String,
    ignore_case: bool,
}

impl Needle {
    /// A text to search for; with `ignore_case`, it is compared in lowercase.
    pub(crate) fn new(text: &str, ignore_case: bool) -> Self {
        Self { text: if ignore_case { text.to_lowercase() } else { text.to_owned() }, ignore_case }
    }

    /// Whether a text contains the searched text, in any letter case if that was asked for.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        if self.ignore_case { text.to_lowercase().contains(&self.text) } else { text.contains(&self.text) }
    }

    /// Whether these bytes contain the searched text.
    fn is_in_bytes(&self, bytes: &[u8]) -> bool {
        if self.ignore_case {
            return self.is_in(&String::from_utf8_lossy(bytes));
        }
        find(bytes, self.text.as_bytes())
    }

    /// Number of bytes at the end of a chunk that are searched again with the next chunk, to find matches across both.
    fn overlap(&self) -> usize {
        if self.ignore_case { self.text.len().saturating_mul(3) + 8 } else { self.text.len() }
    }

    /// Whether the rest of a file contains the searched text; `None` if the deadline came first.
    pub(crate) fn is_in_file(&self, file: &mut File, limit: &Limit) -> io::Result<Option<bool>> {
        let mut window: Vec<u8> = Vec::with_capacity(CHUNK_BYTES + self.overlap());
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            if limit.reached() {
                return Ok(None);
            }
            let read = file.read(&mut chunk)?;
            if read == 0 {
                return Ok(Some(false));
            }
            window.extend_from_slice(chunk.get(..read).unwrap_or_default());
            if self.is_in_bytes(&window) {
                return Ok(Some(true));
            }
            let seen = window.len().saturating_sub(self.overlap());
            window.drain(..seen);
        }
    }
}

/// Whether the bytes `hay` contain the bytes `needle`.
fn find(hay: &[u8], needle: &[u8]) -> bool {
    let Some(first) = needle.first() else { return true };
    let mut rest = hay;
    while let Some(at) = rest.iter().position(|byte| byte == first) {
        let from = rest.get(at..).unwrap_or_default();
        if from.starts_with(needle) {
            return true;
        }
        rest = from.get(1..).unwrap_or_default();
    }
    false
}
