//! The folders that a view overlays: the outermost ones, divided if there are mounts below them.
//!
//! An overlay shows the folder's own file system alone, and in a user namespace the kernel refuses one on a folder with
//! mounts below. So each folder in it that has none is overlaid by itself, and each of those mounts.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::fs::{StatVfsMountFlags, statvfs};

use super::problem::NoView;
use crate::undo::is_system;

/// Maximum number of overlays in one view; each takes about 0.2 ms.
const OVERLAYS_MAX: usize = 64;

/// Types of file systems, besides those that begin with `fuse`, that may wait for another machine, or that only one
/// user can read. In a view they stay read-only.
const KEPT_READ_ONLY: [&str; 9] = ["9p", "afs", "autofs", "ceph", "cifs", "nfs", "nfs4", "smb3", "smbfs"];

/// The folders of a view, divided into overlaid ones and those that stay read-only.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Parts {
    /// Folders with an overlay.
    pub(super) overlaid: Vec<PathBuf>,
    /// Folders whose own files can't be changed.
    pub(super) read_only: Vec<PathBuf>,
}

/// A mount that this process sees: its path, and whether it must stay read-only in a view.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Mounted {
    at: PathBuf,
    is_kept_read_only: bool,
}

/// Divides folders that a program may change into those to be overlaid and those that stay read-only, such as mounts;
/// an error if none can be overlaid, or too many would have to be.
pub(super) fn parts(folders: &[PathBuf]) -> Result<Parts, NoView> {
    let mut real: Vec<PathBuf> = folders.iter().filter_map(|folder| folder.canonicalize().ok()).collect();
    real.retain(|folder| folder.is_dir() && folder.parent().is_some() && !is_system(folder));
    real.sort();
    let mounts = mounts();
    let mut parts = Parts::default();
    for (index, folder) in real.iter().enumerate() {
        let is_outermost = !real.iter().take(index).any(|outer| folder.starts_with(outer));
        if is_outermost {
            divide(folder, &mounts, &mut parts);
        }
    }
    let may_be_written =
        |folder: &PathBuf| statvfs(folder).is_ok_and(|found| !found.f_flag.contains(StatVfsMountFlags::RDONLY));
    let (overlaid, unwritable): (Vec<_>, Vec<_>) = parts.overlaid.into_iter().partition(may_be_written);
    parts.read_only.extend(unwritable);
    match overlaid.len() {
        0 => Err(NoView::NoFolder(folders.to_vec())),
        count if count > OVERLAYS_MAX => Err(NoView::TooMany { folders: count, limit: OVERLAYS_MAX }),
        _ => Ok(Parts { overlaid, ..parts }),
    }
}

/// Adds a folder to the overlaid ones; if there are mounts below it, adds it to the read-only ones and divides its
/// subfolders one by one.
fn divide(folder: &Path, mounts: &[Mounted], parts: &mut Parts) {
    let is_below = |mounted: &Mounted| mounted.at != folder && mounted.at.starts_with(folder);
    if !mounts.iter().any(is_below) {
        parts.overlaid.push(folder.to_path_buf());
        return;
    }
    parts.read_only.push(folder.to_path_buf());
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        // A symlink leads to a folder that is overlaid at its real path, if at all.
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        let path = entry.path();
        match mounts.iter().rfind(|mounted| mounted.at == path) {
            Some(mounted) if mounted.is_kept_read_only => parts.read_only.push(path),
            Some(_) | None => divide(&path, mounts, parts),
        }
    }
}

/// The mounts of this process, in the order of the kernel: a later one covers earlier ones at the same path.
fn mounts() -> Vec<Mounted> {
    let list = fs::read("/proc/self/mountinfo").unwrap_or_default();
    list.split(|byte| *byte == b'\n').filter_map(mounted).collect()
}

/// Parses a line of the kernel's list of mounts.
fn mounted(line: &[u8]) -> Option<Mounted> {
    use std::os::unix::ffi::OsStringExt;
    let mut fields = line.split(|byte| *byte == b' ');
    let at = fields.nth(4)?;
    let kind = fields.skip_while(|field| *field != b"-").nth(1)?;
    let is_kept_read_only = KEPT_READ_ONLY.iter().any(|left| left.as_bytes() == kind) || kind.starts_with(b"fuse");
    Some(Mounted { at: std::ffi::OsString::from_vec(unescaped(at)).into(), is_kept_read_only })
}

/// Decodes the octal escapes of blanks and other special characters in the kernel's list of mounts.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        let octal = after.get(..3).filter(|_| *first == b'\\');
        let byte = octal.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok());
        out.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { after.get(3..).unwrap_or_default() } else { after };
    }
    out
}

/// Tests of dividing folders with mounts below them into overlaid and read-only ones.
#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    /// A folder with mounts below it is divided: its other subfolders are overlaid, kept mounts stay read-only.
    #[test]
    fn folders_are_divided_where_mounts_lie_below() {
        let dir = TempDir::new().unwrap();
        let at = |path: &str| dir.path().canonicalize().unwrap().join(path);
        for path in ["a/inner", "b/disk/x", "b/other", "b/remote", "c"] {
            fs::create_dir_all(at(path)).unwrap();
        }
        fs::write(at("b/file"), "").unwrap();
        std::os::unix::fs::symlink(at("c"), at("b/link")).unwrap();
        let mount = |path: &str, is_kept_read_only| Mounted { at: at(path), is_kept_read_only };
        let mounts = [mount("b/disk", false), mount("b/remote", true), mount("elsewhere", false)];
        let divided = |folder: &str| {
            let mut parts = Parts::default();
            divide(&at(folder), &mounts, &mut parts);
            parts.overlaid.sort();
            parts
        };
        assert_eq!(divided("a"), Parts { overlaid: vec![at("a")], read_only: vec![] });
        let expected = Parts { overlaid: vec![at("b/disk"), at("b/other")], read_only: vec![at("b"), at("b/remote")] };
        let mut found = divided("b");
        found.read_only.sort();
        assert_eq!(found, expected);
        assert_eq!(divided("b/disk").overlaid, [at("b/disk")], "a mount without others below it");
    }

    /// Of nested folders the outermost existing one is overlaid.
    #[test]
    fn outermost_existing_folders_are_taken() {
        let dir = TempDir::new().unwrap();
        let folder = dir.path().canonicalize().unwrap();
        fs::create_dir(folder.join("inner")).unwrap();
        let named = [folder.join("inner"), folder.clone(), folder.join("none"), "/".into(), "/proc/self".into()];
        assert_eq!(parts(&named).unwrap().overlaid, [folder]);
        assert!(matches!(parts(&named[2..]), Err(NoView::NoFolder(_))));
    }

    /// Lines of the kernel's list of mounts are parsed, with escapes and file system types.
    #[test]
    fn mount_list_lines_are_parsed() {
        let line = br"36 35 98:0 /mnt1 /mnt/a\040b\134c rw,noatime master:1 - ext3 /dev/root rw";
        assert_eq!(mounted(line), Some(Mounted { at: r"/mnt/a b\c".into(), is_kept_read_only: false }));
        assert!(mounted(b"1 2 0:1 / /m rw - fuse.sshfs x rw").unwrap().is_kept_read_only);
        assert_eq!(mounted(b""), None);
        assert!(mounts().iter().any(|mounted| mounted.at == Path::new("/")));
    }
}
