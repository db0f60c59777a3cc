//! The folder of one act in the undo journal: its notes and the saved contents.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::facts::{OWNER, set_mode};
use super::fault;
use super::format::{Begun, Ended, Step};
use super::state::{self, Identity, State};
use super::walk::names;
use crate::files;
use crate::limit::Limit;
use crate::openat::Place;

const BEGUN: &str = "begun.json";
const STEPS: &str = "steps.jsonl";
const ENDED: &str = "ended.json";
const SAVED: &str = "saved";

/// Name of the subfolder for files and folders that were moved into the journal unchanged.
const STORED: &str = "stored";

/// Maximum size of a journal note in bytes; the largest commit's list is well below it.
const NOTE_MAX_BYTES: u64 = 512 * 1024 * 1024;

/// The journal folder of one act, readable only by the user.
#[derive(Debug, Clone)]
pub(super) struct BlobDir {
    pub(super) folder: PathBuf,
}

impl BlobDir {
    /// Creates the journal folder in which a new act saves contents.
    pub(super) fn make(folder: PathBuf) -> io::Result<Self> {
        private_folder(&folder.join(SAVED))?;
        Ok(Self { folder })
    }

    /// The path in the journal of the content saved under this number.
    fn saved(&self, number: u64) -> PathBuf {
        self.folder.join(SAVED).join(number.to_string())
    }

    /// Saves the content of an open file in the journal: as a reflink if the file system supports it, else as a copy.
    pub(super) fn keep(&self, source: &mut File, number: u64, limit: &Limit) -> io::Result<()> {
        let mut copy = private_file(&self.saved(number))?;
        #[cfg(target_os = "linux")]
        if rustix::fs::ioctl_ficlone(&copy, &*source).is_ok() {
            return Ok(());
        }
        io::Seek::rewind(source)?;
        files::copy_until_deadline(source, &mut copy, limit)
    }

    /// Opens the saved content with this number.
    pub(super) fn open(&self, number: u64) -> io::Result<File> {
        let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::CLOEXEC;
        Ok(File::from(rustix::fs::open(self.saved(number), flags, rustix::fs::Mode::empty())?))
    }

    /// Whether the journal has the saved content with this number.
    pub(super) fn holds(&self, number: u64) -> bool {
        self.saved(number).is_file()
    }

    /// The place in the journal of the content saved under this number, as the target of a rename.
    pub(super) fn place(&self, number: u64) -> io::Result<Place> {
        let folder = rustix::fs::open(
            self.folder.join(SAVED),
            rustix::fs::OFlags::DIRECTORY | rustix::fs::OFlags::CLOEXEC,
            rustix::fs::Mode::empty(),
        )?;
        Ok(Place { folder, name: number.to_string().into() })
    }

    /// The real path of the journal subfolder for files and folders that are moved there instead of deleted; creates it
    /// if missing.
    pub(super) fn stored(&self) -> io::Result<PathBuf> {
        let folder = self.folder.join(STORED);
        private_folder(&folder)?;
        folder.canonicalize()
    }

    /// Whether the act's journal folder is on this device.
    pub(super) fn is_on(&self, device: u64) -> bool {
        use std::os::unix::fs::MetadataExt;
        fs::metadata(&self.folder).is_ok_and(|found| found.dev() == device)
    }

    /// Whether any file or folder was moved into this act's journal folder unchanged.
    pub(super) fn holds_stored(&self) -> bool {
        fs::read_dir(self.folder.join(STORED)).is_ok_and(|mut entries| entries.next().is_some())
    }

    /// Syncs to disk the act's saved contents whose numbers are below `numbers`.
    pub(super) fn sync_saved(&self, numbers: u64) -> io::Result<()> {
        /// Up to this number files are synced one by one; for more, syncing the whole file system is faster.
        const EACH_MAX: u64 = 64;
        if numbers > EACH_MAX {
            #[cfg(target_os = "linux")]
            return Ok(rustix::fs::syncfs(File::open(&self.folder)?)?);
            #[cfg(not(target_os = "linux"))]
            rustix::fs::sync();
        }
        for number in 0..numbers {
            match File::open(self.saved(number)) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                file => file?.sync_all()?,
            }
        }
        sync_folder(&self.folder.join(SAVED))
    }

    /// Deletes the saved contents whose numbers are not among these.
    pub(super) fn keep_only(&self, numbers: &std::collections::BTreeSet<u64>) -> io::Result<()> {
        for entry in fs::read_dir(self.folder.join(SAVED))? {
            let entry = entry?;
            let number = entry.file_name().to_str().and_then(|name| name.parse::<u64>().ok());
            if number.is_none_or(|number| !numbers.contains(&number)) {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }

    /// Writes the journal note that an act begins.
    pub(super) fn write_begun(&self, begun: &Begun) -> io::Result<()> {
        self.write(BEGUN, begun)
    }

    /// Reads the note that an act has begun; `None` if it is missing.
    pub(super) fn begun(&self) -> io::Result<Option<Begun>> {
        self.read(BEGUN)
    }

    /// Writes the journal note that the act has ended, with its changes, and then deletes the note of its begin and its
    /// log.
    pub(super) fn write_ended(&self, ended: &Ended) -> io::Result<()> {
        self.write(ENDED, ended)?;
        fault::point("ended is written");
        // These contents are no longer needed. If this fails, only space is lost.
        let _ = fs::remove_file(self.folder.join(BEGUN));
        let _ = fs::remove_file(self.folder.join(STEPS));
        Ok(())
    }

    /// Whether the act's end is recorded in the journal.
    pub(super) fn is_ended(&self) -> bool {
        self.folder.join(ENDED).exists()
    }

    /// Reads the note that an act has ended; `None` if it has not.
    pub(super) fn ended(&self) -> io::Result<Option<Ended>> {
        self.read(ENDED)
    }

    /// Opens the log of an act's steps for appending.
    pub(super) fn steps_log(&self) -> io::Result<File> {
        OpenOptions::new().create(true).append(true).mode(0o600).open(self.folder.join(STEPS))
    }

    /// Reads the log of steps up to the first line that can't be parsed; no steps if there is no log. A truncated line
    /// can only be the last one, and its step had not begun.
    pub(super) fn steps(&self) -> io::Result<Vec<Step>> {
        let bytes = match limited(&self.folder.join(STEPS)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            bytes => bytes?,
        };
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let lines = bytes.get(..whole).unwrap_or_default().split(|byte| *byte == b'\n');
        Ok(lines.map_while(|line| serde_json::from_slice(line).ok()).collect())
    }

    /// Deletes the folder of this act from the journal.
    pub(super) fn forget(&self) -> io::Result<()> {
        remove_tree(&self.folder)
    }

    /// Writes a note atomically: the file is synced before it gets its name, the folder after.
    fn write(&self, name: &str, note: &impl Serialize) -> io::Result<()> {
        let part = self.folder.join(format!("{name}.part"));
        let _ = fs::remove_file(&part);
        let mut file = private_file(&part)?;
        fault::point("a note is made");
        file.write_all(&serde_json::to_vec(note)?)?;
        file.sync_all()?;
        fault::point("a note is synced");
        fs::rename(&part, self.folder.join(name))?;
        sync_folder(&self.folder)
    }

    /// Reads a JSON note of the act from the journal; `None` if its file is missing.
    fn read<T: DeserializeOwned>(&self, name: &str) -> io::Result<Option<T>> {
        let path = self.folder.join(name);
        match limited(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            bytes => serde_json::from_slice(&bytes?)
                .map(Some)
                .map_err(|error| io::Error::other(format!("{}: {error}", path.display()))),
        }
    }
}

/// Whether a path has the form of one moved into the journal unchanged: a number in [`STORED`] in an act's folder.
pub(super) fn is_stored(path: &Path) -> bool {
    let is_number =
        |path: &Path| path.file_name().and_then(|name| name.to_str()).is_some_and(|it| it.parse::<u64>().is_ok());
    let folder = path.parent().filter(|folder| folder.ends_with(STORED) && is_number(path));
    folder.and_then(Path::parent).is_some_and(is_number)
}

/// Deletes a folder with its content, including folders whose mode denies their owner access.
pub(crate) fn remove_tree(folder: &Path) -> io::Result<()> {
    discard(&Place::of(&folder.canonicalize()?)?)
}

/// Deletes the file or folder at a place if there is one, including folders whose mode denies their owner access.
pub(super) fn discard(place: &Place) -> io::Result<()> {
    if Identity::at(place)?.is_none() {
        return Ok(());
    }
    match files::remove(place) {
        Err(error) if Errno::from_io_error(&error) == Some(Errno::ACCESS) => {
            open_all(place)?;
            files::remove(place)
        }
        removed => removed,
    }
}

/// Adds the owner's permissions to a folder and to all folders below it, so that it can be deleted.
fn open_all(place: &Place) -> io::Result<()> {
    let State::Folder(facts) = state::read_facts(place)? else { return Ok(()) };
    set_mode(place, facts.mode | OWNER)?;
    for name in names(&place.open_folder()?)? {
        open_all(&place.inside(&name)?)?;
    }
    Ok(())
}

/// Reads a note of the journal, at most [`NOTE_MAX_BYTES`] of it.
fn limited(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(NOTE_MAX_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Creates a folder and its parents with mode 0700.
pub(super) fn private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Creates a file with mode 0600; an error if it exists.
fn private_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)
}

/// Syncs a folder: names added to it or removed from it are then on disk.
pub(super) fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}
