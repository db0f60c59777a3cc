//! The desktop's trash: what is thrown away goes there, so that it can be taken back.
//!
//! Linux: the home trash of the freedesktop.org trash specification (1.0), also for desktops that have none open.
//! macOS: `~/.Trash`, where the Finder offers no "put back" for what other programs moved.

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use artoo_proto::{Environment, Timestamp};
use rustix::io::Errno;

use crate::beneath::Place;
use crate::files;

/// Names tried for what is already in the trash under the same one.
const NAMES_MAX: u32 = 10_000;

/// Moves what stands at `place` to the trash.
///
/// # Errors
/// When the trash can't be made, or lies on another disk: copying there would not be one step, and half a deletion is
/// worse than none.
pub(crate) fn put(environment: &Environment, place: &Place, path: &Path) -> io::Result<()> {
    let trash = folder(Path::new(&environment.home));
    let mut made = Vec::new();
    // The name is only there to reach the folder.
    let names = Place::making_folders(&trash.files.join("name"), &mut made)?;
    let info = trash.info.as_ref().map(|info| Place::making_folders(&info.join("name"), &mut made)).transpose()?;
    for number in 0..NAMES_MAX {
        let name = numbered(place, number);
        let note = match &info {
            None => None,
            Some(info) => match write_note(info, &name, path, environment) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                note => Some(note?),
            },
        };
        let to = Place { folder: rustix::io::dup(&names.folder)?, name };
        match files::rename(place, &to) {
            Ok(()) => return Ok(()),
            Err(error) => {
                if let Some(note) = note {
                    note.unmake();
                }
                match error {
                    Errno::EXIST | Errno::NOTEMPTY => {}
                    Errno::XDEV => {
                        return Err(io::Error::other("it lies on another disk than the trash; it was not deleted"));
                    }
                    error => return Err(error.into()),
                }
            }
        }
    }
    Err(io::Error::other("the trash holds too many things of this name; empty it first"))
}

struct Folders {
    files: PathBuf,
    info: Option<PathBuf>,
}

fn folder(home: &Path) -> Folders {
    let home = crate::paths::real(home);
    if cfg!(target_os = "macos") {
        return Folders { files: home.join(".Trash"), info: None };
    }
    let trash = home.join(".local/share/Trash");
    Folders { files: trash.join("files"), info: Some(trash.join("info")) }
}

fn numbered(place: &Place, number: u32) -> OsString {
    let mut name = place.name.clone();
    if number > 0 {
        name.push(format!(".{number}"));
    }
    name
}

/// Claims a name by its note, which says where the thing came from.
fn write_note(
    info: &Place,
    name: &OsString,
    path: &Path,
    environment: &Environment,
) -> io::Result<crate::beneath::Made> {
    let mut note_name = name.clone();
    note_name.push(".trashinfo");
    let mut note = Place { folder: rustix::io::dup(&info.folder)?, name: note_name }.make_file()?;
    let text = format!("[Trash Info]\nPath={}\nDeletionDate={}\n", encoded(path), now(environment));
    match note.file.write_all(text.as_bytes()) {
        Ok(()) => Ok(note),
        Err(error) => {
            note.unmake();
            Err(error)
        }
    }
}

/// The path as the specification wants it: URL escapes for all but plain characters.
fn encoded(path: &Path) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte);
    let bytes = path.as_os_str().as_bytes();
    bytes.iter().map(|&byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

/// Local time as `YYYY-MM-DDThh:mm:ss`.
fn now(environment: &Environment) -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let ms = i64::try_from(since.as_millis()).unwrap_or(i64::MAX);
    let local = Timestamp::from_millis(ms).plus_millis(i64::from(environment.utc_offset_s) * 1000);
    local.to_string().chars().take(19).collect()
}
