//! The system's disk: what it syncs, and the access modes of its files.

use std::{fs::File, path::Path};

use artoo_mkct::disk::{Disk as _, DiskFile, OpenMode, SystemDisk};

/// A sync is passed to the system: syncing `/dev/null` fails, syncing a real file and folder succeeds.
#[cfg(target_os = "linux")]
#[test]
fn file_and_folder_syncs_reach_the_system() {
    let null = File::open("/dev/null").unwrap();
    assert_eq!(DiskFile::sync(&null).unwrap_err().kind(), std::io::ErrorKind::InvalidInput);
    let refused = SystemDisk.sync_folder(Path::new("/dev/null")).unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::InvalidInput);
    let folder = tempfile::tempdir().unwrap();
    SystemDisk.open(&folder.path().join("file"), OpenMode::Write).unwrap().sync().unwrap();
    SystemDisk.sync_folder(folder.path()).unwrap();
}
