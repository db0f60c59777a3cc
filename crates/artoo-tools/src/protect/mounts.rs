//! Other paths of a file or folder, through further mounts of the same file system.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// A mount: which folder of which file system is shown where.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Mount {
    device: String,
    root: PathBuf,
    at: PathBuf,
}

/// The mounts that this process sees, read once.
#[derive(Debug, Clone, Default)]
pub(super) struct Mounts(Vec<Mount>);

impl Mounts {
    /// Reads `/proc/self/mountinfo`; empty where there is none.
    pub(super) fn read() -> Self {
        Self::parse(&fs::read("/proc/self/mountinfo").unwrap_or_default())
    }

    /// Parses the text of `/proc/self/mountinfo`.
    fn parse(text: &[u8]) -> Self {
        let mounts = text.split(|byte| *byte == b'\n').filter_map(|line| {
            let mut fields = line.split(|byte| *byte == b' ').skip(2);
            let device = String::from_utf8_lossy(fields.next()?).into_owned();
            Some(Mount { device, root: unescaped(fields.next()?), at: unescaped(fields.next()?) })
        });
        Self(mounts.collect())
    }

    /// Other paths that lead to the same file or folder, or to a part of it, through further mounts of its file system.
    /// Overlays are not recognised.
    pub(super) fn aliases(&self, place: &Path) -> Vec<PathBuf> {
        // Of several mounts at one path the last covers the others.
        let holder = self.0.iter().filter(|mount| is_at_or_below(place, &mount.at));
        let Some(holder) = holder.max_by_key(|mount| mount.at.as_os_str().len()) else { return Vec::new() };
        let Ok(below) = place.strip_prefix(&holder.at) else { return Vec::new() };
        let inner = holder.root.join(below);
        let others = self.0.iter().filter(|other| other.device == holder.device && *other != holder);
        let at = others.filter_map(|other| match inner.strip_prefix(&other.root) {
            Ok(below) if below.as_os_str().is_empty() => Some(other.at.clone()),
            Ok(below) => Some(other.at.join(below)),
            Err(_) => other.root.starts_with(&inner).then(|| other.at.clone()),
        });
        at.filter(|path| !path.starts_with(place)).collect()
    }
}

/// Whether `path` is `folder` or lies below it, compared by bytes because [`Path::starts_with`] is slow for many pairs.
fn is_at_or_below(path: &Path, folder: &Path) -> bool {
    let (path, folder) = (path.as_os_str().as_bytes(), folder.as_os_str().as_bytes());
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/") || folder == b"/")
}

/// Decodes a field of the kernel's mount table, in which blanks and backslashes are written as three octal digits.
fn unescaped(field: &[u8]) -> PathBuf {
    let mut out = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, more)) = rest.split_first() {
        let digits =
            more.get(..3).filter(|digits| *first == b'\\' && digits.iter().all(|digit| (b'0'..b'8').contains(digit)));
        let (byte, taken) = digits.map_or((*first, 0), |digits| {
            (digits.iter().fold(0_u8, |value, digit| value.wrapping_mul(8).wrapping_add(digit - b'0')), 3)
        });
        out.push(byte);
        rest = more.get(taken..).unwrap_or_default();
    }
    PathBuf::from(OsString::from_vec(out))
}

/// Tests of finding other paths of a file through mounts.
#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::Mounts;

    /// The other paths of a file through further mounts of its file system are found.
    #[test]
    fn path_is_found_under_other_mounts() {
        let mounts = Mounts::parse(
            b"27 1 254:0 / / rw - ext4 /dev/vda rw\n28 27 0:6 / /dev rw - devtmpfs d rw\n\
              30 27 254:0 /home/a /b\\040m rw - ext4 /dev/vda rw\n31 27 254:0 /home/a/.ssh/inner /in rw - ext4 /dev/vda rw\n\
              32 27 254:0 /srv /srv2 rw - ext4 /dev/vda rw\n33 27 254:1 /home/a /other rw - ext4 /dev/vdb rw\n",
        );
        let aliases = |path: &str| mounts.aliases(Path::new(path));
        assert_eq!(aliases("/home/a/.ssh"), ["/b m/.ssh", "/in"].map(PathBuf::from));
        assert_eq!(aliases("/b m/.ssh"), ["/home/a/.ssh", "/in"].map(PathBuf::from));
        assert!(aliases("/etc/shadow").is_empty());
        assert!(aliases("/dev/x").is_empty());
    }
}
