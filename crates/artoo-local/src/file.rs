//! Checks a model file before llama.cpp opens it, whose own checks say little and sometimes end the process.

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::Path;

use crate::LocalError;

/// Versions of the GGUF format that llama.cpp reads.
const VERSIONS: std::ops::RangeInclusive<u32> = 2..=3;

/// Maximum number of tensors, and of metadata entries, in a model file; a larger count means that the file is damaged.
const COUNT_MAX: u64 = 1 << 20;

/// Length of a model file's header in bytes: magic, version, number of tensors, number of metadata entries.
const HEAD_BYTES: usize = 24;

/// Checks that a path is valid UTF-8 and that of a regular file that begins with the header of a GGUF model.
pub(crate) fn check(path: &Path) -> Result<(), LocalError> {
    let unreadable = |source| LocalError::Unreadable { path: path.to_owned(), source };
    let found = std::fs::metadata(path).map_err(|source| {
        let is_missing = [ErrorKind::NotFound, ErrorKind::NotADirectory].contains(&source.kind());
        if is_missing { LocalError::Missing { path: path.to_owned() } } else { unreadable(source) }
    })?;
    let not_gguf = |problem| LocalError::NotGguf { path: path.to_owned(), problem };
    // Opening a pipe would block.
    if !found.is_file() {
        return Err(not_gguf("it is no regular file"));
    }
    if path.to_str().is_none_or(|path| path.contains('\0')) {
        return Err(not_gguf("llama.cpp takes no path that is not valid UTF-8"));
    }
    let mut head = [0; HEAD_BYTES];
    match File::open(path).and_then(|mut file| file.read_exact(&mut head)) {
        Ok(()) => head_problem(&head).map_or(Ok(()), |problem| Err(not_gguf(problem))),
        Err(source) if source.kind() == ErrorKind::UnexpectedEof => Err(not_gguf("it is too short")),
        Err(source) => Err(unreadable(source)),
    }
}

/// What is wrong with the header of a model file, as text; `None` if nothing is.
fn head_problem(head: &[u8; HEAD_BYTES]) -> Option<&'static str> {
    let (magic, rest) = head.split_first_chunk::<4>()?;
    let (version, rest) = rest.split_first_chunk::<4>()?;
    let (tensors, rest) = rest.split_first_chunk::<8>()?;
    let (facts, _) = rest.split_first_chunk::<8>()?;
    let count = |bytes: &[u8; 8]| (1..=COUNT_MAX).contains(&u64::from_le_bytes(*bytes));
    if magic != b"GGUF" {
        return Some("it does not begin with GGUF");
    }
    if !VERSIONS.contains(&u32::from_le_bytes(*version)) {
        return Some("its version is neither 2 nor 3");
    }
    (!count(tensors) || !count(facts)).then_some("its head is damaged")
}

/// Tests of the check of a model file's header.
#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn non_model_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let head = |magic: &[u8], version: u32, tensors: u64, facts: u64| {
            [magic, &version.to_le_bytes(), &tensors.to_le_bytes(), &facts.to_le_bytes()].concat()
        };
        let shown = |name: &str, content: Option<&[u8]>| {
            let path = folder.path().join(name);
            if let Some(content) = content {
                std::fs::write(&path, content).unwrap();
            }
            check(&path).err().map(|error| error.to_string()).unwrap_or_default()
        };
        let expect = |name: &str, content: Option<&[u8]>, expected: &str| {
            let found = shown(name, content);
            assert!(if expected.is_empty() { found.is_empty() } else { found.contains(expected) }, "{name}: {found:?}");
        };
        expect("good.gguf", Some(&head(b"GGUF", 3, 272, 30)), "");
        expect("old.gguf", Some(&head(b"GGUF", 2, 1, 1)), "");
        expect("gone.gguf", None, "there is no model file");
        expect("below/a/file.gguf", None, "there is no model file");
        expect("empty.gguf", Some(b""), "too short");
        expect("page.gguf", Some(b"<!doctype html><html><body>"), "does not begin with GGUF");
        expect("new.gguf", Some(&head(b"GGUF", 4, 1, 1)), "neither 2 nor 3");
        expect("bare.gguf", Some(&head(b"GGUF", 3, 0, 1)), "damaged");
        expect("big.gguf", Some(&head(b"GGUF", 3, 1, u64::MAX)), "damaged");
        assert!(check(folder.path()).unwrap_err().to_string().contains("no regular file"));
    }
}
