//! Surveys the paths of an act before approval.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use artoo_proto::{Environment, Timestamp};

use crate::input::InputProblem;
use crate::open;
use crate::paths;
use crate::protect::Protected;

/// Maximum number of entries below a path.
pub(super) const TREE_MAX: u64 = 100_000;

/// Maximum depth of folders.
pub(super) const DEPTH_MAX: usize = 128;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Folder,
    Link,
}

/// A source of an act, with everything below it.
#[derive(Debug)]
pub(super) struct Source {
    /// The path as given.
    pub(super) path: PathBuf,
    /// The path with the symlinks in its folder resolved.
    pub(super) real: PathBuf,
    pub(super) kind: Kind,
    pub(super) files: u64,
    pub(super) bytes: u64,
    pub(super) modified: Timestamp,
    /// The newest change at or below it.
    pub(super) newest: Timestamp,
    /// Device, inode, length and time, to detect that it was replaced.
    pub(super) identity: String,
}

/// Why an act can't be planned.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Obstacle {
    #[error(transparent)]
    Input(#[from] InputProblem),
    #[error("{0}")]
    Protected(String),
    #[error("{path} holds {content}, so it stays where it is")]
    Holds { path: String, content: &'static str },
    #[error("{path} holds places that are protected: keys or artoo's own data")]
    HoldsProtected { path: String },
    #[error("{path}: {source}")]
    Io {
        path: String,
        #[source]
        source: std::io::Error,
    },
    #[error("{path} is {kind}; only files, folders and links are acted on")]
    OddKind { path: String, kind: &'static str },
    #[error("{path} holds more than {TREE_MAX} entries, or folders deeper than {DEPTH_MAX}")]
    TooLarge { path: String },
    #[error("{path} exists already ({kind}); nothing is overwritten")]
    Exists { path: String, kind: &'static str },
    #[error("{path} would be the target of two of them")]
    Collision { path: String },
    #[error("{path} lies inside what is copied or moved")]
    Inside { path: String },
    #[error("{path}: {problem}")]
    Name {
        path: String,
        #[source]
        problem: super::rename::NameProblem,
    },
    #[error("all names are as requested already; nothing was changed")]
    NothingToDo,
    #[error("{path} is not a supported archive; its name must end in .tar.gz, .tgz, .tar or .zip")]
    ArchiveName { path: String },
    #[error("{path}: {detail}")]
    Archive { path: String, detail: String },
    #[error("the text to find does not occur in {path}; nothing was changed")]
    NotFound { path: String },
    #[error("{path} is not text, or longer than {max} bytes")]
    NotText { path: String, max: u64 },
}

impl Obstacle {
    pub(super) fn io(path: &Path, source: std::io::Error) -> Self {
        Self::Io { path: paths::line(path), source }
    }

    /// Whether it is denied under Law 1.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(self, Self::Protected(_) | Self::Holds { .. } | Self::HoldsProtected { .. } | Self::Exists { .. })
    }

    /// Whether the environment is the cause.
    pub(crate) fn is_environmental(&self) -> bool {
        matches!(self, Self::Io { .. } | Self::OddKind { .. } | Self::TooLarge { .. })
    }
}

/// Surveys a path. `leaves`: the act removes it from its folder.
pub(super) fn source(
    environment: &Environment,
    protected: &Protected,
    path: &Path,
    leaves: bool,
) -> Result<Source, Obstacle> {
    if let Some(reason) = protected.refusal(path) {
        return Err(Obstacle::Protected(reason));
    }
    let real = paths::without_links(path);
    let found = fs::symlink_metadata(&real).map_err(|error| Obstacle::io(path, error))?;
    let kind = match found.file_type() {
        kind if kind.is_file() => Kind::File,
        kind if kind.is_dir() => Kind::Folder,
        kind if kind.is_symlink() => Kind::Link,
        odd => return Err(Obstacle::OddKind { path: paths::line(path), kind: open::kind_name(odd) }),
    };
    let modified = time(&found);
    let mut source = Source {
        path: path.to_path_buf(),
        identity: identity(&found),
        files: 1,
        bytes: if kind == Kind::File { found.len() } else { 0 },
        modified,
        newest: modified,
        kind,
        real,
    };
    if kind == Kind::Folder {
        if protected.lies_below(&source.real) {
            return Err(Obstacle::HoldsProtected { path: paths::line(path) });
        }
        if leaves && let Some(content) = essential_folder(environment, &source.real) {
            return Err(Obstacle::Holds { path: paths::line(path), content });
        }
        tree(&mut source)?;
    }
    Ok(source)
}

/// The path with the symlinks in its folder resolved, if it does not exist and is not protected.
pub(super) fn free_place(protected: &Protected, path: &Path) -> Result<PathBuf, Obstacle> {
    if let Some(reason) = protected.refusal(path) {
        return Err(Obstacle::Protected(reason));
    }
    let real = paths::without_links(path);
    match fs::symlink_metadata(&real) {
        Ok(found) => Err(Obstacle::Exists { path: paths::line(path), kind: open::kind_name(found.file_type()) }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(real),
        Err(error) => Err(Obstacle::io(path, error)),
    }
}

/// The home folder, workspace or working folder, if the folder contains it.
fn essential_folder(environment: &Environment, folder: &Path) -> Option<&'static str> {
    let places = [
        ("your home folder", &environment.home),
        ("the workspace", &environment.workspace),
        ("the folder you are in", &environment.cwd),
    ];
    places.into_iter().find(|(_, place)| paths::real(Path::new(place)).starts_with(folder)).map(|(name, _)| name)
}

fn tree(source: &mut Source) -> Result<(), Obstacle> {
    let too_large = || Obstacle::TooLarge { path: paths::line(&source.path) };
    let mut open = vec![(source.real.clone(), 0)];
    let (mut entries, mut files) = (0, 0);
    while let Some((folder, depth)) = open.pop() {
        if depth > DEPTH_MAX {
            return Err(too_large());
        }
        for entry in fs::read_dir(&folder).map_err(|error| Obstacle::io(&folder, error))? {
            let entry = entry.map_err(|error| Obstacle::io(&folder, error))?;
            let found = entry.metadata().map_err(|error| Obstacle::io(&entry.path(), error))?;
            entries += 1;
            if entries > TREE_MAX {
                return Err(too_large());
            }
            source.newest = source.newest.max(time(&found));
            if found.is_dir() {
                open.push((entry.path(), depth + 1));
            } else {
                files += 1;
                source.bytes += if found.is_file() { found.len() } else { 0 };
            }
        }
    }
    source.files = files;
    source.identity.push_str(&format!(" {entries} {} {}", source.bytes, source.newest));
    Ok(())
}

fn identity(found: &fs::Metadata) -> String {
    format!("{} {} {} {} {}", found.dev(), found.ino(), found.len(), found.mtime(), found.mtime_nsec())
}

fn time(found: &fs::Metadata) -> Timestamp {
    Timestamp::from_millis(found.mtime().saturating_mul(1000).saturating_add(found.mtime_nsec() / 1_000_000))
}
