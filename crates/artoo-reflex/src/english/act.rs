//! Renders changes of files in English.

use super::{files, listed, quoted, quoted_path};
use crate::algebra::{Act, GitAction, Kind, ModeChange, NameChange, Part, ProcessName, Query, Target};

/// The English sentence of an act.
#[must_use]
pub fn english_act(act: &Act) -> String {
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
        Act::Save { of: Query::Part { part: Part::First(0), .. }, to } => {
            format!("remove every line of the file {}", quoted_path(to))
        }
        Act::Save { of, to } => format!("{}, written to the file {}", super::english(of), quoted_path(to)),
        Act::Insert { path, text, at_start } => {
            let text = quoted(text.strip_suffix('\n').unwrap_or(text));
            let place = if *at_start { "start" } else { "end" };
            format!("add {text} at the {place} of the file {}", quoted_path(path))
        }
        Act::SetValue { path, section, key, value } => {
            let section = section.as_ref().map(|section| format!(" of {}", quoted(section))).unwrap_or_default();
            format!("set {}{section} to {} in the file {}", quoted(key), quoted(value), quoted_path(path))
        }
        Act::SetMode { of, mode } => format!("make {} {}", the(of), mode_change(*mode)),
        Act::Link { target, path } => format!("link {} to {}", quoted_path(path), quoted_path(target)),
        Act::Run { command, folder, to } => {
            let to = to.as_ref().map(|to| format!(", its output written to the file {}", quoted_path(to)));
            format!("run {} in the folder {}{}", quoted(command), quoted_path(folder), to.unwrap_or_default())
        }
        Act::Fetch { url, to } => {
            let to = to.as_ref().map(|to| format!(" to the file {}", quoted_path(to)));
            format!("download {}{}", quoted(url), to.unwrap_or_default())
        }
        Act::Git { folder, action } => format!("{} {}", git(action), quoted_path(folder)),
        Act::Stop { process: ProcessName::Pid(pid) } => format!("stop the process {pid}"),
        Act::Stop { process: ProcessName::Port(port) } => format!("stop the process on port {port}"),
        Act::Install { program, version } => {
            let version = version.as_ref().map(|version| format!(" in version {}", quoted(version)));
            format!("install the program {}{}", quoted(program), version.unwrap_or_default())
        }
        Act::Keep { paths } if paths.is_empty() => "leave everything else unchanged".to_owned(),
        Act::Keep { paths } => format!("leave {} unchanged", listed(paths)),
    }
}

/// The English phrase for a change of permission bits.
fn mode_change(mode: ModeChange) -> String {
    match mode {
        ModeChange::Bits(bits) => format!("have the permissions {bits:04o}"),
        ModeChange::Executable => "executable".to_owned(),
        ModeChange::NotExecutable => "not executable".to_owned(),
        ModeChange::ReadOnly => "read-only".to_owned(),
        ModeChange::Added(bits) => permissions(bits),
        ModeChange::Removed(bits) => format!("not {}", permissions(bits)),
    }
}

/// Permission bits that are the same for one or several kinds of users, in words; any others in octal.
fn permissions(bits: u32) -> String {
    let of = |class: &u32| bits >> class & 0o7;
    let named = |class: u32| ["others", "the group", "the owner"].get(class as usize / 3).copied().unwrap_or_default();
    let classes: Vec<u32> = [6, 3, 0].into_iter().filter(|class| of(class) != 0).collect();
    let Some(first) = classes.first().map(of).filter(|first| classes.iter().all(|class| of(class) == *first)) else {
        return format!("with the permission bits {bits:04o}");
    };
    let can = [(4, "readable"), (2, "writable"), (1, "executable")];
    let can: Vec<&str> = can.into_iter().filter(|(bit, _)| first & bit != 0).map(|(_, word)| word).collect();
    let whom = if classes.len() == 3 {
        "everyone".to_owned()
    } else {
        classes.into_iter().map(named).collect::<Vec<_>>().join(" and ")
    };
    format!("{} for {whom}", can.join(" and "))
}

/// The English phrase for a change of a git repository, to be followed by the repository's folder.
fn git(action: &GitAction) -> String {
    let what = match action {
        GitAction::Init => return "create a git repository in the folder".to_owned(),
        GitAction::Commit { message } => format!("commit all changes with the message {}", quoted(message)),
        GitAction::Branch { name, switch: false } => format!("create the branch {}", quoted(name)),
        GitAction::Branch { name, switch: true } => format!("create and check out the branch {}", quoted(name)),
        GitAction::Switch { name } => format!("check out the branch {}", quoted(name)),
        GitAction::Tag { name } => format!("create the tag {}", quoted(name)),
    };
    what + " in the repository"
}

/// The noun phrase for a selection of files, with its article; files listed by path get no article.
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
