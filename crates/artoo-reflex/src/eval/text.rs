//! Text: lines, stretches of lines, and the search for a text in bytes.

use std::io::Read as _;
use std::path::Path;

use super::{EvalError, FileSystem, FileSystemError};
use crate::algebra::Part;

/// Most bytes of one text file held at once; longer files are reported as not verified.
pub(super) const MAX_TEXT_BYTES: usize = 256 << 20;

/// Bytes read at a time while searching.
const BLOCK_BYTES: usize = 64 << 10;

/// The lines of a file, without their ends. The end of the last line may be missing.
pub(super) fn lines(path: &Path, fs: &dyn FileSystem) -> Result<Vec<Vec<u8>>, EvalError> {
    let unreadable = |source| EvalError::Unreadable {
        path: artoo_proto::escape::path_line(path.as_os_str().as_encoded_bytes()),
        source,
    };
    let mut bytes = Vec::new();
    let mut limited = fs.open(path).map_err(unreadable)?.take(MAX_TEXT_BYTES as u64 + 1);
    limited.read_to_end(&mut bytes).map_err(|_| unreadable(FileSystemError::Failed))?;
    if bytes.len() > MAX_TEXT_BYTES {
        return Err(EvalError::TooMuchText { max: MAX_TEXT_BYTES });
    }
    if bytes.last() == Some(&b'\n') {
        bytes.pop();
    } else if bytes.is_empty() {
        return Ok(Vec::new());
    }
    Ok(bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect())
}

/// A stretch of lines.
pub(super) fn part(lines: Vec<Vec<u8>>, part: Part) -> Vec<Vec<u8>> {
    let size = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    let (skip, take) = match part {
        Part::First(count) => (0, size(count)),
        Part::Last(count) => (lines.len().saturating_sub(size(count)), usize::MAX),
        Part::Range { from, to } if from == 0 || from > to => (0, 0),
        Part::Range { from, to } => (size(from - 1), size(to - from).saturating_add(1)),
    };
    lines.into_iter().skip(skip).take(take).collect()
}

/// Whether a file's content holds a text, read block by block.
pub(super) fn file_holds(path: &Path, text: &[u8], ignore_case: bool, fs: &dyn FileSystem) -> Option<bool> {
    let mut reader = fs.open(path).ok()?;
    let mut window = Vec::new();
    let mut block = vec![0; BLOCK_BYTES];
    loop {
        let read = match reader.read(&mut block) {
            Ok(0) => return Some(holds(&window, text, ignore_case)),
            Ok(read) => read,
            Err(problem) if problem.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) => return None,
        };
        window.extend_from_slice(block.get(..read)?);
        if holds(&window, text, ignore_case) {
            return Some(true);
        }
        // What could still be the beginning of the text stays for the next block.
        window.drain(..window.len().saturating_sub(text.len().saturating_sub(1)));
    }
}

/// Whether bytes hold a text.
pub(super) fn holds(bytes: &[u8], text: &[u8], ignore_case: bool) -> bool {
    if text.is_empty() {
        return true;
    }
    bytes.windows(text.len()).any(|window| if ignore_case { window.eq_ignore_ascii_case(text) } else { window == text })
}
