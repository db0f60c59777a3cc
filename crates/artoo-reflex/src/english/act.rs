//! Renders changes of files in English.

use super::{files, listed, quoted, quoted_path};
use crate::algebra::{Act, Kind, NameChange, Query, Target};

/// The English sentence of an act.
pub(super) fn phrase(act: &Act) -> String {
    match act {
        Act::CreateFolder { paths } if paths.len() == 1 => format!("create the folder {}", listed(paths)),
        Act::CreateFolder { paths } => format!("create the folders {}", listed(paths)),
        Act::CreateFile { path, text } if text.is_empty() => format!("create the empty file {}", quoted_path(path)),
        Act::CreateFile { path, text } => {
            let text = text.strip_suffix('\n').unwrap_or(text);
            format!("create the file {} with the text {}", quoted_path(path), quoted(text))
        }
        Act::Copy { of, to } => format!("copy {} {}", the(of), target(to)),
        Act::Move { of, to } => format!("move {} {}", the(of), target(to)),
        Act::Rename { of, change } => format!("rename {}, {}", the(of), name_change(change)),
        Act::Archive { of, to } => format!("pack {} into the archive {}", the(of), quoted_path(to)),
        Act::Extract { of, to } => format!("unpack {} into the folder {}", the(of), quoted_path(to)),
        Act::Delete { of } => format!("delete {}", the(of)),
        Act::Replace { path, find, with, to } => format!(
            "replace {} with {} in the file {}, written to the new file {}",
            quoted(find),
            quoted(with),
            quoted_path(path),
            quoted_path(to)
        ),
    }
}

/// The noun phrase for a selection of files with its article; files listed by path get no article.
fn the(of: &Query) -> String {
    let phrase = files::phrase(of);
    if matches!(of, Query::Paths { kind: Kind::Any, .. }) { phrase } else { format!("the {phrase}") }
}

/// The English phrase for the destination of a copy or a move.
fn target(to: &Target) -> String {
    match to {
        Target::Into(folder) => format!("into the folder {}", quoted_path(folder)),
        Target::As(path) => format!("as the new file {}", quoted_path(path)),
    }
}

/// The English phrase for a change of file names.
fn name_change(change: &NameChange) -> String {
    match change {
        NameChange::To(name) => format!("to {}", quoted(name)),
        NameChange::Template(template) => format!("by the template {}", quoted(template)),
        NameChange::Extension(extension) => format!("with the new extension .{extension}"),
        NameChange::Prefix(text) => format!("with the prefix {}", quoted(text)),
        NameChange::Suffix(text) => format!("with the suffix {}", quoted(text)),
        NameChange::LowerCase => "to lower case".to_owned(),
        NameChange::UpperCase => "to upper case".to_owned(),
        NameChange::Replace { find, with } => format!("replacing {} with {}", quoted(find), quoted(with)),
    }
}
