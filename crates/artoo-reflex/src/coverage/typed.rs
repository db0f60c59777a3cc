//! Parses typed checks into steps: objects with a `kind` that models propose and scripts require.

mod edit;
mod fields;
mod set;
#[cfg(test)]
mod tests;

use artoo_proto::{Environment, Now};
use serde_json::{Value, json};

use self::fields::{Fields, shown};
use crate::algebra::{Act, GitAction, Kind, ModeChange, NameChange, ProcessName, Query, Step, Target, Ty};
use crate::ensure::ensure;
use crate::eval::{EntryKind, FileSystem};
use crate::place::{PathKind, file_name, is_archive, is_gzip, parent, resolve};

/// The names of all kinds of typed check, such as `renamed`, joined by commas.
const KINDS: &str = "removed, renamed, moved, copied, text_is, made_from, edited, folder_made, mode_set, measured, ran, \
    fetched, git, process_gone, installed, unchanged, linked, archived, unpacked";

/// The largest value of permission bits.
const ALL_BITS: u32 = 0o7777;

/// The steps that a typed check asks for: an object with a `kind` and its fields.
///
/// # Errors
/// A message for the user that says what is wrong with the check.
pub(super) fn steps(check: &Value, environment: &Environment, fs: &dyn FileSystem) -> Result<Vec<Step>, String> {
    let mut fields = Fields::of(check, environment, fs)?;
    let step = step(&mut fields)?;
    fields.done()?;
    let step = match step {
        Step::Ask(query) => Step::Ask(query.normalise()),
        Step::Do(act) => Step::Do(act.normalise()),
    };
    let query = match &step {
        Step::Ask(of) | Step::Do(Act::Save { of, .. }) => Some(of),
        Step::Do(act) => act.selection(),
    };
    match query.map(Query::ty) {
        Some(Err(error)) => Err(format!("{}: {error}; leave that condition out or change `entries`", fields.kind)),
        _ => Ok(vec![step]),
    }
}

/// The steps that a check in a script asks for: a text `kind: value`, or the object in JSON.
///
/// # Errors
/// A message for the user that says what is wrong with the check.
pub(super) fn shorthand(text: &str, environment: &Environment, fs: &dyn FileSystem) -> Result<Vec<Step>, String> {
    if text.trim_start().starts_with('{') {
        let check = serde_json::from_str(text).map_err(|error| format!("the check is no valid JSON: {error}"))?;
        return steps(&check, environment, fs);
    }
    let (kind, value) =
        text.split_once(':').ok_or_else(|| format!("{} has no kind; write `kind: value`", shown(text)))?;
    let (kind, value) = (kind.trim(), value.trim());
    let (first, between, second) = match kind {
        "removed" | "folder_made" | "unchanged" => ("paths", "", ""),
        "measured" => ("question", "", ""),
        "ran" => ("command", "", ""),
        "fetched" => ("url", "", ""),
        "installed" => ("program", "", ""),
        "process_gone" => ("pid", "", ""),
        "text_is" => ("path", "=", "text"),
        "mode_set" => ("path", "=", "bits"),
        "renamed" => ("from", "->", "to"),
        "moved" | "copied" => ("path", "->", "to"),
        known if KINDS.split(", ").any(|kind| kind == known) => {
            return Err(format!("{known}: write it as JSON: {{\"kind\": \"{known}\", …}}"));
        }
        unknown => return Err(unknown_kind(unknown)),
    };
    let missing = || format!("{kind}: {between:?} is missing between its two values");
    let check = if between.is_empty() {
        json!({"kind": kind, first: value})
    } else {
        let (one, other) = value.split_once(between).ok_or_else(missing)?;
        json!({"kind": kind, first: one.trim_end(), second: other.trim_start()})
    };
    steps(&check, environment, fs)
}

/// The error for an unknown kind of check.
fn unknown_kind(kind: &str) -> String {
    format!("{} is no kind of check; the kinds are {KINDS}", shown(kind))
}

/// The step that the fields of a check ask for.
fn step(fields: &mut Fields<'_>) -> Result<Step, String> {
    let kind = fields.kind.clone();
    Ok(Step::Do(match kind.as_str() {
        "measured" => return question(fields).map(Step::Ask),
        "removed" => Act::Delete { of: set::selection(fields)? },
        "renamed" => renamed(fields)?,
        "moved" | "copied" => {
            let (of, to) = transfer(fields)?;
            if kind == "moved" { Act::Move { of, to } } else { Act::Copy { of, to } }
        }
        "text_is" => {
            let path = fields.path("path")?;
            Act::CreateFile { path: new_file(fields, path)?, text: ended(fields.text("text")?) }
        }
        "made_from" => made_from(fields)?,
        "edited" => edit::act(fields)?,
        "folder_made" => Act::CreateFolder { paths: fields.paths("paths")? },
        "mode_set" => Act::SetMode { of: set::selection(fields)?, mode: mode(fields)? },
        "ran" => {
            Act::Run { command: fields.line("command")?, folder: folder(fields)?, to: fields.path_if_given("to")? }
        }
        "fetched" => Act::Fetch { url: url(fields)?, to: fields.path_if_given("path")? },
        "git" => Act::Git { folder: folder(fields)?, action: git(fields)? },
        "process_gone" => Act::Stop { process: process(fields)? },
        "installed" => Act::Install { program: fields.line("program")?, version: fields.line_if_given("version")? },
        "unchanged" => Act::Keep { paths: fields.paths("paths")? },
        "linked" => Act::Link { target: fields.path("target")?, path: fields.path("path")? },
        "archived" => Act::Archive { of: set::selection(fields)?, to: archive(fields, "to")? },
        "unpacked" => {
            let of = Query::Paths { paths: vec![archive(fields, "path")?], kind: Kind::File };
            Act::Extract { of, to: fields.path("to")? }
        }
        unknown => return Err(unknown_kind(unknown)),
    }))
}

/// The query of the field `question`, which has a question in plain English; an error if it is not read as one
/// question.
fn question(fields: &mut Fields<'_>) -> Result<Query, String> {
    let question = fields.line("question")?;
    let now = Now { wall: fields.fs.now(), uptime_ms: 0 };
    let read = |question: &str| crate::parse::parse(question, &[], fields.environment, now, fields.fs);
    // The question may be a noun phrase without a verb.
    let parsed = read(&question).or_else(|refused| read(&format!("show {question}")).map_err(|_| refused));
    let parsed = parsed.map_err(|abstention| {
        let words = abstention.not_understood.first().map(|word| format!(" at {}", shown(word))).unwrap_or_default();
        fields.wrong("question", &format!("was not read{words}; count, list, show or compare files, lines or facts"))
    })?;
    let query = parsed.query().cloned();
    query.ok_or_else(|| fields.wrong("question", "asks no single question; ask one thing, change nothing"))
}

/// The act that writes the answer of a question into a file.
fn made_from(fields: &mut Fields<'_>) -> Result<Act, String> {
    let of = question(fields)?;
    ensure(matches!(of.ty(), Ok(Ty::Lines | Ty::Number)), || {
        fields.wrong("question", "has neither lines nor a number as its answer; ask for lines or names")
    })?;
    let to = fields.path("path")?;
    let is_edit = matches!(of.source(), Query::TextFile { path } if *path == to);
    let to = if is_edit { to } else { new_file(fields, to)? };
    Ok(Act::Save { of, to })
}

/// Returns the path; an error if something exists there.
fn new_file(fields: &Fields<'_>, path: String) -> Result<String, String> {
    let fault = "names a file that is there already; say how it is edited (kind edited)";
    ensure(fields.entry(&path).is_none(), || fields.wrong("path", fault)).map(|()| path)
}

/// The text with a final newline, unless it is empty.
fn ended(mut text: String) -> String {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// The act that renames a path within its folder.
fn renamed(fields: &mut Fields<'_>) -> Result<Act, String> {
    let from = fields.path("from")?;
    let typed = fields.line("to")?;
    let to = resolve(&typed, fields.environment);
    let to = to.filter(|to| !typed.ends_with('/') && (to.bare || parent(&to.path) == parent(&from)));
    let name = to.as_ref().and_then(|to| file_name(&to.path));
    let name = name.ok_or_else(|| fields.wrong("to", "is no new name in the same folder; use kind moved"))?;
    let of = Query::Paths { paths: vec![from], kind: Kind::Any };
    Ok(Act::Rename { of, change: NameChange::To(name.to_owned()) })
}

/// The selection and the target of a move or copy. The target is a folder if it exists as one, ends in a slash or gets
/// several files.
fn transfer(fields: &mut Fields<'_>) -> Result<(Query, Target), String> {
    let of = set::selection(fields)?;
    let is_folder = fields.typed("to").ends_with('/');
    let to = fields.path("to")?;
    let into = is_folder || fields.entry(&to) == Some(EntryKind::Folder);
    let one = if let Query::Paths { paths, .. } = &of { <&[String; 1]>::try_from(paths.as_slice()).ok() } else { None };
    let kind = |path: &str| resolve(path, fields.environment).map(|place| place.kind);
    match one {
        _ if into => Ok((of, Target::Into(to))),
        None if kind(&to) == Some(PathKind::File) => {
            Err(fields.wrong("to", "names a file, but several are meant; name a folder, a slash at its end"))
        }
        None => Ok((of, Target::Into(to))),
        Some([from]) if kind(from) == Some(PathKind::File) && kind(&to) != Some(PathKind::File) => {
            Err(fields.wrong("to", "is a folder or a new name; a slash at its end makes it a folder"))
        }
        Some(_) => Ok((of, Target::As(to))),
    }
}

/// The change of permission bits that the fields of a check ask for.
fn mode(fields: &mut Fields<'_>) -> Result<ModeChange, String> {
    let bits = fields.line_if_given("bits")?;
    match (bits, fields.flag("executable")?, fields.flag("read_only")?) {
        (Some(bits), None, None) => {
            let octal = u32::from_str_radix(&bits, 8).ok().filter(|octal| *octal <= ALL_BITS && !bits.starts_with('+'));
            octal.map(ModeChange::Bits).ok_or_else(|| fields.wrong("bits", "is no octal number such as \"755\""))
        }
        (None, Some(true), None) => Ok(ModeChange::Executable),
        (None, Some(false), None) => Ok(ModeChange::NotExecutable),
        (None, None, Some(true)) => Ok(ModeChange::ReadOnly),
        _ => Err(fields.wrong("bits", "is missing or not alone; give one of bits, executable or \"read_only\": true")),
    }
}

/// Takes the folder of a check; the current folder if none is given.
fn folder(fields: &mut Fields<'_>) -> Result<String, String> {
    let given = fields.path_if_given("folder")?;
    given.or_else(|| Some(resolve(".", fields.environment)?.path)).ok_or_else(|| fields.wrong("folder", "is missing"))
}

/// Takes a complete `http` or `https` URL.
fn url(fields: &mut Fields<'_>) -> Result<String, String> {
    let url = fields.line("url")?;
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://")).unwrap_or_default();
    let is_whole = !rest.is_empty() && !rest.starts_with('/') && !rest.contains(char::is_whitespace);
    ensure(is_whole, || fields.wrong("url", "is no whole address that starts with https:// or http://"))?;
    Ok(url)
}

/// The change of a git repository that the fields of a check ask for.
fn git(fields: &mut Fields<'_>) -> Result<GitAction, String> {
    let action = fields.line("action")?;
    Ok(match action.as_str() {
        "init" => GitAction::Init,
        "commit" => match fields.text("message")?.trim_end() {
            "" => return Err(fields.wrong("message", "is empty; give the commit's message")),
            message => GitAction::Commit { message: message.to_owned() },
        },
        "branch" => {
            GitAction::Branch { name: fields.line("name")?, switch: fields.flag("switch")?.unwrap_or_default() }
        }
        "switch" => GitAction::Switch { name: fields.line("name")? },
        "tag" => GitAction::Tag { name: fields.line("name")? },
        _ => return Err(fields.wrong("action", "is none of init, commit, branch, switch, tag")),
    })
}

/// The process to stop that the fields of a check name, by its id or its port.
fn process(fields: &mut Fields<'_>) -> Result<ProcessName, String> {
    let pid = fields.number("pid")?.map(u32::try_from);
    let port = fields.number("port")?.map(u16::try_from);
    match (pid, port) {
        (Some(Ok(pid @ 1..)), None) => Ok(ProcessName::Pid(pid)),
        (None, Some(Ok(port @ 1..))) => Ok(ProcessName::Port(port)),
        _ => Err(fields.wrong("pid", "is missing, too large or not alone; give a pid or a port")),
    }
}

/// Takes the path of an archive; an error for another file name.
fn archive(fields: &mut Fields<'_>, field: &'static str) -> Result<String, String> {
    let path = fields.path(field)?;
    let fits = is_archive(&path) || is_gzip(&path);
    ensure(fits, || fields.wrong(field, "doesn't end in .zip, .tar, .tgz, .tar.gz or .gz")).map(|()| path)
}
