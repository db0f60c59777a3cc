//! Places: from how a person names a folder or file to an absolute path, by text alone.

use artoo_proto::Environment;

use crate::lexicon::lexicon;

/// A path the request names, with what its form says about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// Absolute, without `.` and `..`, no slash at the end.
    pub(crate) path: String,
    pub(crate) looks: Looks,
    /// Whether it was named without any folder, so that it may also be a name to look for.
    pub(crate) bare: bool,
}

/// What a name's form says about the thing. The truth is on disk, and this crate does not look there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Looks {
    Folder,
    File,
    /// Could be either.
    Open,
}

/// Makes a typed path absolute. `None` where its form needs knowledge this crate has not (`~other/x`).
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
    let looks = match file_name(&path) {
        _ if names_folder => Looks::Folder,
        None => Looks::Folder,
        Some(name) => match name.rsplit_once('.') {
            Some((stem, extension)) if !stem.is_empty() && is_extension(extension) => Looks::File,
            None if name.starts_with(char::is_uppercase) && lexicon().is_file_name(&name.to_lowercase()) => Looks::File,
            _ => Looks::Open,
        },
    };
    Some(Place { path, looks, bare: !typed.contains('/') && !typed.starts_with('~') })
}

/// The part after the last slash; `None` for the root.
pub(crate) fn file_name(path: &str) -> Option<&str> {
    path.rsplit('/').next().filter(|name| !name.is_empty())
}

/// The folder a path lies in.
pub(crate) fn parent(path: &str) -> &str {
    match path.rsplit_once('/') {
        None | Some(("", _)) => "/",
        Some((folder, _)) => folder,
    }
}

/// Removes empty parts, `.` and, by text, `..`.
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

/// Letters and digits with at least one letter: `notes.txt` ends so, `v1.2` does not.
fn is_extension(text: &str) -> bool {
    (1..=10).contains(&text.chars().count())
        && text.chars().all(char::is_alphanumeric)
        && text.chars().any(char::is_alphabetic)
}

/// What an archive's name ends in.
pub(crate) const ARCHIVE_ENDINGS: [&str; 4] = [".tar.gz", ".tgz", ".tar", ".zip"];

/// Whether a path ends as an archive's name does.
pub(crate) fn is_archive(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    ARCHIVE_ENDINGS.iter().any(|ending| lower.ends_with(ending))
}
