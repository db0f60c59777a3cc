//! What stands at the paths an act names, looked at before anyone is asked.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use artoo_proto::{Environment, Timestamp};

use crate::input::InputProblem;
use crate::open;
use crate::paths;
use crate::protect::Protected;

/// Files and folders below one that is acted on; a larger tree is better handled by hand.
pub(super) const TREE_MAX: u64 = 100_000;

/// Folders inside folders; deeper ones are made to exhaust whoever follows them.
pub(super) const DEPTH_MAX: usize = 128;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Folder,
    Link,
}

/// One thing that is acted on, with all below it.
#[derive(Debug)]
pub(super) struct Source {
    /// As it was named.
    pub(super) path: PathBuf,
    /// The same with every link on the way resolved; the last name is never followed.
    pub(super) real: PathBuf,
    pub(super) kind: Kind,
    pub(super) files: u64,
    pub(super) bytes: u64,
    pub(super) modified: Timestamp,
    /// Newest change in it.
    pub(super) newest: Timestamp,
    /// What makes it this very thing: device, inode, length, time.
    pub(super) identity: String,
}

/// Why an act can't be planned.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Obstacle {
    #[error(transparent)]
    Input(#[from] InputProblem),
    #[error("{0}")]
    Protected(String),
    #[error("{path} holds {held}, so it stays where it is")]
    Holds { path: String, held: &'static str },
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
    #[error("{path} would be the place of two of them")]
    Collision { path: String },
    #[error("{path} lies inside what is copied or moved")]
    Inside { path: String },
    #[error("{path}: {problem}")]
    Name {
        path: String,
        #[source]
        problem: super::rename::NameProblem,
    },
    #[error("every name is as it is wanted already; nothing was changed")]
    NothingToDo,
    #[error("{path} is no name of an archive this tool makes or reads: .tar.gz, .tgz, .tar, .zip")]
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

    /// Whether it is Law 1 that refuses.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(self, Self::Protected(_) | Self::Holds { .. } | Self::HoldsProtected { .. } | Self::Exists { .. })
    }

    /// Whether the machine, rather than the request, stands in the way.
    pub(crate) fn is_environmental(&self) -> bool {
        matches!(self, Self::Io { .. } | Self::OddKind { .. } | Self::TooLarge { .. })
    }
}

/// Looks at one path. `leaves`: the act takes it away from its place.
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
        if leaves && let Some(held) = held(environment, &source.real) {
            return Err(Obstacle::Holds { path: paths::line(path), held });
        }
        tree(&mut source)?;
    }
    Ok(source)
}

/// Where a new thing goes: the path with links on the way resolved, if nothing stands there and it is not protected.
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

/// What the user stands in or lives in, if the folder holds it.
fn held(environment: &Environment, folder: &Path) -> Option<&'static str> {
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
