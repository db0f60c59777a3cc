//! Turns a typed name of a file or folder into an absolute path, from its text alone.

use artoo_proto::Environment;

use crate::lexicon::lexicon;

/// A file or folder that a request names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// The absolute path, without `.`, `..` and a trailing slash.
    pub(crate) path: String,
    /// Whether the path is a file, a folder or unknown.
    pub(crate) kind: PathKind,
    /// Whether the path was typed as a name without any folder, so that it can also be a name to search for.
    pub(crate) bare: bool,
}

/// What a path names: a file, a folder, or unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PathKind {
    /// A folder.
    Folder,
    /// A file.
    File,
    /// A file or a folder; the text doesn't say which.
    Unknown,
}

/// The absolute path that a typed path means; `None` for forms that can't be resolved (`~other/x`).
pub(crate) fn resolve(typed: &str, environment: &Environment) -> Option<Place> {
    let absolute = if typed == "~" {
        environment.home.clone()
    } else if let Some(below) = typed.strip_prefix("~/") {
        format!("{}/{below}", environment.home)
    } else if typed.starts_with('~') || typed.is_empty() {
        return None;
    } else if typed.starts_with('/') {
        typed.to_owned()
    } else {
        format!("{}/{typed}", environment.cwd)
    };
    let names_folder = typed.ends_with('/') || typed.ends_with('.') || typed == "~";
    let path = clean(&absolute);
    let kind = match file_name(&path) {
        Some(name) if !names_folder => match name.rsplit_once('.') {
            Some((stem, extension)) if !stem.is_empty() && is_extension(extension) => PathKind::File,
            None if name.starts_with(char::is_uppercase) && lexicon().is_file_name(&name.to_lowercase()) => {
                PathKind::File
            }
            _ => PathKind::Unknown,
        },
        _ => PathKind::Folder,
    };
    Some(Place { path, kind, bare: !typed.contains('/') && !typed.starts_with('~') })
}

/// The part of a path after the last slash; `None` for the root.
pub(crate) fn file_name(path: &str) -> Option<&str> {
    path.rsplit('/').next().filter(|name| !name.is_empty())
}

/// The path of the folder that contains the entry at a path.
pub(crate) fn parent(path: &str) -> &str {
    match path.rsplit_once('/') {
        None | Some(("", _)) => "/",
        Some((folder, _)) => folder,
    }
}

/// The absolute path without empty parts and `.`, and with `..` resolved by text alone.
fn clean(absolute: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in absolute.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

/// Whether the text can be a file extension: at most 10 letters and digits, at least one of them a letter.
fn is_extension(text: &str) -> bool {
    (1..=10).contains(&text.chars().count())
        && text.chars().all(char::is_alphanumeric)
        && text.chars().any(char::is_alphabetic)
}

/// The file name suffixes that archive formats have.
pub(crate) const ARCHIVE_ENDINGS: [&str; 4] = [".tar.gz", ".tgz", ".tar", ".zip"];

/// Whether a path ends in the suffix of an archive format.
pub(crate) fn is_archive(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    ARCHIVE_ENDINGS.iter().any(|ending| lower.ends_with(ending))
}

/// Whether a path is that of one compressed file, `x.gz`.
pub(crate) fn is_gzip(path: &str) -> bool {
    path.to_ascii_lowercase().ends_with(".gz") && !is_archive(path)
}
