//! The trash at the top of another disk, by the rules of the specification: only a safe folder is used.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use rustix::process::getuid;
use tempfile::TempDir;

use super::{Trash, top_of_disk};
use crate::undo::Act;

/// The path, relative to its top folder, of the trash that is used on a disk; `Err` if none can be.
fn trash_at(top: &Path) -> Result<PathBuf, String> {
    let found = Trash::of_disk(top, getuid().as_raw(), &mut Act::default()).map_err(|error| error.to_string())?;
    Ok(found.files.parent().unwrap().strip_prefix(top).unwrap().to_path_buf())
}

/// Sets the mode of a path.
fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// A shared trash folder on a disk is used only if it is a real folder with the sticky bit, and the user's folder in it
/// is real.
#[test]
fn shared_trash_needs_the_sticky_bit() {
    let user = getuid().as_raw();
    let (shared, own) = (PathBuf::from(format!(".Trash/{user}")), PathBuf::from(format!(".Trash-{user}")));
    let check = |prepare: &dyn Fn(&Path), expected: &Path| {
        let dir = TempDir::new().unwrap();
        let top = dir.path().canonicalize().unwrap();
        prepare(&top);
        assert_eq!(trash_at(&top).as_deref(), Ok(expected));
        let made = fs::symlink_metadata(top.join(expected)).unwrap();
        assert_eq!((made.is_dir(), made.mode() & 0o777, made.uid()), (true, 0o700, user));
    };
    let with_mode = |bits: u32| {
        move |top: &Path| {
            fs::create_dir(top.join(".Trash")).unwrap();
            mode(&top.join(".Trash"), bits);
        }
    };
    check(&with_mode(0o1777), &shared);
    check(&with_mode(0o777), &own);
    check(&|_| {}, &own);
    check(&|top| fs::write(top.join(".Trash"), "").unwrap(), &own);
    let linked = |top: &Path| {
        fs::create_dir(top.join("elsewhere")).unwrap();
        mode(&top.join("elsewhere"), 0o1777);
        symlink("elsewhere", top.join(".Trash")).unwrap();
    };
    check(&linked, &own);
    // The user's subfolder of the shared trash may have been planted by another user.
    let trapped = |top: &Path| {
        with_mode(0o1777)(top);
        symlink("..", top.join(format!(".Trash/{user}"))).unwrap();
    };
    check(&trapped, &own);
}

/// The user's trash on another disk is not used if it is a symlink, a file, or a folder that others can change.
#[test]
fn own_trash_must_be_private() {
    let own = format!(".Trash-{}", getuid().as_raw());
    for prepare in [
        |path: &Path| symlink("/", path).unwrap(),
        |path: &Path| fs::write(path, "").unwrap(),
        |path: &Path| {
            fs::create_dir(path).unwrap();
            mode(path, 0o777);
        },
    ] {
        let dir = TempDir::new().unwrap();
        let top = dir.path().canonicalize().unwrap();
        prepare(&top.join(&own));
        let refused = trash_at(&top).unwrap_err();
        assert!(refused.contains("it was not deleted"), "{refused}");
    }
}

/// The top folder of a disk is the highest folder on the same device.
#[test]
fn top_of_disk_is_where_device_begins() {
    let memory = Path::new("/dev/shm");
    let is_disk = fs::metadata(memory).is_ok_and(|found| found.dev() != fs::metadata("/dev").unwrap().dev());
    if !is_disk {
        eprintln!("skipped: /dev/shm is no disk of its own here");
        return;
    }
    let dir = TempDir::new_in(memory).unwrap();
    fs::create_dir_all(dir.path().join("a/b")).unwrap();
    assert_eq!(top_of_disk(&dir.path().join("a/b")).unwrap(), memory);
}
