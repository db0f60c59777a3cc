//! The file the rules stand in: read whole or refused whole, written beside and put in place, one writer at a time.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use artoo_proto::Timestamp;
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

use super::{Rule, RuleProblem};

/// Longest file read: several times what the greatest number of rules takes.
const FILE_MAX_BYTES: u64 = 1024 * 1024;

/// Only the owner may read or write it.
const FILE_MODE: u32 = 0o600;

/// Bits that let others write.
const OTHERS_WRITE: u32 = 0o022;

/// What stands in the file.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Content {
    /// Ids given so far: none is given twice.
    issued: u64,
    pub(super) rules: Vec<Rule>,
}

/// The content with the right to change it.
#[derive(Debug)]
pub(super) struct Locked {
    folder: PathBuf,
    pub(super) content: Content,
    /// Held until this is dropped.
    _lock: File,
}

pub(super) fn path(folder: &Path) -> PathBuf {
    folder.join("rules.json")
}

/// What stands in the file; nothing where there is none.
pub(super) fn read(folder: &Path) -> Result<Content, RuleProblem> {
    let path = path(folder);
    let failed = |source| RuleProblem::Io { path: path.clone(), source };
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let options = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).clone();
    let file = match options.open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Content::default()),
        opened => opened.map_err(failed)?,
    };
    let found = file.metadata().map_err(failed)?;
    let own = |why| Err(RuleProblem::NotOwn { path: path.clone(), why });
    if !found.is_file() {
        return own("it is not a plain file");
    }
    if found.uid() != rustix::process::geteuid().as_raw() {
        return own("it belongs to somebody else");
    }
    if found.mode() & OTHERS_WRITE != 0 {
        return own("others can write it");
    }
    if fs::metadata(folder).map_err(failed)?.mode() & OTHERS_WRITE != 0 {
        return own("others can write its folder");
    }
    let mut bytes = Vec::new();
    file.take(FILE_MAX_BYTES).read_to_end(&mut bytes).map_err(failed)?;
    serde_json::from_slice(&bytes).map_err(|source| RuleProblem::Form { path: path.clone(), source })
}

impl Locked {
    /// Waits until no other process changes the rules, and reads those that hold.
    pub(super) fn open(folder: &Path, now: Timestamp) -> Result<Self, RuleProblem> {
        let path = folder.join("rules.lock");
        let failed = |source| RuleProblem::Io { path: path.clone(), source };
        let lock = OpenOptions::new().create(true).write(true).truncate(false).mode(FILE_MODE).open(&path);
        let lock = lock.map_err(failed)?;
        lock.lock().map_err(failed)?;
        let mut content = read(folder)?;
        content.rules.retain(|rule| rule.holds_at(now));
        Ok(Self { folder: folder.to_path_buf(), content, _lock: lock })
    }

    pub(super) fn next_id(&mut self) -> String {
        self.content.issued += 1;
        format!("r{}", self.content.issued)
    }

    /// Puts the content in place of the file, whole or not at all.
    pub(super) fn save(&self) -> Result<(), RuleProblem> {
        let path = path(&self.folder);
        let beside = self.folder.join("rules.json.new");
        let failed = |source| RuleProblem::Io { path: path.clone(), source };
        let bytes = serde_json::to_vec_pretty(&self.content)
            .map_err(|source| RuleProblem::Form { path: path.clone(), source })?;
        // What an interrupted writer left behind is ours: the lock is held.
        match fs::remove_file(&beside) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
        let mut file = OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(&beside).map_err(failed)?;
        file.write_all(&bytes).and_then(|()| file.sync_all()).map_err(failed)?;
        fs::rename(&beside, &path).map_err(failed)
    }
}
