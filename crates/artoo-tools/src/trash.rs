//! The desktop's trash: deleted files are moved there.
//!
//! Linux: the freedesktop.org trash specification (1.0), also for desktops that have none open: the home trash, and on
//! another disk the one at its top. macOS: `~/.Trash`, where the Finder offers no "put back" for what other programs
//! moved.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use artoo_proto::{Environment, Timestamp};
use rustix::fs::Mode;
use rustix::io::Errno;
use rustix::process::getuid;

use crate::files;
use crate::openat::Place;
use crate::paths;
use crate::undo::Act;

/// Maximum number of names tried for a file whose name is already in the trash.
const NAMES_MAX: u32 = 10_000;

/// The sticky bit of a folder's mode: users can remove only their own files from it.
const STICKY: u32 = 0o1000;

/// Moves the file or folder at `place` to the trash; `tree` is its digest for the undo journal.
///
/// # Errors
/// If the trash can't be created, or if the move is not possible in one step.
pub(crate) fn move_to_trash(
    environment: &Environment,
    place: &Place,
    path: &Path,
    tree: &str,
    act: &mut Act,
) -> io::Result<()> {
    let home = Trash::of_home(Path::new(&environment.home));
    let mut thrown = TrashMove { environment, place, path, tree, act };
    if home.is_on_the_disk_of(path) {
        match thrown.land_in(&home) {
            Err(error) if Errno::from_io_error(&error) == Some(Errno::XDEV) => {}
            done => return done,
        }
    }
    let top = top_of_disk(path)?;
    let trash = Trash::of_disk(&top, getuid().as_raw(), thrown.act)?;
    thrown.land_in(&trash).map_err(|error| match Errno::from_io_error(&error) {
        Some(Errno::XDEV) => io::Error::other("it can't be moved into a trash in one step; it was not deleted"),
        _ => error,
    })
}

/// A file or folder that is being moved to the trash.
struct TrashMove<'a> {
    environment: &'a Environment,
    place: &'a Place,
    path: &'a Path,
    tree: &'a str,
    act: &'a mut Act,
}

impl TrashMove<'_> {
    /// Moves the file into this trash under a name that is free; tries further names if it is taken.
    fn land_in(&mut self, trash: &Trash) -> io::Result<()> {
        // The name only serves to open the folder.
        let names = reach(&trash.files, self.act)?;
        let info = trash.info.as_ref().map(|info| reach(info, self.act)).transpose()?;
        for number in 0..NAMES_MAX {
            let name = numbered(self.place, number);
            let note = match (&info, &trash.info) {
                (Some(place), Some(folder)) => match self.write_note(trash, place, folder, &name) {
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                    note => Some(note?),
                },
                _ => None,
            };
            let to_path = trash.files.join(&name);
            let to = Place { folder: rustix::io::dup(&names.folder)?, name };
            self.act.moving(self.path, &to_path, self.tree)?;
            match files::rename(self.place, &to) {
                Ok(()) => return self.act.moved(self.path, &to_path, self.tree),
                Err(error) => {
                    if let Some(note) = note {
                        note.remove_created();
                    }
                    if !matches!(error, Errno::EXIST | Errno::NOTEMPTY) {
                        return Err(error.into());
                    }
                }
            }
        }
        Err(io::Error::other("the trash holds too many things of this name; empty it first"))
    }

    /// Reserves a name in the trash by creating its `.trashinfo` note with the original path.
    fn write_note(
        &mut self,
        trash: &Trash,
        info: &Place,
        folder: &Path,
        name: &OsString,
    ) -> io::Result<crate::openat::Made> {
        let mut note_name = name.clone();
        note_name.push(".trashinfo");
        let path = folder.join(&note_name);
        self.act.creating(&path)?;
        let mut note = Place { folder: rustix::io::dup(&info.folder)?, name: note_name }.make_file()?;
        self.act.made(&path);
        // On another disk the path is relative to the top of the disk, so that it is valid wherever the disk is
        // mounted.
        let from = trash.top.as_ref().and_then(|top| self.path.strip_prefix(top).ok()).unwrap_or(self.path);
        let text = format!("[Trash Info]\nPath={}\nDeletionDate={}\n", encoded(from), now(self.environment));
        match note.file.write_all(text.as_bytes()) {
            Ok(()) => Ok(note),
            Err(error) => {
                note.remove_created();
                Err(error)
            }
        }
    }
}

/// The path of the `.trashinfo` note for a file in the trash; `None` if it is not directly in a folder named `files`.
pub(crate) fn note_of(thrown: &Path) -> Option<PathBuf> {
    let (files, mut name) = (thrown.parent()?, thrown.file_name()?.to_owned());
    name.push(".trashinfo");
    files.ends_with("files").then(|| files.with_file_name("info").join(name))
}

/// Whether a path is a note of the trash or a folder of the trash itself.
pub(crate) fn is_bookkeeping(path: &Path) -> bool {
    let folder = |path: &Path| ["Trash/files", "Trash/info", "share/Trash"].iter().any(|end| path.ends_with(end));
    let is_note = path.extension().is_some_and(|end| end == "trashinfo") && path.parent().is_some_and(folder);
    is_note || folder(path)
}

/// Opens a folder of the trash for entries; missing folders are created and recorded for undo.
fn reach(folder: &Path, act: &mut Act) -> io::Result<Place> {
    act.creating(folder)?;
    let place = Place::making_folders(&folder.join("name"), &mut Vec::new())?;
    act.made(folder);
    Ok(place)
}

/// A trash folder: its subfolder for files and, on Linux, the one for notes.
#[derive(Debug)]
struct Trash {
    files: PathBuf,
    info: Option<PathBuf>,
    /// The top folder of its disk, if that is not the disk of the home.
    top: Option<PathBuf>,
}

impl Trash {
    /// The trash of the home folder.
    fn of_home(home: &Path) -> Self {
        let home = paths::real(home);
        if cfg!(target_os = "macos") {
            return Self { files: home.join(".Trash"), info: None, top: None };
        }
        Self::in_folder(&home.join(".local/share/Trash"), None)
    }

    /// The trash in this folder; `top` is the top folder of its disk.
    fn in_folder(folder: &Path, top: Option<PathBuf>) -> Self {
        Self { files: folder.join("files"), info: Some(folder.join("info")), top }
    }

    /// Whether a path is on the disk of this trash; true if that can't be found out.
    fn is_on_the_disk_of(&self, path: &Path) -> bool {
        let existing = self.files.ancestors().find_map(|folder| fs::symlink_metadata(folder).ok());
        let there = fs::symlink_metadata(path).ok();
        existing.zip(there).is_none_or(|(existing, there)| existing.dev() == there.dev())
    }

    /// The trash on a disk: the user's subfolder of a shared trash, if that is a real folder with the sticky bit, else
    /// a private trash.
    fn of_disk(top: &Path, user: u32, act: &mut Act) -> io::Result<Self> {
        let shared = top.join(".Trash");
        let is_sound = fs::symlink_metadata(&shared).is_ok_and(|found| found.is_dir() && found.mode() & STICKY != 0);
        let shared = is_sound.then(|| own_folder(&shared.join(user.to_string()), user, act).ok()).flatten();
        let folder = match shared {
            Some(folder) => folder,
            None => own_folder(&top.join(format!(".Trash-{user}")), user, act).map_err(|error| {
                io::Error::other(format!("its disk has no trash and none can be made ({error}); it was not deleted"))
            })?,
        };
        Ok(Self::in_folder(&folder, Some(top.to_path_buf())))
    }
}

/// Creates a private folder in the trash if it is missing; an error unless it is a real folder of this user.
fn own_folder(path: &Path, user: u32, act: &mut Act) -> io::Result<PathBuf> {
    let place = Place::of(path)?;
    act.creating(path)?;
    match rustix::fs::mkdirat(&place.folder, &place.name, Mode::RWXU) {
        Ok(()) => act.made(path),
        Err(Errno::EXIST) => {}
        Err(error) => return Err(error.into()),
    }
    let found = rustix::fs::fstat(place.open_folder()?)?;
    let is_own = found.st_uid == user && found.st_mode & 0o077 == 0;
    if is_own { Ok(path.to_path_buf()) } else { Err(io::Error::other("it is not a private folder of the user")) }
}

/// The highest folder above a path on the same disk; an error if the path is itself the top of a disk.
fn top_of_disk(path: &Path) -> io::Result<PathBuf> {
    let device = fs::symlink_metadata(path)?.dev();
    let is_on_it = |folder: &&Path| fs::symlink_metadata(folder).is_ok_and(|found| found.dev() == device);
    let top = path.ancestors().skip(1).take_while(is_on_it).last();
    top.map(Path::to_path_buf).ok_or_else(|| io::Error::other("it is a disk of its own"))
}

/// The name of a file in the trash, with a number if the name is taken.
fn numbered(place: &Place, number: u32) -> OsString {
    let mut name = place.name.clone();
    if number > 0 {
        name.push(format!(".{number}"));
    }
    name
}

/// A path in percent-encoding, as the trash specification requires for notes.
fn encoded(path: &Path) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte);
    let bytes = path.as_os_str().as_bytes();
    bytes.iter().map(|&byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

/// The present local time as `YYYY-MM-DDThh:mm:ss`.
fn now(environment: &Environment) -> String {
    let local = Timestamp::from(SystemTime::now()).plus_millis(i64::from(environment.utc_offset_s) * 1000);
    local.to_string().chars().take(19).collect()
}

#[cfg(test)]
mod tests;
