//! The file of the rules: rejected as a whole if it is not valid, replaced atomically, changed by one process at a time.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use artoo_proto::Timestamp;
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

use super::{Rule, RuleProblem};

/// Largest rule file in bytes; the maximum number of rules takes much less.
const FILE_MAX_BYTES: u64 = 1024 * 1024;

/// Mode of the rule file: only its owner may read and write it.
const FILE_MODE: u32 = 0o600;

/// Mode bits that let other users write.
const OTHERS_WRITE: u32 = 0o022;

/// The content of the rule file: the rules and the number of ids used.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Content {
    /// Number of ids used so far; none is used twice.
    issued: u64,
    pub(super) rules: Vec<Rule>,
}

/// The content of the rule file while it is locked against other processes.
#[derive(Debug)]
pub(super) struct Locked {
    folder: PathBuf,
    pub(super) content: Content,
    /// Unlocks when it is dropped.
    _lock: File,
}

/// The path of the file with the approval rules in a data folder.
pub(super) fn path(folder: &Path) -> PathBuf {
    folder.join("rules.json")
}

/// Reads the rules of the file; none if the file is missing, an error if it is not valid, not the user's own, or others
/// can write it or its folder.
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
        return own("it belongs to another user");
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
    /// Locks the rule file against other processes, and reads the rules that are valid now.
    pub(super) fn open(folder: &Path, now: Timestamp) -> Result<Self, RuleProblem> {
        let path = folder.join("rules.lock");
        let failed = |source| RuleProblem::Io { path: path.clone(), source };
        let lock = OpenOptions::new().create(true).write(true).truncate(false).mode(FILE_MODE).open(&path);
        let lock = lock.map_err(failed)?;
        lock.lock().map_err(failed)?;
        let mut content = read(folder)?;
        content.rules.retain(|rule| rule.is_valid_at(now));
        Ok(Self { folder: folder.to_path_buf(), content, _lock: lock })
    }

    /// The id for the next rule, which was never used before.
    pub(super) fn next_id(&mut self) -> String {
        self.content.issued += 1;
        format!("r{}", self.content.issued)
    }

    /// Writes the rules to the file by replacing it atomically.
    pub(super) fn save(&self) -> Result<(), RuleProblem> {
        let path = path(&self.folder);
        let beside = self.folder.join("rules.json.new");
        let failed = |source| RuleProblem::Io { path: path.clone(), source };
        let bytes = serde_json::to_vec_pretty(&self.content)
            .map_err(|source| RuleProblem::Form { path: path.clone(), source })?;
        // An interrupted writer may have left this file.
        match fs::remove_file(&beside) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
        let mut file = OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(&beside).map_err(failed)?;
        file.write_all(&bytes).and_then(|()| file.sync_all()).map_err(failed)?;
        fs::rename(&beside, &path).map_err(failed)
    }
}
