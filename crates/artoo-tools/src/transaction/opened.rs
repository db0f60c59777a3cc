//! Records the files opened in a few folders while a program runs, since an approval of the program is bound to their
//! content.

use std::path::{Path, PathBuf};

#[cfg(target_os = "linux")]
use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsStr,
    mem::MaybeUninit,
    os::fd::OwnedFd,
    os::unix::ffi::OsStrExt,
};

#[cfg(target_os = "linux")]
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};

/// Largest file whose content is compared, in bytes: scripts are smaller, and hashing large files takes time.
#[cfg(target_os = "linux")]
const COMPARED_MAX_BYTES: u64 = 1024 * 1024;

/// Maximum number of opened files whose content is compared.
#[cfg(target_os = "linux")]
const COMPARED_MAX: usize = 200;

/// Buffer size in bytes for inotify events read at once.
#[cfg(target_os = "linux")]
const EVENTS_BYTES: usize = 64 * 1024;

/// Records which files a program opens in watched folders, by `inotify`.
#[derive(Debug)]
pub(super) struct Opened {
    #[cfg(target_os = "linux")]
    watched: Option<(OwnedFd, BTreeMap<i32, PathBuf>)>,
}

#[cfg(target_os = "linux")]
impl Opened {
    /// Starts to record which files are opened in the working folder and in the folders of the named paths. If the
    /// kernel refuses, none is recorded.
    pub(super) fn watch(cwd: &Path, named: &[PathBuf]) -> Self {
        let folders: BTreeSet<&Path> = named.iter().filter_map(|path| path.parent()).chain([cwd]).collect();
        let watched = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok().map(|events| {
            let flags = WatchFlags::OPEN | WatchFlags::ONLYDIR;
            let watch = |folder: &Path| Some((inotify::add_watch(&events, folder, flags).ok()?, folder.to_path_buf()));
            let watches = folders.into_iter().filter_map(watch).collect();
            (events, watches)
        });
        Self { watched }
    }

    /// The files that programs have opened in the watched folders until now: regular ones of at most
    /// [`COMPARED_MAX_BYTES`], the first [`COMPARED_MAX`] by path.
    pub(super) fn files(self) -> Vec<PathBuf> {
        let Some((events, folders)) = self.watched else { return Vec::new() };
        let mut buffer = [const { MaybeUninit::uninit() }; EVENTS_BYTES];
        let mut reader = Reader::new(events, &mut buffer);
        let mut opened = BTreeSet::new();
        while let Ok(event) = reader.next() {
            if let (Some(folder), Some(name)) = (folders.get(&event.wd()), event.file_name())
                && !event.events().contains(ReadFlags::ISDIR)
            {
                opened.insert(folder.join(OsStr::from_bytes(name.to_bytes())));
            }
        }
        let is_compared =
            |path: &PathBuf| path.metadata().is_ok_and(|found| found.is_file() && found.len() <= COMPARED_MAX_BYTES);
        opened.into_iter().filter(is_compared).take(COMPARED_MAX).collect()
    }
}

#[cfg(not(target_os = "linux"))]
impl Opened {
    /// Records nothing, since this system has no `inotify`.
    pub(super) fn watch(_: &Path, _: &[PathBuf]) -> Self {
        Self {}
    }

    /// No files, since opened files are not recorded on this system.
    pub(super) fn files(self) -> Vec<PathBuf> {
        Vec::new()
    }
}
