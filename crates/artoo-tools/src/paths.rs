//! Makes paths absolute, resolves symlinks, and shows paths on one line.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use artoo_proto::{Environment, escape};

/// Longest path, in bytes: the kernel's limit.
pub(crate) const PATH_MAX_BYTES: usize = 4096;

/// `text` as an absolute path: `~` is the home folder, anything else is relative to the working folder. `.` and `..`
/// are resolved without the disk, so the path that is checked is the path that is used. `Err` if it is empty, too long
/// or has a NUL.
pub(crate) fn absolute(environment: &Environment, text: &str) -> Result<PathBuf, String> {
    if text.is_empty() {
        return Err("the path is empty".to_owned());
    }
    if text.contains('\0') {
        return Err("the path holds a NUL character".to_owned());
    }
    if text.len() > PATH_MAX_BYTES {
        return Err(format!("the path is {} bytes long; the limit is {PATH_MAX_BYTES}", text.len()));
    }
    let joined = match text.strip_prefix('~') {
        Some("") => PathBuf::from(&environment.home),
        Some(rest) if rest.starts_with('/') => Path::new(&environment.home).join(rest.trim_start_matches('/')),
        Some(_) | None => Path::new(&environment.cwd).join(text),
    };
    Ok(normalise(&joined))
}

/// The path as an absolute one, with `.` and `..` resolved without reading the disk.
pub(crate) fn normalise(path: &Path) -> PathBuf {
    let mut out = PathBuf::from("/");
    for component in path.components() {
        match component {
            Component::Normal(name) => out.push(name),
            Component::ParentDir => {
                out.pop();
            }
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    out
}

/// The path with symlinks resolved in the part that exists; the missing rest as written.
pub(crate) fn real(path: &Path) -> PathBuf {
    let mut missing: Vec<&OsStr> = Vec::new();
    let mut existing = path;
    loop {
        if let Ok(found) = existing.canonicalize() {
            return missing.iter().rev().fold(found, |path, name| path.join(name));
        }
        match (existing.parent(), existing.file_name()) {
            (Some(parent), Some(name)) => {
                missing.push(name);
                existing = parent;
            }
            _ => return path.to_path_buf(),
        }
    }
}

/// The path with symlinks resolved in its parent only.
pub(crate) fn without_links(path: &Path) -> PathBuf {
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => real(parent).join(name),
        _ => path.to_path_buf(),
    }
}

/// A path on one line, with escapes that can be reverted.
pub(crate) fn line(path: &Path) -> String {
    escape::path_line(path.as_os_str().as_bytes())
}

/// Whether a file name begins with a dot, so that it is hidden.
pub(crate) fn is_hidden(name: &OsStr) -> bool {
    name.as_bytes().first() == Some(&b'.')
}
