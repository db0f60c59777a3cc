//! Reads file contents, splits them into lines and searches them.

use std::io::Read as _;
use std::path::Path;

use super::{EvalError, FileSystem, FileSystemError, unreadable};
use crate::ensure::ensure;

/// Maximum number of bytes of text held in memory; larger files are reported as not verified.
pub(crate) const MAX_TEXT_BYTES: usize = 256 << 20;

/// Number of bytes of a file read at a time.
const BLOCK_BYTES: usize = 64 << 10;

/// The whole content of a file; an error if it exceeds `MAX_TEXT_BYTES`.
pub(crate) fn content(path: &Path, fs: &dyn FileSystem) -> Result<Vec<u8>, EvalError> {
    let unreadable = unreadable(path);
    let mut bytes = Vec::new();
    let mut limited = fs.open(path).map_err(&unreadable)?.take(MAX_TEXT_BYTES as u64 + 1);
    limited.read_to_end(&mut bytes).map_err(|_| unreadable(FileSystemError::Failed))?;
    ensure(bytes.len() <= MAX_TEXT_BYTES, || EvalError::TooMuchText { max: MAX_TEXT_BYTES })?;
    Ok(bytes)
}

/// The content of a small system file as text; invalid UTF-8 is replaced.
pub(crate) fn system_file(path: &str, fs: &dyn FileSystem) -> Result<String, EvalError> {
    content(Path::new(path), fs).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// Splits bytes into lines, without their newlines.
pub(crate) fn split(mut bytes: Vec<u8>) -> Vec<Vec<u8>> {
    if bytes.last() == Some(&b'\n') {
        bytes.pop();
    } else if bytes.is_empty() {
        return Vec::new();
    }
    bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
}

/// Reads a file block by block and passes each to `go_on`, until that returns `false` or the file ends.
pub(crate) fn each_block(
    path: &Path,
    fs: &dyn FileSystem,
    mut go_on: impl FnMut(&[u8]) -> bool,
) -> Result<(), FileSystemError> {
    let mut file = fs.open(path)?;
    let mut block = vec![0; BLOCK_BYTES];
    loop {
        match file.read(&mut block) {
            Ok(0) => return Ok(()),
            Ok(read) if go_on(block.get(..read).unwrap_or_default()) => {}
            Ok(_) => return Ok(()),
            Err(problem) if problem.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return Err(FileSystemError::Failed),
        }
    }
}

/// Whether a file contains a text, read block by block; `None` if it can't be read.
pub(crate) fn file_holds(path: &Path, text: &[u8], ignore_case: bool, fs: &dyn FileSystem) -> Option<bool> {
    let (mut found, mut window) = (text.is_empty(), Vec::new());
    let read = each_block(path, fs, |block| {
        window.extend_from_slice(block);
        found |= holds(&window, text, ignore_case);
        // The end of the window may be the beginning of the text, so it stays for the next block.
        window.drain(..window.len().saturating_sub(text.len().saturating_sub(1)));
        !found
    });
    read.ok().map(|()| found)
}

/// Whether a byte is ASCII white space, vertical tab included.
pub(crate) fn is_blank(byte: &u8) -> bool {
    byte.is_ascii_whitespace() || *byte == 0x0b
}

/// The number of words in a text, separated by white space.
pub(crate) fn count_words(text: &[u8]) -> usize {
    text.split(is_blank).filter(|word| !word.is_empty()).count()
}

/// Whether bytes contain a text, optionally ignoring ASCII case.
pub(crate) fn holds(bytes: &[u8], text: &[u8], ignore_case: bool) -> bool {
    let Some(first) = text.first() else { return true };
    let begins = if ignore_case { [first.to_ascii_lowercase(), first.to_ascii_uppercase()] } else { [*first; 2] };
    let is_it = |window: &[u8]| if ignore_case { window.eq_ignore_ascii_case(text) } else { window == text };
    // Every reading of a request may search all files, so most bytes must cost only one comparison.
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|byte| begins.contains(byte)) {
        if rest.get(at..at + text.len()).is_some_and(is_it) {
            return true;
        }
        rest = rest.get(at + 1..).unwrap_or_default();
    }
    false
}

/// Splits bytes at each occurrence of a text; an empty text never occurs.
pub(crate) fn split_at(bytes: &[u8], text: &[u8]) -> Vec<Vec<u8>> {
    let (mut parts, mut rest) = (Vec::new(), bytes);
    let next = |rest: &[u8]| rest.windows(text.len().max(1)).position(|window| window == text);
    while let Some((part, after)) = next(rest).map(|at| rest.split_at(at)) {
        parts.push(part.to_vec());
        rest = after.get(text.len()..).unwrap_or_default();
    }
    parts.push(rest.to_vec());
    parts
}

/// Replaces every occurrence of a text, from left to right.
pub(crate) fn replace(bytes: &[u8], find: &[u8], with: &[u8]) -> Vec<u8> {
    split_at(bytes, find).join(with)
}

/// The occurrences of a text from left to right, without overlaps; with `whole_word` only those without an ASCII
/// letter, digit or `_` beside them.
pub(crate) fn occurrences<'a>(bytes: &'a [u8], text: &[u8], ignore_case: bool, whole_word: bool) -> Vec<&'a [u8]> {
    let is_of_a_word = |at: Option<usize>| {
        at.and_then(|at| bytes.get(at)).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
    };
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(window) = bytes.get(at..at + text.len()).filter(|_| !text.is_empty()) {
        let is_same = if ignore_case { window.eq_ignore_ascii_case(text) } else { window == text };
        let stands_alone = !is_of_a_word(at.checked_sub(1)) && !is_of_a_word(Some(at + text.len()));
        if is_same && (!whole_word || stands_alone) {
            found.push(window);
            at += text.len();
        } else {
            at += 1;
        }
    }
    found
}
